"""The runs that a figure needs, and its curves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from incast.errors import FigureError
from incast.reproduce import metrics
from incast.reproduce.data import Curve, Curves, X
from incast.reproduce.figure import Figure, Search, Series
from incast.reproduce.late import Found, find
from incast.reproduce.metrics import all_metrics
from incast.reproduce.papers import Chosen, merged
from incast.reproduce.strict import choose
from incast.reproduce.theory import answers, answers_to_runs, computed
from incast.results import Results
from incast.results.archive import Archive
from incast.results.frames import KEY
from incast.results.traces import KINDS
from incast.scenario import Scenario
from incast.scenario.plan import Job, Plan, Point


@dataclass(frozen=True)
class Need:
    """One curve and its runs.

    Parameters
    ----------
    series
        The curve.
    points
        The scenario at each point of the axis, checked by the core.
    jobs
        The runs; empty for a model.
    traces
        The traces of the runs.
    """

    series: Series
    points: list[Point]
    jobs: list[Job]
    traces: tuple[str, ...]


@dataclass(frozen=True)
class Work:
    """A figure, and everything that must be run for it.

    Parameters
    ----------
    chosen
        The figure.
    xs
        The points of the axis.
    needs
        The curves of the figure.
    """

    chosen: Chosen
    xs: list[X]
    needs: list[Need]

    @property
    def figure(self) -> Figure:
        """The figure."""
        return self.chosen.figure

    def jobs(self) -> list[Job]:
        """Return the runs of all curves."""
        return [job for need in self.needs for job in need.jobs]


def lay_out(chosen: Chosen, *, quick: bool) -> Work:
    """Return the runs that a figure needs; the core checks every scenario.

    Raises
    ------
    FigureError
        The core refuses the scenario of a series, or a name is unknown.
    """
    figure, base = chosen.figure, chosen.paper.base
    xs: list[X] = list(figure.x.values.of(quick)) if figure.x is not None else [0]
    if figure.search is not None:
        seeds = figure.search.seeds
    else:
        seeds = (figure.seeds or base.seeds).of(quick)
    trace = figure.plot.trace if figure.plot else ""
    if trace:
        choose(trace, KINDS, f"{chosen.name}: plot: trace")
    scenario = _scenario(chosen, quick=quick).override("run.seeds", int(seeds))
    measured = {series.measured for series in figure.series}
    needs = []
    for series in figure.series:
        traces = [trace] * bool(trace) + ["events"] * (series.label in measured)
        traces += figure.search.traces if figure.search is not None else ()
        points, jobs = _points(chosen, series, xs, scenario)
        needs.append(Need(series, points, jobs, tuple(dict.fromkeys(traces))))
    return Work(chosen, xs, needs)


def _scenario(chosen: Chosen, *, quick: bool) -> Scenario:
    """Return the text's scenario with the changes of the figure, and of `quick`."""
    figure, base = chosen.figure, chosen.paper.base
    under = _with(Scenario(base.scenario), base.quick if quick else {})
    whole = Scenario({"title": chosen.name, **merged(under.document, figure.scenario)})
    return _with(whole, figure.quick if quick else {})


def _with(scenario: Scenario, changes: Mapping[str, object]) -> Scenario:
    for key, value in changes.items():
        scenario = scenario.override(key, value)
    return scenario


def _points(
    chosen: Chosen, series: Series, xs: list[X], scenario: Scenario
) -> tuple[list[Point], list[Job]]:
    """Return the points of a curve, checked by the core, and their runs."""
    figure = chosen.figure
    where = f"{chosen.name}: {series.label}"
    try:
        swept = _with(scenario, series.set)
        if figure.x is not None:
            swept = swept.override(f"sweep.{figure.x.key}", xs)
        plan = swept.plan
    except ValueError as error:  # the core's error is one line; name the curve before it
        raise FigureError(f"{where}: {error}") from None
    if len(plan.points) != len(xs):
        raise FigureError(f"{where}: {len(plan.points)} points; only the axis may be swept")
    points = [replace(point, swept={}) for point in plan.points]
    jobs = list(Plan(points, plan.seeds, plan.engine).jobs()) if series.simulated else []
    return points, jobs


def curves(work: Work, store: Archive) -> Curves:
    """Return the curves of a figure; the runs of the figure must have finished."""
    figure = work.figure
    metric = None
    if figure.plot is not None and not figure.plot.trace:
        metric = choose(figure.plot.y, all_metrics(), f"{work.chosen.name}: plot: y")
    found = {}
    for need in work.needs:
        theory = not need.series.simulated
        curve = _theory(work, need, store) if theory else _runs(work, need, store)
        if curve is not None:
            found[need.series.label] = curve
    plot = figure.plot
    table = KINDS[plot.trace].table if plot is not None and plot.trace else ""
    only = plot.only if plot is not None else {}
    sought = figure.search.seeds if figure.search is not None else 0
    return Curves(found, metric, figure.stat, table, only, sought=sought)


def find_seed(work: Work, need: Need, store: Archive) -> int | None:
    """Return the first seed whose run meets the conditions of the search."""
    search = work.figure.search
    if search is None:
        raise FigureError(f"{work.chosen.name}: has no search")
    if search.metric is None:
        return next((job.seed for job in need.jobs if _late(search, job, store)), None)
    rows = _rows(need, need.jobs, store).sort("seed")
    values = metrics.of(rows, search.metric.metric, need.series.label)
    fits = values.is_between(search.least, search.most)
    seeds = rows.filter(fits)["seed"]
    return int(seeds[0]) if len(seeds) else None


def _late(search: Search, job: Job, store: Archive) -> Found | None:
    events = store.trace(KINDS["events"].table, job)
    return find(events, search.late) if search.late is not None and events is not None else None


def _runs(work: Work, need: Need, store: Archive) -> Curve | None:
    """Return the curve of the runs.

    Return None if no run meets the conditions of a timeline's search.
    """
    jobs: Sequence[Job] = need.jobs
    measures: Mapping[str, float] = {}
    if work.figure.search is not None:
        seed = find_seed(work, need, store)
        jobs = [job for job in jobs if job.seed == seed]
        if not jobs:
            return None
        late = _late(work.figure.search, jobs[0], store)
        measures = late.measures if late is not None else {}

    def traces(table: str) -> list[pl.DataFrame]:
        found = (store.trace(table, job) for job in jobs)
        return [frame for frame in found if frame is not None]

    rows = _rows(need, jobs, store).with_columns(
        pl.lit(value).alias(name) for name, value in measures.items()
    )
    return Curve(need.series.label, work.xs, rows, traces if need.traces else None)


def _rows(need: Need, jobs: Sequence[Job], store: Archive) -> pl.DataFrame:
    """Return the rows of runs, with `x` (the index of the point) and the columns of `about`."""
    rows = store.rows(jobs)
    if rows is None:
        raise FigureError(f"{need.series.label}: no run has finished")
    asked = pl.DataFrame(
        {"x": [job.index for job in jobs], KEY: [job.key for job in jobs]},
        schema={"x": pl.Int64, KEY: pl.String},
    )
    rows = asked.join(rows, on=KEY, how="inner", maintain_order="left_right").drop(KEY)
    meant = rows.filter(pl.col("group") == need.series.group)
    if meant.is_empty():
        groups = ", ".join(sorted(rows["group"].unique()))
        label = need.series.label
        raise FigureError(f"{label}: there is no group {need.series.group!r}; choose from {groups}")
    return meant.join(about(need.points), on="x", how="left")


def about(points: Sequence[Point]) -> pl.DataFrame:
    """Return the properties of points that metrics need: `x`, `servers` and `line_rate_bps`."""
    here = [point.here for point in points]
    return pl.DataFrame(
        {
            "x": range(len(points)),
            "servers": [one.servers for one in here],
            "line_rate_bps": [one.line_rate for one in here],
        }
    )


def _theory(work: Work, need: Need, store: Archive) -> Curve:
    series, points = need.series, need.points
    if series.answer:
        plot = work.figure.plot
        rows = computed(series.answer, work.xs, plot.y if plot else "", series.label)
    elif series.measured:
        (other,) = (one for one in work.needs if one.series.label == series.measured)
        points = other.points
        rows = answers_to_runs(series.model, _results(work, other, store), series.label)
    else:
        rows = answers(series.model, points, series.label)
    rows = rows.join(about(points), on="x", how="left")
    return Curve(series.label, work.xs, rows, theory=True)


def _results(work: Work, need: Need, store: Archive) -> Results:
    """Return the runs of a curve as results of a sweep of the figure's axis."""
    key = work.figure.x.key if work.figure.x is not None else ""
    points = [
        replace(point, swept={key: x} if key else {})
        for x, point in zip(work.xs, need.points, strict=True)
    ]
    seeds = sorted({job.seed for job in need.jobs})
    return Results(Plan(points, seeds, need.jobs[0].engine), store)
