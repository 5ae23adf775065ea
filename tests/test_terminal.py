"""Commands on a terminal: every line fits, no word is broken, important parts are not cut off."""

import os
import pty
import re
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from rich.cells import cell_len

import incast
from conftest import SMALL, Command

WIDTHS = (60, 80, 200)
ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
LONG = SMALL.replace("A small read", "A read whose title is longer than a narrow terminal is wide")
CROWDED = (
    LONG
    + """
[[background]]
name = "cbr"
rate = "10Mbps"
[sweep]
"workload.servers" = [2, 32, 64]
"transport.name" = ["newreno", { name = "ocs", base_rtt = "learned" }]
"""
)


def on_terminal(width: int, *arguments: object, kind: str = "xterm") -> list[str]:
    """Run `incast` on a terminal of this width, and return the lines that it prints."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (50, width))
    unset = {"COLUMNS", "LINES"}
    environment = {key: value for key, value in os.environ.items() if key not in unset}
    command = [sys.executable, "-m", "incast", *map(str, arguments)]
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE,
        env=environment | {"TERM": kind},
    ) as process:  # fmt: skip
        os.close(theirs)
        said = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # all processes have closed the other end of the terminal
                break
            if not part:
                break
            said += part
        assert process.stderr is not None
        assert process.stderr.read() == b""
    os.close(ours)
    assert process.returncode == 0
    return ESCAPES.sub("", said.decode()).replace("\r", "").splitlines()


def words(text: str) -> list[str]:
    return text.replace("\N{NO-BREAK SPACE}", " ").split()


@pytest.fixture
def crowded(tmp_path: Path) -> Path:
    path = tmp_path / "crowded.toml"
    path.write_text(CROWDED)
    return path


def test_a_dumb_terminal_is_as_wide_as_it_says(crowded: Path) -> None:
    plain, dumb = (on_terminal(100, "run", crowded, kind=kind) for kind in ("xterm", "dumb"))
    assert dumb == plain


@pytest.mark.parametrize("width", WIDTHS)
def test_a_run_fits(command: Command, crowded: Path, width: int) -> None:
    lines = on_terminal(width, "run", crowded, "--seeds", 2)
    assert max(map(cell_len, lines)) <= width
    text = "\n".join(lines)
    assert "…" not in text
    piped = command("run", crowded, "--seeds", 2).out
    # The most important columns are shown at every width, and their numbers are complete.
    for heading in ("servers", "goodput", "block p99", "timeouts"):
        assert heading in text
    first = next(line for line in piped.splitlines() if line.split()[:2] == ["2", "newreno"])
    row = next(line for line in lines if line.split()[:2] == ["2", "newreno"])
    assert set(row.split()) <= set(first.split())
    # The sentences have the same words as in the piped output.
    told = piped[piped.rindex("newreno:") :]
    assert words(text[text.rindex("newreno:") :]) == words(told)
    assert ("Not shown" in text) == (width < 100)


@pytest.mark.parametrize("width", WIDTHS)
def test_words_do_not_break(command: Command, crowded: Path, tmp_path: Path, width: int) -> None:
    out = tmp_path / "kept"
    incast.run(crowded, out=out, traces=["queue"])
    for arguments in (
        ("describe", out),
        ("list",),
        ("list", "remedies"),
        ("list", "models"),
        ("reproduce", "--list", "plato"),
    ):
        lines = on_terminal(width, *arguments)
        assert max(map(cell_len, lines)) <= max(width, 10 + cell_len(str(crowded))), arguments
        assert words(" ".join(lines)) == words(command(*arguments).out), arguments


@pytest.mark.parametrize("width", WIDTHS)
def test_a_model_fits(tmp_path: Path, width: int) -> None:
    scenario = tmp_path / "read.toml"
    scenario.write_text(LONG)
    lines = on_terminal(width, "model", scenario)
    assert max(map(cell_len, lines)) <= width
    text = "\n".join(lines)
    assert "burst_packets" in text
    assert "…" not in text
    assert "does not apply" in text


def test_columns_are_chosen(command: Command, crowded: Path) -> None:
    lines = on_terminal(80, "run", crowded, "--columns", "drops,p99,goodput")
    heads = " ".join(lines[:8])
    for heading in ("drops", "block p99", "goodput"):
        assert heading in heads
    assert "link" not in heads
    assert heads.index("drops") < heads.index("block p99")
    refused = command("run", crowded, "--columns", "goodputt")
    assert (refused.code, refused.out) == (2, "")
    assert "did you mean 'goodput_bps'" in refused.err
    refused = command("run", crowded, "--columns", "queue_max")
    assert "queue_max_packets or queue_max_bytes" in refused.err
    refused = command("run", crowded, "--columns", "drops", "--format", "csv")
    assert "--format table" in refused.err
    refused = command("model", crowded, "--columns", "drops")
    assert "there is no column 'drops'" in refused.err


def test_columns_of_other_remedies_are_empty(command: Command, small: Path) -> None:
    done = command("run", small, "--columns", "efr.accuracy")
    assert (done.code, done.err) == (0, "")
    assert "– " in done.out


def test_wide_shows_all(crowded: Path) -> None:
    lines = on_terminal(60, "run", crowded, "--wide")
    text = "\n".join(lines)
    for heading in ("fair-", "queue max", "block p50"):
        assert heading in text
    assert "Not shown" not in text


def test_columns_says_how_wide_a_pipe_is(
    command: Command, crowded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = command("run", crowded).out.splitlines()
    assert max(map(cell_len, whole)) > 100  # in a pipe, lines are neither cut off nor wrapped
    monkeypatch.setenv("COLUMNS", "70")
    narrow = command("run", crowded).out.splitlines()
    assert max(map(cell_len, narrow)) <= 70


def test_units_follow_the_numbers(command: Command, small: Path) -> None:
    fast = (
        "--set", "network.rate=400Gbps", "--set", "network.delay=1us",
        "--set", "workload.sru=1MiB", "--set", "network.buffer=64MiB",
    )  # fmt: skip
    head = command("run", small, *fast).out
    assert "Gbps" in head
    assert "Mbps" not in head
    slow = command("run", small, "--set", "network.rate=10Mbps", "--set", "network.delay=1ms").out
    assert re.search(r" \d\.\d{3} ", slow)


@pytest.mark.parametrize("width", WIDTHS)
def test_verdicts_on_claims_fit(command: Command, tmp_path: Path, width: int) -> None:
    out = tmp_path / "out"
    asked = ("reproduce", "--quick", "plato/11", "--out", out)
    lines = on_terminal(width, *asked)
    assert max(map(cell_len, lines)) <= max(width, cell_len(str(out / "index.html")))
    assert words(" ".join(lines)) == words(command(*asked).out)
