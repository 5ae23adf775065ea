"""The results that pictures show, and the message if there is nothing to show."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from matplotlib.colors import same_color
from matplotlib.figure import Figure
from PIL import Image

import incast
from conftest import SMALL, Command, document
from incast.plots import KINDS, Moment, heatmap, style
from incast.results.causes import CAUSES

MICE = {"name": "poisson-flows", "group": "mice", "interval": "100us", "size": "4KiB"}
ROWS = [name for name, kind in KINDS.items() if not kind.traces]
TRACES = [name for name, kind in KINDS.items() if kind.traces]
BOTH = {"workload.servers": [32, 2, 8], "network.buffer": ["64KiB", "16KiB", "32KiB"]}


@pytest.fixture(scope="module")
def beside() -> incast.Results:
    """Return results of a read with background traffic: a named group of flows, and datagrams."""
    tree = document(sweep=BOTH, run={"seeds": 1})
    tree["background"] = [MICE, {"name": "cbr", "rate": "1Mbps"}]
    return incast.run(tree)


@pytest.fixture(scope="module")
def stalling() -> incast.Results:
    """Return a traced read on connections that stay open, in which servers wait."""
    read = {"servers": 16, "sru": "32KiB", "connections": "persistent", "blocks": 3}
    tree = document(workload=read, run={"seeds": 1}, network={"buffer": "64KiB"})
    return incast.run(tree, traces=["queue", "cwnd", "events"])


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


@pytest.mark.parametrize("kind", ROWS)
def test_rows_of_every_group_that_has_them_are_drawn(kind: str, beside: incast.Results) -> None:
    of_all = KINDS[kind].draw(beside).data
    of_mice = KINDS[kind].draw(beside, Moment(group="mice"))
    assert of_mice.data.height > 0
    assert not of_mice.data.equals(of_all)
    assert "Group 'mice'" in of_mice.figure.texts[1].get_text()


def test_what_a_group_lacks_is_said(beside: incast.Results) -> None:
    with pytest.raises(
        incast.ResultsError, match=r"completion: the group 'background\.1\.cbr' has"
    ):
        beside.plot.completion(group="background.1.cbr")
    for kind in KINDS:
        with pytest.raises(incast.ResultsError, match="no group 'nobody'; choose from all, mice"):
            getattr(beside.plot, kind)(group="nobody")


@pytest.mark.parametrize("kind", TRACES)
def test_a_trace_has_the_workload_alone(kind: str, beside: incast.Results) -> None:
    with pytest.raises(incast.ResultsError, match=r"^group: the trace '.*' has the workload"):
        getattr(beside.plot, kind)(group="mice")
    with pytest.raises(incast.ResultsError, match="was not recorded"):
        getattr(beside.plot, kind)()


def test_plot_takes_a_group(command: Command, small: Path, tmp_path: Path) -> None:
    small.write_text(
        SMALL + "[[background]]\n" + "".join(f"{k} = '{v}'\n" for k, v in MICE.items())
    )
    out, target = tmp_path / "out", tmp_path / "tail.png"
    assert command("run", small, "--out", out).code == 0
    done = command("plot", out, "--kind", "completion", "--group", "mice", "-o", target)
    assert (done.code, done.err) == (0, "")
    assert pl.read_csv(target.with_suffix(".csv"))["completion_p99_s"][0] > 0


def test_points_can_be_chosen_for_every_picture_of_rows(beside: incast.Results) -> None:
    for kind in set(ROWS) - {"heatmap"}:
        data = KINDS[kind].draw(beside, Moment(where={"workload.servers": 8})).data
        assert data["workload.servers"].unique().to_list() == [8]
        assert data["network.buffer"].n_unique() == 3


def test_a_heatmap_is_sorted_and_has_the_border_of_the_collapse(beside: incast.Results) -> None:
    figure = beside.plot.heatmap()
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.get_xticklabels()] == ["2", "8", "32"]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["16KiB", "32KiB", "64KiB"]
    numbers = [text.get_text() for text in axes.texts]
    assert len(numbers) == 9
    drawn = KINDS["heatmap"].draw(beside).data
    collapsed = {
        (row["workload.servers"], row["network.buffer"]): row["collapsed"]
        for row in drawn.to_dicts()
    }
    assert 0 < sum(collapsed.values()) < 9
    xs, ys = [2, 8, 32], ["16KiB", "32KiB", "64KiB"]
    sides = [((x, y), (xs[i + 1], y)) for i, x in enumerate(xs[:2]) for y in ys]
    sides += [((x, y), (x, ys[i + 1])) for x in xs for i, y in enumerate(ys[:2])]
    borders = sum(collapsed[one] != collapsed[other] for one, other in sides)
    dark = [line for line in axes.get_lines() if not same_color(line.get_color(), "white")]
    assert len(dark) == borders
    assert "border of the collapse" in texts(figure)


def test_any_two_swept_keys_make_a_heatmap() -> None:
    sweep = {**BOTH, "transport.rto_min": ["1ms", "20ms"], "network.rate": ["1Gbps"]}
    results = incast.run(document(sweep=sweep, run={"seeds": 1}))
    across, up = "network.buffer", "transport.rto_min"
    figure = results.plot.heatmap(across=across, up=up)
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert [axes.get_title(loc="left") for axes in shown] == [
        "servers = 32", "servers = 2", "servers = 8",
    ]  # fmt: skip
    assert figure.axes[0].get_ylabel() == up
    (alone,) = results.plot.heatmap(where={"workload.servers": 8}).axes
    assert alone.get_xlabel() == "network.buffer"
    with pytest.raises(incast.ResultsError, match=r"across: 'network\.delay' is not swept; swept:"):
        results.plot.heatmap(across="network.delay")
    with pytest.raises(incast.ResultsError, match="needs two swept keys that vary, but has"):
        results.plot.heatmap(where={"workload.servers": 8, "network.buffer": "16KiB"})


@pytest.mark.parametrize(
    ("swept", "ordered"),
    [
        (["1MiB", 70000, "64KiB"], ["64KiB", 70000, "1MiB"]),
        (["1ms", "200us", "1s"], ["200us", "1ms", "1s"]),
        (["40pkt", "20pkt"], ["20pkt", "40pkt"]),
        (["40pkt", "20KiB"], ["40pkt", "20KiB"]),  # different units have no order
        (["sack", "newreno"], ["sack", "newreno"]),
        ([0.5, 0.1, 2.0], [0.1, 0.5, 2.0]),
    ],
)
def test_quantities_have_an_order_and_names_have_not(
    swept: list[object], ordered: list[object]
) -> None:
    column = pl.Series([str(one) if isinstance(one, int) else one for one in swept], strict=False)
    texts = [str(one) if isinstance(one, int) else one for one in ordered]
    assert heatmap.in_order(column) == texts


def test_completion_of_several_curves_has_a_panel_for_each_quantile() -> None:
    sweep = {"transport.rto_min": ["200ms", "20ms", "2ms", "1ms"], "workload.servers": [2, 32]}
    figure = incast.run(document(sweep=sweep)).plot.completion()
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["median", "99th percentile"]
    curves = [
        [line for line in axes.get_lines() if line.get_marker() not in ("None", "")]
        for axes in figure.axes
    ]
    assert [len(lines) for lines in curves] == [4, 4]


def test_timeouts_name_what_can_be_seen_and_hide_no_label() -> None:
    sweep = {"transport.rto_min": ["200ms", "1ms"], "workload.servers": [2, 4, 8, 16, 24, 32, 48]}
    results = incast.run(document(sweep=sweep, workload={"sru": "32KiB"}))
    figure = results.plot.timeouts()
    counts, *shares = figure.axes
    assert counts.get_yscale() == "symlog"
    assert len(shares) == 2
    heights: dict[str, float] = {}
    for axes in shares:
        for bar in axes.patches:
            name = next(
                cause for cause, (colour, hatch) in style.CAUSE_LOOKS.items()
                if same_color(bar.get_facecolor(), colour) and (bar.get_hatch() or "") == hatch
            )  # fmt: skip
            heights[CAUSES[name]] = max(heights.get(CAUSES[name], 0), bar.get_height())
    named = [text for text in texts(figure) if text in CAUSES.values()]
    assert sorted(named) == sorted(name for name, height in heights.items() if height >= 1)
    figure.canvas.draw()
    for axes in shares:
        boxes = [label.get_window_extent() for label in axes.get_xticklabels()]
        assert all(one.x1 < other.x0 for one, other in pairwise(boxes))


def test_a_curve_without_a_finished_run_is_named_as_such() -> None:
    tree = document(
        sweep={"transport.rto_min": ["1ms", "900ms"], "workload.servers": [24, 32]},
        run={"time_limit": "500ms"},
    )
    figure = incast.run(tree).plot.goodput()
    assert "rto_min = 900ms (no run finished)" in texts(figure)
    assert "rto_min = 1ms" in texts(figure)
    with pytest.raises(incast.ResultsError, match="no run finished"):
        incast.run(tree).plot.goodput(where={"transport.rto_min": "900ms"})


def test_windows_are_those_of_the_servers_that_a_block_waits_for(stalling: incast.Results) -> None:
    (job,) = stalling.traces.find({})
    events = stalling.traces.of("events", job)
    for block in range(3):
        own = events.filter(pl.col("block") == block, pl.col("kind") == "flow_done")
        last = own.sort("time_s")["flow"][-1]
        data = KINDS["cwnd"].draw(stalling, Moment(block=block)).data
        assert last in data["flow"].to_list()
        done = events.filter(pl.col("block") == block, pl.col("kind") == "block_done")
        assert data["time_s"].max() < done["time_s"][0]


def test_a_marking_threshold_is_drawn_in_the_queue() -> None:
    tree = document(transport={"name": "dctcp"}, run={"seeds": 1}, network={"buffer": "100KiB"})
    figure = incast.run(tree, traces=["queue"]).plot.queue()
    lines = {str(line.get_label()): line for line in figure.axes[0].get_lines()}
    (height, _) = lines["ecn-threshold: threshold 20pkt"].get_ydata()
    assert height == pytest.approx(20 * 1500 / 1024)


def test_a_dynamic_limit_moves_with_what_is_left() -> None:
    buffer = {"name": "dynamic", "total": "64KiB", "alpha": 2}
    figure = incast.run(
        document(network={"buffer": buffer}, run={"seeds": 1}), traces=["queue"]
    ).plot.queue()
    (limit,) = [
        line for line in figure.axes[0].get_lines() if str(line.get_label()).startswith("limit")
    ]
    assert limit.get_label() == "limit: 2 × the free part of 64 KiB"
    lengths = set(limit.get_ydata())
    assert max(lengths) == 128
    assert len(lengths) > 5


def test_a_block_that_never_ends_has_a_swimlane() -> None:
    tree = document(run={"time_limit": "5ms", "seeds": 1}, workload={"servers": 32, "blocks": 9})
    results = incast.run(tree, traces=["events"])
    figure = results.plot.swimlane()
    assert "not finished after" in figure.axes[0].get_xlabel()


@pytest.mark.parametrize(
    "title",
    [
        r"$\foo$",
        "$5 and $6",
        "x" * 1500,
        "word " * 300,
        "\x1b[31mred\x1b[0m",
        "a\nb\tc",
        "読み取り",
    ],
)
def test_no_title_breaks_a_picture_or_a_terminal(
    title: str, command: Command, tmp_path: Path
) -> None:
    target, path = tmp_path / "picture.png", tmp_path / "titled.toml"
    path.write_text(SMALL)
    done = command("run", path, "--seeds", 1, "--set", f"title={title!r}", "--plot", target)
    assert (done.code, done.err) == (0, "")
    assert "\x1b" not in done.out
    with Image.open(target) as image:
        assert max(image.size) < 3000


def test_a_mistake_moves_no_cursor(command: Command, small: Path) -> None:
    done = command("run", small, "--group", "\x1b[31mred\x1b[2J")
    assert done.code == 2
    assert "\x1b" not in done.err
    assert r"\x1b[31mred" in done.err


@pytest.mark.parametrize(
    "mistake", [{"seed": "1"}, {"block": -1}, {"where": "x"}, {"up": "x"}, {"theory": "x"}]
)
def test_a_choice_that_cannot_be_is_one_line(
    mistake: dict[str, Any], stalling: incast.Results
) -> None:
    with pytest.raises(incast.ResultsError, match=f"^{next(iter(mistake))}: "):
        stalling.plot.swimlane(**mistake)


def test_a_picture_tells_a_notebook_and_a_reader_what_it_is(stalling: incast.Results) -> None:
    method = stalling.plot.swimlane
    assert "swimlane" in repr(method)
    assert "link was idle" in str(method.__doc__)
    picture, size = method()._repr_png_()
    assert picture.startswith(b"\x89PNG")
    assert size["width"] > 400
    assert KINDS["swimlane"].draw(stalling)._repr_png_() == (picture, size)


def test_a_cdf_has_every_block_of_all_seeds(beside: incast.Results) -> None:
    tree = document(sweep={"workload.servers": [2, 8]}, run={"seeds": 3}, workload={"blocks": 5})
    results = incast.run(tree)
    data = KINDS["cdf"].draw(results).data
    assert data.height == 2 * 3 * 5
    for servers in (2, 8):
        own = data.filter(pl.col("workload.servers") == servers)
        assert own["completion_s"].is_sorted()
        assert own["share"].to_list() == [pytest.approx(i / 15) for i in range(1, 16)]
        blocks = results.blocks().filter(pl.col("workload.servers") == servers)
        assert own["completion_s"].to_list() == sorted(blocks["completion_s"])
    mice = KINDS["cdf"].draw(beside, Moment(group="mice")).data
    assert mice.height == beside.blocks("mice").height


def test_a_cdf_of_many_points_has_a_panel_per_value(beside: incast.Results) -> None:
    figure = beside.plot.cdf()
    titles = [axes.get_title(loc="left") for axes in figure.axes if axes.get_visible()]
    assert titles == ["servers = 32", "servers = 2", "servers = 8"]
    assert texts(figure) == ["buffer = 64KiB", "buffer = 16KiB", "buffer = 32KiB"]
    many = incast.run(document(sweep={"workload.servers": list(range(1, 13))}, run={"seeds": 1}))
    (axes,) = many.plot.cdf().axes
    assert "(7 of 12 points)" in axes.get_xlabel()
    assert len(axes.get_lines()) == 7


def test_every_kind_has_a_picture_in_the_documentation() -> None:
    docs = Path(__file__).parents[2] / "docs"
    page = (docs / "reference" / "pictures.md").read_text()
    for kind in KINDS:
        assert f"## `{kind}`" in page
        assert f"../_static/kinds/{kind}.png" in page
        with Image.open(docs / "_static" / "kinds" / f"{kind}.png") as image:
            image.verify()
