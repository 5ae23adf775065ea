"""The table of stored outcomes, with one line per mutant."""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from validation.common.places import REFERENCE

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

PATH = REFERENCE / "mutants" / "rust.csv"
REASONS = PATH.with_name("equivalent.csv")
"""Mutants that no test can catch, with the reasons; this file is written by hand."""
CAUGHT = ("caught", "timeout")


class Mutant(Protocol):
    """A mutant of Rust or Python code."""

    @property
    def key(self) -> str: ...


@dataclass(frozen=True)
class Verdict:
    """The outcome of a mutant: `caught`, `timeout`, `missed`, `unviable` or `equivalent`.

    An equivalent mutant was missed because it has no effect, for a known reason."""

    mutant: str
    package: str
    outcome: str
    by: str
    """The package whose tests caught the mutant, or the reason why it is equivalent."""


def read(path: Path | None = None) -> dict[str, Verdict]:
    """Return the stored outcomes, by the mutants' keys."""
    path = path or PATH
    if not path.exists():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        return {row.pop("key"): Verdict(**row) for row in csv.DictReader(file)}


def write(known: dict[str, Verdict], path: Path | None = None) -> None:
    """Write the whole table in one step, so that an interruption leaves a complete table."""
    path = path or PATH
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    with part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["key", "mutant", "package", "outcome", "by"])
        for key, it in sorted(known.items(), key=lambda item: item[1].mutant):
            writer.writerow([key, it.mutant, it.package, it.outcome, it.by])
    part.replace(path)


def reasons() -> dict[str, str]:
    """Return the reasons why mutants are equivalent, by the mutants' keys."""
    with REASONS.open(newline="", encoding="utf-8") as file:
        return {row["key"]: row["reason"] for row in csv.DictReader(file)}


def judged(drawn: Iterable[Mutant], known: dict[str, Verdict]) -> list[Verdict | None]:
    """Return the outcome of each drawn mutant; None for a mutant that was not run."""
    because = reasons()

    def of(key: str) -> Verdict | None:
        verdict = known.get(key)
        if verdict and verdict.outcome == "missed" and key in because:
            return replace(verdict, outcome="equivalent", by=because[key])
        return verdict

    return [of(mutant.key) for mutant in drawn]
