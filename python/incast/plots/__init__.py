"""Pictures of results: one module per kind, and the list of all kinds."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING

from incast.errors import ResultsError

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from incast.models.theory import Theory
    from incast.results import Results

__all__ = ["KINDS", "Kind", "Moment", "Picture", "Plots", "find"]


@dataclass(frozen=True)
class Moment:
    """The part of the results that a picture shows.

    Parameters
    ----------
    where
        Swept values. The picture shows only points with these values, by default all points. Among
        these points, a picture of a trace shows the point with the lowest goodput.
    seed
        The seed of a trace; by default the first seed.
    block
        The block of a trace. By default a swimlane shows the longest block, and other pictures show
        the whole run.
    group
        The group whose rows are drawn: `all`, which is the read, or the name of a group, e.g.
        `background.0.cbr`.
    across, up
        The swept keys on the axes of a heatmap; by default the servers, and the first other key.
    theory
        Predictions of models for the plan, which some pictures draw with the results.
    real
        The summary of the same plan on real hosts, which some pictures draw with the results.

    Raises
    ------
    ResultsError
        A value has a wrong type.
    """

    where: Mapping[str, object] = field(default_factory=dict)
    seed: int | None = None
    block: int | None = None
    group: str = "all"
    across: str | None = None
    up: str | None = None
    theory: "Theory | None" = None
    real: "pl.DataFrame | None" = None

    def __post_init__(self) -> None:
        if not isinstance(self.where, Mapping):
            raise ResultsError(
                f"where: must be values of swept keys, e.g. {{'workload.servers': 8}}, "
                f"not {self.where!r}"
            )
        for name in ("seed", "block"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or value < 0):
                raise ResultsError(f"{name}: must be a whole number of at least 0, not {value!r}")


@dataclass(frozen=True)
class Picture:
    """A figure and the numbers in it.

    Parameters
    ----------
    figure
        The figure.
    data
        The numbers that are drawn.
    """

    figure: "Figure"
    data: "pl.DataFrame"

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        """Return the figure and its size, for notebooks."""
        from incast.plots.sheet import shown

        return shown(self.figure)


@dataclass(frozen=True)
class Kind:
    """One kind of picture, drawn by the module of the same name in this package.

    Parameters
    ----------
    name
        The name that users give.
    summary
        The content of the picture, in one line.
    traces
        The traces that the picture needs.
    chosen
        The fields of `Moment` that the picture uses besides `where` and `group`.
    """

    name: str
    summary: str
    traces: tuple[str, ...] = ()
    chosen: tuple[str, ...] = ()

    def check(self, moment: Moment) -> None:
        """Refuse a choice that this kind does not use.

        Raises
        ------
        ResultsError
            The moment has a choice that this kind does not use.
        """
        for name in ("seed", "block", "across", "up", "theory"):
            if name not in self.chosen and getattr(moment, name) is not None:
                shows = "one run" if self.traces else "all runs"
                raise ResultsError(f"{name}: cannot be given, because {self.name} shows {shows}")

    def draw(self, results: "Results", moment: Moment = Moment()) -> Picture:
        """Draw a picture of this kind.

        Raises
        ------
        ResultsError
            There is nothing to draw: a trace that the kind needs was not recorded, there is no such
            run, block or group, or no run finished.
        """
        from matplotlib import rc_context

        from incast.plots.sheet import RC

        results.check_group(moment.group)
        draw: Callable[[Results, Moment], Picture] = import_module(f"{__name__}.{self.name}").draw
        with rc_context(RC):
            return draw(results, moment)


_RUN = ("seed", "block")

KINDS = {
    kind.name: kind
    for kind in (
        Kind(
            "goodput",
            "goodput against the swept key, with the line rate",
            chosen=("theory",),
        ),
        Kind(
            "heatmap",
            "goodput over two swept keys as shades and numbers, with the border of the collapse",
            chosen=("across", "up"),
        ),
        Kind(
            "ranking", "goodput of each curve as a row of shades, with the most robust curve on top"
        ),
        Kind("completion", "completion time of a block: median and 99th percentile"),
        Kind("cdf", "distribution of the completion times of all blocks"),
        Kind("timeouts", "timeouts per block, and the share of every cause"),
        Kind(
            "queue", "the queue at the switch port towards the client, over time", ("queue",), _RUN
        ),
        Kind("cwnd", "congestion windows of the slowest flows, over time", ("cwnd",), _RUN),
        Kind(
            "swimlane",
            "one round of the read: which servers stalled, and when the link was idle",
            ("events",),
            _RUN,
        ),
    )
}


def find(name: str) -> Kind:
    """Return the kind of picture called `name`.

    Raises
    ------
    ResultsError
        There is no such kind. The message lists the existing kinds.
    """
    if name not in KINDS:
        raise ResultsError(f"--kind: there is no picture {name!r}; choose from {', '.join(KINDS)}")
    return KINDS[name]


class Plots:
    """The pictures of some results: `plots.goodput()`, `plots.swimlane(block=3)` and so on.

    Each method takes the fields of `Moment` by their names and returns a matplotlib figure, which
    notebooks show.

    Parameters
    ----------
    results
        The results that are drawn.
    """

    def __init__(self, results: "Results") -> None:
        self._results = results

    def __getattr__(self, name: str) -> "Method":
        if name not in KINDS:
            raise AttributeError(f"there is no picture {name!r}; choose from {', '.join(KINDS)}")
        return Method(KINDS[name], self._results)

    def __dir__(self) -> list[str]:
        return list(KINDS)


class Method:
    """A kind of picture as a method of `Plots`.

    Parameters
    ----------
    kind
        The kind of picture.
    results
        The results.
    """

    def __init__(self, kind: Kind, results: "Results") -> None:
        self._kind, self._results = kind, results
        self.__doc__ = f"Draw {kind.summary}."

    def __repr__(self) -> str:
        return f"<{self._kind.name}: {self._kind.summary}>"

    def __call__(
        self,
        *,
        where: Mapping[str, object] | None = None,
        seed: int | None = None,
        block: int | None = None,
        group: str = "all",
        across: str | None = None,
        up: str | None = None,
        theory: "Theory | None" = None,
    ) -> "Figure":
        """Draw the picture.

        Parameters
        ----------
        where, seed, block, group, across, up, theory
            See `Moment`.

        Raises
        ------
        ResultsError
            There is nothing to draw, or this kind of picture does not use one of the arguments.
        """
        where = {} if where is None else where
        moment = Moment(where, seed, block, group, across, up, theory)
        self._kind.check(moment)
        return self._kind.draw(self._results, moment).figure
