"""Run every study against other simulators, theory and the literature; print a line per study.

python -m validation [--quick] [STUDY ...]

Exits with 1 if a study misses a bar (a requirement on a result), and prints the missed bars. The
full output of each study is in target/validation/STUDY.log. `--quick` takes a sample of every study
and does not change the pages.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from dataclasses import dataclass

from rich.console import Console

from validation.common.places import ROOT

LOGS = ROOT / "target" / "validation"
PYTHON = sys.executable


@dataclass(frozen=True)
class Study:
    """The command of a study; it exits with 0 if all bars hold."""

    name: str
    command: tuple[str, ...]
    environment: tuple[tuple[str, str], ...] = ()
    quick: bool = True
    """Whether `--quick` runs a sample of the study. If not, `make test` runs the sample."""


def study(name: str) -> Study:
    """Return the study in the folder `name`."""
    return Study(name, (PYTHON, "-m", f"validation.{name}"))


LAWS = ("cargo", "test", "--release", "--workspace", "--locked", "--quiet")
DOCUMENTS = (PYTHON, "-m", "pytest", "--quiet", "tests/internal/test_fuzz.py")
STUDIES = (
    Study("laws", LAWS, (("INCAST_CASES", "1000"),), quick=False),
    Study("documents", DOCUMENTS, (("INCAST_DOCUMENTS", "100000"),), quick=False),
    study("ns2"),
    study("transports"),
    study("ns3"),
    study("queues"),
    study("auto"),
    study("ictcp"),
    study("theory"),
    study("collapse"),
    study("jitter"),
    study("intervals"),
    study("sweeps"),
    study("ranking"),
    study("client"),
    study("pages"),
    study("live"),
    study("figures"),
    study("advise"),
    study("advised"),
    study("captures"),
)


@dataclass(frozen=True)
class Outcome:
    """The result of a study."""

    holds: bool
    seconds: float
    lines: list[str]

    def count(self) -> str:
        """Return how many bars of the study hold; empty if its output names no bars."""
        held, failed = (
            sum(line.startswith(word) for line in self.lines) for word in ("holds ", "FAILS ")
        )
        return f"{held} of {held + failed} bars" if held + failed else ""

    def missed(self) -> list[str]:
        """Return the lines to print about a study that does not hold."""
        failing = [line for line in self.lines if line.startswith("FAILS  ")]
        return failing or self.lines[-10:]


def main() -> int:
    """Run the studies one after another."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a sample of every study")
    parser.add_argument(
        "studies", nargs="*", metavar="STUDY", help="only these; default: all studies"
    )
    options = parser.parse_args()
    known = [study.name for study in STUDIES]
    for name in options.studies:
        if name not in known:
            parser.error(f"there is no study {name}; choose from {', '.join(known)}")
    chosen = [study for study in STUDIES if not options.studies or study.name in options.studies]
    if options.quick:
        chosen = [study for study in chosen if study.quick]
    console = Console(highlight=False, soft_wrap=True)
    start = time.monotonic()
    failed = 0
    for study in chosen:
        outcome = run(study, quick=options.quick)
        failed += not outcome.holds
        verdict = "holds" if outcome.holds else "FAILS"
        console.print(
            f"{verdict}  {study.name:12}{outcome.count():>16}{clock(outcome.seconds):>12}"
        )
        if not outcome.holds:
            for line in outcome.missed():
                console.print(f"       {line}", markup=False)
    spent = clock(time.monotonic() - start)
    console.print(f"{len(chosen) - failed} of {len(chosen)} studies hold, {spent}")
    return int(failed > 0)


def run(study: Study, *, quick: bool) -> Outcome:
    """Run one study, and write its output to its log."""
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"{study.name}{'-quick' if quick else ''}.log"
    command = [*study.command, "--quick"] if quick else [*study.command]
    start = time.monotonic()
    with log.open("w", encoding="utf-8") as file:
        code = subprocess.run(
            command,
            cwd=ROOT,
            env=os.environ | dict(study.environment),
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            check=False,
        ).returncode
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return Outcome(code == 0, time.monotonic() - start, lines)


def clock(seconds: float) -> str:
    """Return a time as people write it."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


if __name__ == "__main__":
    sys.exit(main())
