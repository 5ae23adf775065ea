"""Use another congestion control at the servers, without a change to the switch."""

from collections.abc import Iterator

from incast.advise.case import Case
from incast.advise.fixes.fix import Fix, Who
from incast.advise.shell import sysctl

CONTROLS = {"reno": "reno", "cubic": "cubic", "bbr": "bbr", "vegas": "vegas"}
"""The congestion controls of Linux, with their names in Linux and in a scenario."""


def fixes(case: Case) -> Iterator[Fix]:
    """Yield the congestion controls that the case does not use."""
    now = case.transport["congestion_control"]["name"]
    for name, control in CONTROLS.items():
        if control == now:
            continue
        words = sysctl({"net.ipv4.tcp_congestion_control": name})
        yield Fix(
            name=f"congestion control {name}",
            who=Who.SERVERS,
            what=f"Use {name} as congestion control.",
            changes={"transport.congestion_control": control},
            text=words.text if name in {"reno", "cubic"} else f"modprobe tcp_{name}\n{words.text}",
            rollback=words.rollback,
            price=f"Every new connection of the host uses {name}, to any destination.",
            risk="A link is shared unevenly with hosts that keep the old congestion control.",
            effort=4,
        )
