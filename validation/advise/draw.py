"""Draws sixty random scenarios, six for each of ten kinds of user. A seed fixes the scenarios."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import incast
from incast import Scenario

SEED, FRESH = 2126, 2127
"""The seed of the exhaustive search's scenarios, and the seed of the scenarios in `safe`."""
EACH = 6
MOST_PACKETS = 5_000  # per run: runs are short, so that every fix can run with many seeds
_SEGMENT = 1448


@dataclass(frozen=True)
class Story:
    """One kind of user: ranges of values that are drawn log-uniformly, and fixed values.

    Parameters
    ----------
    name
        Description of the user's read.
    profile, rate, connections
        Fixed values.
    servers, sru, buffer, round_trip_us
        Ends of the ranges; SRU and buffer in bytes, the round trip in microseconds.
    alpha
        Ends of the exponent of a dynamic threshold on a shared buffer of 32 MB, in place of
        `buffer`.
    """

    name: str
    profile: str
    rate: str
    connections: str
    servers: tuple[int, int]
    sru: tuple[int, int]
    buffer: tuple[int, int] = (32 << 10, 512 << 10)
    round_trip_us: tuple[int, int] = (20, 200)
    alpha: tuple[int, int] | None = None


_K = 1 << 10
STORIES = (
    Story("a storage read behind a shared buffer", "linux", "25Gbps", "persistent", (8, 48),
          (32 * _K, 128 * _K), alpha=(-7, -4)),
    Story("a service whose timers are too long", "linux", "10Gbps", "persistent", (8, 64),
          (16 * _K, 64 * _K)),
    Story("new connections on a shallow switch", "lab", "1Gbps", "fresh", (8, 48),
          (16 * _K, 64 * _K)),
    Story("a switch whose buffer is to be set", "linux", "10Gbps", "persistent", (16, 64),
          (32 * _K, 64 * _K), alpha=(-8, -5)),
    Story("many short answers", "linux", "10Gbps", "persistent", (64, 128), (8 * _K, 16 * _K)),
    Story("the reads of the literature", "ns2", "1Gbps", "persistent", (4, 24),
          (64 * _K, 256 * _K), (16 * _K, 128 * _K)),
    Story("a shuffle with new connections", "linux", "10Gbps", "fresh", (16, 64),
          (16 * _K, 64 * _K)),
    Story("few large answers", "linux", "25Gbps", "persistent", (4, 16), (128 * _K, 512 * _K)),
    Story("sixty-odd hosts of a test", "linux", "1Gbps", "persistent", (48, 64),
          (8 * _K, 32 * _K)),
    Story("a laptop's first collapse", "lab", "1Gbps", "persistent", (4, 32),
          (32 * _K, 128 * _K), (32 * _K, 128 * _K)),
)  # fmt: skip


def scenarios(seed: int = SEED) -> Iterator[tuple[int, Story, Scenario]]:
    """Yield all scenarios with their numbers, story by story."""
    rng = np.random.default_rng(seed)
    for place, story in enumerate(STORIES):
        for number in range(EACH):
            yield place * EACH + number, story, _draw(story, rng)


def _draw(story: Story, rng: np.random.Generator) -> Scenario:
    def between(ends: tuple[int, int]) -> int:
        low, high = ends
        return round(low * (high / low) ** rng.random())

    servers, sru = between(story.servers), between(story.sru)
    buffer, trip = between(story.buffer), between(story.round_trip_us)
    network: dict[str, Any] = {
        "rate": story.rate,
        "delay": f"{trip * 250}ns",
        "buffer": f"{buffer}B",
    }
    if story.alpha is not None:
        exponent = int(rng.integers(story.alpha[0], story.alpha[1] + 1))
        network["buffer"] = {"name": "dynamic", "total": "32MB", "alpha": f"2^{exponent}"}
    per_block = servers * -(-sru // _SEGMENT)
    return incast.load(
        {
            "title": story.name,
            "profile": story.profile,
            "network": network,
            "workload": {
                "servers": servers,
                "sru": sru,
                "blocks": int(np.clip(MOST_PACKETS // per_block, 2, 10)),
                "connections": story.connections,
                "request_jitter": "1us",
            },
        }
    )
