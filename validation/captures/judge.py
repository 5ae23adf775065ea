"""Judge `incast diagnose` by the truth of the corpus, for our captures and foreign captures.

python -m validation.captures.judge DIR [--half development|held-out] [--mistakes] [--only FAMILY]
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from validation.captures.foreign import judging
from validation.captures.foreign.split import committed as foreign_halves
from validation.captures.scoring import Score, criteria, judge
from validation.captures.split import DEVELOPMENT, HELD_OUT, committed


def main(arguments: list[str] | None = None) -> int:
    """Judge, and print the criteria; return 1 if one is missed."""
    asked = _parser().parse_args(arguments)
    halves = committed() | foreign_halves()
    ours, foreign = Score(), judging.Score()
    for file in sorted(asked.directory.glob("*.pcap*")):
        truth = json.loads(file.with_suffix(".json").read_text(encoding="utf-8"))
        chosen = asked.only is None or asked.only in (truth["family"], truth.get("kind"))
        if not chosen or halves[truth["scenario"]] != asked.half:
            continue
        if truth.get("corpus") == "foreign":
            judging.judge(file, foreign)
        else:
            judge(file, ours)
    reached = []
    if ours.captures:
        reached += criteria(ours)
        print(*criteria(ours), sep="\n")
    if foreign.captures:
        reached += judging.criteria(foreign)
        print("of foreign captures:", *judging.criteria(foreign), sep="\n")
    if asked.mistakes:
        print("\n".join(f"{name}: {what}" for _, name, what in sorted(ours.mistakes)[::-1]))
        print(*judging.by_kind(foreign), sep="\n")
        print("\n".join(f"{name}: {what}" for _, name, what in sorted(foreign.mistakes)[::-1]))
    return int(any(one.value < one.least for one in reached))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--half", choices=(DEVELOPMENT, HELD_OUT), default=HELD_OUT)
    parser.add_argument("--mistakes", action="store_true", help="list every capture with a mistake")
    parser.add_argument("--only", metavar="FAMILY", help="a family, or a kind of foreign captures")
    return parser


if __name__ == "__main__":
    sys.exit(main())
