"""Mistakes of the user: one line on stderr, exit code 2, nothing written."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import incast
from conftest import SMALL, SWEEP, Command, said

Change = Callable[[str], str]


@pytest.mark.parametrize(
    ("change", "fragments"),
    [
        (lambda text: text.replace("servers", "server"), ["workload.server", "servers"]),
        (lambda text: text.replace("[network]", "[netwrk]"), ["netwrk", "network"]),
        (lambda text: text.replace('"1Gbps"', '"1 furlong"'), ["network.rate", "1Gbps"]),
        (lambda text: text.replace('"25us"', '"25KiB"'), ["network.delay", "us"]),
        (lambda text: text.replace("servers = 4", "servers = 0"), ["workload.servers", "0"]),
        (lambda text: text.replace('"32KiB"', '"100B"'), ["network.buffer", "packet"]),
        (lambda text: text.replace('"16KiB"', '"0B"'), ["workload.sru"]),
        (lambda text: text.replace('sru = "16KiB"', 'sru = 1\nblock = 1'), ["sru", "block"]),
        (lambda text: text.replace('"newreno"', '"newrino"'), ["transport.name", "newreno"]),
        (lambda text: text.replace("seeds = 2", "seeds = 0"), ["run.seeds"]),
        (lambda text: text + '[sweep]\n"workload.servers" = []\n', ["workload.servers"]),
        (lambda text: text + '[sweep]\n"workload.srevers" = [1]\n', ["srevers", "servers"]),
        (lambda text: text + '[[sweep.zip]]\n"a" = [1]\n"b" = [1, 2]\n', ["sweep"]),
        (lambda text: text + "[run\n", ["line 16, column 5: not valid TOML: unclosed table"]),
        (lambda text: text + "[run]\n", ["line 16, column 2: not valid TOML: run is given twice"]),
        (lambda text: text.replace("blocks = 2", "blocks = 2024-01-01"), ["workload.blocks"]),
        (lambda text: text.replace('"1Gbps"', "1Gbps"), ["line 3", 'in quotes: rate = "1Gbps"']),
    ],
)  # fmt: skip
def test_a_wrong_scenario_is_named_with_file_and_key(
    command: Command, tmp_path: Path, change: Change, fragments: list[str]
) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(change(SMALL))
    line = said(command("run", path, "--out", tmp_path / "out"))
    assert line.startswith(f"incast: {path}: ")
    for fragment in fragments:
        assert fragment in line
    assert not (tmp_path / "out").exists()


def test_files_that_cannot_be_read(command: Command, tmp_path: Path) -> None:
    assert "No such file" in said(command("run", tmp_path / "none.toml"))
    assert "directory" in said(command("run", tmp_path)).lower()
    (tmp_path / "latin.toml").write_bytes(b'title = "\xe9"\n')
    assert "UTF-8" in said(command("run", tmp_path / "latin.toml"))


@pytest.mark.parametrize(
    ("options", "fragment"),
    [
        (["--set", "servers"], "key=value"),
        (["--set", "workload.servers=zero"], "workload.servers"),
        (["--set", "title.text=1"], "sweep.toml: title"),
        (["--set", "background.0.rate=1Mbps"], "sweep.toml: background.0.rate"),
        (["--set", "sweep.network.rate=[1Gbps,2Gbps]"], '\'sweep.network.rate=["1Gbps","2Gbps"]\''),
        (["--set", "network.queue={name=red,min_th=5}"], '{name="red",min_th=5}'),
        (["--set", "network.queue={red}"], "must be in quotes; write e.g."),
        (["--seeds", "0"], "run.seeds"),
        (["--seeds", "some"], "--seeds"),
        (["--jobs", "0"], "--jobs"),
        (["--format", "yaml"], "'--format': 'yaml' is not one of"),
        (["--trace", "everything"], "queue, cwnd, events"),
        (["--trace", "queue"], "--out"),
        (["--trace", "queue:full,queue", "--out", "out"], "queue and queue:full cannot be"),
        (["--plot", "picture.txt"], ".png"),
        (["--nonsense"], "--nonsense"),
    ],
)
def test_wrong_options(command: Command, sweep: Path, options: list[str], fragment: str) -> None:
    assert fragment in said(command("run", sweep, *options))


def test_missing_arguments_and_commands(command: Command) -> None:
    assert "SCENARIO" in said(command("run"))
    assert "nonsense" in said(command("nonsense"))


def test_outputs_that_cannot_be_written_are_found_before_the_run(
    command: Command, sweep: Path
) -> None:
    below_a_file = sweep / "out"
    assert str(below_a_file) in said(command("run", sweep, "--out", below_a_file))
    assert str(below_a_file) in said(command("run", sweep, "--plot", below_a_file / "x.png"))


def test_a_mistake_in_the_picture_leaves_no_results(command: Command, sweep: Path) -> None:
    out = sweep.parent / "out"
    said(command("run", sweep, "--out", out, "--plot", "picture.txt"))
    assert not out.exists()


def test_a_directory_of_something_else_is_left_alone(
    command: Command, sweep: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.tex").write_text("years of work")
    assert "contains no results" in said(command("run", sweep, "--out", out))
    assert [file.name for file in out.iterdir()] == ["thesis.tex"]


def test_a_directory_of_another_scenario_is_left_alone(
    command: Command, sweep: Path, small: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert command("run", sweep, "--out", out).code == 0
    before = (out / "manifest.json").read_bytes()
    line = said(command("run", small, "--out", out))
    assert "another scenario (A small read)" in line
    assert (out / "manifest.json").read_bytes() == before


def test_plots_of_what_is_not_there(command: Command, sweep: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert "no such directory" in said(command("plot", out))
    assert "no manifest.json" in said(command("plot", tmp_path))
    command("run", sweep, "--out", out)
    assert "goodput, heatmap, ranking" in said(command("plot", out, "--kind", "pie"))
    for kind, trace in (("queue", "queue"), ("cwnd", "cwnd"), ("swimlane", "events")):
        assert f"--trace {trace}" in said(command("plot", out, "--kind", kind))
    assert "workload.servers" in said(
        command("plot", out, "--kind", "queue", "--where", "run.seeds=1")
    )


@pytest.mark.parametrize(
    ("option", "value"), [("--up", "workload.servers"), ("--seed", "1"), ("--block", "0")]
)
def test_pictures_of_all_runs_choose_none(
    command: Command, sweep: Path, tmp_path: Path, option: str, value: str
) -> None:
    command("run", sweep, "--out", tmp_path / "out")
    assert option in said(command("plot", tmp_path / "out", option, value))
    assert not (tmp_path / "out" / "goodput.png").exists()


def test_a_broken_manifest(command: Command, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text("{")
    assert "not a manifest" in said(command("describe", tmp_path))
    (tmp_path / "manifest.json").write_text('{"format": 99}')
    assert "format 99" in said(command("describe", tmp_path))


def test_unknown_lists_are_refused(command: Command) -> None:
    assert "queues" in said(command("list", "pets"))


def test_the_scenario_of_the_tests_is_right(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "right.toml"
    path.write_text(SWEEP)
    assert command("run", path).code == 0


def test_a_byte_order_mark_is_none_of_the_scenario(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "marked.toml"
    path.write_text(SMALL, encoding="utf-8-sig")
    assert command("run", path).code == 0


def test_messages_keep_their_length(command: Command, sweep: Path) -> None:
    line = said(command("run", sweep, "--set", f"workload.{'servers' * 20_000}=1"))
    assert len(line) < 1600
    assert line.startswith(f"incast: {sweep}: workload.servers")
    line = said(command("run", sweep, "--set", f"network.rate={'9' * 5000}furlongs"))
    assert "network.rate" in line
    assert "Gbps" in line  # the end of the message, with the valid units, is not cut off


@pytest.mark.parametrize("jobs", [0, -5, 1.5, True, "two"])
def test_what_is_no_number_of_jobs(small: Path, jobs: int) -> None:
    with pytest.raises(incast.ResultsError, match="jobs: must be a whole number of at least 1"):
        incast.run(small, jobs=jobs)


def test_what_is_no_trace_and_no_group(small: Path) -> None:
    with pytest.raises(incast.ResultsError, match="no trace 'foo'; choose from queue, cwnd"):
        incast.run(small, traces=["foo"])
    results = incast.run(small)
    for ask in (results.frame, results.summary, results.blocks):
        with pytest.raises(incast.ResultsError, match="no group 'mice'; choose from all"):
            ask(group="mice")


def test_an_interrupt_while_modules_are_imported_says_so(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import builtins, os, signal\n"
        "whole = builtins.__import__\n"
        "def told(name, *others, **options):\n"
        "    if name == 'typer':\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "    return whole(name, *others, **options)\n"
        "builtins.__import__ = told\n"
    )
    command = Path(sys.executable).with_name("incast")
    for call in ([command], [sys.executable, "-m", "incast"]):
        done = subprocess.run(
            [*call, "list"], capture_output=True, text=True, check=False,
            env=os.environ | {"PYTHONPATH": str(tmp_path)},
        )  # fmt: skip
        assert (done.returncode, done.stdout) == (130, "")
        assert done.stderr == "incast: interrupted\n"


@pytest.mark.parametrize("arguments", [["run"], ["model"], ["advise", "--from"]])
def test_an_interrupt_while_a_file_is_read_says_so(tmp_path: Path, arguments: list[str]) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    process = subprocess.Popen(
        [sys.executable, "-m", "incast", *arguments, str(pipe)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        with pipe.open("w"):  # returns when the command has opened the pipe
            time.sleep(0.5)  # now the command waits for bytes
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    assert (process.returncode, out, err) == (130, "", "incast: interrupted\n")


@pytest.mark.parametrize(
    ("options", "fragment"),
    [
        (("--fail-if", "p99>1e999s"), "1e999s is too large for a time"),
        (("--fail-if", "p99>\N{ARABIC-INDIC DIGIT THREE}s"), "is not a time; must be a number"),
        (("--pcap", "x.pcapng", "--snaplen", str(2**64 - 1)), "262144"),
        (("--pcap", "x.pcapng", "--snaplen", "53"), "54"),
        (("--pcap", "x.pcapng", "--snaplen", "-1"), "-1 must be a number from 54 to 262144"),
        (("--seed", str(2**63)), "seed 9223372036854775808 is too large"),
        (("--out", "ftp://127.0.0.1:1/x"), "ftp cannot hold results; must be a directory, s3://"),
        (("--executor", "tcp://[::1"), "there is no executor 'tcp://[::1'; must be threads"),
        (("--executor", "tcp://:8786"), "must be threads, dask, or the address"),
        (("--executor", "tcp://host:99999"), "must be threads, dask, or the address"),
        (("--executor", "bogus://host:8786"), "must be threads, dask, or the address"),
    ],
)
def test_numbers_and_addresses_that_nothing_can_hold(
    command: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    fragment: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(SMALL)
    assert fragment in said(command("run", "small.toml", *options))
    assert [file.name for file in tmp_path.iterdir()] == ["small.toml"]


@pytest.mark.parametrize("kind", ["slurm", "kubernetes", "dask"])
def test_names_in_job_files_have_one_line(command: Command, tmp_path: Path, kind: str) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    line = said(
        command("sweep", "template", kind, tmp_path / "small.toml", "--out", "a\ntouch PWNED\nb")
    )
    assert "must have no control characters" in line


@pytest.mark.parametrize("option", ["--image", "--claim"])
@pytest.mark.parametrize("name", ["a\x7fb", "a\x85b", "a\u2028b", "a\u202eb"])
def test_names_of_a_cluster_have_one_line(
    command: Command, tmp_path: Path, option: str, name: str
) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    words = ("kubernetes", tmp_path / "small.toml", "--out", "s3://a/b", option, name)
    assert "must have no control characters" in said(command("sweep", "template", *words))


def test_processors_of_a_part_have_a_bound(command: Command, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    words = ("kubernetes", tmp_path / "small.toml", "--out", "/tmp/z", "--cpus", "9" * 400)
    assert "65535" in said(command("sweep", "template", *words))


@pytest.mark.parametrize("option", ["", "-o", "--scenario"])
def test_a_link_to_itself_is_refused(command: Command, tmp_path: Path, option: str) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    form = ("--format", "json") if option == "-o" else ()
    words = (option, loop, tmp_path / "none.pcap") if option else (loop,)
    assert said(command("diagnose", *words, *form))


@pytest.mark.parametrize("words", [("run",), ("model",), ("advise", "--from")])
def test_files_without_an_end_are_refused(command: Command, words: tuple[str, ...]) -> None:
    assert "too large; must be a text file of at most 8 MiB" in said(command(*words, "/dev/zero"))
