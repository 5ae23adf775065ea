"""Run ns-2 for the curves of a text's figures that it supports, and keep the measurements.

usage: python papers/ns2/measure.py TEXT/FIGURE ...

The scenario of every point is that of the figure. Points that ns-2 does not support are left out.
These points have other transports, remedies, other queues, or new connections for more than one
block. The new rows replace the kept rows of the named figures in `figures_TEXT.csv`, in the folder
of this file. For a figure of the queue over time, new rows also replace the rows in
`traces_TEXT.csv`.
"""

from __future__ import annotations

import csv
import math
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incast.reproduce.papers import folder, load, select
from incast.reproduce.runs import Work, lay_out

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

HERE = Path(__file__).parent
SCRIPT = HERE / "figure.tcl"
MEASURED = (
    "blocks",
    "sim_time_s",
    "goodput_mbps",
    "blocks_with_timeout",
    "timeouts",
    "fast_retransmits",
    "pkts_sent",
    "bneck_drops",
    "block_ms_mean",
    "queue_max",
)
"""The columns that the script prints, in order."""
TRACED = ("time_s", "packets_max", "drops")
AGENTS = {
    "newreno": "TCP/Newreno",
    "reno": "TCP/Reno",
    "tahoe": "TCP",
    "vegas": "TCP/Vegas",
    "bic": "TCP/Linux:bic",
    "cubic": "TCP/Linux:cubic",
}
SEEDS = {"kulkarni": 2, "plato": 20, "serialization": 3, "hpc": 3}
"""Number of seeds of a point, if the point has something random."""
SECONDS = 20.0
"""Seconds after which a run stops, unless the figure sets a shorter duration."""
PACKETS = 400_000
"""Number of packets after which a run stops, but not before the end of the third block."""
CROWD, MORE = 40, 1_600_000
"""With `CROWD` servers or more, a run stops only after `MORE` packets, because a lost SYN makes a
block long."""
QUEUES = ("queue_max_packets",)
"""Metrics for which the queue is sampled during the whole run."""
BIN, LOOK = 0.1, 1e-3
"""For traces: the seconds that a row covers, and the seconds between two samples of the queue."""
MANY = 1000
"""With at least this many sessions, bursts send ten segments at a time, which saves events."""


class Left(Exception):  # noqa: N818 (not an error)
    """A scenario that ns-2 does not support; the message gives the reason."""


def number(value: object) -> float:
    """Return a quantity of a resolved scenario without its unit."""
    return float(str(value).removesuffix("bps").removesuffix("s").removesuffix("B"))


def command(scenario: Mapping[str, Any]) -> dict[str, Any]:
    """Return the script's parameters for a scenario."""
    network, transport = scenario["network"], scenario["transport"]
    if transport["name"] not in AGENTS or transport["remedies"]:
        raise Left(" with ".join([transport["name"], *map(str, transport["remedies"])]))
    if network["queue"]["name"] != "drop-tail" or network["clients"] != 1:
        raise Left("the queue, or several clients")
    keys = {**_hosts(network, transport), **_network(network, transport)}
    return keys | _workload(scenario, keys) | _background(scenario["background"])


def _hosts(network: Mapping[str, Any], transport: Mapping[str, Any]) -> dict[str, object]:
    mss = transport["mss"]
    return {
        "agent": AGENTS[transport["name"]],
        "segment": mss,
        "window": int(number(transport["receive_window"]) // mss),
        "iw": int(number(transport["initial_window"]) // mss),
        "limited": int(transport["limited_transmit"]),
        "restart": int(transport["idle_restart"] != "none"),
        "rto_min": number(transport["rto_min"]),
        "rto_initial": number(transport["syn_rto"]),
        "tick": number(transport["rto_granularity"]),
        "overhead": number(transport["send_jitter"]),
        "server_rate": number(network["server_rate"]),
        "server_delay": number(network["server_delay"]),
        "client_rate": number(network["client_rate"]),
        "client_delay": number(network["client_delay" if "client_delay" in network else "delay"]),
    }


def _network(network: Mapping[str, Any], transport: Mapping[str, Any]) -> dict[str, object]:
    topology = network["topology"]
    links = {
        "star": (1, 0),
        "parallel": (topology.get("paths", 1), 2),
        "chain": (1, topology.get("switches", 1) - 1),
    }
    if topology["name"] not in links:
        raise Left(topology["name"])
    paths, hops = links[topology["name"]]
    core = network["core"] if hops else network
    in_turn = int(topology.get("spread") == "in-turn")
    keys: dict[str, object] = {"paths": paths, "in_turn": in_turn, "hops": hops}
    if hops:
        keys |= {"core_rate": number(core["rate"]), "core_delay": number(core["delay"])}
    buffer = str(core["buffer"])
    if buffer.endswith("pkt"):
        # DropTail::enque() drops if length + 1 >= limit_; the packet that is being sent is not in
        # the length.
        more = 0 if network["buffer_counts_in_service"] else 1
        return keys | {"buffer": int(buffer.removesuffix("pkt")) + more}
    # DropTail drops a packet that would reach the limit; the packet that is being sent does not
    # count.
    sending = transport["mss"] + 40 if network["buffer_counts_in_service"] else 0
    return keys | {"buffer": int(number(buffer)) + 1 - sending, "bytes": 1}


def _workload(scenario: Mapping[str, Any], keys: Mapping[str, Any]) -> dict[str, object]:
    workload, transport = scenario["workload"], scenario["transport"]
    servers = workload["servers"]
    if workload["name"] == "long-flows":
        bursts = workload.get("bursts")
        own: dict[str, object] = {"servers": servers, "long": 1}
        if bursts:
            own |= {"burst_rate": number(bursts["rate"])}
            own |= {"burst": number(bursts["burst"]), "idle": number(bursts["idle"])}
            own |= {"chunk": 10 if servers >= MANY else 1}
        if workload["flows"] != 1:
            raise Left("several flows of a server")
        return own | {"seconds": number(workload["duration"])}
    size = workload["sru"] if "sru" in workload else number(workload["block"]) / servers
    if workload.get("active", servers) != servers or number(workload["interval"]):
        raise Left("queries")
    # The SRU is rounded to a whole number of segments; goodput counts the bytes of these segments.
    segments = max(1, round(size / transport["mss"]))
    one = workload["connections"] == "fresh"
    if one and workload.get("blocks") != 1:
        raise Left("new connections for every block")
    # If the client opens, packet 0 is the SYN-ACK, which can leave only when the SYN has arrived.
    way = keys["server_delay"] + keys["client_delay"]
    way += 320 / keys["server_rate"] + 320 / keys["client_rate"]
    seconds = min(SECONDS, number(workload["duration"])) if "duration" in workload else 1000.0
    packets = PACKETS if servers < CROWD else MORE
    return {
        "servers": servers,
        "sru": segments,
        "gap": number(workload["request_jitter"]),
        "spread": number(workload["start_spread"]),
        "offset": way if transport["opener"] == "client" else 0,
        "seconds": seconds,
        "limit": workload.get("blocks") or max(3, math.ceil(packets / (servers * segments))),
    }


def _background(sources: list[Mapping[str, Any]]) -> dict[str, object]:
    if not sources:
        return {}
    if any(one["name"] != "cbr" or one != sources[0] for one in sources):
        raise Left("the background")
    rate, size = number(sources[0]["rate"]), sources[0]["packet_size"]
    return {"cbr_hosts": len(sources), "cbr_rate": rate, "cbr_size": int(number(size))}


@cache
def measure(keys: tuple[tuple[str, object], ...]) -> list[str]:
    """Run ns-2 once; return the lines that it prints."""
    words = [str(it) for pair in keys for it in pair]
    done = subprocess.run(["ns", str(SCRIPT), *words], capture_output=True, text=True, check=True)
    # TCP/Linux also prints other lines.
    return [line for line in done.stdout.splitlines() if "," in line]


def rows(work: Work, jobs: int) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """Return the rows of a figure, and the rows of its traces."""
    tasks = list(_tasks(work))
    with ThreadPoolExecutor(jobs) as pool:
        found = list(pool.map(lambda task: measure(tuple(task[2].items())), tasks))
    made, traces = [], []
    for (label, x, keys), lines in zip(tasks, found, strict=True):
        head = {"figure": work.chosen.number, "series": label}
        about = {**head, "x": str(x), "seed": str(keys["seed"])}
        made.append(about | _row(lines[-1].split(","), keys))
        drops = 0
        for line in lines[:-1]:
            _, at, most, dropped = line.split(",")
            values = (f"{float(at):.1f}", most, str(int(dropped) - drops))
            drops = int(dropped)
            traces.append({**head, "seed": about["seed"], **dict(zip(TRACED, values, strict=True))})
    return made, traces


def _tasks(work: Work) -> Iterator[tuple[str, object, dict[str, Any]]]:
    """Yield the label, the point and the script's parameters of every run."""
    text, plot = work.chosen.paper.name, work.figure.plot
    for need in work.needs:
        series = need.series
        looked = plot is not None and plot.y in QUEUES
        if series.model or series.group != "all" or (series.reference and not looked):
            continue
        try:
            points = [command(point.resolved) for point in need.points]
        except Left as left:
            print(f"{work.chosen.name}: {series.label}: left out: {left}"[:160])
            continue
        for x, keys in zip(work.xs, points, strict=True):
            if looked:
                # The queue is sampled four times per packet time.
                keys["watch"] = 2 * (keys["segment"] + 40) / keys["client_rate"]
            if work.figure.kind == "history":
                keys |= {"watch": LOOK, "bin": BIN}
            # A figure draws the trace of one seed only.
            random = work.figure.kind != "history" and (
                keys.get("gap") or keys.get("spread") or keys["paths"] != 1 or keys.get("cbr_hosts")
            )
            for seed in range(1, (SEEDS.get(text, 1) if random else 1) + 1):
                yield series.label, x, {**keys, "seed": seed}


def _row(values: list[str], keys: Mapping[str, object]) -> dict[str, str]:
    """Return the row of a run; values that the run does not define are empty."""
    row = dict(zip(MEASURED, values, strict=True))
    missing = {
        "block_ms_mean": row["blocks"] == "0",
        "queue_max": "watch" not in keys,
        # The counter of TCP/Linux stays 0.
        "fast_retransmits": str(keys["agent"]).startswith("TCP/Linux"),
    }
    return {name: "" if missing.get(name) else value for name, value in row.items()}


def keep(file: Path, order: list[str], figures: set[str], new: list[dict[str, str]]) -> None:
    """Replace the stored rows of `figures` by new rows."""
    kept: list[dict[str, str]] = []
    if file.exists():
        with file.open(newline="") as old:
            kept = [row for row in csv.DictReader(old) if row["figure"] not in figures]
    every = sorted([*kept, *new], key=lambda row: order.index(row["figure"]))
    if not every:
        return
    with file.open("w", newline="") as out:
        writer = csv.DictWriter(out, every[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(every)


def main(names: list[str]) -> None:
    """Measure the named figures."""
    for chosen in select(load(folder()), names):
        work = lay_out(chosen, quick=False)
        found, traces = rows(work, os.cpu_count() or 1)
        print(f"{chosen.name}: {len(found)} rows", flush=True)
        text, order = chosen.paper.name, list(chosen.paper.figures)
        keep(HERE / f"figures_{text}.csv", order, {chosen.number}, found)
        keep(HERE / f"traces_{text}.csv", order, {chosen.number}, traces)


if __name__ == "__main__":
    if len(sys.argv) == 1:
        sys.exit(__doc__)
    main(sys.argv[1:])
