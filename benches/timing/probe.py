"""The probe of `benches/probe`, whose time is the unit for the engine's time per packet-hop."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

from timing import cases

ROOT = Path(__file__).resolve().parents[2]
REPEATS = 3


@cache
def _binary() -> Path:
    """Build the probe, and return its path."""
    target = ROOT / "target"
    manifest = ROOT / "benches" / "probe" / "Cargo.toml"
    command = ["cargo", "build", "--quiet", "--release", "--manifest-path", manifest]
    subprocess.run([*map(str, command), "--target-dir", str(target)], check=True)
    return target / "release" / "probe"


def nanoseconds() -> float:
    """Run the probe a few times; return the fewest nanoseconds per packet-hop."""
    return min(_once() for _ in range(REPEATS))


def _once() -> float:
    command = [str(_binary()), str(cases.SENDERS), str(cases.BYTES)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    hops, seconds = map(float, done.stdout.split())
    return 1e9 * seconds / hops
