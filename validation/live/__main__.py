"""Judge predictions of a machine's kernel by its measurements.

python -m validation.live               repeats the predictions of the sets at several rates, and
                                        judges them again
python -m validation.live --quick       counts the runs of all sets
python -m validation.live predict SET   writes docs/validation/live/SET-predicted.csv
python -m validation.live ask SET       does missing runs, and writes the page

The sets and their seeds are in SETS. The table of predictions must be committed before the kernel
is measured, which takes about a quarter of an hour on an idle machine.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import track

from validation.common.judge import tell
from validation.common.places import PAGES
from validation.live import again, predict, table
from validation.live.ask import Answer, ask
from validation.live.judge import WIDE, Bars, complete, judged, verdicts
from validation.live.page import write
from validation.live.points import Lot
from validation.live.predict import Prediction

if TYPE_CHECKING:
    from collections.abc import Sequence

FOLDER = PAGES / "live"
SETS = {
    "first": Lot(20261123, 30, 10, ("rack-tlp", "no probes", "sack", "newreno")),
    "second": Lot(20261124, 14, 6),
    # Hosts that share two processors need 20 us per packet. On these slower links, the processors
    # do not delay packets, and only the switch drops them.
    "third": Lot(20261125, 14, 6, rate="20Mbps", srus=3, servers=24),
    # From here on, each seed is the hash of the last commit before the set's line was added.
    "fourth": Lot(0xA0040A68, 30, 10, wide=True, servers=64, seconds=6.0),
    "fifth": Lot(0xA15F322C, 30, 10, wide=True, servers=64, seconds=6.0),
    "sixth": Lot(0x9C217EDF, 15, 5, wide=True, servers=64, seconds=6.0),
    "seventh": Lot(0x2C142B66, 15, 10, wide=True, servers=64, seconds=6.0),
    "eighth": Lot(0x70B53291, 15, 5, wide=True, servers=64, seconds=6.0),
    "ninth": Lot(0x029BEC1C, 15, 5, wide=True, servers=64, seconds=6.0),
}


def main() -> int:
    """Judge, predict, or measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("task", choices=["judge", "predict", "ask"], nargs="?", default="judge")
    parser.add_argument("set", choices=SETS, nargs="?")
    parser.add_argument("--quick", action="store_true", help="count the runs")
    asked = parser.parse_args()
    console = Console(highlight=False)
    if asked.task == "judge":
        return int(not _judge(console, quick=asked.quick))
    if asked.set is None:
        parser.error(f"{asked.task}: name a set: {', '.join(SETS)}")
    path = FOLDER / f"{asked.set}-predicted.csv"
    if asked.task == "ask":
        return _ask(console, asked.set, table.read(path, Prediction))
    if path.exists():
        parser.error(f"{path.name} exists; a prediction is made only once")
    lot = SETS[asked.set]
    drawn = track(predict.draw(lot), total=lot.plateaus + lot.knees, console=console)
    table.add(path, Prediction, drawn)
    return 0


def _judge(console: Console, *, quick: bool) -> bool:
    """Judge today's simulator. The pages contain the judgement of the original predictions."""
    asked = {
        which: (
            table.read(FOLDER / f"{which}-predicted.csv", Prediction),
            table.read(FOLDER / f"{which}-measured.csv", Answer),
        )
        for which in SETS
        if (FOLDER / f"{which}-measured.csv").exists()
    }
    if quick:
        return tell(console, [complete(*both) for both in asked.values()], None)
    wide = [both for which, both in asked.items() if SETS[which].wide]
    return tell(console, again.verdicts(wide, WIDE), None)


def _bars(which: str) -> Bars:
    return WIDE if SETS[which].wide else Bars()


def _ask(console: Console, which: str, predictions: Sequence[Prediction]) -> int:
    count = len(list(predict.runs(predictions)))

    def show(answer: Answer) -> None:
        console.print(
            f"{answer.point:3} of {len(predictions)}: {answer.servers:3} servers, seed "
            f"{answer.seed}: {answer.goodput_mbps:6.1f} Mbit/s, {answer.timeouts} timeouts, "
            f"{answer.status}"
        )

    console.print(f"{count} runs of about {SETS[which].seconds:g} s")
    path = FOLDER / f"{which}-measured.csv"
    ask(path, predictions, show)
    answers = table.read(path, Answer)
    found = judged(predictions, answers)
    held = verdicts(found, answers, _bars(which))
    write(PAGES, which, found, held)
    return int(not tell(console, held, f"live-{which}.md"))


if __name__ == "__main__":
    sys.exit(main())
