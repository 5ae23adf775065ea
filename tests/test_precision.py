"""`run.precision`, and the comparison of two results."""

import json
from pathlib import Path

import pytest

import incast
from conftest import SMALL, Command, said

JITTER = SMALL.replace("blocks = 2", 'blocks = 4\nrequest_jitter = "50us"').replace(
    'sru = "16KiB"', 'sru = "64KiB"'
)


@pytest.fixture
def noisy(tmp_path: Path) -> Path:
    """Return a scenario in which four seeds are enough at one point, but not at the others."""
    path = tmp_path / "noisy.toml"
    text = JITTER.replace("seeds = 2", "seeds = 4\nprecision = 0.1\nmost_seeds = 16")
    path.write_text(text + '[sweep]\n"workload.servers" = [1, 6, 12]\n')
    return path


def test_more_seeds_run_where_the_interval_is_wide(
    command: Command, noisy: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    told = command("run", noisy, "--out", out)
    assert told.code == 0, told.err
    results = incast.open_results(out)
    runs = dict(results.summary().select("workload.servers", "runs").iter_rows())
    assert runs[1] == 4
    assert max(runs.values()) > 4
    assert f"{sum(runs.values())} runs: 3 points, up to {max(runs.values())} seeds" in told.out
    assert "Precision of 10\xa0%: reached at" in told.out
    state = json.loads(command("status", out, "--format", "json").out)
    assert (state["runs"], state["missing"]) == (sum(runs.values()), 0)
    before = {file: file.stat().st_mtime_ns for file in (out / "runs").iterdir()}
    assert command("run", noisy, "--out", out).out == told.out
    assert {file: file.stat().st_mtime_ns for file in (out / "runs").iterdir()} == before
    assert incast.run(noisy).frame().drop("wall_s").equals(results.frame().drop("wall_s"))


def test_an_interrupted_search_for_precision_goes_on(noisy: Path, tmp_path: Path) -> None:
    def stop(state: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(incast.Interrupted):
        incast.run(noisy, out=tmp_path / "out", progress=stop, jobs=1)
    again = incast.run(noisy, out=tmp_path / "out")
    assert again.frame().drop("wall_s").equals(incast.run(noisy).frame().drop("wall_s"))


def test_the_precision_is_told_to_programs_beside_their_rows(command: Command, noisy: Path) -> None:
    told = command("run", noisy, "--format", "json")
    assert json.loads(told.out)["scenario"]["precision"] == {"target": 0.1, "first": 4, "most": 16}
    assert told.err.startswith("incast: Precision of 10")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("run.precision=0", "run.precision: 0 is out of range; must be above 0 and below 1"),
        ("run.precision=2 %", "run.precision: '2 %' is not a number; write e.g. 0.02 for 2 %"),
        ("run.most_seeds=3", "must be 4 (the seeds of run.seeds) to 1000000"),
        ("run.most_seeds=1.5", "run.most_seeds: 1.5 is not a whole number; write e.g. 400"),
        ("run.seeds=1", "run.seeds: must be at least 2 with run.precision, because a single seed"),
    ],
)
def test_what_is_no_precision_is_refused(
    command: Command, noisy: Path, change: str, message: str
) -> None:
    assert message in said(command("run", noisy, "--set", change))


def test_a_cap_without_precision_has_no_effect_and_is_refused(
    command: Command, small: Path
) -> None:
    line = said(command("run", small, "--set", "run.most_seeds=9"))
    assert "run.most_seeds: has no effect without run.precision" in line


def test_shards_do_not_know_the_precision(command: Command, noisy: Path, tmp_path: Path) -> None:
    line = said(command("run", noisy, "--shard", "1/2", "--out", tmp_path / "out"))
    assert "cannot be combined with run.precision" in line


def test_the_keys_are_explained(command: Command) -> None:
    assert "95 % confidence interval" in command("explain", "run.precision").out
    schema = json.loads(command("schema").out)
    assert schema["$defs"]["Run"]["properties"]["most_seeds"]["default"] == 400


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    """Return results with a long and a short timer, which differ only at the collapsed point."""
    scenario = tmp_path / "pair.toml"
    scenario.write_text(
        JITTER.replace("seeds = 2", "seeds = 12").replace("10ms", "100ms")
        + '[sweep]\n"workload.servers" = [1, 12]\n'
    )
    for name, rto in (("long", "100ms"), ("short", "1ms")):
        quick = incast.load(scenario).override("transport.rto_min", rto)
        incast.run(quick, out=tmp_path / name)
    return tmp_path / "long", tmp_path / "short"


def test_a_comparison_says_where_the_second_is_better(
    command: Command, pair: tuple[Path, Path]
) -> None:
    told = command("compare", *pair)
    assert told.code == 0, told.err
    assert "B is better at servers = 12.\n" in told.out
    assert "B is the same, seed by seed, at servers = 1.\n" in told.out
    turned = command("compare", *reversed(pair), "--columns", "goodput,p99").out
    assert turned.count("B is worse at servers = 12.\n") == 2


def test_differences_are_paired_by_seed(command: Command, pair: tuple[Path, Path]) -> None:
    tree = json.loads(command("compare", *pair, "--format", "json").out)
    frames = [incast.open_results(path).frame() for path in pair]
    for point in tree["columns"]["goodput_bps"]:
        of = [
            frame.filter(frame["workload.servers"] == point["workload.servers"]).sort("seed")
            for frame in frames
        ]
        difference = of[1]["goodput_bps"] - of[0]["goodput_bps"]
        assert point["seeds"] == 12
        assert point["difference"] == pytest.approx(difference.mean())
        assert point["difference_ci95_low"] <= point["difference"] <= point["difference_ci95_high"]


def test_too_few_seeds_cannot_tell(
    command: Command, pair: tuple[Path, Path], tmp_path: Path
) -> None:
    scenario = incast.load(tmp_path / "pair.toml").override("transport.rto_min", "1ms")
    incast.run(scenario.override("run.seeds", [3]), out=tmp_path / "one")
    told = command("compare", pair[0], tmp_path / "one")
    assert "Cannot tell at servers = 12 (with 1 seed; --seeds runs more)." in told.out


def test_what_cannot_be_compared_is_refused(
    command: Command, pair: tuple[Path, Path], small: Path, tmp_path: Path
) -> None:
    assert "there is no column" in said(command("compare", *pair, "--columns", "nonsense"))
    assert "'status' of numbers" in said(command("compare", *pair, "--columns", "status"))
    assert "no such directory" in said(command("compare", pair[0], tmp_path / "nothing"))
    incast.run(small, out=tmp_path / "small")
    line = said(command("compare", pair[0], tmp_path / "small"))
    assert "workload.servers is swept in only one of the results" in line
    other = incast.load(tmp_path / "pair.toml").override("run.seeds", [99])
    incast.run(other, out=tmp_path / "other")
    line = said(command("compare", pair[0], tmp_path / "other"))
    assert "no point with a finished seed in common" in line
