"""Make the corpus of captures, or judge the diagnosis.

python -m validation.captures make DIR [--half development|held-out] [--only FAMILY] [--kernel]
                                   [--foreign]

python -m validation.captures [--quick]

Without a command, the diagnosis of the held-out half is judged. For each capture, `make` writes
FILE.pcapng, and the truth as FILE.json; it also writes index.csv. `--kernel` makes the part of real
hosts instead of the simulated part; it needs Linux, namespaces and tcpdump. `--foreign` makes
captures that resemble those of other people's networks.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from pathlib import Path

from validation.captures import kernel, simulate, study
from validation.captures.foreign.cases import Foreign, all_foreign
from validation.captures.foreign.make import make
from validation.captures.foreign.split import committed as foreign_halves
from validation.captures.scenarios import Case, all_cases
from validation.captures.split import committed

INDEX = ("file", "scenario", "half", "family", "source", "vantage", "snaplen", "episodes", "stalls")


def main(arguments: list[str] | None = None) -> int:
    """Make captures, and print their number and size; without a command, run the study."""
    given = sys.argv[1:] if arguments is None else arguments
    if given in ([], ["--quick"]):
        return study.run(quick=bool(given))
    asked = _parser().parse_args(arguments)
    directory: Path = asked.directory
    directory.mkdir(parents=True, exist_ok=True)
    if asked.kernel and (lacks := kernel.lacks()):
        print(f"captures: {lacks}", file=sys.stderr)
        return 2
    halves = committed() | foreign_halves()
    if asked.foreign:
        made = [path for case in _foreign(asked, halves) for path in make(case, directory)]
    else:
        made = [path for case in _ours(asked, halves) for path in _make(case, directory)]
    controls = _index(directory, halves)
    size = sum(path.stat().st_size for path in made)
    print(f"{len(made)} captures, {size / 1e6:.0f} MB; {controls:.0%} of all are controls")
    return 0


def _ours(asked: argparse.Namespace, halves: dict[str, str]) -> list[Case]:
    return [
        case
        for case in all_cases()
        if case.kernel == asked.kernel
        and asked.half in (None, halves[case.name])
        and asked.only in (None, case.family)
    ]


def _foreign(asked: argparse.Namespace, halves: dict[str, str]) -> list[Foreign]:
    return [
        case
        for case in all_foreign()
        if (case.family == "kernel") == asked.kernel
        and asked.half in (None, halves[case.name])
        and asked.only in (None, case.family, case.kind)
    ]


def _make(case: Case, directory: Path) -> list[Path]:
    return kernel.make(case, directory) if case.kernel else simulate.make(case, directory)


def _index(directory: Path, halves: dict[str, str]) -> float:
    """Write the index of the captures in a folder; return the share without incast."""
    rows = []
    for path in sorted(directory.glob("*.json")):
        told = json.loads(path.read_text(encoding="utf-8"))
        rows.append(
            {
                "file": told["file"],
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
    one = parser.add_subparsers(required=True).add_parser("make", help="make the corpus")
    one.add_argument("directory", type=Path, metavar="DIR")
    one.add_argument("--half", choices=("development", "held-out"))
    one.add_argument("--only", metavar="FAMILY")
    one.add_argument("--kernel", action="store_true", help="the part of real hosts")
    one.add_argument("--foreign", action="store_true", help="captures like those of other networks")
    return parser


if __name__ == "__main__":
    sys.exit(main())
