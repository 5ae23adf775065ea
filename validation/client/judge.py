"""Measure the reads of the clients, and judge them by bars."""

from __future__ import annotations

import json
import statistics
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incast.client import SLOTS, WINDOW
from validation.client import star
from validation.client.measure import AUTO, PLAIN, SRU, given
from validation.common.judge import Verdict
from validation.common.places import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

_HERE = star.resolved(1)
IDEAL = _HERE.line_rate / 1e6 * _HERE.mss / _HERE.facts["wire_bytes"]
"""Goodput in Mbit/s of a 100 Mbit/s link that is never idle."""
SERVERS = (2, 4, 8, 16, 32, 64)
CLIENT = given(SLOTS, WINDOW)
ALL = given(16, 2 * WINDOW)
SEGMENT = WINDOW // 4
GRID = [
    given(k, w * SEGMENT)
    for k, w in ((1, 8), (1, 16), (2, 4), (2, 8), (3, 4), (3, 6), (4, 2), (4, 5), (6, 3), (8, 2))
]
"""Other plans whose windows stay below the buffer."""
READS, RESERVE = 30, 60
QUICK_READS, QUICK_MOST, QUICK_LEAST = 10, 50.0, 75.0
"""For a sample: the number of reads, and bars in Mbit/s for the plain client and for ours."""
MOST_RUNS, QUIET = 4, 0.12
"""Maximum number of runs per star, and maximum share of the time that processes wait in a quiet
run."""
KEPT = ROOT / "target" / "validation" / "client"
PRESSURE = Path("/proc/pressure/cpu")
PATIENCE = 300.0  # seconds for one star
COLLAPSED, NEAR, CLEAN, AS_GOOD, COST = 40.0, 0.95, 0.9, 0.03, 0.03


@dataclass(frozen=True)
class Reads:
    """The reads of one client in one star."""

    servers: int
    name: str
    seconds: list[float]
    timeouts: list[int]
    plan: tuple[int, int] | None

    @property
    def goodput(self) -> float:
        """Goodput of the median read, Mbit/s."""
        return self.servers * SRU * 8 / statistics.median(self.seconds) / 1e6

    @property
    def range(self) -> tuple[float, float]:
        """Goodput of the slowest read and of the fastest read, Mbit/s."""
        bits = self.servers * SRU * 8 / 1e6
        return bits / max(self.seconds), bits / min(self.seconds)

    @property
    def clean(self) -> float:
        """Share of the reads without a timeout."""
        return sum(it == 0 for it in self.timeouts) / len(self.timeouts)


Star = dict[str, Reads]


def reads(servers: int, clients: list[str], count: int, **more: Any) -> Star:
    """Build a star and let clients read in turns."""
    return _star(servers, _measured(servers, clients, count, **more)["seen"])


def calmest(servers: int, clients: list[str], **more: Any) -> Star:
    """Let clients read in turns, undisturbed if possible.

    Other programs that use the processor delay the client and nginx. If they do, the star is
    measured again, up to `MOST_RUNS` times, and the run in which processes waited least counts.
    This run is stored in the folder `KEPT`, so that a later study can continue; remove the folder
    to measure all stars again.
    """
    kept = KEPT / f"{'roomy-' if 'roomy' in more else ''}{servers}-{len(clients)}.json"
    best = json.loads(kept.read_text()) if kept.exists() else None
    for _ in range(MOST_RUNS):
        if best is not None and best["waited"] <= QUIET:
            break
        found = _measured(servers, clients, READS, **more)
        best = min(best or found, found, key=lambda it: it["waited"])
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(best))
    return _star(servers, (best or {})["seen"])


def _measured(servers: int, clients: list[str], count: int, **more: Any) -> dict[str, Any]:
    """Return the measurements, and the share of time in which processes waited for a processor."""
    wish = {"servers": servers, "reads": count, "clients": clients, **more}
    command = [sys.executable, "-m", "validation.client.measure", json.dumps(wish)]
    before, start = _pressure(), time.monotonic()
    done = star.apart(command, timeout=PATIENCE)
    waited = (_pressure() - before) / (time.monotonic() - start)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return {"waited": waited, "seen": json.loads(done.stdout)}


def _star(servers: int, seen: dict[str, Any]) -> Star:
    return {name: Reads(servers, name, **it) for name, it in seen.items()}


def _pressure() -> float:
    """Return the total seconds in which any process waited for a processor; 0 if unknown."""
    with suppress(OSError):
        return int(PRESSURE.read_text().split("total=")[1].split()[0]) / 1e6
    return 0.0


@dataclass(frozen=True)
class Study:
    """The reads of all stars."""

    stars: dict[int, Star]
    grid: Star
    free: Star


def study() -> Study:
    """Measure all stars, which takes three minutes on an idle machine."""
    stars = {count: calmest(count, [PLAIN, CLIENT, AUTO]) for count in SERVERS}
    grid = calmest(16, [CLIENT, AUTO, *GRID])
    free = calmest(16, [PLAIN, ALL, AUTO], roomy=True, skip=RESERVE)
    return Study(stars, grid, free)


def sample() -> list[Verdict]:
    """Judge a star of 16 servers by bars that even a busy machine meets."""
    seen = reads(16, [PLAIN, CLIENT, AUTO], QUICK_READS)
    plain = {"plain": seen[PLAIN].goodput}
    ours = {name: seen[name].goodput for name in (CLIENT, AUTO)}
    return [
        _verdict("16 plain reads collapse", plain, lambda it: it <= QUICK_MOST, "{:.1f} Mbit/s"),
        _verdict("the client's do not", ours, lambda it: it >= QUICK_LEAST, "{:.1f} Mbit/s"),
    ]


def verdicts(study: Study) -> list[Verdict]:
    """Judge the reads by the bars."""
    found = [
        _verdict(
            f"plain reads collapse to {COLLAPSED:g} Mbit/s or less",
            {f"{n} servers": study.stars[n][PLAIN].goodput for n in (16, 32)},
            lambda it: it <= COLLAPSED,
            "{:.1f} Mbit/s",
        )
    ]
    for name, title in ((CLIENT, "given"), (AUTO, "auto")):
        found += [
            _verdict(
                f"{title}: at least {NEAR:.0%} of the ideal {IDEAL:.1f} Mbit/s",
                {f"{n} servers": star[name].goodput / IDEAL for n, star in study.stars.items()},
                lambda it: it >= NEAR,
                "{:.1%}",
            ),
            _verdict(
                f"{title}: no timeouts in nine of ten reads",
                {f"{n} servers": star[name].clean for n, star in study.stars.items()},
                lambda it: it >= CLEAN,
                "{:.0%}",
            ),
        ]
    best = max(it.goodput for name, it in study.grid.items() if name != AUTO)
    plain = study.free[PLAIN].goodput
    found += [
        _verdict(
            f"auto within {AS_GOOD:.0%} of the best plan",
            {"16 servers": study.grid[AUTO].goodput / best},
            lambda it: it >= 1 - AS_GOOD,
            "{:.1%}",
        ),
        _verdict(
            f"without a bottleneck at most {COST:.0%} slower than plain",
            {name: study.free[name].goodput / plain for name in (ALL, AUTO)},
            lambda it: it >= 1 - COST,
            "{:.1%}",
        ),
    ]
    return found


def _verdict(
    bar: str, values: dict[str, float], holds: Callable[[float], bool], form: str
) -> Verdict:
    told = {name: form.format(value) for name, value in values.items()}
    misses = tuple(f"{name}: {told[name]}" for name, value in values.items() if not holds(value))
    return Verdict(bar, ", ".join(told.values()), misses, not misses)
