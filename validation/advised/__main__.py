"""Compare the printed commands of advice, run on real hosts, with the predictions.

python -m validation.advised                judges the last set
python -m validation.advised --quick        measures one fix again
python -m validation.advised predict SET    writes docs/validation/advised/SET-predicted.jsonl
python -m validation.advised ask SET        measures missing runs, and writes the page

The predictions must be committed before the kernel is measured, which takes a quarter of an hour.
Needs root, the commands ip, tc and sysctl, and network namespaces.
"""

from __future__ import annotations

import argparse
import math
import os
import shutil
import sys
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import track

from incast.live.machine import Machine
from validation.advised import predict
from validation.advised.ask import Answer, ask, measured
from validation.advised.draw import SETS
from validation.advised.judge import complete, judged, of_a_sample, verdicts
from validation.advised.kinds import APPLICATION
from validation.advised.page import Outcome, write
from validation.common.judge import tell
from validation.common.places import PAGES
from validation.live import table

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = PAGES / "advised"
LAST = list(SETS)[-1]


def main() -> int:
    """Judge, predict, or measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("task", choices=["judge", "predict", "ask"], nargs="?", default="judge")
    parser.add_argument("set", choices=SETS, nargs="?", default=LAST)
    parser.add_argument("--quick", action="store_true", help="measure one fix")
    asked = parser.parse_args()
    console = Console(highlight=False)
    if asked.task == "predict":
        path, lot = _predicted(asked.set), SETS[asked.set]
        if path.exists():
            parser.error(f"{path.name} exists; a prediction is made only once")
        for one in track(predict.draw(lot), total=lot.count, console=console):
            predict.add(path, one)
        return 0
    if asked.task == "ask" or asked.quick:
        lacks = missing()
        if lacks:
            console.print(f"skipped: {lacks}", soft_wrap=True)
            return 0
    if asked.task == "ask":
        return _ask(console, asked.set)
    if asked.quick:
        return _sample(console)
    if not _measured(LAST).exists():
        console.print("skipped: the kernel was not measured yet")
        return 0
    return int(not tell(console, _outcome(LAST).held, None))


def _predicted(which: str) -> Path:
    return FOLDER / f"{which}-predicted.jsonl"


def _measured(which: str) -> Path:
    return FOLDER / f"{which}-measured.csv"


def _outcome(which: str) -> Outcome:
    """Judge a set."""
    predictions = predict.read(_predicted(which))
    answers = table.read(_measured(which), Answer)
    found = judged(predictions, answers)
    held = [complete(predictions, answers), *verdicts(found, answers)]
    return Outcome(which, found, answers, held)


def missing() -> str | None:
    """Return what this machine lacks, or None."""
    machine = Machine.here()
    if machine.tier == 0:
        return machine.why
    if os.geteuid() != 0:
        return "the namespaces need root"
    lacks = [name for name in ("ip", "tc", "sysctl") if shutil.which(name) is None]
    return f"commands are missing: {', '.join(lacks)}" if lacks else None


def _ask(console: Console, which: str) -> int:
    predictions = predict.read(_predicted(which))

    def show(answer: Answer) -> None:
        what = predictions[answer.point].name if answer.fixed else "no fix"
        console.print(
            f"{answer.point:3} of {len(predictions)}: {what}, seed {answer.seed}: "
            f"{answer.goodput_mbps:6.2f} Mbit/s, {answer.timeouts} timeouts, {answer.status}"
        )

    ask(_measured(which), predictions, show)
    write(PAGES, [_outcome(one) for one in SETS if _measured(one).exists()])
    return int(not tell(console, _outcome(which).held, "advised.md"))


def _sample(console: Console) -> int:
    """Measure the prediction with the largest gain among those with commands for a host."""
    predictions = predict.read(_predicted(LAST))
    words = [one for one in predictions if one.kind not in APPLICATION and one.who != "switch"]
    best = max(words, key=lambda one: one.ratio)
    answers = list(measured(0, best, [1]))
    (found,) = judged([best], answers)
    if math.isnan(found.ratio):
        console.print("the gain is not judged, because this machine is too busy for a trusted run")
    return int(not tell(console, of_a_sample(found, answers), None))


if __name__ == "__main__":
    sys.exit(main())
