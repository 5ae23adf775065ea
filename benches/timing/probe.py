"""The probes of `benches/probe`, whose times are units for the engine's time per packet-hop."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

from timing import cases

ROOT = Path(__file__).resolve().parents[2]
REPEATS = 3


@cache
def _binary() -> Path:
    """Build the probes, and return their path."""
    target = ROOT / "target"
    manifest = ROOT / "benches" / "probe" / "Cargo.toml"
    command = ["cargo", "build", "--quiet", "--release", "--manifest-path", manifest]
    subprocess.run([*map(str, command), "--target-dir", str(target)], check=True)
    return target / "release" / "probe"


def nanoseconds(*words: str) -> float:
    """Run a probe a few times; return the fewest nanoseconds per packet-hop.

    Parameters
    ----------
    words
        `fused` for the probe with one event for a packet and its ACK, or nothing.
    """
    return min(_once(words) for _ in range(REPEATS))


def _once(words: tuple[str, ...]) -> float:
    command = [str(_binary()), str(cases.SENDERS), str(cases.BYTES), *words]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    hops, seconds = map(float, done.stdout.split())
    return 1e9 * seconds / hops
