"""Search for blocks that wait for the timeout of a single sender, for a timeline of windows."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from incast.reproduce.metrics import LATE


@dataclass(frozen=True)
class Late:
    """Successive blocks, each with exactly one timeout.

    Parameters
    ----------
    cause
        The cause of the late timeouts, as in the trace of events.
    place
        Whether the late timeouts are at the head of a block or inside a block.
    blocks
        Number of successive blocks. No two of these blocks wait for the same sender.
    after
        Number of blocks at the beginning of the run that do not count, e.g. 1 to exclude the slow
        start of the first block.
    """

    cause: str
    place: Literal["block_head", "inside"]
    blocks: int = 1
    after: int = 0


@dataclass(frozen=True)
class Found:
    """The blocks that the search finds in a run.

    Parameters
    ----------
    start_s, end_s
        Times at which the first block begins and the last block is done.
    flows
        The sender for which each block waits.
    measures
        Measurements in these blocks, with the names of `metrics.LATE`.
    """

    start_s: float
    end_s: float
    flows: list[int]
    measures: Mapping[str, float]


def find(events: pl.DataFrame, wanted: Late) -> Found | None:
    """Return the first blocks of a run that meet the conditions of the search.

    `events` is the run's trace of events.
    """
    timeouts = events.filter(pl.col("kind") == "timeout")
    alone: dict[int, dict[str, Any]] = {}
    for key, found in timeouts.partition_by("block", as_dict=True).items():
        one = found.row(0, named=True)
        if found.height == 1 and (one["cause"], one["place"]) == (wanted.cause, wanted.place):
            alone[int(key[0])] = one
    done = set(events.filter(pl.col("kind") == "block_done")["block"])
    for first in sorted(alone):
        blocks = range(first, first + wanted.blocks)
        flows = [alone[block]["flow"] for block in blocks if block in alone and block in done]
        if first >= wanted.after and len(set(flows)) == wanted.blocks:
            return _found(events, [alone[block] for block in blocks])
    return None


def block_ends(events: pl.DataFrame) -> list[float]:
    """Return the times at which blocks were done."""
    return events.filter(pl.col("kind") == "block_done")["time_s"].to_list()


def idle(events: pl.DataFrame) -> Iterator[tuple[float, float]]:
    """Yield the start and end of every time in which the link was idle during a block."""
    since: float | None = None
    link = events.filter(pl.col("kind").is_in(["link_idle", "link_busy"])).sort("time_s")
    for time, kind in link.select("time_s", "kind").iter_rows():
        if kind == "link_busy" and since is not None:
            yield since, time
        since = time if kind == "link_idle" else None


def _found(events: pl.DataFrame, timeouts: list[dict[str, Any]]) -> Found:
    first, last = timeouts[0]["block"], timeouts[-1]["block"]
    of_all = events.filter(pl.col("block").is_between(first, last))
    start = _time(of_all, "block_start", first)
    end = _time(of_all, "block_done", last)
    return Found(start, end, [one["flow"] for one in timeouts], _measures(of_all, timeouts))


def _measures(events: pl.DataFrame, timeouts: list[dict[str, Any]]) -> dict[str, float]:
    """Return the metrics `LATE`, each from the block in which the late sender stands out least."""
    waits, idles, afters, ranks = [], [], [], []
    for one in timeouts:
        block = events.filter(pl.col("block") == one["block"])
        lost = block.filter(
            (pl.col("kind") == "drop")
            & (pl.col("flow") == one["flow"])
            & (pl.col("time_s") < one["time_s"])
        )["time_s"]
        waits.append(one["time_s"] - lost[-1])
        afters.append(lost[-1] - _time(block, "block_start", one["block"]))
        idles.append(max((end - start for start, end in idle(block)), default=0.0))
        windows = block.filter(pl.col("kind") == "flow_done").sort("cwnd", descending=True)
        ranks.append(windows["flow"].to_list().index(one["flow"]) + 1)
    values = (
        min(waits),
        min(idles),
        max(afters),
        float(max(one["dupacks"] for one in timeouts)),
        float(max(ranks)),
    )
    return dict(zip(LATE, values, strict=True))


def _time(events: pl.DataFrame, kind: str, block: int) -> float:
    return float(events.filter((pl.col("kind") == kind) & (pl.col("block") == block))["time_s"][0])
