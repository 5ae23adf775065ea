"""Shared fixtures: a scenario that runs in milliseconds, and the command line."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from incast.cli import main
from small_text import write_text

# Hypothesis has no time limit for an example, because a busy machine may be slow.
settings.register_profile("busy", deadline=None)
settings.load_profile("busy")

# pytest-xdist sets COLUMNS in its processes, but commands without a terminal usually have none.
os.environ.pop("COLUMNS", None)

SMALL = """\
title = "A small read"
[network]
rate = "1Gbps"
delay = "25us"
buffer = "32KiB"
[workload]
name = "barrier-read"
servers = 4
sru = "16KiB"
blocks = 2
[transport]
name = "newreno"
rto_min = "10ms"
[run]
seeds = 2
"""
SWEEP = SMALL + '[sweep]\n"workload.servers" = [2, 8, 32]\n'


@dataclass(frozen=True)
class Outcome:
    """The exit code and the output of a command."""

    code: int
    out: str
    err: str


Command = Callable[..., Outcome]


@pytest.fixture(scope="session", autouse=True)
def interrupts() -> Iterator[None]:
    """Let Ctrl-C interrupt the tests even if a shell runs them in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    """Return a function that runs `incast` with its arguments."""

    def call(*arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["incast", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        sys.stdout.flush()
        said = capfd.readouterr()
        return Outcome(int(stop.value.code or 0), said.out, said.err)

    return call


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Return a scenario of one point."""
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    """Return a scenario that sweeps the servers."""
    path = tmp_path / "sweep.toml"
    path.write_text(SWEEP)
    return path


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    """Return a folder of papers that contains one paper, which has no figure yet."""
    place = tmp_path / "papers"
    write_text(place)
    return place


def document(**sections: Any) -> dict[str, Any]:
    """Return the small scenario as a dictionary, with sections changed or added."""
    import tomllib

    tree = tomllib.loads(SMALL)
    for name, section in sections.items():
        tree[name] = {**tree.get(name, {}), **section}
    return tree


def said(outcome: Outcome) -> str:
    """Check that a command reported a user error in one line; return the line."""
    assert outcome.code == 2, outcome.err
    assert outcome.out == ""
    assert outcome.err.startswith("incast: ")
    assert outcome.err.count("\n") == 1
    assert "Traceback" not in outcome.err
    return outcome.err
