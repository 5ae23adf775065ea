"""A small paper with one figure, for tests of `incast reproduce`, and a folder with the paper."""

from pathlib import Path

import polars as pl

BASE = """\
title = "A text"
seeds = { full = 3, quick = 2 }
quick = { "workload.blocks" = 1 }
reference = "data"
assumptions = ["KB is 1024 bytes."]
[scenario.network]
rate = "1Gbps"
delay = "25us"
buffer = "32KiB"
[scenario.workload]
name = "barrier-read"
servers = 4
sru = "16KiB"
blocks = 2
[scenario.transport]
name = "newreno"
rto_min = "10ms"
"""
SWEEP = """\
title = "Goodput"
kind = "sweep"
[x]
key = "workload.servers"
values = { full = [1, 2, 4, 8, 16, 32], quick = [1, 8, 32] }
[[series]]
label = "plain"
reference = { file = "them.csv", where = { cfg = "a" } }
[[series]]
label = "fine"
set = { "transport.rto_min" = "200us" }
[plot]
y = "goodput_mbps"
"""
CLAIM = """\
[[claims]]
id = "A"
says = "It collapses."
kind = "trend"
left = { series = "plain", at = 32 }
op = "<"
right = { series = "plain", reduce = "max", times = 0.5 }
"""


def write_text(place: Path) -> None:
    """Write the paper's base scenario and its measurements."""
    (place / "text" / "data").mkdir(parents=True)
    (place / "text" / "base.toml").write_text(BASE)
    pl.DataFrame(
        {
            "cfg": ["a"] * 3,
            "N": [1, 16, 64],
            "seed": [1, 1, 1],
            "goodput_mbps": [700.0, 650.0, 600.0],
        }
    ).write_csv(place / "text" / "data" / "them.csv")
