"""What is known of an application: its throttles, as fan-in and as bytes per server."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from incast.advise.words import Words

Changes = Mapping[str, object]


@dataclass(frozen=True)
class Throttle:
    """A setting that bounds how much is requested at a time.

    Parameters
    ----------
    means
        What it means for a read.
    changes
        From its value to keys of a scenario.
    """

    means: str
    changes: Callable[[int], Changes]


@dataclass(frozen=True)
class App:
    """An application.

    Parameters
    ----------
    name
        Its name.
    limit
        How it is told to have at most so many answers under way; None if it has no such setting.
    throttles
        Its settings, by their names.
    """

    name: str
    limit: Callable[[int], Words] | None
    throttles: Mapping[str, Throttle]


def at_once(count: int) -> Changes:
    """Return the keys for at most so many answers under way."""
    return {"transport.remedies": [{"name": "batching", "n": count, "refill": "each"}]}
