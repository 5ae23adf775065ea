"""Selective acknowledgements, and recovery by time with probes of the tail."""

from collections.abc import Iterator

from incast.advise.case import Case
from incast.advise.fixes.fix import Fix, Who
from incast.advise.shell import sysctl
from incast.advise.words import HOSTS, at


def fixes(case: Case) -> Iterator[Fix]:
    """Yield it where the hosts do not have it; Linux has by default."""
    transport = case.transport
    if transport["recovery"]["name"] == "rack-tlp":
        return
    keys = {
        "net.ipv4.tcp_sack": "1",
        "net.ipv4.tcp_recovery": "1",
        "net.ipv4.tcp_early_retrans": "3",
    }
    changes: dict[str, object] = {"transport.recovery": "rack-tlp"}
    if not transport["sack"]:  # this recovery needs it
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
        price="None: it is Linux's default.",
        risk="Clients need tcp_sack = 1 as well. A whole lost window still needs a timeout.",
        effort=0,
    )
