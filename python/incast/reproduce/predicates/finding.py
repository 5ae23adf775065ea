"""The result of a predicate, and its inputs."""

from dataclasses import dataclass
from typing import Protocol

from incast.reproduce.data import Curves, Unjudged

__all__ = ["Finding", "Predicate", "Unjudged"]


@dataclass(frozen=True)
class Finding:
    """Whether a claim holds, and by which numbers.

    Parameters
    ----------
    holds
        The answer.
    measured
        The numbers, for the eye.
    """

    holds: bool
    measured: str


class Predicate(Protocol):
    """A statement about curves: a dataclass, whose fields are keys of a claim."""

    def series(self) -> set[str]:
        """Return the labels of the curves that it is about."""

    def judge(self, curves: Curves) -> Finding:
        """Say whether it holds.

        Raises
        ------
        Unjudged
            Its runs do not exist.
        """
