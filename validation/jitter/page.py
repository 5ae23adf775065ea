"""The page and the picture of the study."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np

from incast.models.collapse import trust
from validation.common import page
from validation.common.judge import Verdict
from validation.jitter.draw import BLOCKS, PROFILES
from validation.jitter.judge import NEAR, Read, Study, share_near

if TYPE_CHECKING:
    from pathlib import Path

matplotlib.use("Agg")

JUDGED = "four times, and no choice was based on its results"
"""How often the held-out set has been judged by a model that was then changed or kept."""
SLACK = 1.05
"""Platforms may differ by so much in a factor."""


def kept(judged: Study, known: dict[str, Any]) -> Verdict:
    """Compare the stated accuracy of the model with the accuracy found."""
    said = [(one["reads"], one["factor"]) for one in known["regions"]]
    found = [(one["reads"], one["factor"]) for one in judged.regions()]
    off = [
        f"{was} became {now}"
        for was, now in zip(said, found, strict=True)
        if was[0] != now[0] or not 1 / SLACK <= was[1] / now[1] <= SLACK
    ]
    factors = ", ".join(f"{factor:.2f}" for _, factor in found)
    return Verdict("the accuracy stated by the model is confirmed", factors, tuple(off), not off)


def write(folder: Path, judged: Study, found: list[Verdict]) -> None:
    """Write `jitter.md` and its picture into the folder."""
    lines = [_opening(judged), *page.verdicts(found), "", *_refused(judged), "", *_trusted(judged)]
    lines += ["", "![Predicted over simulated goodput](jitter.png)", "", *_parts(judged)]
    lines += ["", *_worst(judged)]
    (folder / "jitter.md").write_text("\n".join(lines) + "\n")
    _draw(folder / "jitter.png", judged)


def _opening(judged: Study) -> str:
    return f"""# The model of the collapse, with jitter

Written by `make validate`; do not edit. This page compares the model
[`collapse`](../how-to/ask-theory.md) with the simulator on {len(judged.reads)} random reads
(`validation/jitter/draw.py`). The parameters are drawn log-uniformly, and each read is simulated
with {BLOCKS} blocks and {judged.seeds} seeds:

- 1 to 100 Gbps; links of equal rate in half of the reads, otherwise links of the servers or of the
  client that are up to ten times slower;
- 2 to 100 us of delay, in half of the reads with a different delay on the servers' side;
- a buffer of 16 to 512 KiB or 10 to 350 packets;
- 2 to 96 servers, and SRUs of 16 KiB to 1 MiB;
- minimum RTOs of 1 to 200 ms;
- `request_jitter`, `start_spread` and `send_jitter` of 1 to 100 us, each in about 60 % of the
  reads, and at least one of them in every read;
- fresh or persistent connections;
- every profile, with its own transport and queue.

The model was developed with another set of the same kind (`--development`). This set has been
judged {JUDGED}.
"""


def _refused(judged: Study) -> list[str]:
    lines = ["## Refused reads", "", "| reads | reason |", "|--:|---|"]
    return lines + [f"| {count} | {reason} |" for reason, count in judged.refusals()]


def _trusted(judged: Study) -> list[str]:
    """Describe the accuracy of the model where its own uncertainty is small."""
    lines = [
        "## How far to trust it",
        "",
        "The model states the uncertainty of the mean goodput of ten runs. It has two parts: the",
        "scatter between the runs that the model simulates, and the limited number of blocks. The",
        "reads are grouped by this uncertainty. The last column is the factor that `incast model`",
        "prints under its table.",
        "",
        f"| uncertainty up to | reads | within {NEAR} | factor for {trust.LEAST:.0%} of them |",
        "|--:|--:|--:|--:|",
    ]
    low = -1.0
    for one in judged.regions():
        those = [it for it in judged.answered if low < it.uncertainty <= one["most"]]
        near = f"{share_near(those):.0%}" if those else "–"
        lines.append(f"| {one['most']:.0%} | {len(those)} | {near} | {one['factor']:.2f} |")
        low = one["most"]
    return lines


def _parts(judged: Study) -> list[str]:
    """Return how it does by profile and by other halves of the set."""
    groups: dict[str, list[Read]] = {
        f"`{name}`": [it for it in judged.reads if it.tree["profile"] == name] for name in PROFILES
    }
    for word in ("fresh", "persistent"):
        groups[f"{word} connections"] = [
            it for it in judged.reads if it.tree["workload"]["connections"] == word
        ]
    for word, kind in (("bytes", int), ("packets", str)):
        groups[f"buffers in {word}"] = [
            it for it in judged.reads if isinstance(it.tree["network"]["buffer"], kind)
        ]
    slow = {"server_rate", "client_rate"}
    groups["links of several rates"] = [it for it in judged.reads if slow & set(it.tree["network"])]
    groups["with `send_jitter`"] = [
        it for it in judged.reads if "send_jitter" in it.tree["transport"]
    ]
    lines = ["## By kind", "", f"| | reads | answered | within {NEAR} |", "|---|--:|--:|--:|"]
    for name, reads in groups.items():
        answered = [it for it in reads if not np.isnan(it.ratio)]
        near = f"{share_near(answered):.0%}" if answered else "–"
        lines.append(f"| {name} | {len(reads)} | {len(answered)} | {near} |")
    each = judged.model_s / len(judged.reads)
    lines += [
        "",
        f"For a single read, the model took {each:.2f} s, and the simulator",
        f"{judged.simulator_s / len(judged.reads):.2f} s for its {judged.seeds} seeds.",
    ]
    return lines


def _worst(judged: Study) -> list[str]:
    """Return those that it misses."""
    far = [it for it in judged.answered if abs(np.log(it.ratio)) > np.log(NEAR)]
    far.sort(key=lambda it: -abs(np.log(it.ratio)))
    lines = [
        "## Where it is wrong",
        "",
        "| profile | connections | servers | predicted / simulated | standard error of the runs |",
        "|---|---|--:|--:|--:|",
    ]
    for it in far:
        workload = it.tree["workload"]
        lines.append(
            f"| `{it.tree['profile']}` | {workload['connections']} | {workload['servers']} | "
            f"{it.ratio:.2f} | {it.scatter:.0%} |"
        )
    return lines


def _draw(path: Path, judged: Study) -> None:
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
    for word, marker in (("persistent", "o"), ("fresh", "^")):
        those = [it for it in judged.answered if it.tree["workload"]["connections"] == word]
        axes.errorbar(
            [it.uncertainty for it in those],
            [it.ratio for it in those],
            yerr=[it.ratio * it.scatter for it in those],
            fmt=marker,
            ms=4.5,
            lw=0.6,
            mfc="none" if word == "fresh" else None,
            label=f"{word} connections",
        )
    for bound in (NEAR, 1 / NEAR):
        axes.axhline(bound, color="0.5", lw=0.8, ls="--")
    axes.set_xscale("log")
    axes.set_yscale("log")
    ticks = [0.25, 0.5, 0.8, 1, 1.25, 2, 4]
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_xlabel("uncertainty, as the model says")
    axes.set_ylabel("predicted / simulated goodput")
    axes.legend(frameon=False)
    figure.savefig(path, dpi=110)
    plt.close(figure)
