"""A fix: a change that a user can make today, as keys of a scenario and as text."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Who(StrEnum):
    """The party that must change something; the cheapest party comes first."""

    APPLICATION = "application"
    CLIENT = "client host"
    SERVERS = "server hosts"
    SWITCH = "switch"

    @property
    def rank(self) -> int:
        """The position of the party in the order of prices."""
        return list(Who).index(self)


@dataclass(frozen=True)
class Fix:
    """One change with its values.

    Parameters
    ----------
    name
        A short name, unique in the catalogue.
    who
        The party that must change something.
    what
        The change, as an instruction.
    changes
        New values of the scenario's dotted keys; the value None removes a key.
    text
        The exact commands, settings or code.
    rollback
        The commands or instructions that restore the previous state.
    price
        What the fix costs even if it works.
    risk
        How the fix may go wrong.
    effort
        The order among fixes of the same party; a fix with a lower value is less intrusive.
    pieces
        The number of blocks with the fix into which one block without the fix is divided.
    """

    name: str
    who: Who
    what: str
    changes: Mapping[str, object]
    text: str
    rollback: str
    price: str
    risk: str
    effort: int = 0
    pieces: int = 1
