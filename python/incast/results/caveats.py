"""Caveats of the verdict: seeds with different outcomes, and low or uncertain numbers."""

from collections.abc import Mapping, Sequence

from incast import units
from incast.results.collapse import COLLAPSED
from incast.results.intervals import HIGH, LOW
from incast.scenario.lossless import lossless_goodput
from incast.scenario.resolved import Resolved

Row = Mapping[str, float | None]

POOR = 0.75
"""A read without a collapse is poor below this share of the lossless goodput."""
WIDE = 2.0
"""An interval is wide if its high end exceeds its low end by more than this factor."""
LATE = 10.0
"""The 99th percentile is late if it exceeds the median by more than this factor."""
_MOST = 3  # maximum number of points that are named


def outcomes(rows: Sequence[Row], points: Sequence[str]) -> str:
    """Name the points at which some seeds collapse and others do not; empty if there are none.

    Parameters
    ----------
    rows
        The means of each point, with the share of its seeds that collapse.
    points
        The names of the points, such as "24 servers" or "rto_min = 5 ms".
    """
    told = []
    for row, point in zip(rows, points, strict=True):
        share, seeds = row.get(COLLAPSED), int(row["ok"] or 0)
        if share is not None and 0 < share < 1:
            told.append(f"at {point} {round(share * seeds)} of {seeds} seeds collapse")
    if not told:
        return ""
    rest = f", and some seeds at {len(told) - _MOST} more points" if len(told) > _MOST else ""
    return f" (Two outcomes: {', '.join(told[:_MOST])}{rest}; use --seeds to run more.)"


def poor(rows: Sequence[Row], at: Sequence[Resolved], points: Sequence[str]) -> str:
    """Describe the worst point of a curve without a collapse, if that point is poor."""
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
            f"one block in a hundred takes {units.time(late)} or more, while the median is "
            f"{units.time(median)}"
        )
    if not told:
        return ""
    return f" But at {points[worst]} {', '.join(told)}."
