"""The kept outcomes, one line per mutant."""

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
"""Those that no test can catch, with the reason: written by hand."""
CAUGHT = ("caught", "timeout")


class Mutant(Protocol):
    """One of Rust's or of Python's."""

    @property
    def key(self) -> str: ...


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant: `caught`, `timeout`, `missed` or `unviable`; `equivalent` if it was
    missed and there is a reason why it does nothing."""

    mutant: str
    package: str
    outcome: str
    by: str
    """The package whose tests caught it; why it is equivalent."""


def read(path: Path | None = None) -> dict[str, Verdict]:
    """Return what is kept, by the mutant's key."""
    path = path or PATH
    if not path.exists():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        return {row.pop("key"): Verdict(**row) for row in csv.DictReader(file)}


def write(known: dict[str, Verdict], path: Path | None = None) -> None:
    """Write all in one step, so that an interruption leaves a complete table."""
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
    """Return why mutants are equivalent, by their keys."""
    with REASONS.open(newline="", encoding="utf-8") as file:
        return {row["key"]: row["reason"] for row in csv.DictReader(file)}


def judged(drawn: Iterable[Mutant], known: dict[str, Verdict]) -> list[Verdict | None]:
    """Return what became of those that were drawn; nothing for those that were not run."""
    because = reasons()

    def of(key: str) -> Verdict | None:
        verdict = known.get(key)
        if verdict and verdict.outcome == "missed" and key in because:
            return replace(verdict, outcome="equivalent", by=because[key])
        return verdict

    return [of(mutant.key) for mutant in drawn]
