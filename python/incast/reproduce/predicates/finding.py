"""The interface of predicates, and their result."""

from dataclasses import dataclass
from typing import Protocol

from incast.reproduce.data import Curves, Unjudged

__all__ = ["Finding", "Predicate", "Unjudged"]


@dataclass(frozen=True)
class Finding:
    """Whether a claim holds, and the numbers that decide this.

    Parameters
    ----------
    holds
        Whether the claim holds.
    measured
        The numbers, for readers.
    """

    holds: bool
    measured: str


class Predicate(Protocol):
    """A statement about curves: a dataclass, whose fields are keys of a claim."""

    def series(self) -> set[str]:
        """Return the labels of the curves that the statement is about."""

    def judge(self, curves: Curves) -> Finding:
        """Return whether the statement holds.

        Raises
        ------
        Unjudged
            The runs of the statement do not exist.
        """
