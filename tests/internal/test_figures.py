"""Figures of the literature: their runs, their pictures, and the verdicts on their claims."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import incast
from incast import _core
from incast.errors import FigureError
from incast.reproduce import gallery
from incast.reproduce import papers as texts
from incast.reproduce.execute import Done, reproduce
from incast.reproduce.figure import Claim
from incast.reproduce.gallery import page
from incast.reproduce.gaps import filled
from incast.reproduce.judge import Verdict
from incast.reproduce.metrics import Named, all_metrics
from small_text import CLAIM, SWEEP


@pytest.fixture
def done(papers: Path, tmp_path: Path) -> Callable[..., Done]:
    """Return a function that writes a figure and runs it."""

    def make(figure: str, quick: bool = True) -> Done:
        (papers / "text" / "1.toml").write_text(figure)
        chosen = texts.select(texts.load(papers), ["text/1"])
        (one,) = reproduce(chosen, tmp_path / "out", quick=quick, workers=1)
        return one

    return make


def test_a_figure_is_run_drawn_and_judged(done: Callable[..., Done]) -> None:
    one = done(SWEEP + CLAIM)
    assert one.picture is not None
    assert one.picture.data.columns == ["source", "series", "x", "y", "y_ci95_low", "y_ci95_high"]
    here = one.picture.data.filter(pl.col("source") == "here")
    assert here["x"].to_list() == ["1", "8", "32"] * 2
    assert one.picture.data.filter(pl.col("source") == "ns-2")["y"].to_list() == [700.0]
    (judgement,) = one.judgements
    assert judgement.verdict is Verdict.HOLDS
    assert judgement.measured.startswith("goodput_mbps of plain at 32 = ")
    assert judgement.reference.startswith("fails: ")  # interpolated between 16 and 64 servers


def test_the_gallery_begins_with_the_scorecard_and_has_the_texts_words(
    papers: Path, done: Callable[..., Done]
) -> None:
    headline = """
    [[headlines]]
    headline = "The collapse"
    says = "With many servers."
    found = "With 32."
    verdict = "Right & fair."
    claims = ["A"]
    """
    (papers / "text" / "scorecard.toml").write_text(headline)
    words = '[[described]]\ncurve = "plain"\nsays = "It falls."\n'
    one = done(SWEEP + CLAIM + words)
    whole = gallery.page([one], {}, quick=False)
    assert "<strong>plain</strong>: It falls." in whole
    assert "<td>Right &amp; fair.</td><td>✓ A</td>" in whole
    assert whole.index("The collapse") < whole.index("<nav>")
    assert "The collapse" not in gallery.page([one], {}, quick=True)


def test_what_was_measured_for_a_figure_is_drawn_beside_its_curves(
    done: Callable[..., Done], papers: Path
) -> None:
    pl.DataFrame(
        {
            "figure": ["1", "1", "2"],
            "series": ["fine", "fine", "plain"],
            "x": ["8", "9", "8"],
            "seed": [1, 1, 1],
            "goodput_mbps": [640.0, 1.0, 2.0],
            "queue_max": [None, None, None],
        }
    ).write_csv(papers / "text" / "data" / "figures_text.csv")
    one = done(SWEEP + CLAIM.replace('series = "plain", at = 32', 'series = "fine", at = 8'))
    assert one.picture is not None
    there = one.picture.data.filter(pl.col("source") == "ns-2")
    # Only the points of this figure. A curve without rows in the file keeps its `reference`.
    assert there.select("series", "x", "y").rows() == [("plain", "1", 700.0), ("fine", "8", 640.0)]
    assert one.judgements[0].reference.startswith("fails: goodput_mbps of fine at 8 = 640")


def test_gains_and_what_waits_are_drawn_beside_those_of_ns2(
    done: Callable[..., Done], papers: Path
) -> None:
    data = papers / "text" / "data"
    rows = {"figure": ["1"] * 3, "seed": [1] * 3, "goodput_mbps": [100.0, 140.0, 7.0]}
    rows |= {"series": ["plain", "fine", "fine"], "x": ["8", "8", "0"]}
    pl.DataFrame(rows).write_csv(data / "figures_text.csv")
    one = done(SWEEP.replace('"sweep"', '"gain"'))
    assert one.picture is not None
    there = one.picture.data.filter(pl.col("source") == "ns-2")
    assert there.select("x", "y").rows() == [("8", 40.0)]
    waits = {"figure": ["1"] * 2, "series": ["fine"] * 2, "seed": [1, 1]}
    waits |= {"time_s": [0.0, 0.1], "packets_max": [3, 5], "drops": [0, 1]}
    pl.DataFrame(waits).write_csv(data / "traces_text.csv")
    axis = SWEEP[SWEEP.index("[x]") : SWEEP.index("[[series]]")]
    history = SWEEP.replace('"sweep"', '"history"').replace(axis, "")
    one = done(history.replace('y = "goodput_mbps"', 'trace = "queue"\ny = "packets_max"'))
    assert one.picture is not None
    there = one.picture.data.filter(pl.col("source") == "ns-2")
    assert there.select("series", "y").rows() == [("fine", 3.0), ("fine", 5.0)]


def test_a_map_frames_what_the_text_allows(done: Callable[..., Done]) -> None:
    framed = SWEEP.replace('"sweep"', '"map"').replace('label = "fine"', 'label = "b, fine"')
    one = done(framed.replace('label = "plain"', 'label = "a, plain"\nprinted = [500, inf]'))
    assert one.picture is not None
    (axes,) = one.picture.figure.axes
    values = one.curves.values("a, plain")
    assert [text.get_text() for text in axes.get_yticklabels()] == ["a, plain", "b, fine"]
    assert axes.texts[0].get_text() == f"{values[1]:.3g}"
    frames = [patch for patch in axes.patches if not patch.get_fill()]
    assert len(frames) == sum(value >= 500 for value in values.values()) > 0
    assert len(axes.lines) == 1  # the line between the two groups
    assert one.picture.data["y"].to_list()[:3] == list(values.values())


@pytest.mark.parametrize("printed", ["[500]", "[700, 500]", "[1, 2, 3]"])
def test_what_a_map_frames_has_two_ends(done: Callable[..., Done], printed: str) -> None:
    wrong = SWEEP.replace('label = "plain"', f'label = "plain"\nprinted = {printed}')
    with pytest.raises(FigureError, match="plain: printed: must be two numbers, the lower one"):
        done(wrong)


def test_changes_go_to_the_simulated_curves_alone(papers: Path) -> None:
    answer = '{ function = "queues.MM1K", with = { arrival_rate = 1 } }'
    queue = f'\n[[series]]\nlabel = "queue"\nanswer = {answer}\n[plot]'
    (papers / "text" / "1.toml").write_text(SWEEP.replace("\n[plot]", queue))
    (chosen,) = texts.select(texts.load(papers), ["text/1"])
    changes = {"network.clock_noise": "1us"}
    before, after = chosen.figure.series, texts.changed(chosen, changes).figure.series
    for one, other in zip(before, after, strict=True):
        assert other.set == (one.set | changes if one.simulated else one.set)
    assert [one.simulated for one in before] == [True, True, False]


def test_a_curve_may_be_a_formula_of_the_models(done: Callable[..., Done]) -> None:
    given = '{ arrival_rate = "x / 16", time = 1, capacity = 3 }'
    answer = f'{{ function = "queues.MM1K", with = {given}, part = "blocking", times = 100 }}'
    queue = f'\n[[series]]\nlabel = "queue"\nanswer = {answer}\n[plot]'
    one = done(SWEEP.replace("\n[plot]", queue))
    assert one.curves.of["queue"].theory
    assert one.curves.values("queue")[8] == pytest.approx(100 / 15)  # r = 1/2: r^3 (1-r)/(1-r^4)
    with pytest.raises(FigureError, match=r"queue: answer: 'y' cannot be computed"):
        done(SWEEP.replace("\n[plot]", queue.replace("x / 16", "y")))


def test_curves_are_those_that_the_same_scenario_gives(done: Callable[..., Done]) -> None:
    one = done(SWEEP, quick=False)
    tree = dict(one.work.chosen.paper.base.scenario)
    results = incast.run({**tree, "run": {"seeds": 3}, "sweep": {"workload.servers": one.work.xs}})
    wanted = (results.summary()["goodput_bps"] / 1e6).to_list()
    assert list(one.curves.values("plain").values()) == pytest.approx(wanted)


def test_a_run_is_kept_and_shared_by_figures(papers: Path, tmp_path: Path) -> None:
    (papers / "text" / "1.toml").write_text(SWEEP)
    (papers / "text" / "2.toml").write_text(
        'title = "Queue"\nextends = "1"\n[plot]\ny = "queue_max_packets"\n'
    )
    chosen = texts.select(texts.load(papers), [])
    assert [one.name for one in chosen] == ["text/1", "text/2"]
    reproduce(chosen, tmp_path / "out", quick=True)
    parts = {file: file.stat().st_mtime_ns for file in (tmp_path / "out" / "runs").iterdir()}
    kept = pl.concat([pl.read_parquet(part) for part in parts], how="diagonal_relaxed")
    assert kept["run"].n_unique() == 2 * 3 * 2  # curves x points x seeds, shared by both figures
    again = reproduce(chosen, tmp_path / "out", quick=True)
    assert {
        file: file.stat().st_mtime_ns for file in (tmp_path / "out" / "runs").iterdir()
    } == parts
    assert again[1].curves.values("plain")[32] > 20  # 32 KiB hold more than 20 packets


def test_a_run_that_one_figure_draws_and_another_traces_is_done_once(
    papers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (papers / "text" / "1.toml").write_text(SWEEP)
    theory = '[[series]]\nlabel = "full"\nmodel = "kulkarni-full"\nmeasured = "plain"\n[plot]'
    traced = SWEEP.replace("goodput_mbps", "packets_per_s").replace("[plot]", theory)
    (papers / "text" / "2.toml").write_text(traced)
    done, run = [], _core.run
    monkeypatch.setattr(_core, "run", lambda *given: (done.append(given[1]), run(*given))[1])
    reproduce(texts.select(texts.load(papers), []), tmp_path / "out", quick=True)
    assert len(done) == 2 * 3 * 2


def test_bars(done: Callable[..., Done]) -> None:
    one = done(SWEEP.replace('"sweep"', '"bars"', 1))
    assert one.picture is not None
    assert one.picture.data.height == 6


def test_bars_of_a_gain_are_differences(done: Callable[..., Done]) -> None:
    one = done(SWEEP.replace('"sweep"', '"gain"', 1))
    assert one.picture is not None
    plain, fine = one.curves.values("plain"), one.curves.values("fine")
    drawn = dict(one.picture.data.select("x", "y").iter_rows())
    assert drawn == {str(x): fine[x] - plain[x] for x in plain}
    share = done(SWEEP.replace('"sweep"', '"gain"', 1) + "relative = true\n")
    assert share.picture is not None
    assert share.picture.data["y"][2] == pytest.approx(100 * (fine[32] / plain[32] - 1))


def test_a_theory_stands_beside_the_runs(done: Callable[..., Done]) -> None:
    ocs = 'set = { "transport.remedies" = ["ocs"] }\n'
    theory = f'[[series]]\nlabel = "theory"\nmodel = "serialisation"\n{ocs}[plot]'
    one = done(
        SWEEP.replace("[plot]", theory) + CLAIM.replace('"plain", at = 32', '"theory", at = 32')
    )
    assert not one.work.needs[2].jobs
    assert 500 < one.curves.values("theory")[32] < 1000
    sets = one.curves.values("theory", Named(all_metrics()["sets_connections"]))
    assert sets[32] >= 1
    with pytest.raises(FigureError, match="theory: has no drops"):
        one.curves.values("theory", Named(all_metrics()["drops"]))


def test_a_theory_of_losses_takes_them_from_the_runs(done: Callable[..., Done]) -> None:
    theory = '[[series]]\nlabel = "full"\nmodel = "kulkarni-full"\nmeasured = "plain"\n[plot]'
    one = done(SWEEP.replace("goodput_mbps", "packets_per_s").replace("[plot]", theory))
    ours, full = one.curves.values("plain"), one.curves.values("full")
    assert 32 in full
    assert 0.1 < full[32] / ours[32] < 10
    assert [need.traces for need in one.work.needs] == [("events",), (), ()]


def test_a_histogram_counts_rows_of_a_trace(done: Callable[..., Done]) -> None:
    one = done(
        """\
title = "Losses before a timeout"
kind = "histogram"
scenario = { workload = { servers = 32 } }
[[series]]
label = "plain"
[[series]]
label = "deep"
set = { "network.buffer" = "1MiB" }
[plot]
trace = "events"
only = { kind = "timeout" }
y = "lost_in_window"
[[claims]]
id = "A"
says = "A deep buffer has no timeouts."
kind = "trend"
left = { series = "deep", column = "lost_in_window", reduce = "count" }
op = "<="
right = 0
[[claims]]
id = "B"
says = "A shallow one has."
kind = "trend"
left = { series = "plain", column = "lost_in_window", reduce = "mode" }
op = ">"
right = 0
"""
    )
    assert [judgement.verdict for judgement in one.judgements] == [Verdict.HOLDS] * 2
    assert one.picture is not None
    rows = one.curves.of["plain"].rows
    drawn = one.picture.data.filter(pl.col("series") == "plain")["frequency"].sum()
    assert drawn == pytest.approx(rows["timeouts"].sum() / rows.height)


def test_a_timeline_is_that_of_the_first_seed_that_fits(
    done: Callable[..., Done], tmp_path: Path
) -> None:
    one = done(
        """\
title = "Windows"
kind = "timeline"
scenario = { workload = { servers = 24 }, transport = { send_jitter = "8us" } }
[[series]]
label = "plain"
[search]
metric = "timeouts"
least = 1
seeds = 4
[plot]
trace = "cwnd"
y = "cwnd_last"
lines = 2
"""
    )
    assert one.picture is not None
    assert one.picture.data["flow"].n_unique() == 2
    assert len(list((tmp_path / "out" / "flows").iterdir())) == 1  # a trace of one seed only
    assert one.curves.of["plain"].rows["timeouts"].to_list()[0] >= 1


def test_a_history_has_the_busiest_port_of_every_curve(done: Callable[..., Done]) -> None:
    one = done(
        """\
title = "Waiting and dropped"
kind = "history"
[[series]]
label = "four"
[[series]]
label = "many"
set = { "workload.servers" = 64 }
[plot]
trace = "queue"
y = "packets_max"
beside = ["drops"]
xscale = "log"
span = [0.0001, 1]
"""
    )
    assert one.picture is not None
    for label in ("four", "many"):
        (row,) = one.curves.of[label].rows.filter(pl.col("seed") == 1).to_dicts()
        lanes = {
            name: one.picture.data.filter(pl.col("series") == f"{label}: {name}")["y"]
            for name in ("waiting", "dropped")
        }
        assert lanes["waiting"].max() == row["queue_max_packets"]
        assert lanes["dropped"].max() == row["drops"]
    assert row["drops"] > 0


def test_a_timeline_has_further_columns_marks_and_numbers_of_a_time(
    done: Callable[..., Done],
) -> None:
    one = done(
        """\
title = "Heartbeats"
kind = "timeline"
scenario = { workload = { servers = 24 }, transport = { name = "plato", initial_window = 1 } }
[[series]]
label = "plato"
[search]
metric = "completion_s"
seeds = 1
[plot]
trace = "queue"
y = "packets_last"
beside = ["labelled_last"]
marks = "drops"
[[claims]]
id = "A"
says = "What waits first is labelled."
kind = "trend"
left = { series = "plato", column = "labelled_last", reduce = "median", from = 1e-4, to = 2e-4 }
op = "~"
right = { series = "plato", column = "packets_last", reduce = "median", from = 1e-4, to = 2e-4 }
[[claims]]
id = "B"
says = "What waits is always labelled."
kind = "trend"
left = { series = "plato", column = "labelled_last", reduce = "mean" }
op = ">="
right = { series = "plato", column = "packets_last", reduce = "mean" }
"""
    )
    assert [judgement.verdict for judgement in one.judgements] == [Verdict.HOLDS, Verdict.FAILS]
    assert one.picture is not None
    lines = {line.get_label() for line in one.picture.figure.axes[0].get_lines()}
    assert lines == {"waiting", "labelled_last", "dropped"}


def test_bins_that_were_left_out_are_filled() -> None:
    """In a filled bin, the port's queue keeps its last length, and the port sends nothing."""
    trace = pl.DataFrame(
        {
            "time_s": [0.0, 3e-6, 1e-6, 2e-6],
            "bin_s": [1e-6] * 4,
            "port": ["a", "a", "b", "b"],
            "packets_last": [5, 1, 7, 8],
            "busy": [1.0, 0.5, 0.25, 0.0],
        }
    )
    whole = filled(trace)
    assert whole["port"].to_list() == ["a"] * 4 + ["b"] * 2
    assert whole["packets_last"].to_list() == [5, 5, 5, 1, 7, 8]
    assert whole["busy"].to_list() == [1.0, 0.0, 0.0, 0.5, 0.25, 0.0]
    assert whole["time_s"].to_list() == pytest.approx([0, 1e-6, 2e-6, 3e-6, 1e-6, 2e-6])
    wide = filled(trace.head(2).with_columns(pl.Series("bin_s", [2e-6, 1e-6])))
    assert wide["busy"].to_list() == [1.0, 1.0, 0.0, 0.5]
    assert wide["bin_s"].to_list() == [1e-6] * 4
    events = pl.DataFrame({"time_s": [0.0, 1.0], "flow": [0, 1]})
    assert filled(events) is events


def test_a_timeline_without_a_run_is_told(done: Callable[..., Done]) -> None:
    one = done(
        """\
title = "Windows"
kind = "timeline"
[[series]]
label = "plain"
[search]
metric = "timeouts"
least = 1e6
seeds = 2
[plot]
trace = "cwnd"
y = "cwnd_last"
"""
        + CLAIM.replace("at = 32", "at = 0")
    )
    assert one.picture is None
    assert one.judgements[0].verdict is Verdict.FAILS
    assert (
        one.judgements[0].measured
        == "none of 2 seeds has a run that meets the conditions of the search"
    )
    assert "None of 2 seeds" in page([one], {}, quick=True)


def test_a_wrong_table_is_told_by_its_key() -> None:
    with pytest.raises(FigureError, match="here, A: says is missing"):
        Claim.from_toml({"id": "A"}, "here")
