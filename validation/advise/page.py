"""docs/validation/advise.md: the bars, and every scenario."""

from pathlib import Path

from validation.advise.draw import EACH, MOST_PACKETS, STORIES
from validation.advise.judge import Judged
from validation.advise.pairs import read_pairs, section
from validation.advise.table import MOST_SERVERS, POINT_SEEDS, SEEDS
from validation.common.judge import Verdict
from validation.common.page import verdicts

OPENING = """# Advice compared with an exhaustive search

Written by `python -m validation.advise`, a part of `make validate`; do not edit. Does [`incast
advise`](../how-to/advise.md) recommend the best fix in its catalogue? {count} random scenarios are
drawn (`validation/advise/draw.py`), {each} for each of {stories} kinds of user. In each scenario,
every fix in the catalogue is simulated with {seeds} seeds that the advice does not use. For the
collapse point, the read is simulated with 2, 3, ... servers, at most {most}, until it collapses.
Each number of servers has {point_seeds} seeds that the advice does not use. The results are in
`validation/reference/advise`, and `--keep` computes these files again. A run has at most about
{packets} packets. `incast advise` had {budget} per scenario and was run twice: for goodput, and for
the 99th percentile of the block times (p99).

A fix that makes the slowest blocks slower or the goodput lower is never the best fix. Of the other
fixes, the best fix is the fix with the highest goodput or, in the run for p99, the fix with the
lowest p99. The advice also gives an interval for the collapse point, the fewest servers with which
the read collapses. An interval from a to b contains the point n if a < n ≤ b. The interval has no
upper end if the advice found no number of servers that collapses with certainty. {open} of the
intervals that contain their point have no upper end.

The number of servers that the advice calls safe is tested in another {count} scenarios. This number
and every smaller one are simulated with seeds that the advice does not use.

This page shows whether the search finds the best fix in simulation. The
[envelope](../how-to/advise.md) of each answer says whether the simulator can be trusted for this
answer.

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
        (
            "| | scenario | servers | first fix | share of best | best fix | gain | collapses at "
            "| interval |"
        ),
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
