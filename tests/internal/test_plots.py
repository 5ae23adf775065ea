"""Pictures: one of every kind, with its data file."""

from pathlib import Path

import polars as pl
import pytest
from matplotlib.figure import Figure
from PIL import Image

import incast
from conftest import SMALL, SWEEP, Command, document
from incast.plots import KINDS, Moment, style

ALL_TRACES = ["queue", "cwnd", "events"]


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory of a sweep with all traces."""
    out = tmp_path_factory.mktemp("traced") / "out"
    incast.run(
        document(sweep={"workload.servers": [2, 8, 32], "transport.rto_min": ["10ms", "2ms"]}),
        out=out,
        traces=ALL_TRACES,
    )
    return out


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_draws_something(
    kind: str, traced: Path, command: Command, tmp_path: Path
) -> None:
    target = tmp_path / f"{kind}.png"
    done = command("plot", traced, "--kind", kind, "-o", target)
    assert (done.code, done.err) == (0, "")
    with Image.open(target) as image:
        image.load()
        assert image.format == "PNG"
        assert min(image.size) > 450
        assert len(image.convert("L").getcolors(1 << 24) or []) > 20
    assert pl.read_csv(target.with_suffix(".csv")).height > 0


@pytest.mark.parametrize(("suffix", "start"), [("pdf", b"%PDF"), ("svg", b"<?xml")])
def test_other_formats(
    suffix: str, start: bytes, traced: Path, command: Command, tmp_path: Path
) -> None:
    target = tmp_path / f"picture.{suffix}"
    assert command("plot", traced, "-o", target).code == 0
    assert target.read_bytes().startswith(start)


def test_the_default_target_is_in_the_directory(command: Command, traced: Path) -> None:
    assert command("plot", traced, "--kind", "timeouts").code == 0
    assert (traced / "timeouts.png").exists()
    assert (traced / "timeouts.csv").exists()


def test_only_values_with_an_order_are_joined() -> None:
    def drawn(key: str, values: list[str]) -> str:
        results = incast.run(document(sweep={key: values}), jobs=1)
        (axes,) = results.plot.goodput().axes
        return str(axes.get_lines()[0].get_linestyle())

    assert drawn("transport.rto_min", ["200ms", "10ms"]) == "-"
    assert drawn("transport.name", ["newreno", "sack"]) == "None"


def test_long_flows_have_no_round_but_a_queue(command: Command, tmp_path: Path) -> None:
    scenario = tmp_path / "flows.toml"
    flows = SMALL.replace("barrier-read", "long-flows").replace('sru = "16KiB"', 'duration = "5ms"')
    scenario.write_text(flows.replace("blocks = 2\n", ""))
    done = command("run", scenario, "--plot", tmp_path / "picture.png")
    assert done.code == 0, done.err
    assert "packets" in (tmp_path / "picture.csv").read_text().splitlines()[0]


def test_run_draws_goodput_for_a_sweep(command: Command, sweep: Path, tmp_path: Path) -> None:
    target = tmp_path / "picture.png"
    assert command("run", sweep, "--plot", target).code == 0
    data = pl.read_csv(target.with_suffix(".csv"))
    assert data["workload.servers"].to_list() == [2, 8, 32]
    assert data["goodput_bps"].min() > 0


def test_run_ranks_more_curves_than_can_be_told_apart(command: Command, tmp_path: Path) -> None:
    names = ["newreno", "tahoe", "reno", "sack", "cubic", "bic", "westwood", "vegas", "dctcp"]
    path, target = tmp_path / "many.toml", tmp_path / "picture.png"
    path.write_text(f'{SWEEP}"transport.name" = {names}\n')
    assert command("run", path, "--plot", target).code == 0
    data = pl.read_csv(target.with_suffix(".csv"))
    assert data["rank"].to_list() == [rank for rank in range(1, 10) for _ in range(3)]
    assert data["transport.name"].n_unique() == 9
    last = data.filter(pl.col("goodput_share") >= 0.5).group_by("rank", maintain_order=True)
    lasting = last.agg(pl.col("workload.servers").max())["workload.servers"].to_list()
    assert lasting == sorted(lasting, reverse=True)


def test_run_maps_two_quantities_if_there_are_many(command: Command, tmp_path: Path) -> None:
    timers = [f"{milliseconds}ms" for milliseconds in range(20, 2, -2)]
    path, target = tmp_path / "many.toml", tmp_path / "picture.png"
    path.write_text(f'{SWEEP}"transport.rto_min" = {timers}\n')
    assert command("run", path, "--seeds", 1, "--plot", target).code == 0
    data = pl.read_csv(target.with_suffix(".csv"))
    assert data.height == 27
    assert data["collapsed"].any()


def test_no_two_curves_look_alike() -> None:
    looks = [style.curve(index) for index in range(14)]
    assert len({(look["marker"], look["markerfacecolor"] == "white") for look in looks}) == 14
    assert len({(look["color"], look["marker"]) for look in looks}) == 14


def test_run_draws_a_round_for_a_single_point(
    command: Command, small: Path, tmp_path: Path
) -> None:
    target = tmp_path / "picture.png"
    assert command("run", small, "--plot", target).code == 0
    data = pl.read_csv(target.with_suffix(".csv"))
    assert data.filter(pl.col("what") == "request").height == 4


def test_run_draws_the_trace_asked_for(command: Command, small: Path, tmp_path: Path) -> None:
    target = tmp_path / "picture.png"
    assert command("run", small, "--plot", target, "--trace", "queue").code == 0
    assert "packets_max" in pl.read_csv(target.with_suffix(".csv")).columns


def test_the_point_of_a_trace_can_be_chosen(traced: Path) -> None:
    results = incast.open_results(traced)
    for servers in (2, 8):
        picture = KINDS["swimlane"].draw(results, Moment({"workload.servers": servers}))
        assert picture.data.filter(pl.col("what") == "request").height == servers


def test_a_block_can_be_chosen(traced: Path) -> None:
    plots = incast.open_results(traced).plot
    for kind in ("queue", "cwnd", "swimlane"):
        assert isinstance(getattr(plots, kind)(block=1), Figure)
    with pytest.raises(incast.ResultsError, match="no block 99 at seed 1; there are from 0 to 1"):
        plots.swimlane(block=99)


def test_stalls_in_a_swimlane_are_the_timeouts_of_its_block(traced: Path) -> None:
    results = incast.open_results(traced)
    data = KINDS["swimlane"].draw(results).data
    stalls = data.filter(pl.col("what").str.starts_with("timeouts_"))
    assert stalls.height > 0
    assert (stalls["end_s"] > stalls["start_s"]).all()
    requests = data.filter(pl.col("what") == "request")
    assert (requests["end_s"] > requests["start_s"]).all()
    assert requests.height == 32


def test_plots_are_methods_of_results(sweep: Path) -> None:
    plots = incast.run(sweep).plot
    assert dir(plots) == sorted(KINDS)
    assert isinstance(plots.goodput(), Figure)
    with pytest.raises(AttributeError, match="pie"):
        plots.pie()


def test_the_line_rate_and_the_confidence_band_are_drawn(sweep: Path) -> None:
    figure = incast.run(sweep).plot.goodput()
    (axes,) = figure.axes
    assert "line rate 1 Gbps" in {text.get_text() for text in axes.texts}
    assert len(axes.collections) == 1
    assert axes.get_ylabel().startswith("goodput [Mbps]")


@pytest.mark.parametrize("kind", ["goodput", "ranking", "completion", "timeouts"])
@pytest.mark.parametrize(
    "sweep_table",
    [
        {"transport.rto_min": ["200ms", "1ms"], "workload.servers": [2, 32]},
        {"transport.rto_min": ["200ms", "1ms"]},
        {"zip": [{"workload.servers": [2, 8], "network.buffer": ["20pkt", "40pkt"]}]},
        {"network.rate": ["1Gbps", "10Gbps"], "workload.servers": [2, 8]},
    ],
)
def test_sweeps_of_every_shape_can_be_drawn(kind: str, sweep_table: dict[str, object]) -> None:
    results = incast.run(document(sweep=sweep_table))
    assert isinstance(getattr(results.plot, kind)(), Figure)


def test_a_legend_writes_tables_by_their_names_and_stays_in_the_picture() -> None:
    queues = [{"name": "push-out", "victim": victim} for victim in ("oldest", "newest")]
    queues.append({"name": "drop-tail"})
    sweep = {"network.queue": queues, "network.buffer": ["64KiB"], "workload.servers": [2, 8]}
    figure = incast.run(document(sweep=sweep)).plot.goodput()
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "queue = push-out (victim oldest)",
        "queue = push-out (victim newest)",
        "queue = drop-tail",
    ]
    figure.canvas.draw()
    box = legend.get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.width
