"""Excessive or malformed input leads to a one-line error before any work. Ctrl-C acts soon."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import incast
from conftest import SMALL, Command, said


@pytest.mark.parametrize(
    ("change", "fragments"),
    [
        ("transport=5", ["small.toml: transport: 5", "rto_min"]),
        ("transport=[1]", ["small.toml: transport: [1]"]),
        ('background=[{name="long-flow",transport=[]}]', ["background.0.transport: []"]),
        ('background=[{name="cbr",rate="1Mbps",group="all"}]', ["background.0.group", '"all"']),
        ("transport.rto_jitter=nan", ["transport.rto_jitter", "nan"]),
        ("transport.rto_jitter=[inf]", ["transport.rto_jitter", "[inf]"]),
        ("workload.servers=" + "9" * 5000, ["workload.servers", "999"]),
        ("a." * 240 + "a=1", ["--set", "must be a dotted key"]),
        ("workload.servers=" + "[" * 400 + "]" * 400, ["workload.servers"]),
        ("network.layer2_overhead=4294967295", ["network.layer2_overhead", "at most 65535"]),
        ("network.clock_noise=9300000s", ["network.clock_noise", "at most"]),
        ("network.delay=18446744s", ["network.delay", 'at most "1000000s"']),
        ('transport.minrto="1ms"', ['did you mean "transport.rto_min"?']),
        ('background=[{name="cbr",rate="40Gbps"}]', ["background.0.rate", "write at most"]),
        ("sweep.workload.servers=" + str([*range(1, 1001)]) + "--", ["workload.servers"]),
    ],
)  # fmt: skip
def test_one_line_names_file_and_key(
    command: Command, small: Path, change: str, fragments: list[str]
) -> None:
    line = said(command("run", small, "--set", change))
    assert len(line) < 3000
    for fragment in fragments:
        assert fragment in line


@pytest.mark.parametrize(
    ("text", "fragments"),
    [
        ("[transport]\nrto_jitter = nan\n", ["transport.rto_jitter", "nan"]),
        ("[run]\nseeds = [1, inf]\n", ["run.seeds.1", "inf"]),
        ("[run]\nseeds = " + "9" * 5000 + "\n", ["run.seeds", "of 5000 digits"]),
        ("[run]\nseeds = " + "9" * 4000 + "\n", ["run.seeds", "of 4000 digits"]),
        ("x = " + "[" * 100 + "]" * 100, ["are nested too deeply"]),
        ("x = " + "[" * 5000 + "]" * 5000, ["are nested too deeply"]),
        ("x" + ".x" * 500 + " = 1", ["are nested too deeply"]),
        ('[network]\nbuffer = "\\u0000"\n', ["network.buffer"]),
    ],
)
def test_files_with_values_that_no_key_accepts(
    command: Command, tmp_path: Path, text: str, fragments: list[str]
) -> None:
    path = tmp_path / "odd.toml"
    path.write_text(text)
    line = said(command("run", path))
    assert line.startswith(f"incast: {path}: ")
    for fragment in fragments:
        assert fragment in line


def test_dictionaries_that_no_file_can_hold() -> None:
    endless: dict[str, object] = {}
    endless["a"] = endless
    for document, fragment in [
        ({"network": {"buffer": float("nan")}}, "network.buffer: must be a finite number, not nan"),
        ({"run": {"seeds": 10**5000}}, "run.seeds: a number of about 5001 digits"),
        ({"title": "\ud800"}, "title: '\\ud800' is not text"),
        ({5: 1}, "5: a key must be text"),
        (endless, "are nested too deeply"),
    ]:
        with pytest.raises(incast.ScenarioError) as wrong:
            incast.load(document).plan  # noqa: B018 (planning is what fails)
        assert fragment in str(wrong.value)


def test_shares_of_a_buffer_may_have_units_of_their_own(command: Command, small: Path) -> None:
    for buffer, words in [
        ('{name="shared",total="100pkt",limit="20KiB"}', "20 KiB of 100 packets shared"),
        ('{name="shared",total="100KiB",limit="20pkt"}', "20 packets of 100 KiB shared"),
        ('{name="shared",total="100pkt",limit="20pkt"}', "20 packets of 100 shared"),
    ]:
        outcome = command("run", small, "--set", f"network.buffer={buffer}")
        assert (outcome.code, outcome.err) == (0, "")
        assert words in " ".join(outcome.out.split())


def test_a_trace_changes_nothing_where_clocks_are_noisy() -> None:
    scenario = incast.load(
        {
            "network": {"clock_noise": "10us"},
            "workload": {"servers": 24, "sru": "190KiB"},
            "run": {"seeds": 2},
        }
    )
    plain = incast.run(scenario).frame().drop("wall_s")
    traced = incast.run(scenario, traces=["events", "queue", "cwnd"]).frame().drop("wall_s")
    assert plain.equals(traced)


def test_a_million_seeds_are_planned_at_once() -> None:
    many = incast.load({"workload": {"servers": 4, "sru": "8KiB"}, "run": {"seeds": 1_000_000}})
    start = time.process_time()
    assert len(many.plan.seeds) == 1_000_000
    assert time.process_time() - start < 1


def interrupted(arguments: list[object], begin: float, patience: float) -> None:
    """Start a command, interrupt it after `begin` seconds, and check that it ends in time."""
    process = subprocess.Popen(
        [sys.executable, "-m", "incast", *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    time.sleep(begin)
    assert process.poll() is None, "it had not ended"
    process.send_signal(signal.SIGINT)
    sent = time.monotonic()
    _, err = process.communicate(timeout=60)
    assert time.monotonic() - sent < patience
    assert process.returncode == 130
    assert err.count("\n") <= 1, err  # no line if Ctrl-C came while modules were imported


# Seconds for a command to end. On an idle machine it needs half a second; the work takes minutes.
PATIENCE = 5.0


def test_ctrl_c_ends_planning(tmp_path: Path) -> None:
    path = tmp_path / "many.toml"
    axes = {"workload.servers": 100, "workload.blocks": 100, "transport.rto_max_doublings": 10}
    lines = [f'"{key}" = {[*range(1, count + 1)]}\n' for key, count in axes.items()]
    path.write_text(SMALL + "[sweep]\n" + "".join(lines))
    interrupted(["run", path, "--dry-run"], 3, PATIENCE)


def test_ctrl_c_ends_runs_of_many_servers_and_of_long_waits(tmp_path: Path) -> None:
    path = tmp_path / "many.toml"
    path.write_text(SMALL)
    many = ["--set", "workload.servers=20000", "--set", "workload.blocks=1000"]
    interrupted(["run", path, *many], 3, PATIENCE)
    far = ["network.delay=10000s", "workload.blocks=1000000000", "run.time_limit=1000000s"]
    far += ["transport.rto_min=1ps", "transport.rto_max=1us", "transport.rto_initial=1us"]
    far += ["transport.syn_rto=1us"]
    # Interrupted early, before the run reaches its limit of packets in flight.
    interrupted(["run", path, *(part for it in far for part in ("--set", it))], 1, PATIENCE)
