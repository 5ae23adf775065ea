"""Reads and long flows on a star, with the results of ns-2 and the scenarios that repeat them."""

from __future__ import annotations

import csv
import math
import statistics
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from validation.common.places import REFERENCE
from validation.ns2.compare import simulate

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

FOLDER = REFERENCE / "ns2"
SCRIPT = FOLDER / "read.tcl"
FILE = FOLDER / "ns2_reads.csv"
HEADER = 40
MEASURED = ("blocks", "ended", "stalled", "timeouts", "arrivals", "drops", "p50_ms", "queue")
"""The columns that the script prints, in order."""
AGENTS = {
    "newreno": "TCP/Newreno",
    "tahoe": "TCP",
    "sack": "TCP/Sack1",
    "bic": "TCP/Linux:bic",
}


@dataclass(frozen=True)
class Read:
    """One configuration; the names and units are those of the script's parameters."""

    set: str
    transport: str = "newreno"
    servers: int = 8
    sru: int = 256
    """Segments per server and block."""
    segment: int = 1024
    rate: int = 1000
    """Rate of a server's link in Mbps; `client_rate` has the same unit."""
    client_rate: int = 1000
    delay: int = 50
    """Delay of every link in us."""
    buffer: int = 32
    """The buffer in packets; in bytes, if `bytes` is 1."""
    bytes: int = 0
    jitter: int = 8
    rto_min: float = 200.0
    tick: int = 10
    seconds: int = 20
    limit: int = 2000
    """Number of blocks after which the run stops."""
    red: str = ""
    """RED's min_th, max_th, max_p, weight and wait_; the thresholds are in packets."""
    long: int = 0
    """Whether the flows never end."""

    def command(self, seed: int) -> list[str]:
        """Return the command that runs the read in ns-2."""
        values = {**asdict(self), "agent": AGENTS[self.transport], "seed": seed}
        del values["set"], values["transport"]
        return ["ns", str(SCRIPT), *(str(it) for pair in values.items() for it in pair)]

    def document(self) -> dict[str, Any]:
        """Return the scenario."""
        network: dict[str, Any] = {
            "rate": f"{self.rate}Mbps",
            "client_rate": f"{self.client_rate}Mbps",
            "delay": f"{self.delay}us",
            "buffer": f"{self.buffer}pkt",
        }
        if self.bytes:
            # DropTail::enque() drops when the queue reaches the limit. The packet that is being
            # sent does not count.
            network |= {"buffer": f"{self.buffer - 1}B", "buffer_counts_in_service": False}
        if self.red:
            low, high, p, weight, wait = self.red.split()
            network["queue"] = {
                "name": "red",
                "min_th": f"{low}pkt",
                "max_th": f"{high}pkt",
                "max_p": float(p),
                "weight": float(weight),
                "spacing": "wait" if wait == "1" else "at-once",
            }
        transport = {
            "name": self.transport,
            "mss": self.segment,
            "receive_window": "1000pkt",
            "rto_min": f"{self.rto_min}ms",
            "rto_granularity": f"{self.tick}us",
            "send_jitter": f"{self.jitter}us",
        }
        workload: dict[str, Any] = {
            "name": "long-flows",
            "servers": self.servers,
            "duration": f"{self.seconds}s",
        }
        if not self.long:
            workload = {
                "name": "barrier-read",
                "servers": self.servers,
                "sru": f"{self.sru * self.segment}B",
                "blocks": self.limit,
                "connections": "persistent",
                "request_jitter": "20us",
            }
        return {
            "profile": "ns2",
            "network": network,
            "workload": workload,
            "transport": transport,
            "run": {"time_limit": f"{self.seconds}s"},
        }


@dataclass(frozen=True)
class Side:
    """The results of one simulator, over all its runs of a configuration."""

    goodput: float
    """Goodput in Mbps."""
    timeouts: float
    """Timeouts per block, or per run for flows that never end."""
    p50: float
    """The median block time of each run in ms; the median over the runs."""
    stalled: float
    """Share of blocks with a timeout, for ns-2 only."""
    loss: float
    """Share of the sent packets that are lost."""
    queue: float
    """Mean number of waiting packets over time, without the packet that is being sent."""
    spread: dict[str, float]
    """Standard errors of `loss` and `queue`, which are means over the runs."""


@dataclass(frozen=True)
class Pair:
    """One configuration, with the results of ns-2 and of incast."""

    read: Read
    ns2: Side
    here: Side

    @property
    def log_ratio(self) -> float:
        """Return ln(goodput of incast / goodput of ns-2)."""
        return math.log(self.here.goodput / self.ns2.goodput)

    @property
    def p50_error(self) -> float:
        """Return the relative error of the median block time."""
        return self.here.p50 / self.ns2.p50 - 1

    def error(self, quantity: str) -> float:
        """Return the relative error of a quantity: incast / ns-2 - 1."""
        theirs: float = getattr(self.ns2, quantity)
        ours: float = getattr(self.here, quantity)
        return ours / theirs - 1

    def chance(self, quantity: str) -> float:
        """Return the standard error of `error(quantity)`."""
        theirs: float = getattr(self.ns2, quantity)
        return math.hypot(self.ns2.spread[quantity], self.here.spread[quantity]) / theirs


def measure(read: Read, seed: int) -> dict[str, str]:
    """Run ns-2; return the row to store."""
    out = subprocess.run(read.command(seed), capture_output=True, text=True, check=True).stdout
    # TCP/Linux also prints other lines.
    values = next(line for line in out.splitlines() if line.count(",") == len(MEASURED) - 1)
    return {
        **{key: str(value) for key, value in asdict(read).items()},
        "seed": str(seed),
        **dict(zip(MEASURED, values.split(","), strict=True)),
    }


def keep(seeds: Mapping[Read, Iterable[int]], jobs: int) -> None:
    """Run ns-2, and replace all stored rows by the new results."""
    tasks = [(read, seed) for read, its in seeds.items() for seed in its]
    with ThreadPoolExecutor(jobs) as pool:
        rows = list(pool.map(lambda task: measure(*task), tasks))
    with FILE.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def load() -> dict[Read, list[dict[str, str]]]:
    """Read the stored rows of each configuration."""
    kept: dict[Read, list[dict[str, str]]] = {}
    convert = {"int": int, "float": float, "str": str}
    kinds = {field.name: convert[str(field.type)] for field in fields(Read)}
    with FILE.open(newline="") as file:
        for row in csv.DictReader(file):
            read = Read(**{key: kind(row[key]) for key, kind in kinds.items()})
            kept.setdefault(read, []).append(row)
    return kept


def compare(kept: dict[Read, list[dict[str, str]]], jobs: int) -> list[Pair]:
    """Repeat the stored runs with twice as many seeds, because incast is faster than ns-2."""
    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(lambda item: _compare_one(*item), kept.items()))


def _compare_one(read: Read, rows: list[dict[str, str]]) -> Pair:
    document = read.document()
    ours = [simulate(document, seed) for seed in range(1, 1 + 2 * len(rows))]
    return Pair(read, _theirs(read, rows), _ours(read, ours))


def _theirs(read: Read, rows: list[dict[str, str]]) -> Side:
    total = {key: math.fsum(float(row[key]) for row in rows) for key in MEASURED}
    bits = total["blocks"] * read.servers * read.sru * read.segment * 8
    return Side(
        bits / max(total["ended"], 1e-9) / 1e6,
        total["timeouts"] / (len(rows) if read.long else total["blocks"]),
        statistics.median(float(row["p50_ms"]) for row in rows),
        total["stalled"] / max(total["blocks"], 1),
        total["drops"] / total["arrivals"],
        total["queue"] / len(rows),
        {
            "loss": _standard_error([float(row["drops"]) / float(row["arrivals"]) for row in rows]),
            "queue": _standard_error([float(row["queue"]) for row in rows]),
        },
    )


def _ours(read: Read, rows: list[dict[str, Any]]) -> Side:
    blocks = sum(row["blocks"] for row in rows)
    losses = [row["drops"] / row["packets_sent"] for row in rows]
    queues = [row["queue_mean_bytes"] / (read.segment + HEADER) for row in rows]
    return Side(
        statistics.fmean(row["goodput_bps"] for row in rows) / 1e6,
        sum(row["timeouts"] for row in rows) / (len(rows) if read.long else blocks),
        statistics.median((row["completion_p50_s"] or 0) * 1e3 for row in rows),
        0.0,
        sum(row["drops"] for row in rows) / sum(row["packets_sent"] for row in rows),
        statistics.fmean(queues),
        {"loss": _standard_error(losses), "queue": _standard_error(queues)},
    )


def _standard_error(values: Sequence[float]) -> float:
    return statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan
