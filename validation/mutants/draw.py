"""The mutants that cargo-mutants lists, and a sample that has some mutants of each crate."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from validation.common.places import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from validation.mutants.table import Mutant as Keyed

M = TypeVar("M", bound="Keyed")

SEED = "2026-11"
"""Seed of the sample; another string draws another sample."""
PACKAGES = (
    "engine",
    "net",
    "tcp",
    "remedies",
    "host",
    "transports",
    "traffic",
    "scenario",
    "lab",
    "theory",
    "script",
    "capture",
    "diagnose",
    "live",
    "web",
)
"""All crates except the Python binding, which the Python tests cover."""

LEAST = 8
"""The draw begins with this number of mutants of each crate or package; the others follow."""
BLOCK = 20
"""Number of mutants per block of the draw. A block is sorted by file, so that less is rebuilt."""


@dataclass(frozen=True)
class Mutant:
    """One change of one function."""

    name: str
    package: str
    file: str
    diff: str

    @property
    def key(self) -> str:
        """The mutant's identity, without line numbers: file, change, and the lines around it."""
        body = "".join(line for line in self.diff.splitlines(True) if line[:2] not in ("@@", "--"))
        return hashlib.sha256(f"{SEED} {self.file} {body}".encode()).hexdigest()[:16]


def sample(count: int) -> list[Mutant]:
    """Return `count` mutants, some of each package.

    The order depends on each mutant's key, so a change of the sources replaces only a few mutants.
    """
    packages = [f"--package=incast-{name}" for name in PACKAGES]
    command = ["cargo", "mutants", "--list", "--json", "--diff", *packages]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    every = [
        Mutant(it["name"], it["package"], it["file"], it["diff"])
        for it in json.loads(listed.stdout)
    ]
    return stratified(every, lambda mutant: mutant.package)[:count]


def stratified(mutants: Iterable[M], part: Callable[[M], str]) -> list[M]:
    """Sort mutants by key, but put the first `LEAST` mutants of each part before all others."""
    seen: Counter[str] = Counter()
    first: list[M] = []
    others: list[M] = []
    for mutant in sorted(mutants, key=lambda it: it.key):
        seen[part(mutant)] += 1
        (first if seen[part(mutant)] <= LEAST else others).append(mutant)
    return first + others


def unseen_first(mutants: Iterable[M], known: Iterable[str], part: Callable[[M], str]) -> list[M]:
    """Sort mutants so that parts with few known mutants come first; `known` lists their parts."""
    count = Counter(known)
    return sorted(mutants, key=lambda mutant: count[part(mutant)])


def in_blocks(mutants: list[Mutant]) -> list[Mutant]:
    """Return the mutants in the order of the draw, but sort each block by crate and file.

    In this order, less code is rebuilt.
    """
    blocks = range(0, len(mutants), BLOCK)
    return [
        mutant
        for start in blocks
        for mutant in sorted(mutants[start : start + BLOCK], key=lambda it: (it.package, it.file))
    ]
