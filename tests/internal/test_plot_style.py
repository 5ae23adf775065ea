"""The exact style of all pictures: sizes, lines of text, axes, legends, curves."""

from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from incast.plots import cdf, curves, goodput, real, sheet, style
from incast.results.series import Series


def axes() -> Axes:
    (one,) = style.sheet("A title", "facts")[1]
    return one


@pytest.mark.parametrize(
    ("title", "facts", "top", "title_lines", "fact_lines"),
    [
        ("A title", "facts", 4.2 - 0.09 - 0.33 - 0.17, 1, 1),
        ("A title", "", 4.2 - 0.09 - 0.33, 1, 0),
        ("", "facts", 4.2 - 0.09 - 0.33 - 0.17, 1, 1),
        # A line of 6.4 inches has 62 letters of a title, or 92 letters of facts.
        ("title " * 12, "facts " * 18, 4.2 - 0.09 - 0.33 - 0.19 - 2 * 0.17, 2, 2),
        ("x" * 62, "x" * 92, 4.2 - 0.09 - 0.33 - 0.17, 1, 1),
    ],
)
def test_a_sheet_has_its_title_above_its_facts(
    title: str, facts: str, top: float, title_lines: int, fact_lines: int
) -> None:
    figure, panels = style.sheet(title, facts)
    assert len(panels) == 1
    assert figure.get_size_inches().tolist() == [6.4, 4.2]
    layout: Any = figure.get_layout_engine()
    assert layout.get()["rect"] == pytest.approx((0, 0, 1, top / 4.2))
    first, second = figure.texts
    counts = [
        len(text.get_text().split("\n")) if text.get_text() else 0 for text in (first, second)
    ]
    assert counts == [title_lines if title else 0, fact_lines]
    below = 0.33 + 0.19 * (title_lines - 1)
    assert first.get_position() == pytest.approx((0.1 / 6.4, 1 - 0.1 / 4.2))
    assert second.get_position() == pytest.approx((0.1 / 6.4, 1 - below / 4.2))
    assert (first.get_fontsize(), second.get_fontsize()) == (11.5, 9)
    assert (first.get_fontweight(), second.get_color()) == ("bold", "0.3")


def test_panels_are_below_each_other_unless_a_layout_says_otherwise() -> None:
    figure, three = style.sheet("", "", panels=3, size=(5.0, 6.0))
    places = [one.get_subplotspec() for one in three]
    assert [(one.rowspan.start, one.colspan.start) for one in places if one] == [
        (0, 0), (1, 0), (2, 0),
    ]  # fmt: skip
    assert figure.get_size_inches().tolist() == [5, 6]
    assert len(style.sheet("", "", nrows=2, ncols=3)[1]) == 6
    assert len(style.sheet("", "", mosaic=[["a", "a"], ["b", "c"]])[1]) == 3


@pytest.mark.parametrize(
    ("curves", "height"), [(1, 4.2), (8, 4.2), (9, 4.37), (12, 4.37), (13, 4.54)]
)
def test_a_picture_is_higher_for_more_than_two_rows_of_names(curves: int, height: float) -> None:
    assert style.size(curves) == pytest.approx((6.4, height))


@pytest.mark.parametrize(
    ("text", "letters", "cut"),
    [("abcde", 5, "abcde"), ("abcdef", 5, "abcd…"), ("", 5, "")],
)
def test_a_long_text_is_cut(text: str, letters: int, cut: str) -> None:
    assert style.shorten(text, letters) == cut


@pytest.mark.parametrize(
    ("letters", "asked", "columns"),
    # 92 letters fit into 6.4 inches; a name needs 6 letters more than it has.
    [(4, 4, 4), (17, 4, 4), (18, 4, 3), (40, 4, 2), (41, 4, 1), (79, 4, 1), (4, 2, 2)],
)
def test_a_legend_has_as_many_columns_as_fit(letters: int, asked: int, columns: int) -> None:
    figure, _ = style.sheet("", "")
    handles = [Line2D([], [], label="x" * letters) for _ in range(6)]
    style.legend(figure, handles, asked)
    (legend,) = figure.legends
    assert legend._ncols == columns
    assert len(legend.get_texts()) == 6
    empty, _ = style.sheet("", "")
    style.legend(empty, [])
    assert empty.legends == []


def test_a_name_in_a_legend_has_eighty_letters() -> None:
    figure, _ = style.sheet("", "")
    style.legend(figure, [Line2D([], [], label="x" * n) for n in (80, 81)])
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts == ["x" * 80, "x" * 79 + "…"]


def test_curves_differ_in_colour_marker_and_dash() -> None:
    first, eighth, star = style.curve(0), style.curve(7), style.curve(6)
    assert first == {
        "color": "#0072B2", "marker": "o", "linestyle": "-", "markerfacecolor": "#0072B2",
        "markeredgecolor": "white", "markeredgewidth": 0.6,
    }  # fmt: skip
    assert (eighth["color"], eighth["marker"], eighth["linestyle"]) == ("#0072B2", "X", "-")
    assert (eighth["markerfacecolor"], eighth["markeredgecolor"]) == ("white", "#0072B2")
    assert eighth["markeredgewidth"] == 1.1
    assert (star["marker"], star["markersize"]) == ("*", 9.5)
    assert style.curve(14)["markerfacecolor"] != "white"
    assert [style.curve(n)["marker"] for n in range(14)] == list("osD^vP*X<>phd8")
    assert len({str(style.curve(n)["linestyle"]) for n in range(7)}) == 7


def test_causes_have_a_colour_and_a_hatch_of_their_own() -> None:
    for looks in (style.CAUSE_LOOKS, style.STALL_LOOKS):
        assert len(set(looks.values())) == len(looks) == 6
    name = next(iter(style.CAUSE_LOOKS))
    patch = style.cause(name, "stalled: ")
    assert str(patch.get_label()).startswith("stalled: ")
    assert patch.get_linewidth() == 0.4
    assert (style.looks(name), style.CAUSE_LOOKS[name]) == (("#D55E00", ""),) * 2


@pytest.mark.parametrize(
    ("left", "at", "offset", "side"), [(False, 1.0, (-2, 5), "right"), (True, 0.0, (4, 5), "left")]
)
def test_a_guide_line_is_named_at_its_end(
    left: bool, at: float, offset: tuple[int, int], side: str
) -> None:
    one = axes()
    style.guide(one, 7.0, "limit", left=left)
    (line,) = one.get_lines()
    assert list(line.get_ydata()) == [7, 7]
    assert (line.get_linewidth(), line.get_color(), line.get_zorder()) == (1.1, "0.45", 1.5)
    assert line._unscaled_dash_pattern == (0, (4, 2))  # type: ignore[attr-defined]
    text: Any
    (text,) = one.texts
    assert (text.xy, text.xyann, text.get_ha()) == ((at, 7.0), offset, side)
    assert text.get_fontsize() == 8.5
    assert text.get_bbox_patch().get_alpha() == 0.7
    assert text.get_bbox_patch().get_linewidth() == 0


def test_losses_are_crosses_if_there_are_any() -> None:
    one = axes()
    style.crosses(one, [], 3.0, "drops")
    assert not one.get_lines()
    style.crosses(one, [1.0, 2.0], 3.0, "drops")
    (line,) = one.get_lines()
    assert (list(line.get_xdata()), list(line.get_ydata())) == ([1, 2], [3, 3])
    assert (line.get_marker(), line.get_clip_on(), line.get_color()) == ("x", False, "#D55E00")


@pytest.mark.parametrize(
    ("values", "scale", "positions"),
    [
        ([1, 10], "linear", [1, 10]),
        ([1, 11], "log", [1, 11]),
        ([0, 11], "linear", [0, 11]),
        ([-1, 11], "linear", [-1, 11]),
        ([8, 2, 8], "linear", [8, 2, 8]),
        (["b", "a", "b"], "linear", [0, 1, 0]),
    ],
)
def test_numbers_of_more_than_a_decade_have_a_logarithmic_axis(
    values: list[Any], scale: str, positions: list[float]
) -> None:
    one = axes()
    assert style.positions(one, "workload.servers", values) == positions
    assert one.get_xscale() == scale
    assert one.get_xlabel() == "servers"
    assert one.margins()[0] == (0.06 if isinstance(values[0], str) else 0.05)


@pytest.mark.parametrize(("letters", "turned"), [(10, 0), (11, 90)])
def test_texts_that_would_overlap_are_turned(letters: int, turned: int) -> None:
    """Eight labels of ten letters fit without being turned."""
    one = axes()
    style.positions(one, "x", [f"{n}" + "x" * (letters - 1) for n in range(8)])
    assert {label.get_rotation() for label in one.get_xticklabels()} == {turned}


def test_labels_that_would_touch_are_left_out() -> None:
    """A label is left out if it is nearer to another label than 4.5 % of the axis."""
    one = axes()
    one.set_xlim(0, 1000)
    assert style._thinned([0, 44, 46, 90, 92, 1000], one) == [0, 46, 92, 1000]
    assert style._thinned([0, 500, 980, 1000], one) == [0, 500, 1000]
    assert style._thinned([5], one) == [5]


def test_labels_under_an_axis_have_lines_of_eighteen_letters() -> None:
    assert style._wrapped("x" * 18) == ["x" * 18]
    assert style._wrapped("word " * 5) == ["word word word", "word word"]
    assert len(style._wrapped("word " * 50)) == 3
    assert style._wrapped("") == [""]


@pytest.mark.parametrize(
    ("most", "unit", "name"),
    [
        (2e9, 1e9, "Gbps"), (1.99e9, 1e6, "Mbps"), (1e5, 1e6, "Mbps"), (99_999.0, 1e3, "kbps"),
        (0.0, 1e3, "kbps"),
    ],
)  # fmt: skip
def test_rates_have_a_unit_that_fits(most: float, unit: float, name: str) -> None:
    assert goodput.scale(most) == (unit, name)


def points(goodputs: list[float | None]) -> pl.DataFrame:
    count = len(goodputs)
    return pl.DataFrame(
        {
            "point": list(range(count)), "servers": list(range(2, 2 + count)), "g": goodputs,
            "g_ci95_low": [None, *[50.0] * (count - 1)],
            "g_ci95_high": [None, *[90.0] * (count - 1)],
            "ok": [0 if each is None else 2 for each in goodputs],
        },
        schema_overrides={"g": pl.Float64, "g_ci95_low": pl.Float64, "g_ci95_high": pl.Float64},
    )  # fmt: skip


def drawn(rows: pl.DataFrame, axis: str | None = "servers", **options: Any) -> Axes:
    one, where = axes(), {point: float(10 * point) for point in range(rows.height)}
    looks = style.curve(0)
    curves.draw(
        one, Series("name", rows), "g", axis=axis, where=where, unit=10.0, looks=looks,
        label="name", **options,
    )  # fmt: skip
    return one


def test_a_curve_has_its_means_and_a_band() -> None:
    one = drawn(points([40.0, 60.0, 80.0]))
    (line,) = one.get_lines()
    assert list(line.get_xdata()) == [0, 10, 20]
    assert list(line.get_ydata()) == [4, 6, 8]
    assert (line.get_label(), line.get_clip_on()) == ("name", False)
    (band,) = one.collections
    assert band.get_alpha() == 0.2
    assert band.get_linewidth().tolist() == [0]  # type: ignore[union-attr]
    heights = band.get_paths()[0].vertices[:, 1]  # type: ignore[index]
    assert (heights.min(), heights.max()) == (4, 9), "the mean, where there is no interval"
    assert len(drawn(points([40.0, 60.0]), band=False).collections) == 0


def test_bars_of_many_curves_stand_beside_each_other() -> None:
    one = drawn(points([40.0, 60.0]), beside=36.0)
    (bars,) = one.collections
    assert [path.vertices.tolist() for path in bars.get_paths()] == [
        [[0, 4], [0, 4]],
        [[10, 5], [10, 9]],
    ]
    assert bars.get_linewidth().tolist() == [1.1]  # type: ignore[union-attr]
    assert bars.get_alpha() == 0.75
    (line,) = one.get_lines()
    moved = line.get_transform().transform((0, 0)) - one.transData.transform((0, 0))
    # The bars are moved by 36 points, which are half an inch.
    assert moved == pytest.approx([one.get_figure().dpi / 2, 0])  # type: ignore[union-attr]


def test_points_without_an_order_have_bars_and_no_line() -> None:
    one = drawn(points([40.0, 60.0]).with_columns(servers=pl.Series(["a", "b"])))
    (container,) = one.containers
    line, caps, (bars,) = container  # type: ignore[misc]
    assert line.get_linestyle() == "None"
    assert [segment.tolist() for segment in bars.get_segments()] == [
        [[0, 4], [0, 4]],
        [[10, 5], [10, 9]],
    ]
    assert bars.get_linewidth().tolist() == [1.0]
    assert {cap.get_markersize() for cap in caps} == {6}
    plain = drawn(points([40.0]).with_columns(servers=pl.Series(["a"])), band=False)
    assert plain.containers[0][1] == ()  # type: ignore[index]


@pytest.mark.parametrize(
    ("values", "label"),
    [([1.0, None], "name"), ([None, None], "name (no run finished)")],
)
def test_a_curve_without_a_run_is_called_so(values: list[float | None], label: str) -> None:
    (line,) = drawn(points(values)).get_lines()
    assert line.get_label() == label


def test_points_without_a_run_are_marked_below() -> None:
    one = axes()
    series = [Series("a", points([1.0, None, None])), Series("b", points([None, 1.0, 2.0]))]
    curves.unfinished(one, series, {0: 5.0, 1: 1.0, 2: 9.0})
    (line,) = one.get_lines()
    assert (list(line.get_xdata()), list(line.get_ydata())) == ([1, 5, 9], [0, 0, 0])
    assert (line.get_marker(), line.get_zorder(), line.get_clip_on()) == ("x", 5, False)
    assert line.get_label() == "no run of a curve finished"
    curves.unfinished(none := axes(), [Series("a", points([1.0]))], {0: 0.0})
    assert not none.get_lines()


def test_real_hosts_are_diamonds_on_a_dotted_line() -> None:
    one = axes()
    told = pl.DataFrame({"point": [0, 1, 2], "goodput_bps": [1e6, None, 3e6]})
    for label in ("name", ""):
        curve = Series(label, points([1.0, 2.0]))
        real.beside(one, told, curve, {0: 4.0, 1: 5.0}, 1e6, "red")
    first, second = one.get_lines()
    assert (list(first.get_xdata()), list(first.get_ydata())) == ([4], [1])
    assert (first.get_marker(), first.get_markersize(), first.get_linewidth()) == ("D", 4.5, 1.2)
    assert (first.get_linestyle(), first.get_markerfacecolor()) == (":", "white")
    assert [line.get_label() for line in (first, second)] == ["name (real hosts)", "real hosts"]


def test_a_notebook_shows_ninety_pixels_per_inch() -> None:
    figure = Figure(figsize=(4, 2.5))
    picture, size = sheet.shown(figure)
    assert size == {"width": 360, "height": 225}
    # The PNG has 160 dots per inch, so it is sharp if enlarged. Its width is stored at byte 16.
    assert int.from_bytes(picture[16:20], "big") == 640
    numbers = {name: value for name, value in sheet.RC.items() if isinstance(value, int | float)}
    assert {name: value for name, value in numbers.items() if value is not True} == {
        "axes.labelsize": 10, "axes.spines.right": False, "axes.spines.top": False,
        "axes.titlesize": 10, "figure.dpi": 100, "font.size": 9.5, "grid.linewidth": 0.8,
        "hatch.linewidth": 0.6, "legend.fontsize": 9, "legend.frameon": False,
        "lines.linewidth": 1.7, "lines.markersize": 5, "savefig.dpi": 160,
    }  # fmt: skip


def test_every_nine_of_a_distribution_has_the_same_room() -> None:
    one = axes()
    cdf._scale(one, 1000, (1.0, 99.0))
    assert one.get_ylim() == pytest.approx((0, 1 - 0.5 / 1000))
    heights = one.transData.transform([[1, share] for share in (0.0, 0.9, 0.99, 0.999)])[:, 1]
    assert np.ptp([later - earlier for earlier, later in pairwise(heights)]) < 1e-6
    assert one.get_yticks() == pytest.approx([0, 0.5, 0.9, 0.99, 0.999, 0.9995])
    form = one.yaxis.get_major_formatter()
    assert [form(share) for share in (0.5, 0.999, 0.9995)] == ["50", "99.9", "all"]
    assert type(one.xaxis.get_major_locator()).__name__ == "LogLocator"
    assert one.xaxis.get_major_locator()._subs.tolist() == [1, 2, 5]  # type: ignore[attr-defined]
    cdf._scale(wide := axes(), 1000, (1.0, 100.0))
    assert wide.xaxis.get_major_locator()._subs.tolist() == [1]  # type: ignore[attr-defined]


@pytest.mark.parametrize(("blocks", "top"), [(1, 0.75), (2, 0.75), (10, 0.95)])
def test_the_slowest_block_is_below_the_end(blocks: int, top: float) -> None:
    assert cdf._top(blocks) == top


def test_a_distribution_begins_at_its_first_time() -> None:
    one = axes()
    times = np.array([0.002, 0.004, 0.004, 0.03])
    line = cdf._line(one, cdf._Curve("a", {}, times), 0, 4)
    assert list(line.get_xdata()) == pytest.approx([2, 2, 4, 4, 30])
    assert list(line.get_ydata()) == [0, 0.25, 0.5, 0.75, 0.875]
    assert line.get_drawstyle() == "steps-post"
    assert line.get_markevery() == 1
    many = cdf._Curve("b", {}, np.arange(1.0, 61.0))
    assert cdf._line(one, many, 1, 60).get_markevery() == 10
