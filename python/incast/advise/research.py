"""The gains of remedies that research papers propose and that nobody can install today."""

from dataclasses import dataclass
from typing import Any

from incast.advise.case import Case
from incast.advise.trials import BASE, GOODPUT, Clock, TimeUp, Trials

SEEDS = range(1, 5)
REMEDIES: dict[str, tuple[str, dict[str, object]]] = {
    "pac": ("the client's TCP: ACKs are sent at the rate at which the switch can accept data", {}),
    "ictcp": ("the client's TCP: a controller sets the receive windows", {}),
    "head-tail": (
        "the servers' TCP: the repair depends on the position of the stall in the block",
        {},
    ),
    "plato": (
        "both ends and the switch: labels keep the ACK clock alive",
        {"network.queue": "label-threshold"},
    ),
}
"""For each remedy: the party that must change, the change, and the keys that it needs."""


@dataclass(frozen=True)
class Prospect:
    """The gain of a remedy, as a factor of the goodput."""

    name: str
    what: str
    ratio: float

    def to_dict(self) -> dict[str, Any]:
        """Return the gain as a dictionary, for programs."""
        return {"name": self.name, "what": self.what, "goodput_ratio": self.ratio}


def prospects(case: Case, trials: Trials, clock: Clock) -> list[Prospect]:
    """Simulate the remedies that apply, and return their gains, the largest first."""
    if not case.reads:
        return []
    names = {
        name: f"research: {name}"
        for name, (_, needs) in REMEDIES.items()
        if trials.add(f"research: {name}", {"transport.remedies": [*case.others, name], **needs})
    }
    try:
        trials.run([BASE, *names.values()], SEEDS, clock)
    except TimeUp:
        return []
    found = []
    for name, run in names.items():
        compared = trials.compare(run, SEEDS, GOODPUT)
        if compared is not None and compared.a:
            found.append(Prospect(name, REMEDIES[name][0], compared.b / compared.a))
    return sorted(found, key=lambda one: -one.ratio)
