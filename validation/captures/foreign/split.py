"""The halves of the foreign part: `development` to write the rules, `held-out` to judge them.

`python -m validation.captures.foreign.split` writes the halves. The newest draw is `held-out`; the
earlier draws are `development`.
"""

from __future__ import annotations

import csv
from pathlib import Path

from validation.captures.foreign.cases import DRAWS, all_foreign
from validation.captures.split import DEVELOPMENT, HELD_OUT

FILE = Path(__file__).with_name("split.csv")


def half_of(draw: str) -> str:
    """Return the half of the corpus to which a draw belongs."""
    return HELD_OUT if draw == DRAWS[-1] else DEVELOPMENT


def halves() -> dict[str, str]:
    """Return the half of each capture, by its name."""
    return {case.name: half_of(case.draw) for case in all_foreign()}


def committed() -> dict[str, str]:
    """Return the half of each capture, as it was committed before the rules were judged."""
    with FILE.open(newline="") as file:
        return {row["capture"]: row["half"] for row in csv.DictReader(file)}


def _write() -> None:
    with FILE.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("capture", "half"))
        writer.writerows(halves().items())


if __name__ == "__main__":
    _write()
