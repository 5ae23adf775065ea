"""`incast model`: predictions of theory on the command line, alone and with a simulation."""

import csv
import io
import json
from pathlib import Path

import polars as pl
import pytest

import incast
from conftest import Command
from incast.models.theory import ask

READ = """\
title = "A persistent read"
[network]
buffer = "100KiB"
[workload]
name = "barrier-read"
servers = 4
sru = "64KiB"
blocks = 30
connections = "persistent"
request_jitter = "20us"
[transport]
rto_min = "20ms"
[run]
seeds = 1
[sweep]
"workload.servers" = [2, 8, 16]
"""


@pytest.fixture
def read(tmp_path: Path) -> Path:
    """Return a scenario to which the model of the collapse applies."""
    path = tmp_path / "read.toml"
    path.write_text(READ)
    return path


def test_the_table_names_who_applies_and_says_why_others_do_not(
    command: Command, read: Path
) -> None:
    said = command("model", read)
    assert said.code == 0
    for words in ("A persistent read", "collapse", "overflow", "safe_servers"):
        assert words in said.out
    assert "serialisation does not apply: " in said.out
    assert "padhye do not apply: it needs" in said.out
    assert said.out.count("block_head_share, knee, measured in a run") == 1  # once for all models


def test_json_has_a_row_per_model_and_point(command: Command, read: Path) -> None:
    said = command("model", read, "--model", "collapse", "--format", "json")
    tree = json.loads(said.out)
    assert [row["workload.servers"] for row in tree["rows"]] == [2, 8, 16]
    assert {row["model"] for row in tree["rows"]} == {"collapse"}
    assert all(row["goodput_bps"] > 0 for row in tree["rows"])
    assert tree["not_applicable"] == {}


def test_csv_goes_to_stdout_or_to_a_directory(command: Command, read: Path, tmp_path: Path) -> None:
    said = command("model", read, "--model", "collapse", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(said.out)))
    assert [row["workload.servers"] for row in rows] == ["2", "8", "16"]
    out = tmp_path / "kept"
    assert command("model", read, "--format", "csv", "--out", out).code == 0
    assert (out / "model.csv").exists()


def test_set_changes_what_is_asked(command: Command, read: Path) -> None:
    arguments = ("--set", "workload.servers=[4,12]", "--model", "collapse", "--format", "json")
    tree = json.loads(command("model", read, *arguments).out)
    assert [row["workload.servers"] for row in tree["rows"]] == [4, 12]


def test_a_picture_has_its_data_beside_it(command: Command, read: Path, tmp_path: Path) -> None:
    picture = tmp_path / "theory.png"
    assert command("model", read, "--model", "collapse", "--plot", picture).code == 0
    assert picture.stat().st_size > 0
    assert "goodput_bps" in (tmp_path / "theory.csv").read_text()


def test_run_draws_the_models_beside_the_simulation(
    command: Command, read: Path, tmp_path: Path
) -> None:
    picture = tmp_path / "both.svg"
    assert command("run", read, "--plot", picture, "--with-model").code == 0
    assert "collapse (model)" in picture.read_text()
    with (tmp_path / "both.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert all(float(row["collapse.goodput_bps"]) > 0 for row in rows)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--model", "crystal-ball"], "there is no model 'crystal-ball'"),
        (["--set", "network.clock_noise=1us", "--model", "collapse"], "collapse does not apply"),
        (["--out", "somewhere"], "--format csv or parquet"),
        (["--model", "overflow", "--plot", "theory.png"], "nothing to plot"),
        (["--set", "network.bufer=1MiB"], "bufer"),
    ],
)
def test_a_mistake_is_one_line(
    command: Command, read: Path, arguments: list[str], words: str
) -> None:
    said = command("model", read, *arguments)
    assert said.code == 2
    assert words in said.err
    assert said.err.count("\n") == 1


def test_with_model_draws_sweeps_only(command: Command, read: Path, tmp_path: Path) -> None:
    one = ("--set", "workload.servers=2", "--plot", tmp_path / "one.png")
    said = command("run", read, *one, "--with-model")
    assert said.code == 2
    assert "--with-model" in said.err


def test_it_says_how_far_the_answers_may_be_trusted(command: Command, read: Path) -> None:
    told = command("model", read, "--model", "collapse").out
    assert "held-out reads with similar variation, predicted and simulated goodput (" in told
    tree = json.loads(command("model", read, "--model", "collapse", "--format", "json").out)
    assert tree["trust"]["collapse"] in " ".join(told.split())
    assert all(row["collapse.factor"] >= 1 for row in tree["rows"])


def test_with_model_says_where_the_runs_differ(command: Command, read: Path) -> None:
    deep = ("--set", "network.buffer=4MiB")
    assert "collapse agrees with the runs at 3 of the 3 points" in (
        command("run", read, *deep, "--with-model").out
    )
    # With this buffer, chance decides how many points agree, so the number is not tested.
    said = command("run", read, "--with-model", "--format", "json")
    assert json.loads(said.out)["rows"]
    assert "incast: collapse agrees with the runs at" in said.err


def test_models_differ_where_a_factor_is_exceeded() -> None:
    scenario = incast.load({"workload": {"servers": 2, "sru": "64KiB"}})
    theory = ask(scenario.plan, ["collapse"])
    expected = theory.frame["goodput_bps"][0]
    for share, words in ((1.0, "1 of the 1 points that it predicts."), (0.5, "it differs at")):
        summary = pl.DataFrame({"point": [0], "goodput_bps": [share * expected]})
        assert words in theory.beside(summary)[0]
    assert "expected within a factor of" in theory.beside(summary)[1]


@pytest.mark.parametrize("workload", ["long-flows", "barrier-read"])
def test_every_model_answers_or_refuses_any_workload(
    command: Command, tmp_path: Path, workload: str
) -> None:
    path = tmp_path / "any.toml"
    more = 'duration = "0.1s"' if workload == "long-flows" else 'block = "64KiB"'
    path.write_text(f'[workload]\nname = "{workload}"\nservers = 3\n{more}\n')
    said = command("model", path)
    assert said.code == 0
    assert "Traceback" not in said.err


def test_the_table_says_what_a_models_own_columns_mean(command: Command, read: Path) -> None:
    told = command("model", read).out
    means = (
        "Largest number of servers whose first burst always fits; later bursts are larger, and may "
        "overflow with fewer servers."
    )
    assert f"safe_servers: {means}" in told
    assert f"[1] {means}" in command("list", "models").out


def test_a_collapse_below_the_safe_servers_is_explained(command: Command, tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(
        'network = {rate="25Gbps", delay="5us", buffer="512KiB"}\n'
        'transport = {initial_window=10, send_jitter="2us", rto_min="200ms"}\n'
        'workload = {servers=16, sru="512KiB", blocks=50, request_jitter="5us"}\n'
    )
    why = (
        "overflow describes only the first burst, which fits with up to 35 servers. Windows grow "
        "later, and collapse predicts a collapse with 16 servers.\n"
    )
    assert why in command("model", mine).out
    assert why not in command("model", mine, "--set", "transport.rto_min=5ms").out
    assert why not in command("model", mine, "--set", "workload.servers=48").out
