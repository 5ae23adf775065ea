"""The halves of the corpus: `development`, with which rules are written, and `held-out`."""

from __future__ import annotations

import csv
from hashlib import blake2b
from pathlib import Path

FILE = Path(__file__).with_name("split.csv")
DEVELOPMENT, HELD_OUT = "development", "held-out"


def half_of(name: str) -> str:
    """Return the half of a scenario: the lowest bit of a hash of its name."""
    return (DEVELOPMENT, HELD_OUT)[blake2b(name.encode(), digest_size=8).digest()[-1] & 1]


def committed() -> dict[str, str]:
    """Return the halves that were committed before the first rule, by scenario."""
    with FILE.open(newline="") as file:
        return {row["scenario"]: row["half"] for row in csv.DictReader(file)}
