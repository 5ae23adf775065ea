"""Exact contents of pictures: maps, rankings, shares, completion times and windows."""

from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from drawn import axes, boxes, named
from matplotlib.axes import Axes

import incast
from conftest import document
from incast.plots import completion, cwnd, heatmap, ranking, style, timeouts
from incast.results.causes import CAUSES
from incast.results.series import Series

# Heatmaps and rankings.


@pytest.mark.parametrize(
    ("share", "goodput", "shade", "text", "colour"),
    [
        (0.5, 4e8, 0.64, "400", "black"),
        (0.55, 4e8, 0.604, "400", "white"),
        (0.0, 0.0, 1.0, "0", "black"),
        (1.0, 8e8, 0.28, "800", "white"),
        (None, None, 1.0, None, ""),
    ],
)
def test_a_cell_is_darker_for_more_goodput(
    share: float | None, goodput: float | None, shade: float, text: str | None, colour: str
) -> None:
    one = axes()
    row = {"goodput_share": share, "goodput_bps": goodput}
    heatmap._cell(one, 2, 3, row, 1e6)
    assert boxes(one) == [(1.5, 2.5, 1, 1)]
    (box,) = one.patches
    assert box.get_facecolor()[:3] == pytest.approx((shade,) * 3)
    assert (box.get_hatch() or "") == ("" if share is not None else "////")
    assert (box.get_linewidth(), box.get_edgecolor()[0]) == (0.5, 0.8)
    assert [it.get_text() for it in one.texts] == ([] if text is None else [text])
    for it in one.texts:
        assert (it.get_color(), it.get_fontsize(), it.xy) == (colour, 8, (2, 3))  # type: ignore[attr-defined]
    heatmap._cell(none := axes(), 0, 0, row, None)
    assert not none.texts


def test_the_border_of_the_collapse_is_between_cells() -> None:
    cells: Any = {
        (x, y): {"collapsed": flag}
        for x, column in {2: [True, False], 4: [True, True], 8: [False, None]}.items()
        for y, flag in zip("ab", column, strict=True)
    }
    one = axes()
    heatmap._contour(one, cells, [2, 4, 8], ["a", "b"])
    dark = [line for line in one.get_lines() if line.get_color() == "#A01818"]
    found = {
        (tuple(map(float, line.get_xdata())), tuple(map(float, line.get_ydata()))) for line in dark
    }
    assert found == {
        ((-0.5, 0.5), (0.5, 0.5)),  # above (2, a)
        ((0.5, 0.5), (0.5, 1.5)),  # left of (4, b)
        ((1.5, 1.5), (-0.5, 0.5)),  # right of (4, a)
    }
    assert [line.get_linewidth() for line in one.get_lines()] == [4.4, 2.4] * 3
    assert {line.get_zorder() for line in one.get_lines()} == {3}


@pytest.mark.parametrize(
    ("flags", "label"),
    [
        ([True, True], "every point has collapsed"),
        ([False, False], "no point has collapsed"),
        ([True, False], "border of the collapse"),
        ([], None),
    ],
)
def test_without_a_border_the_side_is_named(flags: list[bool], label: str | None) -> None:
    said = heatmap._said(pl.Series(flags, dtype=pl.Boolean))
    assert [one.get_label() for one in said] == ([] if label is None else [label])


@pytest.mark.parametrize(
    ("value", "magnitude"),
    [
        (3, ("", 3.0)), ("5pkt", ("pkt", 5.0)), ("2KiB", ("", 2048.0)), ("2kB", ("", 2000.0)),
        ("1.5Gbps", ("bps", 1.5e9)), ("20us", ("s", pytest.approx(2e-5))), ("3µs", ("s", 3e-6)),
        ("70%", ("%", 70.0)), ("1e3", ("", 1000.0)), ("4MiB", ("", 4 * 2.0**20)),
        ("3TB", ("", 3e12)), ("2GiB", ("", 2.0**31)), ("5ns", ("s", 5e-9)), ("newreno", None),
    ],
)  # fmt: skip
def test_a_quantity_has_a_size(value: object, magnitude: object) -> None:
    assert heatmap._magnitude(value) == magnitude


@pytest.mark.parametrize(
    ("letters", "wide", "upright"), [(6, 1.4, False), (7, 1.4, True), (6, 1.3, True)]
)
def test_names_that_do_not_fit_are_upright(letters: int, wide: float, upright: bool) -> None:
    """Three names of six letters have 18 letters; 13 letters fit into an inch."""
    one = axes()
    heatmap._frame(one, ["x" * letters] * 3, [1, 2], wide)
    assert (one.get_xlim(), one.get_ylim()) == ((-0.5, 2.5), (-0.5, 1.5))
    assert {label.get_rotation() for label in one.get_xticklabels()} == {90 if upright else 0}
    labels = one.get_xticklabels() + one.get_yticklabels()
    assert {label.get_fontsize() for label in labels} == {8.5}
    assert not any(spine.get_visible() for spine in one.spines.values())


SWEPT = {"workload.servers": [2, 8, 32], "network.buffer": ["16KiB", "64KiB"]}


def test_maps_and_rankings_grow_with_what_they_show() -> None:
    results = incast.run(document(sweep=SWEPT, run={"seeds": 1}))
    figure = results.plot.heatmap()
    # Three cells of 0.62 inches are narrower than the minimum width.
    assert figure.get_size_inches().tolist() == pytest.approx([6.4, 1.9 + 2 * 0.34 + 0.5])
    three = results.plot.heatmap(across="workload.servers")
    assert three.axes[0].get_xlabel() == "servers"
    rows = results.plot.ranking()
    assert rows.get_size_inches().tolist() == pytest.approx([6.4, 3.3])
    (one,) = rows.axes
    assert (one.get_xlim(), one.get_ylim()) == ((-0.5, 2.5), (1.5, -0.5))
    swept = SWEPT | {"network.buffer": [f"{n}KiB" for n in (8, 16, 24, 32, 40, 48, 64)]}
    more = incast.run(document(sweep=swept | {"transport.rto_min": ["1ms", "10ms"]}))
    assert more.plot.ranking().get_size_inches().tolist() == pytest.approx([6.4, 1.5 + 14 * 0.29])
    panels = more.plot.heatmap(across="network.buffer", up="workload.servers")
    # Two panels side by side, each seven cells wide and three cells high.
    size = [1.4 + 2 * (7 * 0.62 + 0.3), 1.9 + 3 * 0.34 + 0.5]
    assert panels.get_size_inches().tolist() == pytest.approx(size)


@pytest.mark.parametrize(
    ("share", "bad", "shade", "colour", "weight"),
    [
        (0.5, False, 0.64, "black", "normal"),
        (0.55, True, 0.604, "white", "bold"),
        (1.2, False, 0.28, "white", "normal"),
    ],
)
def test_a_row_of_shades_has_numbers(
    share: float, bad: bool, shade: float, colour: str, weight: str
) -> None:
    one = axes()
    point = {"goodput_share": share, "goodput_bps": 3e8, "bad": bad}
    ranking._cell(one, 1, 2, point, 1e6)
    assert boxes(one) == [(0.51, 1.53, 0.98, 0.94)]
    (box,), text = one.patches, one.texts[0]
    assert box.get_facecolor()[:3] == pytest.approx((shade,) * 3)
    assert (box.get_linewidth(), box.get_edgecolor()[0]) == (0.5, 0.75)
    assert (text.get_text(), text.get_color(), text.get_fontweight()) == ("300", colour, weight)
    assert (text.get_fontsize(), text.xy) == (8.5, (1, 2))  # type: ignore[attr-defined]
    ranking._cell(none := axes(), 0, 0, point | {"goodput_bps": None}, 1e6)
    assert none.texts[0].get_text() == "–"


@pytest.mark.parametrize(
    ("shares", "lasts"),
    [([0.9, 0.5, 0.2], 1), ([0.9, 0.49, 0.5], 2), ([0.4, 0.1, 0.0], -1), ([0.5, 0.2, 0.1], 0)],
)
def test_a_curve_lasts_while_it_has_half_of_the_rate(shares: list[float], lasts: int) -> None:
    rows = pl.DataFrame({"n": [2, 4, 8], "goodput_share": shares})
    told = ranking._lasts(Series("", rows), "n", {2: 0, 4: 1, 8: 2})
    assert told == (lasts, pytest.approx(sum(shares) / 3))
    assert ranking._lasts(Series("", rows), None, {})[0] == 0


# Timeouts, completion times, windows.


def of_causes(first: list[int], second: list[int]) -> pl.DataFrame:
    names = list(CAUSES)
    columns: dict[str, Any] = {name: [0] * len(first) for name in names}
    columns[names[0]], columns[names[1]] = first, second
    columns["timeouts"] = [one + two for one, two in zip(first, second, strict=True)]
    return pl.DataFrame({"n": list(range(2, 2 + len(first))), **columns})


def test_shares_of_causes_are_stacked() -> None:
    one, names = axes(), list(CAUSES)
    series = Series("", of_causes([3, 0, 199], [1, 0, 1]))
    assert timeouts._shares(one, series, "n", 6.4) == {names[0], names[1]}
    assert boxes(one) == [
        (-0.39, 0, 0.78, 75), (1.61, 0, 0.78, 99.5), (-0.39, 75, 0.78, 25),
        (1.61, 99.5, 0.78, 0.5),
    ]  # fmt: skip
    assert {(bar.get_linewidth(), bar.get_edgecolor()[0]) for bar in one.patches} == {(0.4, 0.15)}
    (zero,) = one.texts
    assert (zero.get_position(), zero.get_text(), zero.get_fontsize()) == ((1, 8), "0", 8)
    assert (one.get_xlim(), one.get_ylim()) == ((-0.6, 2.6), (0, 100))
    rare = Series("", of_causes([990], [9]))
    assert timeouts._shares(axes(), rare, "n", 6.4) == {names[0]}
    seen = Series("", of_causes([990], [10]))
    assert timeouts._shares(axes(), seen, "n", 6.4) == {names[0], names[1]}


def test_timeouts_without_a_known_cause_have_a_question_mark() -> None:
    one = axes()
    rows = of_causes([0, 0], [0, 0]).with_columns(timeouts=pl.Series([0, 7]))
    assert timeouts._shares(one, Series("", rows), "n", 6.4) == set()
    assert [text.get_text() for text in one.texts] == ["0", "?"]


@pytest.mark.parametrize(
    ("width", "ticks"), [(3.0, list(range(12))), (2.0, [0, 2, 4, 6, 8, 10]), (1.0, [0, 3, 6, 9])]
)
def test_labels_of_bars_have_thirteen_letters_an_inch(width: float, ticks: list[int]) -> None:
    """Twelve labels, each with two digits and a gap, are as wide as 36 letters."""
    one = axes()
    rows = of_causes([1] * 12, [0] * 12).with_columns(n=pl.Series(range(10, 22)))
    timeouts._shares(one, Series("", rows), "n", width)
    assert list(one.get_xticks()) == ticks
    assert {label.get_rotation() for label in one.get_xticklabels()} == {0}


def counts(values: list[float | None]) -> Axes:
    one, count = axes(), len(values)
    columns = ("timeouts", "timeouts_ci95_low", "timeouts_ci95_high")
    summary = pl.DataFrame(
        {
            "point": list(range(count)), "n": list(range(2, 2 + count)), "ok": [1] * count,
            "timeouts": values, "timeouts_ci95_low": values, "timeouts_ci95_high": values,
        }, schema_overrides=dict.fromkeys(columns, pl.Float64),
    )  # fmt: skip
    timeouts._counts(one, summary, "timeouts", "n", [Series("", summary)])
    return one


@pytest.mark.parametrize(
    ("values", "least"), [([0.0, 5.0, 40.0], 1.0), ([0.03, 7.0], 0.01), ([100.0, 0.0], 100.0)]
)
def test_counts_are_logarithmic_from_the_decade_of_the_least(
    values: list[float | None], least: float
) -> None:
    one = counts(values)
    assert one.get_yscale() == "symlog"
    transform: Any = one.yaxis.get_transform()
    assert (transform.linthresh, transform.linscale) == (pytest.approx(least), 0.5)
    assert one.get_ylim()[0] == 0
    assert one.get_ylabel() == "timeouts per run"


def test_no_timeout_is_said() -> None:
    one = counts([0.0, 0.0])
    (text,) = one.texts
    assert (text.get_text(), text.get_position()) == ("no timeout", (0.5, 0.5))
    assert one.get_yscale() == "linear"


def test_causes_that_are_too_rare_are_named_in_one_line() -> None:
    figure, (one,) = style.sheet("", "")
    names = list(CAUSES)
    timeouts._legend(figure, one, of_causes([3], [1]), {names[0]})
    assert named(figure) == [CAUSES[names[0]], f"below 1 % everywhere: {CAUSES[names[1]]}"]


@pytest.mark.parametrize(
    ("limits", "shown", "labels"),
    [
        ((1.0, 9.0), (3 / 10**0.5, 3 * 10**0.5), [1, 2, 5]),
        ((1.0, 10.0), (1.0, 10.0), [1, 2, 5]),
        ((1.0, 99.0), (1.0, 99.0), [1, 2, 5]),
        ((1.0, 100.0), (1.0, 100.0), [1.0]),
    ],
)
def test_a_decade_of_times_is_shown_at_least(
    limits: tuple[float, float], shown: tuple[float, float], labels: list[float]
) -> None:
    one = axes()
    one.set_yscale("log")
    one.set_ylim(*limits)
    completion._decades(one)
    assert one.get_ylim() == pytest.approx(shown)
    assert list(one.yaxis.get_major_locator()._subs) == labels  # type: ignore[attr-defined]


def test_a_single_point_has_its_times_written() -> None:
    one = axes()
    summary = pl.DataFrame({"completion_p50_s": [0.002], "completion_p99_s": [None]})
    completion._of_one_point(one, summary)
    (text,) = one.texts
    assert (text.get_text(), text.xy) == ("2 ms", (0, 2.0))  # type: ignore[attr-defined]
    assert text.xyann == (9, 0)  # type: ignore[attr-defined]
    assert one.get_xlim() == (-0.6, 1.6)
    completion._of_one_point(both := axes(), summary.with_columns(completion_p99_s=pl.lit(0.2)))
    assert [it.xy for it in both.texts] == [(0, 2.0), (1, 200.0)]  # type: ignore[attr-defined]


def test_completion_has_the_time_at_line_rate_and_the_timer() -> None:
    results = incast.run(document(sweep={"workload.servers": [2, 8]}))
    figure = results.plot.completion()
    (one,) = figure.axes
    assert figure.get_size_inches().tolist() == [6.4, 4.2]
    dotted = [line for line in one.get_lines() if line.get_color() == style.GUIDE]
    ideal = [1e3 * results.resolved(point).ideal for point in (0, 1)]
    assert list(dotted[0].get_ydata()) == pytest.approx(ideal)
    assert {line.get_linewidth() for line in dotted} == {1.1}
    assert list(dotted[1].get_ydata()) == [10, 10]
    assert [text.get_text() for text in one.texts] == ["RTO min 10 ms"]
    late = [line for line in one.get_lines() if line.get_markerfacecolor() == "white"]
    assert {line.get_linewidth() for line in late} == {1.0}
    two = incast.run(document(sweep=SWEPT, run={"seeds": 1})).plot.completion()
    assert two.get_size_inches().tolist() == [9.4, 4.2]


def test_windows_are_in_segments_and_milliseconds() -> None:
    results = incast.run(document(run={"seeds": 1}), traces=["cwnd"])
    figure = results.plot.cwnd()
    assert len(figure.axes) == 4
    assert figure.get_size_inches().tolist() == pytest.approx([7.2, 1.4 + 4 * 1.25])
    (job,) = results.traces.find({})
    trace = results.traces.of("cwnd", job)
    top = trace["cwnd_max"].max() / 1460  # type: ignore[operator]
    for one in figure.axes:
        assert one.get_ylim() == pytest.approx((0, 1.12 * top))
        window, threshold = one.get_lines()[:2]
        assert (threshold.get_linestyle(), threshold.get_linewidth()) == ("--", 1.3)
        assert one.collections[0].get_alpha() == 0.3
        assert max(window.get_ydata()) <= top  # type: ignore[type-var]
        assert max(window.get_xdata()) == pytest.approx(  # type: ignore[type-var]
            1e3 * (trace["time_s"] + trace["bin_s"]).max()  # type: ignore[operator]
        )


def test_the_slowest_flows_are_those_with_the_last_change() -> None:
    results: Any = SimpleNamespace(traces=SimpleNamespace(has=lambda *_: False))
    trace = pl.DataFrame({"flow": [1, 2, 2, 3], "time_s": [5.0, 1.0, 7.0, 5.0]})
    job: Any = None
    assert cwnd._slowest(results, job, trace, None) == [2, 1, 3]
    assert cwnd._expiries(results, job, 0.0, 1.0) == []


def test_the_slowest_flows_are_those_that_took_longest() -> None:
    found = pl.DataFrame(
        {
            "time_s": [0.0, 3.0, 1.0, 2.0, 5.0, 5.5, 4.0, 5.5, 6.0],
            "kind": ["request", "flow_done"] * 3 + ["request", "timeout", "timeout"],
            "flow": [1, 1, 2, 2, 2, 2, 3, 1, 2], "block": [0, 0, 0, 0, 1, 1, 1, 1, 1],
        }
    )  # fmt: skip
    traces = SimpleNamespace(has=lambda *_: True, of=lambda *_: found)
    results: Any = SimpleNamespace(traces=traces)
    trace = pl.DataFrame({"flow": [1, 2, 3, 4], "time_s": [0.0] * 4})
    job: Any = None
    assert cwnd._slowest(results, job, trace, None) == [3, 1, 2, 4]
    assert cwnd._slowest(results, job, trace, 0) == [1, 2, 3, 4]
    assert cwnd._expiries(results, job, 5.5, 5.9) == [(5.5, 1)]
