"""The mutants that cargo-mutants knows, and a random sample of them."""

from __future__ import annotations

import hashlib
import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SEED = "2026-11"
"""Another word draws another sample."""
PACKAGES = ("engine", "net", "tcp", "remedies", "lab", "theory", "script")
"""All but the binding, which Python's tests hold."""


@dataclass(frozen=True)
class Mutant:
    """One change of one function."""

    name: str
    package: str
    file: str
    diff: str


def sample(count: int) -> list[Mutant]:
    """Return `count` mutants of all packages, always the same ones of the same sources."""
    packages = [f"--package=incast-{name}" for name in PACKAGES]
    command = ["cargo", "mutants", "--list", "--json", "--diff", *packages]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    every = [
        Mutant(it["name"], it["package"], it["file"], it["diff"])
        for it in json.loads(listed.stdout)
    ]

    def order(mutant: Mutant) -> bytes:
        return hashlib.sha256(f"{SEED} {mutant.name}".encode()).digest()

    return sorted(every, key=order)[:count]
