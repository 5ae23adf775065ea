"""The kept outcomes, one line per mutant."""

from __future__ import annotations

import csv
from dataclasses import dataclass

from .draw import ROOT

PATH = ROOT / "benches" / "reference" / "mutants" / "rust.csv"
CAUGHT = ("caught", "timeout")


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant: `caught`, `timeout`, `missed` or `unviable`."""

    mutant: str
    package: str
    outcome: str
    by: str
    """The package whose tests caught it."""


def read() -> dict[str, Verdict]:
    """Return what is kept, by the mutant's key."""
    if not PATH.exists():
        return {}
    with PATH.open(newline="", encoding="utf-8") as file:
        return {row.pop("key"): Verdict(**row) for row in csv.DictReader(file)}


def write(known: dict[str, Verdict]) -> None:
    """Keep all in one step, so that an interruption leaves a whole table."""
    PATH.parent.mkdir(parents=True, exist_ok=True)
    part = PATH.with_suffix(".part")
    with part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["key", "mutant", "package", "outcome", "by"])
        for key, it in sorted(known.items(), key=lambda item: item[1].mutant):
            writer.writerow([key, it.mutant, it.package, it.outcome, it.by])
    part.replace(PATH)
