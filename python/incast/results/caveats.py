"""What a sentence says besides: outcomes that differ from seed to seed, and poor numbers."""

from collections.abc import Mapping, Sequence

from incast import units
from incast.results.collapse import COLLAPSED
from incast.results.intervals import HIGH, LOW
from incast.scenario.lossless import lossless_goodput
from incast.scenario.resolved import Resolved

Row = Mapping[str, float | None]

POOR = 0.75
"""Share of the lossless goodput below which a read that has not collapsed is called poor."""
WIDE = 2.0
"""How much higher than its low end an interval's high end is, from where it is called wide."""
LATE = 10.0
"""How many medians one block in a hundred takes at least to be called late."""
_MOST = 3  # points to name at most


def outcomes(rows: Sequence[Row], at: Sequence[Resolved]) -> str:
    """Say at which points some seeds collapse and others do not, or nothing."""
    told = []
    for row, here in zip(rows, at, strict=True):
        share, seeds = row.get(COLLAPSED), int(row["ok"] or 0)
        if share is not None and 0 < share < 1:
            many = f"{round(share * seeds)} of {seeds} seeds collapse"
            told.append(f"at {units.plural(here.servers, 'server')} {many}")
    if not told:
        return ""
    rest = f" and at {len(told) - _MOST} more points others do" if len(told) > _MOST else ""
    return f" (Two outcomes: {', '.join(told[:_MOST])}{rest}; --seeds runs more.)"


def poor(rows: Sequence[Row], at: Sequence[Resolved]) -> str:
    """Say how far the worst point of a curve without a collapse is from well, or nothing."""
    shares = [
        (row["goodput_bps"] or 0.0) / lossless_goodput(here)
        for row, here in zip(rows, at, strict=True)
    ]
    worst = min(range(len(rows)), key=shares.__getitem__)
    row, here = rows[worst], at[worst]
    told = []
    if shares[worst] < POOR:
        of = units.rate(lossless_goodput(here))
        told.append(f"goodput is {units.percent(shares[worst])} of the {of} without losses")
    low, high = (row.get(f"goodput_bps{end}") for end in (LOW, HIGH))
    if low is not None and high is not None and high > WIDE * low:
        ends = f"{units.rate(low)} to {units.rate(high)}"
        told.append(f"the 95 % interval of its mean is {ends}")
    median, late = row.get("completion_p50_s"), row.get("completion_p99_s")
    if told and median and late and late > LATE * median:
        told.append(
            f"one block in a hundred takes {units.time(late)} or more, the median "
            f"{units.time(median)}"
        )
    if not told:
        return ""
    return f" But at {units.plural(here.servers, 'server')} {', '.join(told)}."
