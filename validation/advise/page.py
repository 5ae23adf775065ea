"""docs/validation/advise.md: the bars, and every scenario."""

from pathlib import Path

from validation.advise.draw import EACH, MOST_PACKETS, STORIES
from validation.advise.judge import Judged
from validation.advise.pairs import read_pairs, section
from validation.advise.table import MOST_SERVERS, POINT_SEEDS, SEEDS
from validation.common.judge import Verdict
from validation.common.page import verdicts

OPENING = """# Advice beside an exhaustive search

Written by `python -m validation.advise`, a part of `make validate`; do not edit. Is the advice of
[`incast advise`](../how-to/advise.md) the best of its own catalogue? {count} scenarios are drawn
(`validation/advise/draw.py`), {each} for each of {stories} kinds of user. In each, every fix of the
catalogue ran at {seeds} seeds which no advice uses, and every number of servers from 2 to {most} at
{point_seeds}, up to the first that collapses (`validation/reference/advise`; `--keep` makes both
again). A run has at most about {packets} packets. The advice had {budget} per scenario, and was
requested twice: for goodput, and for the 99th percentile of the blocks.

The best fix is the one with the highest goodput, or the shortest percentile, of those that do not
make the slowest blocks slower or the goodput lower. An interval from a to b holds the point n if
a < n ≤ b. It has no upper end where no number
of servers collapses for certain; of the intervals that hold their point, {open} are such.

The number of servers that the advice calls safe is tried in as many fresh scenarios: every number
up to it, at seeds that no advice uses.

This shows whether the search finds the best fix. Whether the simulator is right is shown by the
[envelope](../how-to/advise.md) of each answer.

"""


def write(folder: Path, found: dict[str, list[Judged]], held: list[Verdict], budget: str) -> None:
    """Write the page."""
    every = found["goodput"]
    opening = OPENING.format(
        count=len(every),
        each=EACH,
        stories=len(STORIES),
        seeds=len(SEEDS),
        most=MOST_SERVERS,
        point_seeds=len(POINT_SEEDS),
        packets=MOST_PACKETS,
        budget=budget,
        open=sum(it.holds and it.point is not None and it.interval[1] is None for it in every),
    )
    lines = [opening.rstrip(), "", *verdicts(held), "", *section(read_pairs())]
    for goal, judged in found.items():
        lines += [f"## Every scenario, for {goal}", "", *_table(judged), ""]
    (folder / "advise.md").write_text("\n".join(lines).rstrip("\n") + "\n", encoding="utf-8")


def _table(found: list[Judged]) -> list[str]:
    rows = [
        "| | scenario | servers | first fix | of best | best fix | gain | collapses at | said |",
        "|--:|:--|--:|:--|--:|:--|--:|--:|:--|",
    ]
    for it in found:
        low, high = it.interval
        said = f"{low} to {high}" if high is not None else f"above {low}"
        rows.append(
            f"| {it.number} | {it.story} | {it.servers} | {it.first or 'none'} | {it.share:.2f} | "
            f"{it.best or 'none'} | {it.gain:.2f} | {it.point or '–'} | {said} |"
        )
    return rows
