"""Judge what was predicted of a machine's kernel by what it answered.

python -m validation.live [--quick]     judges the sets that were asked; a sample counts the runs
python -m validation.live predict SET   writes docs/validation/live/SET-predicted.csv
python -m validation.live ask SET       does the runs that are missing, and writes the page

The sets and their seeds stand in SETS. The table of predictions is to be committed before the
kernel is asked, which takes about a quarter of an hour on an idle machine.
"""

from __future__ import annotations

import argparse
import sys

from rich.console import Console
from rich.progress import track

from validation.common.judge import tell
from validation.common.places import PAGES
from validation.live import predict
from validation.live.judge import complete, judged, verdicts
from validation.live.page import write

FOLDER = PAGES / "live"
SETS = {"first": (20261123, 30, 10)}
"""Name: seed, plateaus, knees."""


def main() -> int:
    """Judge, predict, or ask."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("task", choices=["judge", "predict", "ask"], nargs="?", default="judge")
    parser.add_argument("set", choices=SETS, nargs="?")
    parser.add_argument("--quick", action="store_true", help="count the runs")
    asked = parser.parse_args()
    console = Console(highlight=False)
    if asked.task == "judge":
        found = [_judge(console, which, quick=asked.quick) for which in SETS]
        return int(not all(found))
    if asked.set is None:
        parser.error(f"{asked.task}: name a set: {', '.join(SETS)}")
    table = FOLDER / f"{asked.set}-predicted.csv"
    if asked.task == "ask":
        return _ask(console, asked.set, predict.read(table))
    if table.exists():
        parser.error(f"{table.name} is there: a prediction is made once")
    seed, plateaus, knees = SETS[asked.set]
    drawn = predict.draw(seed, plateaus, knees)
    predict.write(table, list(track(drawn, total=plateaus + knees, console=console)))
    return 0


def _judge(console: Console, which: str, *, quick: bool) -> bool:
    from validation.live.ask import read

    table = FOLDER / f"{which}-measured.csv"
    if not table.exists():
        console.print(f"skipped: the kernel was not asked for the {which} set yet")
        return True
    predictions, answers = predict.read(FOLDER / f"{which}-predicted.csv"), read(table)
    if quick:
        return tell(console, [complete(predictions, answers)], None)
    return tell(console, verdicts(judged(predictions, answers), answers), None)


def _ask(console: Console, which: str, predictions: list[predict.Prediction]) -> int:
    from validation.live.ask import Answer, ask

    count = len(list(predict.runs(predictions)))

    def show(answer: Answer) -> None:
        console.print(
            f"{answer.point:3} of {len(predictions)}: {answer.servers:3} servers, seed "
            f"{answer.seed}: {answer.goodput_mbps:6.1f} Mbit/s, {answer.timeouts} timeouts, "
            f"{answer.status}"
        )

    console.print(f"{count} runs of about {predict.SECONDS:g} s")
    answers = ask(FOLDER / f"{which}-measured.csv", predictions, show)
    found = judged(predictions, answers)
    held = verdicts(found, answers)
    write(PAGES, which, found, held)
    return int(not tell(console, held, f"live-{which}.md"))


if __name__ == "__main__":
    sys.exit(main())
