"""Selective acknowledgements (SACK), and RACK-TLP: recovery by time and tail-loss probes."""

from collections.abc import Iterator

from incast.advise.case import Case
from incast.advise.fixes.fix import Fix, Who
from incast.advise.shell import sysctl
from incast.advise.words import HOSTS, at


def fixes(case: Case) -> Iterator[Fix]:
    """Yield the fix if the hosts do not use RACK-TLP, which is the default of Linux."""
    transport = case.transport
    if transport["recovery"]["name"] == "rack-tlp":
        return
    keys = {
        "net.ipv4.tcp_sack": "1",
        "net.ipv4.tcp_recovery": "1",
        "net.ipv4.tcp_early_retrans": "3",
    }
    changes: dict[str, object] = {"transport.recovery": "rack-tlp"}
    if not transport["sack"]:  # RACK-TLP needs SACK
        changes["transport.sack"] = True
    words = at(HOSTS, sysctl(keys))
    yield Fix(
        name="SACK, RACK and tail loss probes",
        who=Who.SERVERS,
        what="Switch on selective acknowledgements, recovery by time and tail loss probes, at the "
        "servers and at the clients.",
        changes=changes,
        text=words.text,
        rollback=words.rollback,
        price="None: these are the defaults of Linux.",
        risk="Clients need tcp_sack = 1, too. The loss of a whole window still needs a timeout.",
        effort=0,
    )
