"""The paper's claims about its models, compared with our runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from validation.common.judge import HALF_OF_THE_LINK, Verdict
from validation.theory.runs import BUFFERS, DEFAULT, SRUS, Curve, Setting

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

Curves = dict[Setting, Curve]
EXPECTED_TO_FAIL = (
    "3.8: the simulated curve",
    "3.11: ABTT only",
    "3.12: IBTTs are due to lost",
    "3.13: p_r falls",
    "3.17: the onset",
    "3.21: n × Padhye is good for small N",
    "3.21: n × Padhye is more than 10 times",
)
"""The first words of the bars that fail; the page gives the reason for each."""

SMALL, MIDDLE, LARGE = (2, 3, 4), (3, 4, 5, 6, 7, 8), (16, 24, 32, 48)


def judge(curves: Curves) -> list[Verdict]:
    """Judge every claim of figures 3.8 to 3.21 by the runs."""
    return [*judge_one(curves[DEFAULT]), *_split(curves), *_buffers(curves), *_srus(curves)]


def judge_one(curve: Curve) -> list[Verdict]:
    """Judge the claims about the curve of table 3.1; `curve` has our results for this table."""
    return [
        *_without_timeouts(curve),
        *_full(curve),
        *_inside(curve),
        *_head(curve),
        *_causes(curve),
        *_padhye(curve),
    ]


def _of(curve: Curve, model: str) -> NDArray[np.float64]:
    """Return the goodput of the model divided by that of the simulator."""
    return curve.models[model] / curve.goodput


def _range(values: NDArray[np.float64]) -> str:
    least, most = _short(np.nanmin(values)), _short(np.nanmax(values))
    return least if least == most else f"{least} to {most}"


def _short(value: float) -> str:
    return f"{value:.2g}" if value < 100 else f"{value:.0f}"


def _each(bar: str, what: str, curve: Curve, values: NDArray, fine: NDArray) -> Verdict:
    """Judge whether all values are `fine`; values that are NaN do not count."""
    misses = [
        f"N={n}: {_short(value)}"
        for n, value, good in zip(curve.servers, values, fine, strict=True)
        if not good and not np.isnan(value)
    ]
    return Verdict(bar, f"{what} {_range(values)}", tuple(misses), not misses)


def _where(values: NDArray[np.float64], there: NDArray[np.bool_]) -> NDArray[np.float64]:
    return np.where(there, values, np.nan)


def _without_timeouts(curve: Curve) -> list[Verdict]:
    ratio = _where(_of(curve, "TD only"), curve.collapsed())
    bar = "3.9: TD only is far (5 times) above the simulator after the collapse"
    return [_each(bar, "model / simulator", curve, ratio, ratio > 5)]


def _full(curve: Curve) -> list[Verdict]:
    found = []
    for name in ("full", "full, printed"):
        there = curve.lossy()
        ranks = [_ranks(it[there]) for it in (curve.models[name], curve.goodput)]
        order = float(np.corrcoef(*ranks)[0, 1])
        found.append(
            Verdict(
                f"3.8: {name} follows the general shape (rank correlation at least 0.8)",
                f"{order:.2f}", (), order >= 0.8,
            )
        )  # fmt: skip
        ratio = _where(_of(curve, name), curve.at(*LARGE))
        bar = f"3.8: {name} is below the simulator for many flows (N ≥ 16)"
        found.append(_each(bar, "model / simulator", curve, ratio, ratio < 1))
        ratio = _where(_of(curve, name), curve.at(3))
        bar = f"3.8: {name} collapses early: below half of the simulator at N = 3"
        found.append(_each(bar, "model / simulator", curve, ratio, ratio < 0.5))
    there = curve.at(*MIDDLE)
    falls = curve.goodput[there][:-1] / curve.goodput[there][1:]
    steepest = int(curve.servers[there][1:][np.argmax(falls)])
    found.append(
        Verdict(
            "3.8: the simulated curve has a step near N = 4 and falls steeply near N = 7",
            f"steepest from {steepest - 1} to {steepest} ({falls.max():.2f} times)",
            (), abs(steepest - 7) <= 1,
        )
    )  # fmt: skip
    return found


def _ranks(values: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.argsort(np.argsort(values))


def _inside(curve: Curve) -> list[Verdict]:
    td, simulated = curve.models["TD only"], _of(curve, "IBTT only")
    small = _where(curve.models["IBTT only"] / td, curve.at(*SMALL))
    middle = _where(simulated, curve.at(*MIDDLE))
    many = _where(np.abs(np.log(simulated)), curve.servers > 8)
    return [
        _each(
            "3.10: IBTTs matter at small N: IBTT only is at most half of TD only",
            "IBTT only / TD only", curve, small, small < 0.5,
        ),
        _each(
            "3.10: IBTT only is below the simulator for 3 ≤ N ≤ 8",
            "model / simulator", curve, middle, middle < 1,
        ),
        _each(
            "3.10: IBTT only no longer matches for N > 8 (off by a half or more)",
            "\\|ln ratio\\|", curve, many, many > np.log(1.5),
        ),
    ]  # fmt: skip


def _head(curve: Curve) -> list[Verdict]:
    few = (curve.servers < 10) & curve.lossy()
    found = []
    for name in ("ABTT only", "ABTT only, printed", "ABTT only, whole windows"):
        ratio = _where(curve.models[name] / curve.models["TD only"], few)
        bar = f"3.11: {name}: hardly any effect for N < 10 (at least 0.8 times TD only)"
        found.append(_each(bar, "model / TD only", curve, ratio, ratio >= 0.8))
    told = curve.told
    share = (told["timeouts_block_head"] / told["timeouts"]).to_numpy()
    share = _where(share, curve.at(*LARGE))
    bar = "3.11: most timeouts are ABTTs for many flows (N ≥ 16)"
    found.append(_each(bar, "their share", curve, share, share > 0.5))
    return found


def _split(curves: Curves) -> list[Verdict]:
    found = []
    for ending in ("", ", printed"):
        errors = {
            name: float(np.mean([it.error(name + ending) for it in curves.values()]))
            for name in ("split", "full")
        }
        worse = [
            f"{setting.name}: {it.error('split' + ending):.2f}, not {it.error('full' + ending):.2f}"
            for setting, it in curves.items()
            if it.error("split" + ending) >= it.error("full" + ending)
        ]
        found.append(
            Verdict(
                f"3.12 to 3.20: split{ending} is closer to the simulator than full{ending}, "
                "on every curve",
                f"mean \\|ln ratio\\| {errors['split']:.2f} against {errors['full']:.2f}",
                tuple(worse), not worse,
            )
        )  # fmt: skip
    return found


def _causes(curve: Curve) -> list[Verdict]:
    told = curve.told
    causes = ("inside_whole_window", "inside_few_duplicates", "inside_other")
    few = told.filter(pl.col("workload.servers") <= 3).select(pl.col(*causes).mean()).row(0)
    many = told.filter(pl.col("workload.servers") > 3).select(pl.col(*causes).mean()).row(0)
    shares = [
        " / ".join(f"{100 * value / max(sum(side), 1e-9):.0f}" for value in side)
        for side in (few, many)
    ]
    return [
        Verdict(
            "3.12: IBTTs are due to lost whole windows alone up to N = 3, and to too few duplicate "
            "ACKs alone above N = 3",
            f"whole / few / other: {shares[0]} % up to 3, {shares[1]} % above",
            (), few[0] > 0.9 * sum(few) and many[1] > 0.9 * sum(many),
        )
    ]  # fmt: skip


def knee(curve: Curve) -> int:
    """Return the smallest N from which goodput is below half of the link's rate; 99 if none."""
    above = np.flatnonzero(curve.goodput >= HALF_OF_THE_LINK)
    first = int(above[-1]) + 1 if above.size else 0
    return int(curve.servers[first]) if first < len(curve.servers) else 99


def _buffers(curves: Curves) -> list[Verdict]:
    rows = [curves[it] for it in BUFFERS]
    knees = [knee(it) for it in rows]
    found = [
        _monotone("3.13: throughput grows with the buffer at every N", rows, "goodput_bps", 1),
        Verdict(
            "3.13: the collapse moves right with the buffer",
            f"at N = {_list(knees)} for {_list(it.buffer for it in BUFFERS)} KB",
            (), knees == sorted(knees) and knees[0] < knees[-1],
        ),
    ]  # fmt: skip
    for name, symbol in (("loss_event_ratio", "p_c"), ("loss_indication_ratio", "p_r")):
        found.append(_monotone(f"3.13: {symbol} falls with the buffer at every N", rows, name, -1))
    return found


def _list(values: Iterable[int]) -> str:
    return ", ".join(map(str, values))


def _monotone(bar: str, rows: list[Curve], column: str, sign: int) -> Verdict:
    """Judge whether a column grows (sign 1) or falls (-1) from curve to curve, at every N > 1."""
    table = np.array([it.told[column].to_numpy() for it in rows])[:, 1:]
    wrong = sign * np.diff(table, axis=0) < -0.02 * table[:-1]
    misses = [
        f"N={rows[0].servers[1:][j]}: {rows[i].setting.name} to {rows[i + 1].setting.name}"
        for i, j in np.argwhere(wrong)
    ]
    return Verdict(
        bar, f"{wrong.size - len(misses)} of {wrong.size} steps", tuple(misses), not misses
    )


def _srus(curves: Curves) -> list[Verdict]:
    rows = [curves[it] for it in SRUS]
    knees = [knee(it) for it in rows]
    collapsed = np.all([it.collapsed() for it in rows], axis=0)
    table = np.array([it.goodput for it in rows])[:, collapsed]
    steps = np.diff(table, axis=0)
    return [
        Verdict(
            "3.17: throughput grows with the SRU after the collapse",
            f"{int((steps > 0).sum())} of {steps.size} steps, N ≥ {rows[0].servers[collapsed][0]}",
            (), bool((steps > 0).all()),
        ),
        Verdict(
            "3.17: the onset of the collapse hardly depends on the SRU (within 1)",
            f"at N = {_list(knees)} for {_list(it.sru for it in SRUS)} KB",
            (), max(knees) - min(knees) <= 1,
        ),
    ]  # fmt: skip


def _padhye(curve: Curve) -> list[Verdict]:
    ratio = _of(curve, "n × Padhye")
    small = _where(ratio, curve.at(*SMALL))
    large = _where(ratio, curve.at(32, 48))
    return [
        _each(
            "3.21: n × Padhye is good for small N (within a factor of 2 up to 4)",
            "model / simulator", curve, small, np.abs(np.log(small)) < np.log(2),
        ),
        _each(
            "3.21: n × Padhye is more than 10 times too high for N ≥ 32",
            "model / simulator", curve, large, large > 10,
        ),
    ]  # fmt: skip
