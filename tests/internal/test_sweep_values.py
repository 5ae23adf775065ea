"""Exact values of sweeps: costs of runs, remaining runs, resources of jobs, batches for workers."""

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

import incast
from conftest import document
from incast.errors import ResultsError
from incast.scenario.plan import Job
from incast.sweep import cluster, forecast, template, work
from incast.sweep.capture import Capture
from incast.sweep.forecast import Forecast
from incast.sweep.progress import Estimate
from incast.sweep.status import PointStatus, Status, ranges
from incast.sweep.template import Task


def scenario(**sections: Any) -> incast.Scenario:
    return incast.load(document(**sections))


def jobs(count: int, **sections: Any) -> list[Job]:
    (point,) = scenario(**sections).plan.points
    return [Job(0, point, seed, "") for seed in range(1, count + 1)]


@pytest.mark.parametrize(
    ("workload", "packets"),
    [
        # 16 KiB are 12 packets of 1460 bytes.
        ({}, 2 * 4 * 12),
        ({"blocks": 5, "servers": 3}, 5 * 3 * 12),
    ],
)
def test_the_packets_of_a_run_are_those_of_its_blocks(
    workload: dict[str, Any], packets: float
) -> None:
    here = scenario(workload=workload).plan.points[0].here
    assert work.packets(here) == packets
    assert work.cost(here) == packets + 300


def test_the_packets_of_a_duration_are_what_the_link_carries() -> None:
    """At 1 Gbit/s, 12 MB pass in 96 ms, which are 8000 packets."""
    flows = {"name": "long-flows", "servers": 4, "duration": "96ms"}
    here = incast.load(document() | {"workload": flows}).plan.points[0].here
    assert work.packets(here) == pytest.approx(8000)
    assert work.cost(here) == 8300


def test_the_speed_of_a_machine_is_its_best_of_three(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three runs, of 20 blocks from 16 servers with 45 packets each, take 3, 2 and 5 seconds."""
    times, seeds = iter([0.0, 3.0, 10.0, 12.0, 20.0, 25.0]), list[int]()
    monkeypatch.setattr("incast.sweep.work.time.perf_counter", lambda: next(times))
    core = SimpleNamespace(run=lambda _, seed: seeds.append(seed))
    monkeypatch.setattr(work, "_core", core)
    assert work.speed_here() == pytest.approx(2 / (20 * 16 * 45))
    assert seeds == [0, 1, 2]


@pytest.mark.parametrize(
    ("seeds", "text"),
    [
        ([], ""),
        ([3], "3"),
        ([1, 2], "1 to 2"),
        ([5, 1, 3, 2], "1 to 3, 5"),
        ([1, 3, 5, 6], "1, 3, 5 to 6"),
    ],
)
def test_seeds_are_written_as_ranges(seeds: list[int], text: str) -> None:
    assert ranges(seeds) == text


@pytest.mark.parametrize(
    ("workers", "missing", "left"),
    [(1, [1, 2, 3], 12.0), (2, [1, 2, 3], 6.0), (9, [1, 2, 3], 4.0), (9, [], 0.0)],
)
def test_what_is_left_is_shared_by_the_workers(
    workers: int, missing: list[int], left: float
) -> None:
    """A missing run takes 2.5 seconds at one point, and 1.5 seconds at another point."""
    one = PointStatus({"a": 1}, 2, missing, 2.5, measured=True)
    other = PointStatus({"a": 2}, 5 - len(missing), missing, 1.5, measured=False)
    assert one.left_s == 2.5 * len(missing)
    state = Status("t", "done", 5, [one, other], workers, 7.0, 1)
    done = 7 - len(missing)
    assert (state.runs, state.done) == (done + 2 * len(missing), done)
    at_once = min(workers, max(2 * len(missing), 1))
    assert state.left_s == 4.0 * len(missing) / at_once
    told = state.to_dict()
    assert (told["missing"], told["points"][0]["left_s"]) == (2 * len(missing), one.left_s)
    assert told["points"][1]["missing_seeds"] == ("1 to 3" if missing else "")
    if workers < 9:
        assert state.left_s == left


def task(seconds: float, monkeypatch: pytest.MonkeyPatch, **more: Any) -> Task:
    monkeypatch.setattr(
        template, "forecast", lambda *_, **__: Forecast(runs=1, kept=0, seconds=seconds)
    )
    sections = more.pop("sections", {})
    given = {"shards": 1, "cpus": 1} | more
    return Task(scenario(**sections), Path("a.toml"), [], "out", **given)


SWEPT = {"sweep": {"workload.servers": [4, 8]}}  # the points cost 396 and 492


@pytest.mark.parametrize(
    ("seconds", "more", "minutes"),
    [
        # One point with two seeds, so each run takes half of the time.
        (7200.0, {}, 540),
        (7200.0, {"shards": 2}, 360),
        (7200.0, {"shards": 2, "cpus": 4}, 225),
        # A share of 3600 s, and the longest run, which takes 7200 · 492 / 888 / 2 s.
        (7200.0, {"shards": 2, "sections": SWEPT}, 280),
        (133.0, {}, 10),
        (134.0, {}, 11),
        (1.0, {}, 10),
    ],
)
def test_a_part_may_take_three_times_its_share_and_the_longest_run(
    monkeypatch: pytest.MonkeyPatch, seconds: float, more: dict[str, Any], minutes: int
) -> None:
    assert task(seconds, monkeypatch, **more).minutes == minutes


@pytest.mark.parametrize(
    ("cpus", "servers", "mebibytes"),
    [(1, 128, 256 + 64 + 1), (1, 129, 322), (4, 128, 256 + 4 * 65), (1, 1280, 330)],
)
def test_a_part_has_memory_for_its_processes_and_connections(
    monkeypatch: pytest.MonkeyPatch, cpus: int, servers: int, mebibytes: int
) -> None:
    """The memory is 256 MiB, plus for each processor 64 MiB and 8 KiB per connection."""
    sections = {"sweep": {"workload.servers": [1, servers]}}
    assert task(1.0, monkeypatch, cpus=cpus, sections=sections).memory == mebibytes


@pytest.mark.parametrize(
    ("seconds", "cpus", "shards"),
    [(1.0, 1, 1), (3600.0, 1, 1), (3601.0, 1, 2), (7201.0, 2, 2), (1e9, 1, 1000), (0.0, 1, 1)],
)
def test_a_shard_takes_an_hour(
    monkeypatch: pytest.MonkeyPatch, seconds: float, cpus: int, shards: int
) -> None:
    task(seconds, monkeypatch)
    assert template.shards_for(scenario(run={"seeds": 2000}), cpus) == shards
    few = scenario(run={"seeds": 2}, sweep={"workload.servers": [4, 8]})
    assert template.shards_for(few, cpus) == min(shards, 4)
    template.check(few, 4)
    with pytest.raises(ResultsError, match="5 are more than the 4 runs; must be 1 to 4"):
        template.check(few, 5)


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("A small read", "incast-a-small-read"),
        ("--", "incast"),
        ("x" * 50, f"incast-{'x' * 40}"),
        (f"{'x' * 39} y", f"incast-{'x' * 39}"),
    ],
)
def test_a_job_is_named_after_the_title(
    monkeypatch: pytest.MonkeyPatch, title: str, name: str
) -> None:
    given = scenario().override("title", title)
    assert Task(given, Path("a"), [], "out", 1, 1).name == name
    told = task(3600.0, monkeypatch, sections=SWEPT)
    assert told.runs == 4
    assert told.about()[0] == "4 runs: 2 points, 2 seeds."


def test_a_limit_is_in_hours_and_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(template, "_source", lambda _: "a.toml")
    lines = template.slurm(task(1000.0, monkeypatch, shards=3)).splitlines()
    # A share of 333 s and the longest run of 500 s, times 3, are 41.7 minutes.
    assert "#SBATCH --time=0:42:00" in lines
    assert "#SBATCH --array=1-3" in lines
    assert "#SBATCH --time=2:05:00" in template.slurm(task(1666.0, monkeypatch))


@pytest.mark.parametrize(
    ("text", "is_block"),
    [
        ("a\nb\n", True), ("a\n", True), ("a", False), ("a\n\n", False), (" a\n", False),
        ("\na\n", False), ("a\tb\n", False), ("a\tb", False), ("a\x85\n", False),
    ],
)  # fmt: skip
def test_a_text_is_a_block_if_its_lines_are_plain(text: str, is_block: bool) -> None:
    assert template._block(text) is is_block


def test_a_tree_is_yaml() -> None:
    tree = {"a": {"b": 1, "c": "x\n\ny\n"}, "d": [{"e": 1, "f": [2]}, {"e": 3}], "g": []}
    assert template._yaml(tree) == (
        "a:\n  b: 1\n  c: |\n    x\n  \n    y\nd:\n  - e: 1\n    f: [2]\n  - e: 3\ng: []\n"
    )


@pytest.mark.parametrize(
    ("workers", "count", "seconds"), [(1, 4, 0.5), (2, 4, 0.25), (8, 4, 0.125), (3, 0, 0.0)]
)
def test_the_time_of_a_sweep_is_that_of_its_packets(
    monkeypatch: pytest.MonkeyPatch, workers: int, count: int, seconds: float
) -> None:
    """A run takes an eighth of a second: 96 packets of 1.3 ms each, and 0.1 ms of Python."""
    monkeypatch.setattr(forecast, "speed_here", lambda: (0.125 - 1e-4) / 96)
    assert forecast.expected_seconds(jobs(count), [], None, workers) == pytest.approx(seconds)


def test_the_speed_is_that_of_stored_runs() -> None:
    rows = pl.DataFrame(
        {"group": ["all", "mice", "all"], "wall_s": [1.0, 9.0, 2.0], "packets_sent": [10, 7, 20]}
    )
    assert forecast._measured(rows) == pytest.approx(0.1)
    assert forecast._measured(rows.with_columns(packets_sent=pl.lit(0))) == 3.0


def test_an_estimate_has_a_whole_of_what_is_known() -> None:
    every = jobs(4)
    estimate = Estimate(2, every, kept=4)
    first = estimate.progress()
    assert (first.done, first.total, first.share, first.remaining) == (4, 8, 0.0, None)
    assert estimate.progress({every[0].key: 0.5}).share == pytest.approx(0.125)
    estimate.finished(every[0], 3.0)
    later = estimate.progress({every[1].key: 0.25})
    assert later.remaining == pytest.approx((9 - 0.75) / 2)
    assert later.share == pytest.approx(3.75 / 12)
    for job in every[1:]:
        estimate.finished(job, 1.0)
    assert estimate.progress().share == 1.0
    assert Estimate(1, [], 0).progress().share == 1.0


# Workers elsewhere.


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("tcp://host:8786", True),
        ("tls://host", True),
        ("tcp://host:0", False),
        ("tcp://host:65536", False),
        ("tcp://", False),
        ("http://host:1", False),
        ("dask", False),
    ],
)
def test_an_address_has_a_protocol_and_a_host(text: str, holds: bool) -> None:
    assert cluster._is_address(text) is holds


def test_the_cost_of_a_run_is_that_of_its_point_or_its_packets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cluster, "speed_here", lambda: 0.5)
    (one,), (twice,) = jobs(1), jobs(1, workload={"servers": 8})
    costs = cluster._Costs()
    assert costs.of(one) == pytest.approx(48 + 1e-4)
    costs.measured(one, 3.0)
    costs.measured(one, 5.0)
    assert costs.of(one) == pytest.approx(4 + 1e-4)
    assert costs.of(twice) == pytest.approx(8 + 1e-4), "twice the packets"


def test_a_batch_has_enough_work_or_enough_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    costs = cluster._Costs()
    monkeypatch.setattr(costs, "of", lambda _: 0.5)
    assert [len(batch) for batch in costs.batches(jobs(10))] == [4, 4, 2]
    monkeypatch.setattr(cluster, "_MOST", 3)
    assert [len(batch) for batch in costs.batches(jobs(7))] == [3, 3, 1]
    monkeypatch.setattr(cluster, "_WINDOW", 4)
    assert [len(batch) for batch in costs.batches(jobs(7))] == [3, 1, 3]
    assert list(costs.batches([])) == []


def a_round(**client: Any) -> cluster._Round:
    store: Any = SimpleNamespace()
    return cluster._Round(SimpleNamespace(status="running", **client), "tcp://h:1", store, [])


def test_a_look_takes_a_tenth_of_a_second() -> None:
    one = a_round()
    start = time.monotonic()
    assert list(one.some()) == []
    assert 0.09 < time.monotonic() - start < 0.8
    one.ended.put(1)
    one.ended.put(2)
    start = time.monotonic()
    assert list(one.some()) == [1, 2]
    one.client.status = "closed"
    with pytest.raises(ResultsError, match="the scheduler is gone"):
        list(one.some())


@pytest.mark.parametrize(
    ("count", "attempt", "parts"),
    [(4, 0, [2, 2]), (3, 1, [2, 1]), (1, 9, [1]), (1, 10, None)],
)
def test_what_kills_its_workers_is_tried_in_halves_ten_times(
    count: int, attempt: int, parts: list[int] | None
) -> None:
    distributed = pytest.importorskip("distributed")

    def killed(timeout: float) -> None:
        assert timeout == 60
        raise distributed.KilledWorker("task", SimpleNamespace(address="a"), 3)

    one, those = a_round(), jobs(count)
    future = SimpleNamespace(result=killed)
    if parts is None:
        with pytest.raises(ResultsError, match="workers ended 10 times at the same runs"):
            one.result(future, those, attempt)
        return
    assert one.result(future, those, attempt) == []
    assert [len(again) for again, _ in one.again] == parts
    assert {number for _, number in one.again} == {attempt + 1}
    assert [job for again, _ in one.again for job in again] == those


@pytest.mark.parametrize(("threads", "batches"), [(0, 8), (3, 8), (4, 10), (10, 22)])
def test_two_batches_of_each_thread_are_under_way(threads: int, batches: int) -> None:
    one = a_round(nthreads=lambda: {"a": threads}, cancel=lambda *_, **__: None)
    sent: list[int] = []

    def submit(those: list[Job], attempt: int) -> None:
        sent.append(len(those))
        one.futures[str(len(sent))] = None

    one.submit = submit  # type: ignore[method-assign]
    one.costs.of = lambda _: 3.0  # type: ignore[method-assign]

    def stop(_: object) -> None:
        raise RuntimeError

    one.finished = list  # type: ignore[method-assign]
    with pytest.raises(RuntimeError):
        one.run(jobs(50), stop)
    assert sent == [1] * batches
    counted = cluster.Cluster(SimpleNamespace(nthreads=lambda: {"a": threads, "b": 1}), "x")
    assert counted.threads == threads + 1
    assert cluster.Cluster(SimpleNamespace(nthreads=dict), "x").threads == 1


def test_a_capture_keeps_headers(tmp_path: Path) -> None:
    """The headers of Ethernet, IPv4 and TCP have at most 14, 20 and 60 bytes; 96 is enough."""
    plain = Capture(tmp_path / "a.pcapng")
    assert (plain.at, plain.snaplen, plain.truth, plain.offload) == ("client", 96, False, False)
    for snaplen in (53, -1):
        with pytest.raises(ResultsError, match="must be "):
            Capture(tmp_path / "b.pcapng", snaplen=snaplen)
    Capture(tmp_path / "c.pcapng", snaplen=54)
