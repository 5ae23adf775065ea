"""The mutants of cargo-mutants, and a random sample of them."""

from __future__ import annotations

import hashlib
import json
import subprocess
from dataclasses import dataclass

from validation.common.places import ROOT

SEED = "2026-11"
"""Another word draws another sample."""
PACKAGES = (
    "engine",
    "net",
    "tcp",
    "remedies",
    "host",
    "traffic",
    "scenario",
    "lab",
    "theory",
    "script",
)
"""All but the binding, which Python's tests hold."""

BLOCK = 20
"""So many are neighbours."""


@dataclass(frozen=True)
class Mutant:
    """One change of one function."""

    name: str
    package: str
    file: str
    diff: str

    @property
    def key(self) -> str:
        """What it is, wherever the lines have moved: file, change, and the lines around it."""
        body = "".join(line for line in self.diff.splitlines(True) if line[:2] not in ("@@", "--"))
        return hashlib.sha256(f"{SEED} {self.file} {body}".encode()).hexdigest()[:16]


def sample(count: int) -> list[Mutant]:
    """Return `count` mutants of all packages; a change of the sources changes few of them."""
    packages = [f"--package=incast-{name}" for name in PACKAGES]
    command = ["cargo", "mutants", "--list", "--json", "--diff", *packages]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    every = [
        Mutant(it["name"], it["package"], it["file"], it["diff"])
        for it in json.loads(listed.stdout)
    ]
    return sorted(every, key=lambda mutant: mutant.key)[:count]


def in_blocks(mutants: list[Mutant]) -> list[Mutant]:
    """Return them in the order of the draw, with neighbours sorted by crate and file, so that
    less is rebuilt."""
    blocks = range(0, len(mutants), BLOCK)
    return [
        mutant
        for start in blocks
        for mutant in sorted(mutants[start : start + BLOCK], key=lambda it: (it.package, it.file))
    ]
