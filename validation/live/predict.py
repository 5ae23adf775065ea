"""Predictions of the simulator: values on plateaus, intervals at knees."""

from __future__ import annotations

import math
import statistics
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import incast
from incast.collapse import LEAST_SHARE, LEAST_TIMEOUTS
from incast.scenario.lossless import lossless_goodput
from validation.live.points import Lot, Read, reads

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SEEDS = 10
REPEATS = 3
"""Number of runs of the kernel per number of servers."""
_FLAT = 0.25
"""A point is on a plateau if the goodput changes little with 2/3 and with 3/2 of the servers: this
is the maximum |ln ratio| of these goodputs."""
_STEADY = 0.15
"""Maximum standard deviation of ln goodput over the seeds on a plateau."""
_CLEAR = 0.8
"""At the ends of a knee, the ratio of the goodput and the limit of a collapse must be at most this
value, or at least its inverse."""
_BLOCKS = (8, 400)
_SAMPLE = 12  # blocks of a first, short simulation


@dataclass(frozen=True, kw_only=True)
class Prediction(Read):
    """One row of the table of predictions.

    Parameters
    ----------
    kind
        `plateau` or `knee`.
    servers
        Number of servers of a plateau. At a knee, the lower end of the interval: this number of
        servers does not collapse, and twice this number collapses.
    blocks
        Number of blocks of each run.
    goodput_mbps, timeouts_per_block, block_ms
        On a plateau, means over the seeds; for `block_ms`, the mean of the seeds' median block
        times.
    """

    kind: str
    servers: int
    blocks: int
    goodput_mbps: float = math.nan
    timeouts_per_block: float = math.nan
    block_ms: float = math.nan

    def servers_to_run(self) -> tuple[int, ...]:
        """The numbers of servers with which the kernel is measured."""
        return (self.servers,) if self.kind == "plateau" else (self.servers, 2 * self.servers)


def draw(lot: Lot) -> Iterator[Prediction]:
    """Yield predictions for the first drawn reads that are on a plateau or have a knee."""
    plateaus, knees = lot.plateaus, lot.knees
    for read, servers in reads(lot):
        if not plateaus and not knees:
            return
        found = None
        if plateaus:
            found = _plateau(read, servers, lot)
            plateaus -= found is not None
        if found is None and knees:
            found = _knee(read, lot)
            knees -= found is not None
        if found is not None:
            yield found


def _plateau(read: Read, servers: int, lot: Lot) -> Prediction | None:
    near = sorted({max(servers * 2 // 3, 1), servers, min(servers * 3 // 2, lot.servers)})
    looked = {count: _simulated(read, count, _SAMPLE) for count in near}
    here = math.log(looked[servers].goodput)
    if any(abs(math.log(one.goodput) - here) > _FLAT for one in looked.values()):
        return None
    if looked[servers].spread > _STEADY:
        return None
    blocks = _blocks(read, servers, looked[servers].goodput, lot.seconds)
    point = Prediction(**asdict(read), kind="plateau", servers=servers, blocks=blocks)
    return predicted(point, servers)[0]


def predicted(point: Prediction, servers: int) -> tuple[Prediction, bool]:
    """Simulate the point with `servers` servers; return its values, and whether it collapses."""
    told = _simulated(point, servers, point.blocks)
    values = {
        "goodput_mbps": round(told.goodput / 1e6, 2),
        "timeouts_per_block": round(told.timeouts, 3),
        "block_ms": round(told.block * 1e3, 3),
    }
    return replace(point, **values), told.collapsed


def _knee(read: Read, lot: Lot) -> Prediction | None:
    """Find an interval from n to 2n servers; the read begins to collapse in its middle.

    If the knee were near an end of the interval, the prediction would be uncertain.
    """
    sizes = [count for count in (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64) if count <= lot.servers]
    collapses = [_simulated(read, count, _SAMPLE).collapsed for count in sizes]
    first = next((at for at, collapsed in enumerate(collapses) if collapsed), None)
    if first is None or first == 0 or not all(collapses[first:]):
        return None
    # The knee lies between sizes[first - 1] and sizes[first]; the interval is centred on it.
    low = round(math.sqrt(sizes[first - 1] * sizes[first] / 2))
    if low < 1 or 2 * low > lot.servers:
        return None
    slow = _simulated(read, 2 * low, _SAMPLE)
    blocks = _blocks(read, 2 * low, slow.goodput, lot.seconds)
    # A run has more blocks than the sample, so its mean goodput may be higher.
    fast, slow = (_simulated(read, count, blocks) for count in (low, 2 * low))
    clear = slow.collapsed and slow.share <= _CLEAR * LEAST_SHARE <= _CLEAR**2 * fast.share
    if not clear:
        return None
    return Prediction(**asdict(read), kind="knee", servers=low, blocks=blocks)


def _blocks(read: Read, servers: int, goodput: float, seconds: float) -> int:
    """Return the number of blocks that take about `seconds`."""
    bits = 8e3 * int(read.sru.removesuffix("KB")) * servers
    least, most = _BLOCKS
    return min(max(round(seconds * goodput / bits), least), most)


@dataclass(frozen=True)
class Told:
    """The summary of the runs of a point, simulated or measured."""

    goodput: float
    spread: float
    timeouts: float
    collapsed: bool
    share: float
    """Goodput over the goodput without losses."""
    block: float
    """Mean over the runs of the median block time, in seconds."""


def _simulated(read: Read, servers: int, blocks: int) -> Told:
    document = read.document(servers, blocks) | {"run": {"seeds": SEEDS}}
    return summed_up(document, incast.run(document).frame().to_dicts())


def summed_up(document: dict[str, Any], rows: list[dict[str, Any]]) -> Told:
    """Return the summary of the rows of one point."""
    lossless = lossless_goodput(incast.load(document).plan.points[0].here)
    logs = [math.log(row["goodput_bps"]) for row in rows]
    goodput = math.exp(statistics.mean(logs))
    timeouts = statistics.mean(row["timeouts"] / row["blocks"] for row in rows)
    collapsed = goodput < LEAST_SHARE * lossless and timeouts >= LEAST_TIMEOUTS
    block = statistics.mean(row.get("completion_p50_s") or math.nan for row in rows)
    share = goodput / lossless
    return Told(goodput, statistics.pstdev(logs), timeouts, collapsed, share, block)


def runs(predictions: Sequence[Prediction]) -> Iterator[tuple[int, int, int]]:
    """Yield the point, the number of servers and the seed of every run."""
    for point, prediction in enumerate(predictions):
        for servers in prediction.servers_to_run():
            for seed in range(1, REPEATS + 1):
                yield point, servers, seed
