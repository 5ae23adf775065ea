"""A fix: a change that a user can make today, as a simulation and as text."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Who(StrEnum):
    """Who must change, the cheapest first."""

    APPLICATION = "application"
    CLIENT = "client host"
    SERVERS = "server hosts"
    SWITCH = "switch"

    @property
    def rank(self) -> int:
        """Its place in the order of prices."""
        return list(Who).index(self)


@dataclass(frozen=True)
class Fix:
    """One change with its values.

    Parameters
    ----------
    name
        A short name, unique in the catalogue.
    who
        Who must change.
    what
        The change, as an instruction.
    changes
        Dotted keys of the scenario to their new values; None removes a key.
    text
        The exact text: commands, settings or code.
    rollback
        What restores the state before.
    price
        What it costs even if it works.
    risk
        How it may go wrong.
    effort
        Its order among fixes of the same party: a lower value is less intrusive.
    pieces
        The number of blocks of a run with it that make one block without it.
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
