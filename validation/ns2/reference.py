"""The ns-2 data, and the scenarios that repeat its runs."""

from __future__ import annotations

import csv
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from validation.common.places import REFERENCE

FOLDER = REFERENCE / "ns2"
Row = dict[str, str]


@dataclass(frozen=True)
class Point:
    """The runs of one configuration with one number of servers, one run per seed."""

    set: str
    cfg: str
    servers: int
    runs: tuple[Row, ...]

    @property
    def jittered(self) -> bool:
        """Whether the hosts in ns-2 delayed their packets randomly."""
        return self.set in ("p", "v")


def load(name: str) -> list[Point]:
    """Read one set, in the order of its file."""
    runs: dict[tuple[str, int], list[Row]] = defaultdict(list)
    with (FOLDER / f"ns2_{name}.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            # In set e, two minimum RTOs have the same name.
            cfg = f"{row['cfg']}_rto{row['rtomin_ms']}ms" if name == "e" else row["cfg"]
            runs[cfg, int(row["N"])].append(row)
    return [Point(name, cfg, servers, tuple(rows)) for (cfg, servers), rows in runs.items()]


def barrier_read(row: Row, *, jittered: bool) -> dict[str, Any]:
    """Return the scenario of a run in one of the sets a, b, d, p and v."""
    rto_min = float(row["rtomin_ms"])
    transport = {
        "rto_min": f"{rto_min}ms",
        "rto_granularity": "10us" if rto_min > 1 else "1us",
        "send_jitter": "8us" if jittered else "0s",
    }
    return {
        "profile": "ns2",
        "network": {"buffer": f"{row['buf_pkts']}pkt"},
        "workload": {
            "name": "barrier-read",
            "servers": int(row["N"]),
            "sru": f"{row['sru_kb']}KiB",
            "duration": f"{row['sim_time_s']}s",
            "connections": "persistent",
            "request_jitter": "20us",
        },
        "transport": transport,
        "run": {"time_limit": f"{row['sim_time_s']}s"},
    }


def one_shot(row: Row) -> dict[str, Any]:
    """Return the scenario of a run in set e. Servers send 23 full segments whatever the SRU is."""
    rto_min, syn = f"{float(row['rtomin_ms'])}ms", row["syn"] == "1"
    spread = "request_jitter" if row["start"] == "gap" else "start_spread"
    return {
        "profile": "ns2",
        "network": {"buffer": f"{row['buf_pkts']}pkt", "delay": "25us"},
        "workload": {
            "name": "barrier-read",
            "servers": int(row["N"]),
            "sru": f"{int(row['sru_pkts']) * int(row['mss'])}B",
            spread: "20us",
        },
        "transport": {
            "mss": int(row["mss"]),
            "rto_min": rto_min,
            "rto_granularity": "10us" if float(row["rtomin_ms"]) > 1 else "1us",
            "handshake": "syn-only" if syn else "none",
            "rto_initial": "3s" if syn else rto_min,
        },
        "background": [{"name": "cbr", "rate": "1Mbps", "packet_size": "1500B"}],
        "run": {"time_limit": "120s"},
    }
