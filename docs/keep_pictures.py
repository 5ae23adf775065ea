"""Draws one picture of every kind for docs/reference/pictures.md, from small scenarios."""

from pathlib import Path
from typing import Any

import incast
from incast.plots import KINDS, Moment
from incast.reproduce.pictures import png

FOLDER = Path(__file__).parents[1] / "docs" / "_static" / "kinds"
READ: dict[str, Any] = {
    "network": {"rate": "1Gbps", "delay": "25us", "buffer": "64KiB"},
    "workload": {"servers": 8, "sru": "32KiB", "blocks": 10, "request_jitter": "20us"},
    "transport": {"name": "newreno", "rto_min": "200ms", "receive_window": "32KiB"},
    "run": {"seeds": 5},
}
SERVERS = [2, 4, 6, 8, 12, 16, 24, 32]
TIMERS = ["200ms", "20ms", "2ms"]
BUFFERS = ["16KiB", "32KiB", "64KiB", "128KiB", "256KiB"]
TRANSPORTS = ["newreno", "tahoe", "reno", "sack", "cubic", "bic", "westwood", "vegas", "dctcp"]


def scenario(title: str, sweep: dict[str, Any] | None = None, **tables: Any) -> dict[str, Any]:
    """Return the read with a title, a sweep and changes to its tables."""
    changed = {name: READ.get(name, {}) | table for name, table in tables.items()}
    return READ | changed | {"title": title, "sweep": sweep or {}}


def results() -> dict[str, incast.Results]:
    """Return the results that each kind of picture draws."""
    timers = incast.run(
        scenario("Three timers", {"transport.rto_min": TIMERS, "workload.servers": SERVERS})
    )
    sizes = incast.run(
        scenario(
            "Buffer and servers",
            {"network.buffer": BUFFERS, "workload.servers": SERVERS},
            run={"seeds": 2},
        )
    )
    kinds = scenario(
        "Nine transports",
        {"transport.name": TRANSPORTS, "workload.servers": SERVERS},
        run={"seeds": 2},
    )
    alone = incast.run(
        scenario(
            "Eight servers, and a timer of 20 ms",
            workload={"blocks": 3},
            transport={"rto_min": "20ms"},
            run={"seeds": 1},
        ),
        traces=["queue", "cwnd", "events"],
    )
    few = incast.run(
        scenario("Two timers", {"transport.rto_min": ["20ms", "2ms"], "workload.servers": [8, 12]})
    )
    marks = scenario("Marks from 20 packets on", transport={"name": "dctcp"}, run={"seeds": 1})
    return {
        "goodput": timers,
        "heatmap": sizes,
        "ranking": incast.run(kinds),
        "completion": timers,
        "cdf": few,
        "timeouts": timers,
        "queue": incast.run(marks, traces=["queue"]),
        "cwnd": alone,
        "swimlane": alone,
    }


def main() -> None:
    """Draw all pictures."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    of = results()
    for name, kind in KINDS.items():
        picture = kind.draw(of[name], Moment())
        (FOLDER / f"{name}.png").write_bytes(png(picture))


if __name__ == "__main__":
    main()
