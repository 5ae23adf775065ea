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
    """A setting that `--quick` reduces.

    Parameters
    ----------
    full, quick
        The number of seeds, or the list of points, in a full run and in a run with `--quick`.
    """

    full: Any
    quick: Any

    @classmethod
    def from_toml(cls, value: object, where: str) -> "Amount":
        """Take a table with `full` and `quick`, or one value for both."""
        return take(cls, value, where) if isinstance(value, Mapping) else cls(value, value)

    def of(self, quick: bool) -> Any:  # noqa: ANN401 (a number or a list)
        """Return the value for a full or a quick run."""
        return self.quick if quick else self.full


@dataclass(frozen=True)
class Axis:
    """The horizontal axis.

    Parameters
    ----------
    key
        The dotted key that is swept.
    values
        Values of the key, in order.
    label
        Name of the axis; by default derived from the key.
    """

    key: str
    values: Amount
    label: str = ""


@dataclass(frozen=True)
class ReferenceCurve:
    """The source of another simulator's data for a curve.

    Parameters
    ----------
    file
        A CSV file in the folder that the text's `base.toml` names.
    where
        Conditions for the rows of the file: a value for each column.
    """

    file: str
    where: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Series:
    """One curve.

    Parameters
    ----------
    label
        Name of the curve in the legend and in claims.
    set
        Dotted keys of the scenario and their values.
    model
        The model that replaces the simulator: a name from `incast list models`.
    answer
        A function of `incast.models`, given in place of `model`, as a table with the keys
        `function`, `with`, `part` and `times`. A string in `with` is a formula of `x`, the point.
    measured
        Label of the curve whose runs give the model its parameters, if the model needs parameters.
        With `measured`, the model is evaluated for the scenario of each run of that curve.
    group
        Rows of the runs that are used: `all` for the totals, or the name of a group of flows.
    reference
        Another simulator's data for the same curve.
    printed
        For a map: the lowest and the highest value that the text allows.
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
        """Whether the points of the curve are runs."""
        return not self.model and not self.answer


@dataclass(frozen=True)
class Plot:
    """The contents and looks of the picture.

    Parameters
    ----------
    y
        The metric of the vertical axis; for a histogram, a timeline or a history, a column of the
        trace.
    beside
        Further columns of a timeline or a history.
    label
        Name of the vertical axis; by default derived from the metric.
    xscale, yscale
        `linear` or `log`.
    ylim
        The ends of the vertical axis.
    trace
        The trace of a histogram, a timeline or a history: `events`, `cwnd` or `queue`.
    only
        Conditions for the rows of the trace: a value, or a list of values, for each column.
    scale
        Factor by which the trace's column is multiplied.
    bins
        The edges of a histogram's bins.
    span
        The start and end of a timeline in seconds; by default the whole run.
    lines
        Number of lines in a timeline. The timeline shows the lines with the largest variation.
    relative
        Whether gains are in percent of the first curve.
    marks
        A column of a timeline's trace that counts events. The picture has a mark at each increase.
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
    """An order of curves that the text states; a strip of the picture shows where the runs agree.

    Parameters
    ----------
    above
        Labels of the curves, the highest first.
    start, end
        The first and the last point for which the text states the order (`from` and `to` in a
        figure).
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
        Bounds of the metric.
    late
        In place of a metric: blocks that wait for a single sender. The picture then shows these
        blocks.
    seeds
        Number of seeds that are tried.
    """

    metric: Named | None = None
    least: float = float("-inf")
    most: float = float("inf")
    late: Late | None = None
    seeds: int = 20

    @classmethod
    def from_toml(cls, value: object, where: str) -> "Search":
        """Take a table with either `metric` or `late`."""
        search = take(cls, value, where)
        if (search.metric is None) == (search.late is None):
            raise FigureError(f"{where}: must have exactly one of metric and late")
        return search

    @property
    def traces(self) -> tuple[str, ...]:
        """The traces that the search needs."""
        return ("events",) if self.late is not None else ()


@dataclass(frozen=True)
class Claim:
    """A claim of the text about the figure.

    Parameters
    ----------
    id
        Name of the claim, unique in the text.
    says
        The statement, in one sentence.
    kind
        `number`, `trend` or `arithmetic`. No run can change a claim of the kind `arithmetic`.
    predicate
        Name of the predicate that is checked, by default `compare`. The predicate's keys are in the
        same table.
    impossible
        Why the claim cannot hold: because of arithmetic, or because of a contradicting claim.
    unjudged
        Why the claim is not judged.
    reading_of
        The claim that this claim repeats under another reading of the text. The two claims count as
        one.
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
        """Take a table with the keys of a claim and the keys of its predicate `test`."""
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
        Title of the figure.
    kind
        Kind of the picture: the name of a module in `incast.reproduce.draw`, or `claims` for no
        picture.
    scenario
        Keys that differ from the scenario of the text.
    x
        The horizontal axis; omitted for a single point.
    seeds
        Number of seeds; by default the text's number.
    series
        The curves.
    plot
        The contents and looks of the picture.
    claims
        The text's claims about the figure.
    assumptions
        Parameters that the text omits, and the values chosen instead.
    search
        For a timeline: the search for the run that is shown.
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
    """The `base.toml` of a text, which all figures of the text share.

    Parameters
    ----------
    title
        Title of the text.
    seeds
        Number of seeds of a figure.
    scenario
        The parameters that the figures share.
    assumptions
        Parameters that the text omits for all figures, and the values chosen instead.
    quick
        Dotted keys of the scenario, and their values in a run with `--quick`.
    reference
        The folder of another simulator's data, relative to the text's folder. In this folder, the
        file `figures_TEXT.csv` has rows with the name of a figure and the label of a curve. Each
        row is drawn with the curve of its label.
    """

    title: str
    seeds: Amount
    scenario: dict[str, Any] = field(default_factory=dict)
    assumptions: list[str] = field(default_factory=list)
    quick: dict[str, Any] = field(default_factory=dict)
    reference: str = ""
