"""The tables of simulated collapse points, in the folder of reference data."""

from __future__ import annotations

import csv
import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count, islice

from validation.collapse import truth
from validation.collapse.draw import Drawn, scenarios
from validation.common.places import REFERENCE

FOLDER = REFERENCE / "collapse"
FIELDS = ["scenario", "buffer", "sru", "rate", "round_trip_ns", "rto_min_us", "servers"]

LEAST_SCENARIOS = 300
LEAST_COLLAPSES = 200
REPEATED, OTHER_SEED = 60, 101
"""Number of development scenarios that are simulated again, and the first seed of these runs."""


def repeat() -> None:
    """Simulate the first scenarios of the development set again, with other seeds."""
    with (FOLDER / "again.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(FIELDS)
        again = enumerate(drawn for drawn, _ in read("development")[:REPEATED])
        for number, drawn, servers in _searched(again, OTHER_SEED):
            writer.writerow(_row(number, drawn, servers))
            file.flush()


def read(which: str) -> list[tuple[Drawn, int | None]]:
    """Return the scenarios of a set, and the number of servers at which each collapses."""
    with (FOLDER / f"{which}.csv").open(newline="") as file:
        return [
            (
                Drawn(*(int(row[key]) for key in FIELDS[1:-1])),
                int(row["servers"]) if row["servers"] else None,
            )
            for row in csv.DictReader(file)
        ]


def make(which: str) -> None:
    """Simulate a set until it has enough scenarios and collapses; continue an earlier call."""
    path = FOLDER / f"{which}.csv"
    known = read(which) if path.exists() else []
    collapses = sum(servers is not None for _, servers in known)
    with path.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if not known:
            writer.writerow(FIELDS)
        missing = islice(zip(count(), scenarios(which), strict=False), len(known), None)
        for number, drawn, servers in _searched(missing, 1):
            if number >= LEAST_SCENARIOS and collapses >= LEAST_COLLAPSES:
                return
            collapses += servers is not None
            writer.writerow(_row(number, drawn, servers))
            file.flush()


def _searched(
    numbered: Iterable[tuple[int, Drawn]], first_seed: int
) -> Iterator[tuple[int, Drawn, int | None]]:
    """Search for the collapse points on all processors; yield them in the scenarios' order."""
    threads = os.cpu_count() or 1
    ahead: deque[tuple[int, Drawn, Future[int | None]]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for number, drawn in numbered:
                ahead.append((number, drawn, pool.submit(truth.search, drawn, first_seed)))
                if len(ahead) == 4 * threads:
                    first, scenario, found = ahead.popleft()
                    yield first, scenario, found.result()
            for first, scenario, found in ahead:
                yield first, scenario, found.result()
        finally:
            pool.shutdown(cancel_futures=True)


def _row(number: int, drawn: Drawn, servers: int | None) -> list[int | str]:
    network = [drawn.buffer, drawn.sru, drawn.rate, drawn.round_trip_ns]
    return [number, *network, drawn.rto_min_us, servers or ""]
