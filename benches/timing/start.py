"""Processor time of whole commands, from the start of Python to the answer."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from timing import bars
from timing.clock import REPEATS
from timing.sheet import Sheet

INCAST = [sys.executable, "-m", "incast"]
IMPORTS = "import os; os.environ['OPENBLAS_NUM_THREADS'] = '1'; import numpy, polars, typer.main"
LIBRARIES = [sys.executable, "-c", f"{IMPORTS}, typer._adapters"]  # the adapters load Pydantic
TINY = 'workload = { name = "barrier-read", servers = 2, sru = "64KiB", blocks = 1 }\n'
ADVISE = [*INCAST, "advise", "storage-read", "--set", "workload.servers=48"]
VERDICT = b"Limiting resource"  # the last line of the first answer of `incast advise`


def sheet() -> Sheet:
    """Return the table."""
    made = Sheet(
        "The first second",
        ["command", "s", "bar"],
        "The time is the processor time of the whole process, on all processors, with Python and "
        f"its imports: the least of {REPEATS} runs, and one run of `reproduce`. "
        "The tiny run has two servers and one block. The first answer of `advise` is the verdict "
        "on 48 servers, as a terminal shows it. The first line is the time of importing NumPy, "
        "Polars, Typer and Pydantic alone.",
    )
    with tempfile.TemporaryDirectory() as folder:
        tiny = Path(folder) / "tiny.toml"
        tiny.write_text(TINY)
        run, out = [*INCAST, "run", tiny], Path(folder) / "reproduction"
        quick = [*INCAST, "reproduce", "--quick", "--out", out]
        made.add("imports of libraries", f"{_least(lambda: _whole(LIBRARIES)):.2f}", "")
        _add(made, "run --help", lambda: _whole([*INCAST, "run", "--help"]))
        _add(made, "tiny run, table", lambda: _whole(run))
        _add(made, "tiny run, JSON", lambda: _whole([*run, "--format", "json"]))
        _add(made, "model storage-read", lambda: _whole([*INCAST, "model", "storage-read"]))
        _add(made, "advise, first answer", lambda: _until(ADVISE, VERDICT))
        _add(made, "reproduce --quick", lambda: _whole(quick), repeats=1)
    return made


def _add(made: Sheet, name: str, measure: Callable[[], float], repeats: int = REPEATS) -> None:
    seconds, bar = _least(measure, repeats), bars.START[name].now
    made.add(name, f"{seconds:.2f}", f"{bar:g}")
    if seconds > bar:
        made.missed.append(f"{name}, {seconds:.2f} of {bar:g}")


def _least(measure: Callable[[], float], repeats: int = REPEATS) -> float:
    return min(measure() for _ in range(repeats))


def _whole(command: list[str | Path]) -> float:
    """Return the processor time of a command, in seconds."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=_environment())
    code, seconds = _reaped(process)
    if code:
        sys.exit(f"speed: {command} failed; its message is above")
    return seconds


def _until(command: list[str], text: bytes) -> float:
    """Return the processor time of a command until it has written `text` to its terminal."""
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        command, stdout=theirs, stderr=subprocess.DEVNULL, env=_environment()
    )
    os.close(theirs)
    said = b""
    try:
        while text not in said:
            said += os.read(ours, 4096)  # fails once the command has ended
    except OSError:
        sys.exit(f"speed: {command} ended without {text!r}")
    finally:
        process.kill()
        os.close(ours)
        _, seconds = _reaped(process)
    return seconds


def _reaped(process: subprocess.Popen[bytes]) -> tuple[int, float]:
    """Wait for a process; return its exit code and its processor time in seconds."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_utime + usage.ru_stime


def _environment() -> dict[str, str]:
    """Return the environment of a user: modules are compiled once, and numbers of threads unset."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name != "PYTHONDONTWRITEBYTECODE" and not name.endswith("_NUM_THREADS")
    }
    return kept | {"TERM": "xterm"}
