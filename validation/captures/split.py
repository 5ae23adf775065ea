"""The halves of the corpus: `development` to write the rules, and `held-out` to judge them.

The first draw was itself divided into halves. After the rules had been judged by its held-out half,
the whole draw became part of `development`, and a second draw was held out. Fourteen more draws
followed in the same way.
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
    """Return the half of each scenario, as it was committed before the rules were judged."""
    with FILE.open(newline="") as file:
        return {row["scenario"]: row["half"] for row in csv.DictReader(file)}
