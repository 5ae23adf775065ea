"""Estimates of loss rates and round trips, from events by hand, runs, samples and counters."""

import math

import numpy as np
import polars as pl
import pytest

import incast
from conftest import document
from incast import models
from incast.errors import ModelError, ResultsError
from incast.models.estimation import Sizes, of_counters, of_events, of_sample

COLLAPSE = document(
    network={"buffer": "16pkt"},
    workload={"sru": "64KiB", "blocks": 12, "connections": "persistent", "request_jitter": "20us"},
    transport={"rto_min": "10ms"},
    run={"seeds": 2},
    sweep={"workload.servers": [2, 12]},
)


@pytest.fixture(scope="module")
def collapse() -> incast.Results:
    return incast.run(incast.load(COLLAPSE), traces=["events", "queue"])


def events(*rows: tuple[float, str, int, int, dict[str, object]]) -> pl.DataFrame:
    return pl.DataFrame(
        [{"time_s": t, "kind": k, "flow": f, "block": b, **more} for t, k, f, b, more in rows],
        infer_schema_length=None,
    )


HEAD = {"place": "block_head", "cause": "full_window", "rto_s": 0.2, "seq": 1}
INSIDE = {"place": "inside", "cause": "tail", "rto_s": 0.4, "seq": 900}
SHAKE = {"place": "inside", "cause": "handshake", "rto_s": 3.0, "seq": 0}
HANDMADE = events(
    (0.000, "block_start", -1, 0, {}),
    (0.0010, "drop", 0, 0, {}),
    (0.0012, "drop", 1, 0, {}),
    (0.0019, "drop", 1, 0, {}),  # three drops within a round trip of 1 ms: one loss event
    (0.0021, "drop", 2, 0, {}),  # the next loss event
    (0.003, "fast_retransmit", 1, 0, {"srtt_s": 0.001}),
    (0.2, "timeout", 0, 0, HEAD),
    (0.6, "timeout", 0, 0, HEAD | {"rto_s": 0.4}),  # the same segment again: one loss indication
    (0.7, "timeout", 2, 0, HEAD),
    (0.8, "flow_done", 1, 0, {"packets": 40, "srtt_s": 0.003}),
    (0.9, "block_start", -1, 1, {}),
    (1.0, "drop", 0, 1, {}),
    (1.4, "timeout", 0, 1, INSIDE),
    (1.5, "timeout", 3, 1, SHAKE),
    (1.9, "flow_done", 0, 1, {"packets": 100, "srtt_s": 0.002}),
    (2.0, "flow_done", 1, 1, {"packets": 80, "srtt_s": 0.002}),
    (2.1, "flow_done", 2, 1, {"packets": 50, "srtt_s": 0.002}),
    (2.2, "flow_done", 3, 1, {"packets": 70, "srtt_s": 0.002}),
)


def test_by_hand() -> None:
    told = of_events(HANDMADE, flows=4, rtt=0.001)
    assert (told.packets, told.loss_events, told.blocks) == (300, 3, 2)
    assert told.loss_event_ratio == pytest.approx(3 / 300)
    # Loss indications: two in 100 packets of flow 0, one in 80 of flow 1, one in 50 of flow 2.
    assert told.loss_indication_ratio == pytest.approx((2 / 100 + 1 / 80 + 1 / 50) / 4)
    assert told.packet_loss_ratio == pytest.approx(5 / 300)
    assert told.flows_per_event == pytest.approx(told.loss_indication_ratio / 0.01)
    assert told.timeout_s == pytest.approx((0.2 + 0.2 + 0.4) / 3)
    assert (told.block_head_timeouts, told.block_head_share) == (1.0, 0.5)
    assert told.block_head_whole_share == 0.5
    causes = (told.inside_whole_window, told.inside_few_duplicates, told.inside_other)
    assert causes == (0, 1, 0)
    assert of_events(HANDMADE, flows=4).rtt_s == pytest.approx(0.002)


def test_a_capture_needs_little() -> None:
    bare = HANDMADE.select("time_s", "kind", "flow", "block").filter(pl.col("kind") != "drop")
    told = of_events(bare, flows=4, packets=300, rtt=0.001)
    # Every timeout counts, also that of the handshake, because nothing marks it.
    assert told.loss_indication_ratio == pytest.approx(6 / 300)
    assert told.loss_event_ratio == pytest.approx(6 / 300)
    assert math.isnan(told.packet_loss_ratio)
    assert math.isnan(told.timeout_s)
    assert told.block_head_share == 0
    with pytest.raises(ModelError, match="'packets'"):
        of_events(bare, flows=4, rtt=0.001)
    with pytest.raises(ModelError, match="'srtt_s'"):
        of_events(bare, flows=4, packets=300)
    with pytest.raises(ModelError, match="no column 'flow'"):
        of_events(bare.drop("flow"), flows=4)


def test_a_connection_of_its_own_per_block_counts_from_zero() -> None:
    told = of_events(HANDMADE, flows=4, rtt=0.001, fresh=True)
    assert told.packets == 340


def test_runs_are_estimated(collapse: incast.Results) -> None:
    frame, rows = models.estimate(collapse), collapse.frame()
    assert frame.select("workload.servers", "seed").equals(
        rows.select("workload.servers", "seed").sort("workload.servers", "seed")
    )
    both = frame.join(rows, on=["workload.servers", "seed"])
    assert (both["packets"] == both["packets_sent"]).all()
    ratio = both["drops"] / both["packets_sent"]
    assert both["packet_loss_ratio"].to_list() == pytest.approx(ratio.to_list())
    assert (both["blocks_right"] == both["blocks"]).all()
    crowded = both.filter(pl.col("workload.servers") == 12)
    assert (crowded["flows_per_event"] > 1).all()
    assert (crowded["loss_indication_ratio"] > crowded["loss_event_ratio"]).all()
    assert (crowded["packet_loss_ratio"] > crowded["loss_indication_ratio"]).all()
    head = crowded["timeouts_block_head"] / crowded["blocks"]
    assert (crowded["block_head_timeouts"] <= head).all()
    assert (crowded["block_head_share"] <= crowded["block_head_timeouts"]).all()
    assert (crowded["timeout_s"] >= 0.01).all()
    # The round trip by Little's law agrees with the one that the senders measure.
    for job in collapse.plan.jobs():
        samples = collapse.traces.of("events", job).filter(kind="flow_done")["srtt_s"]
        own = frame.filter(point=job.index, seed=job.seed)["rtt_s"].item()
        assert own == pytest.approx(samples.mean(), rel=0.35)


def test_models_answer_what_was_run(collapse: incast.Results) -> None:
    answers = models.ask(collapse, ["kulkarni-td-only", "kulkarni-full", "kulkarni-split"])
    assert answers.height == 2 * 2 * 3
    crowded = answers.filter(pl.col("workload.servers") == 12)
    mean = dict(crowded.group_by("model").agg(pl.col("goodput_bps").mean()).iter_rows())
    there = collapse.frame().filter(pl.col("workload.servers") == 12)["goodput_bps"].mean()
    assert mean["kulkarni-td-only"] > 5 * there
    assert mean["kulkarni-full"] < mean["kulkarni-split"] < 5 * there
    everything = models.ask(collapse)
    assert {"overflow", "padhye"} < set(everything["model"])


def test_the_models_lie_where_the_validation_page_has_them() -> None:
    """A short form of `validation/theory`, at one point after the collapse."""
    tree = {
        "profile": "ns2",
        "network": {"buffer": "32pkt"},
        "workload": {
            "name": "barrier-read", "servers": 10, "sru": "256KiB", "duration": "8s",
            "connections": "persistent", "request_jitter": "20us",
        },
        "transport": {"name": "newreno", "send_jitter": "8us"},
        "run": {"seeds": 2},
    }  # fmt: skip
    results = incast.run(incast.load(tree), traces=["events"])
    there = results.frame()["goodput_bps"].mean()
    answers = models.ask(results, [name for name in models.MODELS if "kulkarni" in name])
    ratio = {
        name.removeprefix("kulkarni-"): mean / there
        for name, mean in answers.group_by("model").agg(pl.col("goodput_bps").mean()).iter_rows()
    }
    assert ratio["td-only"] > 20
    assert ratio["full-printed"] < ratio["full"] < 0.5
    assert ratio["ibtt-only"] < 0.7
    assert 0.6 < ratio["extended"] < 1.4
    assert 0.6 < ratio["split"] < 1.4


def test_without_events_nothing_is_estimated() -> None:
    results = incast.run(incast.load(document(run={"seeds": 1})))
    with pytest.raises(ResultsError, match="--trace events"):
        models.estimate(results)


def test_the_knee_is_where_whole_windows_are_the_exception() -> None:
    from incast.models.estimation.runs import _knee

    def knee(*rows: tuple[int, int, int]) -> float:
        names = ("workload.servers", "inside_whole_window", "inside_few_duplicates")
        return _knee(pl.DataFrame(rows, schema=names, orient="row"))

    assert knee((2, 5, 0), (3, 4, 1), (4, 1, 9), (8, 0, 20)) == 3
    assert knee((2, 0, 0), (4, 0, 0)) == 3
    assert knee((2, 1, 0), (4, 7, 0)) == 4
    assert knee((2, 0, 3)) == 1


def bursts(
    random: np.random.Generator, events: int, mean: float, kind: Sizes = "geometric"
) -> np.ndarray:
    """Return the times of drops: one loss event per second, with a random number of drops."""
    if kind == "geometric":
        sizes = random.geometric(1 / mean, events)
    else:
        sizes = random.logseries(1 - 10**-mean, events)
    spread = random.uniform(0, 1e-4, sizes.sum())
    return np.repeat(np.arange(events, dtype=float), sizes) + spread


@pytest.mark.parametrize("interval", [4, 30])
@pytest.mark.parametrize("mean", [1.0, 3.0, 20.0, "log-series"])
def test_a_sample_estimates_both_rates_within_its_errors(
    interval: int, mean: float | Sizes
) -> None:
    kind: Sizes = "log-series" if mean == "log-series" else "geometric"
    random = np.random.default_rng(5)
    packets = 2_000_000
    off = []
    for _ in range(100):
        drops = bursts(random, 3000, 2.0 if isinstance(mean, str) else mean, kind)
        kept = drops[random.random(len(drops)) < 1 / interval]
        sampled = int(random.binomial(packets - len(drops), 1 / interval)) + len(kept)
        told = of_sample(sampled, kept, interval, 1e-3, kind)
        off.append(
            (
                (told.packet_loss_ratio - len(drops) / packets) / told.packet_loss_error,
                (told.loss_event_ratio - 3000 / packets) / told.loss_event_error,
            )
        )
    # In units of the stated errors, the mean is close to 0 and the spread is close to 1.
    for column in np.array(off).T:
        assert abs(column.mean()) < 0.4
        assert 0.75 < column.std() < 1.25


def test_a_whole_trace_is_no_sample() -> None:
    drops = bursts(np.random.default_rng(1), 50, 4.0)
    told = of_sample(10_000, drops, 1, 1e-3)
    assert told.loss_event_ratio == pytest.approx(50 / 10_000)
    assert (told.packet_loss_error, told.loss_event_error) == (0.0, pytest.approx(0.0))
    none = of_sample(1000, [], 100, 1e-3)
    assert none.packet_loss_ratio == 0
    assert none.packet_loss_error > 0
    with pytest.raises(ValueError, match="not a sample"):
        of_sample(1, [0.1, 0.2], 10, 1e-3)


def test_counters_see_events_by_the_intervals_without_loss() -> None:
    random = np.random.default_rng(3)
    off = []
    for _ in range(200):
        events = random.poisson(0.7, 400)
        drops = [int(random.geometric(0.3, count).sum()) for count in events]
        told = of_counters(100_000, drops)
        assert told.packet_loss_ratio == sum(drops) / 100_000
        off.append((told.loss_event_ratio * 1e5 - 0.7 * 400) / (told.loss_event_error * 1e5))
    assert abs(np.mean(off)) < 0.3
    assert 0.8 < np.std(off) < 1.2
    full = of_counters(1000, [1, 2, 3])
    assert full.loss_event_ratio == pytest.approx(3 / 1000)
    assert math.isinf(full.loss_event_error)
    assert of_counters(1000, [0, 0]).loss_event_ratio == 0
    with pytest.raises(ValueError, match="dropped"):
        of_counters(3, [2, 2])
