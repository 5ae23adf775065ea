"""The output of the commands, for people and for programs."""

import csv
import io
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import polars as pl
import pytest

import incast
from conftest import SMALL, Command, document

KINDS = [
    "transports",
    "congestion-controls",
    "recoveries",
    "queues",
    "buffers",
    "workloads",
    "topologies",
    "profiles",
    "traces",
    "plots",
]


def test_json_is_one_object_and_nothing_else(command: Command, sweep: Path) -> None:
    done = command("run", sweep, "--format", "json")
    tree = json.loads(done.out)
    assert done.err == ""
    assert list(tree) == ["scenario", "rows"]
    assert len(tree["rows"]) == 6
    assert {row["group"] for row in tree["rows"]} == {"all"}
    assert [point["swept"] for point in tree["scenario"]["points"]] == [
        {"workload.servers": servers} for servers in (2, 8, 32)
    ]
    assert tree["scenario"]["points"][0]["resolved"]["network"]["buffer"] == 32768
    assert tree["scenario"]["seeds"] == [1, 2]


def test_the_heading_says_what_a_port_may_hold_of_a_shared_buffer(
    command: Command, small: Path
) -> None:
    for buffer, words in (
        ('{name="dynamic",total="3MiB",alpha="2^-1"}', "1 MiB of 3 MiB shared (699 packets)"),
        ('{name="dynamic",total="90pkt",alpha=2}', "60 packets of 90 shared"),
        (
            '{name="dynamic",total=13000,alpha=0.3}',
            "3 KB of 13 KB shared (2 packets)",
        ),
        ('{name="shared",total="1MiB",limit="100KiB"}', "100 KiB of 1 MiB shared (68 packets)"),
        ('{name="shared",total="90pkt",limit="9pkt"}', "9 packets of 90 shared"),
        ('{name="shared",total="90pkt",limit="20KiB"}', "20 KiB of 90 packets shared (13 packets)"),
        ('{name="shared",total="1MiB",limit="9pkt"}', "9 packets of 1 MiB shared"),
        ('{name="static",limit="9pkt"}', "9 packets,"),
    ):
        done = command("run", small, "--seeds", 1, "--set", f"network.buffer={buffer}")
        assert f"buffer {words}" in done.out
        assert (done.code, done.err) == (0, "")


def test_packets_in_the_heading_occupy_cells(command: Command, small: Path) -> None:
    done = command("run", small, "--seeds", 1, "--set", "network.buffer_cell=1000")
    assert "buffer 32 KiB (16 packets)" in done.out


def test_json_has_null_where_there_is_no_number(command: Command, small: Path) -> None:
    done = command("run", small, "--format", "json", "--set", "run.time_limit=100us")
    rows = json.loads(done.out)["rows"]
    assert {row["status"] for row in rows} == {"time-limit"}
    assert rows[0]["completion_s"] is None


def test_csv_goes_to_stdout(command: Command, sweep: Path) -> None:
    done = command("run", sweep, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert [row["workload.servers"] for row in rows] == ["2", "2", "8", "8", "32", "32"]
    assert done.err == ""


def test_parquet_goes_to_stdout(sweep: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "incast", "run", sweep, "--format", "parquet"],
        capture_output=True,
        check=True,
    )
    assert pl.read_parquet(io.BytesIO(done.stdout)).height == 6


def test_csv_and_parquet_go_to_the_directory(command: Command, sweep: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for form, read in (("csv", pl.read_csv), ("parquet", pl.read_parquet)):
        done = command("run", sweep, "--out", out, "--format", form)
        assert done.out == ""
        assert done.err == f"incast: wrote {out}/rows.{form}\n"
        assert read(out / f"rows.{form}").height == 6


def test_the_table_shows_scenario_points_and_verdict(command: Command, sweep: Path) -> None:
    done = command("run", sweep)
    lines = done.out.splitlines()
    assert lines[0] == "A small read"
    assert "1 Gbps, buffer 32 KiB (21 packets), SRU 16 KiB" in lines[1]
    assert "3 points × 2 seeds" in lines[1]
    assert [line.split()[0] for line in lines if line.split()[:1] in (["2"], ["8"], ["32"])]
    assert "servers" in lines[-1]
    assert lines[-1].endswith(".")
    assert "\x1b" not in done.out


def test_the_table_names_what_stands_beside_a_transport(command: Command, small: Path) -> None:
    sweep = """
[sweep]
[[sweep.zip]]
"transport.name" = ["ictcp", { name = "ocs", base_rtt = "learned" }]
"transport.remedies" = [["prob-rtx"], []]
"""
    small.write_text(small.read_text() + sweep)
    out = command("run", small).out
    assert "ictcp + prob-rtx " in out
    assert "ocs (base_rtt learned) " in out


def test_the_table_has_queue_and_fairness(command: Command, small: Path) -> None:
    row = incast.run(document(), jobs=1).summary().row(0, named=True)
    cells = command("run", small).out
    assert f" {row['queue_max_packets']:.0f} " in cells
    assert f" {row['fairness']:.2f} " in cells
    assert 0.25 < row["fairness"] <= 1


def test_a_table_says_which_runs_did_not_finish(command: Command, small: Path) -> None:
    done = command("run", small, "--set", "run.time_limit=100us")
    assert "2 of 2 time-limit" in done.out
    assert "No run finished" in done.out


@pytest.mark.parametrize("form", ["schema", "list remedies", "run FILE", "run FILE --format csv"])
def test_a_closed_pipe_is_no_accident(small: Path, form: str) -> None:
    asked = form.replace("FILE", str(small))
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m incast {asked} | true; exit $PIPESTATUS"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("end", "code", "said"),
    [("> /dev/full", 2, "incast: the output: No space left on device\n"), (">&-", 0, "")],
)
@pytest.mark.parametrize("form", ["list", "run FILE", "run FILE --format csv"])
def test_output_that_cannot_be_written(
    small: Path, form: str, end: str, code: int, said: str
) -> None:
    asked = form.replace("FILE", str(small))
    done = subprocess.run(
        f"{sys.executable} -m incast {asked} {end}",
        shell=True, stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (code, said)


def test_lists(command: Command) -> None:
    overview = command("list").out
    for kind in KINDS:
        assert kind in overview
        assert command("list", kind).out
    assert "newreno" in command("list", "transports").out
    assert "rto_s_last         [s] Retransmission timeout" in command("list", "traces").out
    assert "swimlane" in command("list", "plots").out
    remedies = command("list", "remedies").out
    assert "One of highest, head. Default: head." in remedies
    assert "[default" not in remedies
    assert "Default: 0.001. Default" not in remedies


def test_the_schema_knows_the_tables_of_a_scenario(command: Command) -> None:
    schema = json.loads(command("schema").out)
    tables = {"network", "workload", "transport", "background", "run", "sweep"}
    assert tables <= set(schema["properties"])


def test_describe_says_what_a_directory_holds(
    command: Command, sweep: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    incast.run(sweep, out=out, traces=["queue"])
    told = command("describe", out).out
    for fragment in (
        "A small read", "complete: 6 of 6 runs", "workload.servers", "runs/*.parquet",
        "queues/*.parquet", "goodput_bps", "bit/s", "lossless_goodput_bps", "collapsed ",
    ):  # fmt: skip
        assert fragment in told
    assert "flows/*.parquet" not in told


def test_the_version_is_that_of_the_sources(command: Command) -> None:
    root = Path(__file__).resolve().parents[1]
    told = tomllib.loads((root / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    assert command("--version").out == f"incast {told}\n"
    assert incast.__version__ == told


def test_text_of_a_csv_is_no_formula(command: Command, tmp_path: Path) -> None:
    scenario = tmp_path / "formula.toml"
    scenario.write_text(SMALL + '[[background]]\nname = "cbr"\nrate = "1Mbps"\ngroup = "=1+1"\n')
    out = command("run", scenario, "--format", "csv", "--groups").out
    assert pl.read_csv(io.StringIO(out))["group"].unique().sort().to_list() == ["'=1+1", "all"]
    assert '"=1+1"' in command("run", scenario, "--format", "json", "--groups").out


def test_rows_of_other_groups_are_asked_for_by_name(command: Command, tmp_path: Path) -> None:
    scenario = tmp_path / "beside.toml"
    tables = '[[background]]\nname = "cbr"\nrate = "10Mbps"\n'
    named = '[[background]]\nname = "long-flow"\ngroup = "backup"\n'
    scenario.write_text(SMALL + tables + named)
    known = ["all", "background.0.cbr", "backup"]
    done = command("run", scenario, "--group", "backup", "--format", "json")
    assert {row["group"] for row in json.loads(done.out)["rows"]} == {"backup"}
    done = command("run", scenario, "--groups", "--format", "csv")
    groups = [row["group"] for row in csv.DictReader(io.StringIO(done.out))]
    assert sorted(groups) == sorted(known * 2)  # each group has a row for each of two seeds
    done = command("run", scenario, "--groups")
    assert [f"group {group}\n" in done.out for group in known] == [True] * 3
    assert done.out.count("the client's link is busy") == 1  # only for the read
    done = command("run", scenario, "--group", "backups")
    assert done.code == 2
    assert "there is no group 'backups'; choose from all, background.0.cbr, backup" in done.err


def test_points_that_mean_the_same_keep_their_own_values(command: Command, small: Path) -> None:
    done = command(
        "run", small, "--set", 'sweep.network.buffer=["32KiB",32768]', "--out", small.parent / "o"
    )
    assert (done.code, done.err) == (0, "")
    results = incast.open_results(small.parent / "o")
    assert results.frame()["network.buffer"].to_list() == ["32KiB"] * 2 + ["32768"] * 2
    assert results.summary()["goodput_bps"].n_unique() == 1


def test_tables_that_are_swept_are_written_by_their_names(command: Command, small: Path) -> None:
    value = 'sweep.network.topology=["star",{name="leaf-spine",leaves=2,spines=1}]'
    done = command("run", small, "--set", value, "--set", "workload.servers=64")
    assert "leaf-spine (leaves 2, spines 1)" in done.out
    assert "{" not in done.out
