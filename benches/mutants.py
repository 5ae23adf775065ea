"""Mutation tests of the crates that hold the protocol, on fixed samples.

Exits with 1 if less than 80 % of a crate's mutants are caught. Needs cargo-mutants
(`cargo install cargo-mutants --locked`). `benches/mutants.py incast-remedies` takes one crate only.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

BAR = 0.8


@dataclass(frozen=True)
class Subject:
    """A crate, and how it is judged."""

    package: str
    sample: int
    """About how many mutants; which ones is fixed."""
    tested_by: tuple[str, ...]
    """Packages whose tests count."""
    slowly_tested_by: tuple[str, ...] = ()
    """Packages whose tests are asked about what the others miss."""


SUBJECTS = (
    Subject("incast-tcp", 200, ("incast-tcp", "incast-script")),
    Subject("incast-remedies", 100, ("incast-remedies", "incast-script"), ("incast-lab",)),
)


def main(names: list[str]) -> int:
    """Run the samples of all subjects, or of those named, and print their rates."""
    known = [subject.package for subject in SUBJECTS]
    for name in names:
        if name not in known:
            print(f"mutants: {name} is unknown; write {' or '.join(known)}, or nothing")
            return 2
    if shutil.which("cargo-mutants") is None:
        print("mutants: cargo-mutants is missing; cargo install cargo-mutants --locked")
        return 2
    subjects = [subject for subject in SUBJECTS if not names or subject.package in names]
    rates = [judge(subject) for subject in subjects]
    return int(min(rates) < BAR)


def judge(subject: Subject) -> float:
    """Run the sample of one subject, print what it missed, and return its rate."""
    command = ["cargo", "mutants", f"--package={subject.package}", "--list"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True)
    every = listed.stdout.splitlines()
    sample = every[:: max(1, round(len(every) / subject.sample))]
    caught, missed = run(subject, sample, every, subject.tested_by)
    if missed and subject.slowly_tested_by:
        late, missed = run(subject, missed, every, subject.slowly_tested_by)
        caught += late
    rate = caught / (caught + len(missed))
    print(f"mutants of {subject.package}: {caught} of {caught + len(missed)} caught, {rate:.0%}")
    print(*missed, sep="\n", flush=True)
    return rate


def run(
    subject: Subject, mutants: list[str], every: list[str], packages: tuple[str, ...]
) -> tuple[int, list[str]]:
    """Run the tests of some packages on mutants; return how many are caught, and the others."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "mutants.out"
        out.mkdir()
        # Names cannot be given, but those of an earlier run are left out; --re does not do, because
        # it lets all mutants pass that delete a field.
        others = sorted(set(every) - set(mutants))
        (out / "caught.txt").write_text("".join(f"{name}\n" for name in others))
        # Its exit code is non-zero whenever one mutant is missed; the rate decides here.
        subprocess.run(
            [
                "cargo",
                "mutants",
                f"--package={subject.package}",
                "--iterate",
                "--test-workspace=false",
                *(f"--test-package={package}" for package in packages),
                "--minimum-test-timeout=20",
                f"--output={folder}",
            ],
            check=False,
        )
        caught, timeout, missed = (
            (out / f"{name}.txt").read_text().splitlines()
            for name in ("caught", "timeout", "missed")
        )
    return len(caught) + len(timeout), missed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
