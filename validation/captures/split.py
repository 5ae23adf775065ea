"""The halves of the corpus: `development`, with which rules are written, and `held-out`.

The first draw had halves, too. After the rules had been judged by its held-out half, the whole draw
was used for development, and a second draw took its place. Eleven more draws followed.
"""

from __future__ import annotations

import csv
from pathlib import Path

from validation.captures.scenarios import NEWEST

FILE = Path(__file__).with_name("split.csv")
DEVELOPMENT, HELD_OUT = "development", "held-out"


def half_of(name: str) -> str:
    """Return the half of the corpus to which a scenario belongs."""
    return HELD_OUT if f"-{NEWEST}" in name else DEVELOPMENT


def committed() -> dict[str, str]:
    """Return the halves that were committed before the rules, by scenario."""
    with FILE.open(newline="") as file:
        return {row["scenario"]: row["half"] for row in csv.DictReader(file)}
