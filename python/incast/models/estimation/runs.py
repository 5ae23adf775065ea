"""Estimates from simulated runs, and the models' answers for these runs."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING

import polars as pl

from incast.models.estimation.events import of_events
from incast.models.registry import MODELS, NotApplicable, Question

if TYPE_CHECKING:
    from incast.results import Results
    from incast.scenario.plan import Job
    from incast.scenario.resolved import Resolved

KNEE = 3
"""Default of n*: the value in Kulkarni & Agrawal's simulations."""
_SERVERS = "workload.servers"
_KEYS = ("point", "seed")


def estimate(results: "Results") -> pl.DataFrame:
    """Return an `Estimate` and the `knee` of every run: one row per point and seed.

    The round trip is the sum of the idle round trip and the mean wait in front of the client's
    link. By Little's law, this wait is the mean over all packets.

    The knee n* is computed for each curve of the sweep, over all seeds. Up to n* servers,
    the loss of a whole window causes at least as many timeouts inside a block as too few duplicate
    ACKs. n* is 3 if the servers are not swept, or if no timeout occurs.

    Parameters
    ----------
    results
        Results of a workload on a star, recorded with the trace `events`.

    Raises
    ------
    ResultsError
        The events were not recorded.
    """
    rows = []
    for job in sorted(results.plan.jobs(), key=lambda job: (job.index, job.seed)):
        totals = _totals(results, job)
        if totals is not None:
            told = _estimate(results, job, totals)
            rows.append({"point": job.index, **job.point.swept, "seed": job.seed, **told})
    frame = pl.DataFrame(rows, infer_schema_length=None)
    return _with_knees(frame, [key for key in results.plan.swept if key != _SERVERS])


def ask(results: "Results", names: Iterable[str] | None = None) -> pl.DataFrame:
    """Return the models' answers for the runs, from loss rates and times measured in the runs.

    Parameters
    ----------
    results
        The results, as `estimate` requires them.
    names
        Names of models; by default all models.

    Returns
    -------
    data frame
        A row per point, seed and model that applies. The columns are `point`, the swept keys,
        `seed`, `model`, and the columns of the model's answers.
    """
    estimates = estimate(results)
    questions = [
        Question(results.resolved(row["point"]), {k: v for k, v in row.items() if k not in _KEYS})
        for row in estimates.iter_rows(named=True)
    ]
    keys = estimates.select("point", *results.plan.swept, "seed").rows(named=True)
    rows = []
    for name in MODELS if names is None else names:
        for key, answer in zip(keys, MODELS[name].answer_many(questions), strict=True):
            if not isinstance(answer, NotApplicable):
                rows.append({**key, "model": name, **answer})
    return pl.DataFrame(rows, infer_schema_length=None)


def _totals(results: "Results", job: "Job") -> dict[str, float] | None:
    rows = results.store.rows([job])
    return None if rows is None else rows.filter(group="all").row(0, named=True)


def _estimate(results: "Results", job: "Job", row: dict[str, float]) -> dict[str, float]:
    point = results.resolved(job.index)
    told = of_events(
        results.traces.of("events", job).filter(pl.col("flow") < point.servers),
        flows=point.servers,
        packets=int(row["packets_sent"]),
        rtt=point.base_rtt + _wait(point, row),
        fresh=point.fresh,
    )
    return asdict(told)


def _wait(point: "Resolved", row: dict[str, float]) -> float:
    """Return the mean wait: mean number of waiting bytes / bytes that leave per second."""
    leaving = row["link_utilization"] * point.line_rate / 8
    return row["queue_mean_bytes"] / leaving if leaving > 0 else 0.0


def _with_knees(frame: pl.DataFrame, curve: list[str]) -> pl.DataFrame:
    if _SERVERS not in frame.columns:
        return frame.with_columns(knee=pl.lit(float(KNEE)))
    groups = frame.group_by(curve, maintain_order=True) if curve else [((), frame)]
    parts = [part.with_columns(knee=pl.lit(_knee(part))) for _, part in groups]
    return pl.concat(parts).sort("point", "seed")


def _knee(curve: pl.DataFrame) -> float:
    """Return n*: the last n before too few duplicate ACKs cause most of the timeouts."""
    causes = ("inside_whole_window", "inside_few_duplicates")
    sums = curve.group_by(_SERVERS).agg(pl.col(*causes).sum()).sort(_SERVERS)
    known, knee = False, 0
    for servers, whole, few in sums.iter_rows():
        if few > whole:
            return float(knee) if known or knee else float(servers - 1)
        known = known or whole > 0
        knee = servers
    return float(knee) if known else float(KNEE)
