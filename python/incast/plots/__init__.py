"""Pictures of results: one file per kind, and the one list of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING

from incast.errors import ResultsError

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from incast.results import Results

__all__ = ["KINDS", "Kind", "Moment", "Picture", "Plots", "find"]


@dataclass(frozen=True)
class Moment:
    """Which run, and which part of it, a picture of a trace shows.

    Parameters
    ----------
    where
        Swept values of the point; by default the point with the lowest goodput.
    seed
        By default the first.
    block
        By default the longest for a swimlane, and the whole run elsewhere.
    """

    where: Mapping[str, object] = field(default_factory=dict)
    seed: int | None = None
    block: int | None = None


@dataclass(frozen=True)
class Picture:
    """A figure and the numbers in it.

    Parameters
    ----------
    figure
        What is seen.
    data
        What is drawn.
    """

    figure: "Figure"
    data: "pl.DataFrame"


@dataclass(frozen=True)
class Kind:
    """One kind of picture, drawn by the module of its name in this package.

    Parameters
    ----------
    name
        What the user asks for.
    summary
        What it shows, in one line.
    traces
        The traces without which it cannot be drawn.
    """

    name: str
    summary: str
    traces: tuple[str, ...] = ()

    def draw(self, results: "Results", moment: Moment = Moment()) -> Picture:
        """Draw it.

        Raises
        ------
        ResultsError
            A trace that it needs was not recorded, or there is no such run or block.
        """
        from matplotlib import rc_context

        from incast.plots.style import RC

        draw: Callable[[Results, Moment], Picture] = import_module(f"{__name__}.{self.name}").draw
        with rc_context(RC):
            return draw(results, moment)


KINDS = {
    kind.name: kind
    for kind in (
        Kind("goodput", "goodput against the swept key, with the line rate"),
        Kind("ranking", "goodput of every curve as a row of shades, the longest-lasting on top"),
        Kind("completion", "completion time of a block: median and 99th percentile"),
        Kind("timeouts", "timeouts per block, stacked by cause"),
        Kind("queue", "the switch queue towards the client, over time", ("queue",)),
        Kind("cwnd", "congestion windows of the slowest flows, over time", ("cwnd",)),
        Kind("swimlane", "one round of the read: who stalled, and the idle link", ("events",)),
    )
}


def find(name: str) -> Kind:
    """Return the kind of picture called `name`.

    Raises
    ------
    ResultsError
        There is none; those that exist are in the message.
    """
    if name not in KINDS:
        raise ResultsError(f"--kind: there is no picture {name!r}; choose from {', '.join(KINDS)}")
    return KINDS[name]


class Plots:
    """The pictures of some results: `plots.goodput()`, `plots.swimlane(block=3)` and so on.

    Each method takes the fields of `Moment` and returns a matplotlib figure.

    Parameters
    ----------
    results
        What is drawn.
    """

    def __init__(self, results: "Results") -> None:
        self._results = results

    def __getattr__(self, name: str) -> "Callable[..., Figure]":
        if name not in KINDS:
            raise AttributeError(f"no picture {name!r}; there are {', '.join(KINDS)}")
        return lambda **moment: KINDS[name].draw(self._results, Moment(**moment)).figure

    def __dir__(self) -> list[str]:
        return list(KINDS)
