"""Make the corpus of captures, or say what is in it.

python -m validation.captures make DIR [--half development|held-out] [--only FAMILY]

Writes FILE.pcapng and FILE.json, the truth, for each capture, and index.csv.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from pathlib import Path

from validation.captures import simulate
from validation.captures.scenarios import all_cases
from validation.captures.split import committed

INDEX = ("file", "scenario", "half", "family", "source", "vantage", "snaplen", "episodes", "stalls")


def main(arguments: list[str] | None = None) -> int:
    """Make what was asked for; print how much it is."""
    asked = _parser().parse_args(arguments)
    directory: Path = asked.directory
    directory.mkdir(parents=True, exist_ok=True)
    halves = committed()
    wanted = [
        case
        for case in all_cases()
        if not case.kernel
        and asked.half in (None, halves[case.name])
        and asked.only in (None, case.family)
    ]
    made = [path for case in wanted for path in simulate.make(case, directory)]
    controls = _index(directory, halves)
    size = sum(path.stat().st_size for path in made)
    print(f"{len(made)} captures, {size / 1e6:.0f} MB; {controls:.0%} of all are controls")
    return 0


def _index(directory: Path, halves: dict[str, str]) -> float:
    """Write the index of what is there; return the share of captures without incast."""
    rows = []
    for path in sorted(directory.glob("*.json")):
        told = json.loads(path.read_text(encoding="utf-8"))
        rows.append(
            {
                "file": path.with_suffix(".pcapng").name,
                "half": halves[told["scenario"]],
                "episodes": len(told["episodes"]),
                "stalls": len(told["stalls"]),
                **{
                    key: told[key] for key in ("scenario", "family", "source", "vantage", "snaplen")
                },
            }
        )
    with (directory / "index.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, INDEX, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return sum(not row["episodes"] for row in rows) / len(rows) if rows else 0.0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m validation.captures", description=__doc__)
    make = parser.add_subparsers(required=True).add_parser("make", help="make the corpus")
    make.add_argument("directory", type=Path, metavar="DIR")
    make.add_argument("--half", choices=("development", "held-out"))
    make.add_argument("--only", metavar="FAMILY")
    return parser


if __name__ == "__main__":
    sys.exit(main())
