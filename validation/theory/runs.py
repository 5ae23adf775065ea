"""The runs of the study of throughput models, and the predictions of the models."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import incast
from incast import models
from incast.models import padhye
from incast.models.estimation import Sampled, of_counters, of_sample
from incast.models.kulkarni import (
    CORRECTED,
    PRINTED,
    Kind,
    Losses,
    Reading,
    flavours,
    scattered,
    throughput,
)
from incast.models.kulkarni.rounds import flow_window

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

SERVERS = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 32, 48]
SECONDS, SEEDS = 40, 2
SEGMENT, LINK = 1024, 1e9
N = "workload.servers"


@dataclass(frozen=True)
class Setting:
    """A curve of the paper: buffer in packets of 1 KB, SRU in KB, and the random send delay."""

    buffer: int = 32
    sru: int = 256
    delay: str = "8us"

    @property
    def name(self) -> str:
        phases = "" if self.delay == "8us" else ", no send delay"
        return f"buffer {self.buffer} KB, SRU {self.sru} KB{phases}"


DEFAULT = Setting()
IN_PHASE = Setting(delay="0s")
BUFFERS = [Setting(buffer=size) for size in (16, 32, 64, 128)]
SRUS = [Setting(sru=size) for size in (64, 128, 256, 512)]


@dataclass(frozen=True)
class Curve:
    """The results of one setting, for each number of servers: simulated and predicted."""

    setting: Setting
    servers: NDArray[np.int64]
    goodput: NDArray[np.float64]
    """Goodput in Mbps, mean over seeds."""
    told: pl.DataFrame
    """The models' parameters, means over the seeds, and numbers of timeouts by place and cause."""
    models: dict[str, NDArray[np.float64]]
    """By the name of the model, the predicted goodput in Mbps; NaN without losses."""

    def lossy(self) -> NDArray[np.bool_]:
        return self.told["loss_event_ratio"].to_numpy() > 0

    def collapsed(self) -> NDArray[np.bool_]:
        """Whether there is at least one timeout in five blocks."""
        return self.told["timeouts_per_block"].to_numpy() >= 0.2

    def at(self, *servers: int) -> NDArray[np.bool_]:
        return np.isin(self.servers, servers)

    def error(self, model: str) -> float:
        """Return the mean |ln(model / simulator)| of goodput, over the points with losses."""
        there = self.lossy()
        return float(np.mean(np.abs(np.log(self.models[model][there] / self.goodput[there]))))


def document(setting: Setting, seconds: float = SECONDS, **changes: Any) -> dict[str, Any]:
    """Return the scenario of table 3.1, with a random send delay to prevent phase effects."""
    tree: dict[str, Any] = {
        "profile": "ns2",
        "network": {"rate": "1Gbps", "delay": "50us", "buffer": f"{setting.buffer}pkt"},
        "workload": {
            "name": "barrier-read",
            "servers": 1,
            "sru": f"{setting.sru}KiB",
            "duration": f"{seconds}s",
            "connections": "persistent",
            "request_jitter": "20us",
        },
        "transport": {"name": "newreno", "send_jitter": setting.delay},
        "run": {"seeds": SEEDS},
        "sweep": {N: SERVERS},
    }
    return tree | changes


def run(setting: Setting, seconds: float = SECONDS) -> Curve:
    """Run a curve and evaluate the models."""
    results = incast.run(incast.load(document(setting, seconds)), traces=["events"])
    rows = results.frame().select(
        N, "seed", "goodput_bps", "timeouts", "timeouts_block_head", "blocks"
    )
    both = models.estimate(results).drop("blocks").join(rows, on=[N, "seed"])
    # Some parameters have no value in a run without timeouts or losses. The mean is over the runs
    # that have a value.
    means = pl.all().exclude(N, "timeouts", "timeouts_block_head", "blocks")
    told = (
        both.with_columns(pl.selectors.float().fill_nan(None))
        .group_by(N)
        .agg(means.mean(), pl.col("timeouts", "timeouts_block_head", "blocks").sum())
        .with_columns(timeouts_per_block=pl.col("timeouts") / pl.col("blocks"))
        .sort(N)
    )
    servers = told[N].to_numpy()
    goodput = told["goodput_bps"].to_numpy() / 1e6
    return Curve(setting, servers, goodput, told, _models(told, setting))


def _models(told: pl.DataFrame, setting: Setting) -> dict[str, NDArray[np.float64]]:
    def values(name: str) -> NDArray[np.float64]:
        return told[name].fill_null(float("nan")).to_numpy().astype(float)

    p_c, p_r, lost = (
        np.where(values("loss_event_ratio") > 0, values(name), np.nan)
        for name in ("loss_event_ratio", "loss_indication_ratio", "packet_loss_ratio")
    )
    n, rtt = values(N), values("rtt_s")
    timer = np.nan_to_num(values("timeout_s"), nan=0.2)
    safe = [np.nan_to_num(it, nan=1e-3) for it in (p_c, p_r)]
    block = n * setting.sru * 1024 / SEGMENT

    def sent(kind: Kind, head: str, reading: Reading) -> NDArray[np.float64]:
        losses = Losses(n, *safe, rtt, timer, values(head), block, np.maximum(lost / p_r, 1))
        return throughput(losses, kind, reading)

    share, number = "block_head_share", "block_head_timeouts"
    knee = Reading(knee=values("knee"))
    wide = Reading(window_limit=1000, capacity=LINK / 8 / (SEGMENT + 40))
    each = replace(wide, flows="any")
    packets: dict[str, Callable[[], NDArray[np.float64]]] = {
        "TD only": lambda: sent("td-only", share, CORRECTED),
        "full": lambda: sent("full", share, CORRECTED),
        "full, printed": lambda: sent("full", number, PRINTED),
        "IBTT only": lambda: sent("ibtt-only", share, CORRECTED),
        "IBTT only, printed": lambda: sent("ibtt-only", number, PRINTED),
        "ABTT only": lambda: sent("abtt-only", share, CORRECTED),
        "ABTT only, printed": lambda: sent("abtt-only", number, PRINTED),
        "ABTT only, whole windows": lambda: sent("abtt-only", "block_head_whole_share", CORRECTED),
        "split": lambda: sent("split", share, knee),
        "split, printed": lambda: sent("split", number, PRINTED),
        "extended": lambda: sent("scattered", share, wide),
        "extended, any": lambda: sent("scattered", share, each),
        "n × Padhye": lambda: n * padhye.throughput(safe[1], rtt, timer, 1000),
    }
    arriving = np.where(np.isnan(p_c), np.nan, (1 - lost) * SEGMENT * 8 / 1e6)
    return {name: rate() * arriving for name, rate in packets.items()}


@dataclass(frozen=True)
class Flavour:
    """The share of loss indications that are timeouts inside a block: simulated and predicted."""

    transport: str
    servers: int
    measured: float
    missing: float
    text: float
    bursts: float
    scattered: float


def run_flavours() -> list[Flavour]:
    """Compare Reno, NewReno and SACK, with long blocks, so that many timeouts are inside blocks."""
    found = []
    for name in ("reno", "newreno", "sack"):
        tree = document(Setting(sru=1024), sweep={N: [2, 4, 8, 16, 24]})
        tree["transport"] |= {"name": name}
        tree["workload"] |= {"duration": "20s"}
        results = incast.run(incast.load(tree), traces=["events"])
        rows = results.frame().select(N, "seed", "timeouts", "fast_retransmits")
        both = models.estimate(results).join(rows, on=[N, "seed"])
        causes = ("inside_whole_window", "inside_few_duplicates", "inside_other")
        ratios = ("loss_event_ratio", "loss_indication_ratio", "packet_loss_ratio")
        counts = pl.col(*causes, "timeouts", "fast_retransmits").sum()
        mean = both.group_by(N).agg(counts, pl.col(*ratios).mean()).sort(N)
        for row in mean.iter_rows(named=True):
            p_c, p_r, lost = (row[ratio] for ratio in ratios)
            flows = row[N]
            window = flow_window(flows, min(max(p_r / p_c, 1), flows), p_c)
            missing = max(lost / p_r, 1.0)
            bursts = flavours.timeout_probability(window, p_r, name, limited_transmit=True)
            spread = scattered.timeout_probability(window, p_r, missing, limited_transmit=True)
            inside = sum(row[cause] for cause in causes)
            found.append(
                Flavour(
                    name, flows, inside / (row["timeouts"] + row["fast_retransmits"]), missing,
                    float(padhye.timeout_probability(window, p_r)), float(bursts), float(spread),
                )
            )  # fmt: skip
    return found


@dataclass(frozen=True)
class Guess:
    """Loss rates estimated without a trace, each with true value, estimate and standard error."""

    servers: int
    source: str
    losses: tuple[float, float, float]
    events: tuple[float, float, float]


def run_guesses() -> list[Guess]:
    """Estimate the loss rates of three runs from samples and from counters."""
    tree = document(DEFAULT, sweep={N: [3, 8, 24]}, run={"seeds": 1})
    results = incast.run(incast.load(tree), traces=["events"])
    random = np.random.default_rng(2)
    found = []
    for job, told in zip(
        results.plan.jobs(), models.estimate(results).iter_rows(named=True), strict=True
    ):
        events = results.traces.of("events", job)
        drops = events.filter(kind="drop")["time_s"].to_numpy()
        for interval in (10, 100, 1000):
            kept = drops[random.random(len(drops)) < 1 / interval]
            others = int(random.binomial(told["packets"] - len(drops), 1 / interval))
            for sizes in ("geometric", "log-series"):
                guess = of_sample(others + len(kept), kept, interval, told["rtt_s"], sizes)
                found.append(_guess(told, f"1 packet in {interval}, {sizes}", guess))
        for seconds in (0.001, 0.01, 0.1):
            bins = np.arange(0, events["time_s"].max() + seconds, seconds)  # type: ignore[operator]
            guess = of_counters(told["packets"], np.histogram(drops, bins)[0])
            found.append(_guess(told, f"counters every {seconds * 1e3:g} ms", guess))
    return found


def _guess(told: dict[str, Any], source: str, guess: Sampled) -> Guess:
    return Guess(
        told[N],
        source,
        (told["packet_loss_ratio"], guess.packet_loss_ratio, guess.packet_loss_error),
        (told["loss_event_ratio"], guess.loss_event_ratio, guess.loss_event_error),
    )
