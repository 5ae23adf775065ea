"""The page and the pictures of the study of throughput models."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from validation.common.page import verdicts
from validation.theory.runs import BUFFERS, DEFAULT, SECONDS, SEEDS, SRUS, Curve, Flavour, Guess

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from validation.common.judge import Verdict
    from validation.theory.claims import Curves

OPENING = f"""# Models of throughput

Written by `make validate` (`validation/theory`); do not edit. This page compares the equations of
chapter 3 of Kulkarni & Agrawal ([](../reference/models-throughput.md), which defines the terms)
with the simulator. The parameters are those of their table 3.1 (1 Gbps, links of 50 µs, segments of
1 KB, NewReno, RTOmin 200 ms, requests U(0, 20 µs) apart), with `profile = "ns2"`, a random send
delay of up to 8 µs, {SECONDS} s of simulated time and {SEEDS} seeds. The models get their loss
rates, round trips and timeouts from traces of the same runs, so nothing here is a prediction. The
"printed" models are exactly those of the paper: δ is a number of flows, and n* = 3. The other
models are corrected: δ is a share of blocks, and n* is measured.
"""

DIAGNOSES = """
## Why claims fail

The step at 4 and the fall at 7 (3.8)
: The step is a phase effect: it appears if there is no random send delay, and it also appears in
  ns-2.35 ([its reference runs](ns2.md), set a). Without the delay, goodput with 3 to 8 servers is
  {phases} Mbps. So goodput falls directly after the step, not at 7 servers. The table below judges
  the claims about this curve without the delay.

ABTTs already matter for few flows (3.11)
: The result depends on the definition of an ABTT. Here, an ABTT is every timeout of a segment of a
  block's first window. Most of these timeouts are due to lost retransmissions: a fast retransmit
  resent the segment at the head of the block, and the copy was dropped. If only the loss of a whole
  window at the head of a block is counted, as in the text (the line "whole windows"), ABTTs have
  little effect up to {few_whole}.

IBTTs are due neither to lost whole windows nor to too few duplicate ACKs (3.12)
: The simulator records what happens to every packet. Inside a block most timeouts are due to lost
  retransmissions ("other"), a class that the paper does not have; a sender cannot distinguish them
  from other timeouts. The measured n* is therefore {knee:g}, not 3. The split model is still closer
  to the simulator than the full model, because it correctly has fewer timeouts (see the flavours
  below).

n × Padhye is too low by a little more than a factor of 2 for few servers (3.21)
: With two to four servers, this model has 0.49 to 0.89 times the simulator's goodput. In an earlier
  version, requests were as long as an ACK (`request_on_wire`), and this model was just within the
  factor of 2.

n × Padhye is not orders of magnitude too high (3.21)
: This model is {padhye} times too high at 32 and 48 servers. The model uses p_r, which includes the
  timeouts at the head of a block. The model also uses the measured T0, which grows to {timer:.2f} s
  because a timer stays backed off until a round trip can be measured. With a T0 of 0.2 s, the model
  is about {padhye_short} times too high at these numbers of servers.

p_r does not fall at every step with a larger buffer (3.13)
: The number of lost packets falls at every step. But a small buffer loses more packets at once:
  with 8 servers, a loss indication stands for {together[0]} lost packets with 16 KB and for
  {together[1]} with 32 KB.

The onset depends on the SRU (3.17)
: The onset is the smallest N such that goodput stays below half of the link's rate with N or more
  servers. A stall of 200 ms costs the same time in a block of any length, and a longer block is
  more likely to have one. The effect is largest with few flows, whose stalls are rare.

"Very sensitive" (3.10) is not judged, because the paper gives no number.
"""


def write(
    folder: Path,
    curves: Curves,
    found: list[Verdict],
    in_phase: tuple[Curve, list[Verdict]],
    flavours: list[Flavour],
    guesses: list[Guess],
) -> None:
    """Write `throughput.md` and its pictures into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    curve = curves[DEFAULT]
    _draw(folder / "throughput-models.png", [curve], list(COLOURS))
    main = ["full", "full, printed", "split", "split, printed", "extended"]
    _draw(folder / "throughput-buffers.png", [curves[it] for it in BUFFERS], main)
    _draw(folder / "throughput-srus.png", [curves[it] for it in SRUS], main)
    lines = [
        OPENING,
        *verdicts(found),
        _diagnoses(curves, in_phase[0]),
        "## The same claims without the send delay",
        "",
        *verdicts(in_phase[1]),
        "",
        "## Table 3.1: goodput, Mbps",
        "",
        "![Every model at the default setting](throughput-models.png)",
        "",
        *_goodput(curve),
        "",
        "## Measured inputs of the models",
        "",
        *_parameters(curve),
        "",
        "## Buffers and SRUs (3.13 to 3.20)",
        "",
        "![Buffers](throughput-buffers.png)",
        "",
        "![SRUs](throughput-srus.png)",
        "",
        "The table gives the mean of |ln(model / simulator)| over the points with losses:",
        "",
        *_errors(curves),
        "",
        *_flavour_section(flavours),
        "## Loss rates without a trace",
        "",
        "The table gives estimates, their standard errors, and the ratios of the estimates to the",
        "true values. The share of lost packets can be estimated without a model. The estimate of",
        "the number of loss events depends on an assumption about the sizes of the events. The",
        "error of this assumption is not included in the standard errors. At a full buffer many",
        "events are small and some are very large, so a log-series distribution fits better than a",
        "geometric one. A sample of one packet in a thousand is too small.",
        "Estimates from counters assume a Poisson process. Blocks do not produce such a process,",
        "so the counters must be read every few round trips.",
        "",
        *_guesses(guesses),
    ]
    (folder / "throughput.md").write_text("\n".join(lines) + "\n")


def _diagnoses(curves: Curves, in_phase: Curve) -> str:
    curve = curves[DEFAULT]
    ratio = curve.models["ABTT only, whole windows"] / curve.models["TD only"]
    close = curve.servers[(ratio >= 0.8) & curve.lossy()]
    there = curve.at(32, 48)
    padhye = (curve.models["n × Padhye"] / curve.goodput)[there]
    timer = curve.told["timeout_s"].to_numpy()[there]
    # With 32 and 48 servers, timeouts take nearly all time, so goodput is proportional to 1 / T0.
    short = padhye * timer / 0.2
    return DIAGNOSES.format(
        few_whole=f"N = {close.max()}" if close.size else "no N",
        phases=", ".join(f"{it:.0f}" for it in in_phase.goodput[in_phase.at(3, 4, 5, 6, 7, 8)]),
        together=[f"{_lost_together(curves[it]):.1f}" for it in BUFFERS[:2]],
        knee=curve.told["knee"][0],
        padhye=" and ".join(f"{it:.1f}" for it in padhye),
        padhye_short=" and ".join(f"{it:.1f}" for it in short),
        timer=timer.max(),
    )


def _lost_together(curve: Curve) -> float:
    """Return the lost packets per loss indication with 8 servers."""
    lost, indications = (
        curve.told[name].to_numpy()[curve.at(8)].item()
        for name in ("packet_loss_ratio", "loss_indication_ratio")
    )
    return float(lost / indications)


def _table(heads: Iterable[str], rows: Iterable[Iterable[object]]) -> list[str]:
    heads = list(heads)
    return [
        f"| {' | '.join(heads)} |",
        "|" + "--:|" * len(heads),
        *("| " + " | ".join(str(cell) for cell in row) + " |" for row in rows),
    ]


def _number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def _goodput(curve: Curve) -> list[str]:
    columns = [curve.goodput, *curve.models.values()]
    rows = zip(curve.servers, *([_number(it) for it in column] for column in columns), strict=True)
    return _table(["N", "simulator", *curve.models], rows)


def _parameters(curve: Curve) -> list[str]:
    columns = {
        "p_c": "loss_event_ratio", "p_r": "loss_indication_ratio",
        "packets lost": "packet_loss_ratio", "j": "flows_per_event", "RTT, s": "rtt_s",
        "T0, s": "timeout_s", "δ, number": "block_head_timeouts", "δ, share": "block_head_share",
        "δ, whole windows": "block_head_whole_share", "timeouts per block": "timeouts_per_block",
    }  # fmt: skip
    values = [curve.told[name].fill_null(float("nan")).to_list() for name in columns.values()]
    rows = zip(curve.servers, *([_number(it) for it in column] for column in values), strict=True)
    return _table(["N", *columns], rows)


def _errors(curves: Curves) -> list[str]:
    names = list(curves[DEFAULT].models)
    rows = [
        (it.name, *(f"{curve.error(name):.2f}" for name in names)) for it, curve in curves.items()
    ]
    mean = [f"{np.mean([it.error(name) for it in curves.values()]):.2f}" for name in names]
    return _table(["", *names], [*rows, ("mean", *mean)])


def _flavour_section(flavours: list[Flavour]) -> list[str]:
    return [
        "## Flavours",
        "",
        "Which share of the loss indications are timeouts inside a block? The SRU is 1 MB, the",
        "runs last 20 s, and the other parameters are as above. `text` is Q^ of (3.34). `bursts`",
        "adds limited transmit, lost retransmissions and the flavour's recovery. `scattered`",
        "also uses the measured number of missing packets. With the measured losses, lost",
        "retransmissions explain the shares of NewReno and SACK: from 4 servers on, `scattered` is",
        f"{_span(flavours)} the measured share. The bursts of losses that the paper",
        "assumes do not occur at the switch. Several fast retransmits of Reno in one window are",
        "counted separately, so neither `bursts` nor `scattered` says much about Reno.",
        "",
        *_flavours(flavours),
        "",
    ]


def _flavours(flavours: list[Flavour]) -> list[str]:
    heads = ["transport", "N", "lost per indication", "measured", "text", "bursts", "scattered"]
    return _table(
        heads,
        (
            (it.transport, it.servers, f"{it.missing:.1f}", *(
                f"{100 * value:.1f} %" for value in (it.measured, it.text, it.bursts, it.scattered)
            ))
            for it in flavours
        ),
    )  # fmt: skip


def _span(flavours: list[Flavour]) -> str:
    known = [it for it in flavours if it.transport != "reno" and it.servers >= 4]
    ratios = [it.scattered / it.measured for it in known]
    return f"{min(ratios):.2f} to {max(ratios):.2f} times"


def _guesses(guesses: list[Guess]) -> list[str]:
    heads = ["N", "from", "packets lost", "estimate", "ratio", "loss events", "estimate", "ratio"]

    def cells(truth: float, value: float, error: float) -> tuple[str, str, str]:
        return f"{truth:.5f}", f"{value:.5f} ± {error:.5f}", f"{value / truth:.2f}"

    return _table(
        heads, ((it.servers, it.source, *cells(*it.losses), *cells(*it.events)) for it in guesses)
    )


COLOURS = {
    "TD only": ("0.6", "--"),
    "full": ("#d55e00", "-"),
    "full, printed": ("#d55e00", ":"),
    "IBTT only": ("#cc79a7", "--"),
    "ABTT only": ("#e69f00", "--"),
    "split": ("#009e73", "-"),
    "split, printed": ("#009e73", ":"),
    "extended": ("#0072b2", "-"),
    "n × Padhye": ("#56b4e9", "-."),
}


def _draw(path: Path, curves: list[Curve], models: list[str]) -> None:
    """Draw goodput as a function of the servers, with a panel per curve."""
    from matplotlib import pyplot as plt

    columns = min(2, len(curves))
    size = (7.2, 4.6) if len(curves) == 1 else (9, 3 * -(-len(curves) // columns))
    drawing, axes = plt.subplots(
        -(-len(curves) // columns), columns, figsize=size, squeeze=False, sharex=True, sharey=True,
        layout="constrained",
    )  # fmt: skip
    for ax, curve in zip(axes.flat, curves, strict=True):
        for name in models:
            colour, dash = COLOURS[name]
            ax.plot(curve.servers, curve.models[name], dash, color=colour, label=name, lw=1.4)
        ax.plot(curve.servers, curve.goodput, "ko", ms=5, label="simulator", zorder=3)
        ax.set(title=curve.setting.name, xscale="log", yscale="log", ylim=(2, 12000))
        ax.set_yticks([3, 10, 30, 100, 300, 1000, 3000, 10000])
        ax.set_yticks([], minor=True)
        ax.set_yticklabels(["3", "10", "30", "100", "300", "1000", "3000", "10000"])
        ax.set_xticks([1, 2, 4, 8, 16, 32, 48], ["1", "2", "4", "8", "16", "32", "48"])
        ax.minorticks_off()
        ax.title.set_size(9)
        ax.grid(alpha=0.3)
    for ax in axes[-1]:
        ax.set_xlabel("servers")
    for ax in axes[:, 0]:
        ax.set_ylabel("goodput, Mbit/s")
    handles, labels = axes.flat[0].get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside right center", frameon=False, fontsize=8)
    drawing.savefig(path, dpi=90)
    plt.close(drawing)
