"""A figure of the literature as data: its runs, pictures and claims."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from incast.errors import FigureError
from incast.reproduce.late import Late
from incast.reproduce.metrics import Named
from incast.reproduce.predicates import PREDICATES, Predicate
from incast.reproduce.strict import choose, take

Value = int | float | str


@dataclass(frozen=True)
class Amount:
    """A setting that a quick look reduces.

    Parameters
    ----------
    full, quick
        For a number of seeds: how many. For points: which.
    """

    full: Any
    quick: Any

    @classmethod
    def from_toml(cls, value: object, where: str) -> "Amount":
        """Take a table of the two, or one value for both."""
        return take(cls, value, where) if isinstance(value, Mapping) else cls(value, value)

    def of(self, quick: bool) -> Any:  # noqa: ANN401 (a number or a list)
        """Return the one or the other."""
        return self.quick if quick else self.full


@dataclass(frozen=True)
class Axis:
    """The horizontal axis.

    Parameters
    ----------
    key
        The dotted key that is swept.
    values
        Its values, in order.
    label
        Name of the axis; by default from the key.
    """

    key: str
    values: Amount
    label: str = ""


@dataclass(frozen=True)
class ReferenceCurve:
    """The place of another simulator's data for a curve.

    Parameters
    ----------
    file
        A CSV file in the folder that the text's `base.toml` names.
    where
        Which of its rows: column to value.
    """

    file: str
    where: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Series:
    """One curve.

    Parameters
    ----------
    label
        Its name in the legend and in claims.
    set
        Dotted keys of the scenario and their values.
    model
        The model that replaces the simulator: a name from `incast list models`.
    answer
        Instead of a model of a scenario: a function of `incast.models`, with the keys `function`,
        `with`, `part` and `times` of a claim's number; a text among the keywords is a formula of
        `x`, the point.
    measured
        The label of the curve whose runs give the model its parameters, if it needs any; the model
        is then evaluated for the scenario of each of these runs.
    group
        Which rows of the runs are used: `all` for the totals, or the name of a group of flows.
    reference
        Another simulator's data of the same curve.
    printed
        Of a map: the lowest and the highest value that the text's sentence allows.
    """

    label: str
    set: dict[str, Any] = field(default_factory=dict)
    model: str = ""
    answer: dict[str, Any] = field(default_factory=dict)
    measured: str = ""
    group: str = "all"
    reference: ReferenceCurve | None = None
    printed: list[float] = field(default_factory=list)

    @property
    def simulated(self) -> bool:
        """Whether its points are runs."""
        return not self.model and not self.answer


@dataclass(frozen=True)
class Plot:
    """How it looks.

    Parameters
    ----------
    y
        The metric of the vertical axis; for a histogram, a timeline or a history, a column of the
        trace.
    beside
        Further columns of a timeline or a history.
    label
        Name of the vertical axis; by default from the metric.
    xscale, yscale
        `linear` or `log`.
    ylim
        The ends of the vertical axis.
    trace
        The trace of a histogram, a timeline or a history: `events`, `cwnd` or `queue`.
    only
        Which rows of the trace: column to value, or to a list of values.
    scale
        Factor of the trace's column.
    bins
        The edges of a histogram's bins.
    span
        The start and end of a timeline in seconds; by default the whole run.
    lines
        How many lines a timeline shows: those with the largest variation.
    relative
        Whether gains are in percent of the first curve.
    marks
        A counter among the columns of a timeline's trace; the picture has a mark where it
        increases.
    names
        The names of the trace's columns in the legend.
    """

    y: str
    beside: list[str] = field(default_factory=list)
    label: str = ""
    xscale: Literal["linear", "log"] = "linear"
    yscale: Literal["linear", "log"] = "linear"
    ylim: list[float] | None = None
    trace: str = ""
    only: dict[str, Any] = field(default_factory=dict)
    scale: float = 1.0
    bins: list[float] | None = None
    span: list[float] | None = None
    lines: int = 3
    relative: bool = False
    marks: str = ""
    names: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Described:
    """A statement of the text about the picture.

    Parameters
    ----------
    curve
        The curve; empty for the whole picture.
    says
        The statement.
    """

    curve: str
    says: str


@dataclass(frozen=True)
class Order:
    """An order of curves in the text; a strip of the picture shows where the runs agree.

    Parameters
    ----------
    above
        Labels, the highest first.
    start, end
        The first and the last point for which the text states it (`from` and `to` in a figure).
    """

    above: list[str]
    start: float | None = field(default=None, metadata={"key": "from"})
    end: float | None = field(default=None, metadata={"key": "to"})


@dataclass(frozen=True)
class Search:
    """The run that a timeline shows: the first seed that meets the conditions.

    Parameters
    ----------
    metric
        A metric of the run.
    least, most
        Its bounds.
    late
        Instead of a metric: blocks that wait for a single sender; the picture then shows these
        blocks.
    seeds
        How many seeds are tried.
    """

    metric: Named | None = None
    least: float = float("-inf")
    most: float = float("inf")
    late: Late | None = None
    seeds: int = 20

    @classmethod
    def from_toml(cls, value: object, where: str) -> "Search":
        """Take a table with one of the two."""
        search = take(cls, value, where)
        if (search.metric is None) == (search.late is None):
            raise FigureError(f"{where}: give one of metric and late")
        return search

    @property
    def traces(self) -> tuple[str, ...]:
        """The traces without which nothing is found."""
        return ("events",) if self.late is not None else ()


@dataclass(frozen=True)
class Claim:
    """A claim of the text about the figure.

    Parameters
    ----------
    id
        Its name, unique in the text.
    says
        The statement, in one sentence.
    kind
        `number`, `trend`, or `arithmetic`, which no run can change.
    predicate
        What is checked: the name of a predicate (by default `compare`); its keys are in the same
        table.
    impossible
        Why it cannot hold, by arithmetic or because another claim contradicts it.
    unjudged
        Why it is not judged.
    reading_of
        The claim that this one repeats under another reading of the text; the two count as one.
    """

    id: str
    says: str
    kind: Literal["number", "trend", "arithmetic"]
    predicate: Predicate | None = field(metadata={"key": "test"})
    impossible: str = ""
    unjudged: str = ""
    reading_of: str = ""

    @classmethod
    def from_toml(cls, value: object, where: str) -> "Claim":
        """Take a table: the keys of a claim, and those of its predicate `test`."""
        if not isinstance(value, Mapping):
            return take(cls, value, where)
        name = str(value.get("id", "?"))
        where = f"{where}, {name}"
        common = {key: value[key] for key in _COMMON if key in value}
        own = {key: one for key, one in value.items() if key not in _COMMON and key != "test"}
        about = take(_About, common, where)
        predicate = None
        if own or not about.unjudged:
            kind = choose(value.get("test", "compare"), PREDICATES, f"{where}: test")
            build = getattr(kind, "from_toml", None)
            predicate = build(own, where) if build else take(kind, own, where)
        return cls(predicate=predicate, **vars(about))


@dataclass(frozen=True)
class _About:
    id: str
    says: str
    kind: Literal["number", "trend", "arithmetic"]
    impossible: str = ""
    unjudged: str = ""
    reading_of: str = ""


_COMMON = tuple(one.name for one in fields(_About))


@dataclass(frozen=True)
class Figure:
    """One figure of a text.

    Parameters
    ----------
    title
        What it shows.
    kind
        How it is drawn: the name of a module in `incast.reproduce.draw`; `claims` draws nothing.
    scenario
        What differs from the scenario of the text.
    x
        The horizontal axis; omitted for a single point.
    seeds
        How many seeds; by default those of the text.
    series
        The curves.
    plot
        How it looks.
    claims
        The text's claims about it.
    assumptions
        What the text omits, and the values chosen instead.
    search
        For a timeline: which run is shown.
    quick
        Dotted keys of the scenario, and their values in a run with `--quick`.
    stat
        The statistic over seeds that curves and claims use.
    described
        The text's statements about the picture, curve by curve.
    orders
        The text's orders of curves that no claim with `test = "ordered"` covers.
    """

    title: str
    kind: Literal["sweep", "bars", "gain", "map", "timeline", "history", "histogram", "claims"]
    scenario: dict[str, Any] = field(default_factory=dict)
    x: Axis | None = None
    seeds: Amount | None = None
    series: list[Series] = field(default_factory=list)
    plot: Plot | None = None
    claims: list[Claim] = field(default_factory=list)
    assumptions: list[str] = field(default_factory=list)
    search: Search | None = None
    quick: dict[str, Any] = field(default_factory=dict)
    stat: str = "mean"
    described: list[Described] = field(default_factory=list)
    orders: list[Order] = field(default_factory=list)


@dataclass(frozen=True)
class Base:
    """What all figures of a text share: its `base.toml`.

    Parameters
    ----------
    title
        The text.
    seeds
        How many seeds a figure has.
    scenario
        The parameters that its figures share.
    assumptions
        What the text omits for all figures, and the values chosen instead.
    quick
        Dotted keys of the scenario, and their values in a run with `--quick`.
    reference
        The folder of another simulator's data, relative to the text's folder. Rows of its
        `figures_TEXT.csv` with the name of a figure and the label of a curve are drawn beside that
        curve.
    """

    title: str
    seeds: Amount
    scenario: dict[str, Any] = field(default_factory=dict)
    assumptions: list[str] = field(default_factory=list)
    quick: dict[str, Any] = field(default_factory=dict)
    reference: str = ""
