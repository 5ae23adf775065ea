"""Predict what the kernel of a machine will answer, then ask it, and judge the predictions.

python -m validation.live predict SET   writes docs/validation/live/SET-predicted.csv
python -m validation.live ask SET       does the runs that are missing, and writes the page

The sets and their seeds stand in SETS. The table of predictions is to be committed before the
kernel is asked. Takes about a quarter of an hour, on an idle machine.
"""

from __future__ import annotations

import argparse
import sys

from rich.console import Console
from rich.progress import track

from validation.common.judge import tell
from validation.common.places import PAGES
from validation.live import predict
from validation.live.judge import judged, verdicts
from validation.live.page import write

FOLDER = PAGES / "live"
SETS = {"first": (20261123, 30, 10)}
"""Name: seed, plateaus, knees."""


def main() -> int:
    """Predict, or ask and judge."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("task", choices=["predict", "ask"])
    parser.add_argument("set", choices=SETS)
    asked = parser.parse_args()
    console = Console(highlight=False)
    table = FOLDER / f"{asked.set}-predicted.csv"
    if asked.task == "predict":
        seed, plateaus, knees = SETS[asked.set]
        if table.exists():
            parser.error(f"{table.name} is there: a prediction is made once")
        found = predict.draw(seed, plateaus, knees)
        predict.write(table, list(track(found, total=plateaus + knees, console=console)))
        return 0
    return _ask(console, asked.set, predict.read(table))


def _ask(console: Console, which: str, predictions: list[predict.Prediction]) -> int:
    from validation.live.ask import Answer, ask, runs

    count = len(list(runs(predictions)))

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
