"""The page and the picture of the study."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np

from incast.models.collapse import trust
from validation.common import page
from validation.common.judge import Verdict
from validation.jitter.draw import BLOCKS, PROFILES, TRANSPORTS
from validation.jitter.judge import NEAR, Read, Study, share_near

if TYPE_CHECKING:
    from pathlib import Path

matplotlib.use("Agg")

JUDGED = "once"
"""How many times the held-out set has been used to judge a model."""
SLACK = 1.05
"""Maximum ratio between the factors that two platforms measure."""


def kept(judged: Study, known: dict[str, Any]) -> Verdict:
    """Compare the stated accuracy of the model with the measured accuracy."""
    said = [(one["reads"], one["factor"]) for one in known["regions"]]
    found = [(one["reads"], one["factor"]) for one in judged.regions()]
    off = [
        f"{was} became {now}"
        for was, now in zip(said, found, strict=True)
        if was[0] != now[0] or not 1 / SLACK <= was[1] / now[1] <= SLACK
    ]
    factors = ", ".join(f"{factor:.2f}" for _, factor in found)
    return Verdict(
        "the measured accuracy agrees with the stated accuracy", factors, tuple(off), not off
    )


def write(folder: Path, judged: Study, found: list[Verdict]) -> None:
    """Write `jitter.md` and its picture into the folder."""
    lines = [_opening(judged), *page.verdicts(found), "", *_refused(judged), "", *_trusted(judged)]
    lines += ["", "![Predicted over simulated goodput](jitter.png)", "", *_stacks(judged)]
    lines += ["", *_parts(judged)]
    lines += ["", *_worst(judged)]
    (folder / "jitter.md").write_text("\n".join(lines) + "\n")
    _draw(folder / "jitter.png", judged)


def _opening(judged: Study) -> str:
    return f"""# The model of the collapse, with jitter

Written by `make validate`; do not edit. This page compares the model
[`collapse`](../how-to/ask-theory.md) with the simulator on {len(judged.reads)} random reads
(`validation/jitter/draw.py`). The following parameters are drawn:

- a rate of 1 to 100 Gbps; in half of the reads, the links of the servers or of the client are
  slower, down to a tenth of this rate;
- a delay of 2 to 100 us; in half of the reads, the servers' side has a different delay;
- a buffer of 16 to 512 KiB or of 10 to 350 packets;
- 2 to 96 servers with an SRU of 16 KiB to 1 MiB;
- a minimum RTO of 1 to 200 ms;
- `request_jitter`, `start_spread` and `send_jitter` of 1 to 100 us; each of these keys is set in
  about 60 % of the reads, and every read has at least one of them;
- fresh or persistent connections;
- each of the profiles {_listed(PROFILES)} with each of the
  transports {_listed(TRANSPORTS)}, and the queue
  that fits both.

Profile and transport are drawn independently, with equal weights. All other parameters are drawn
log-uniformly. Each read has {BLOCKS} blocks and is simulated with {judged.seeds} seeds.

The model was developed with other sets of the same kind (`--development`). This set has been judged
{JUDGED}, and no choice was based on its results.
"""


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names[:-1]) + f" and `{names[-1]}`"


def _refused(judged: Study) -> list[str]:
    lines = ["## Refused reads", "", "| reads | reason |", "|--:|---|"]
    return lines + [f"| {count} | {reason} |" for reason, count in judged.refusals()]


def _trusted(judged: Study) -> list[str]:
    """Describe the accuracy of the model, by the uncertainty that the model states."""
    lines = [
        "## How far to trust it",
        "",
        "The model states the uncertainty of the mean goodput of ten runs. This uncertainty has",
        "two parts: the scatter of the runs that the model has followed, and the limited number of",
        "blocks. The reads are grouped by this uncertainty. `incast model` prints the value in the",
        "last column under its table.",
        "",
        f"| uncertainty up to | reads | within {NEAR} | {trust.LEAST:.0%} are within |",
        "|--:|--:|--:|--:|",
    ]
    low = -1.0
    for one in judged.regions():
        those = [it for it in judged.answered if low < it.uncertainty <= one["most"]]
        near = f"{share_near(those):.0%}" if those else "–"
        lines.append(f"| {one['most']:.0%} | {len(those)} | {near} | {one['factor']:.2f} |")
        low = one["most"]
    return lines


def _stacks(judged: Study) -> list[str]:
    """Return the accuracy of the model by transport and profile."""
    lines = [
        "## By transport and profile",
        "",
        f"A cell gives three counts: reads within a factor of {NEAR}, answered reads, all reads.",
        "",
        "| | " + " | ".join(f"`{name}`" for name in PROFILES) + " | all |",
        "|---|" + "--:|" * (len(PROFILES) + 1),
    ]
    for transport in (*TRANSPORTS, None):
        cells = [_counts(judged, profile, transport) for profile in (*PROFILES, None)]
        name = f"`{transport}`" if transport else "all"
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def _counts(judged: Study, profile: str | None, transport: str | None) -> str:
    reads = [
        it
        for it in judged.reads
        if profile in {None, it.tree["profile"]}
        and transport in {None, it.tree["transport"]["name"]}
    ]
    answered = [it for it in reads if not np.isnan(it.ratio)]
    near = round(share_near(answered) * len(answered)) if answered else 0
    return f"{near} of {len(answered)} of {len(reads)}"


def _parts(judged: Study) -> list[str]:
    """Return the accuracy of the model in parts of the set."""
    groups: dict[str, list[Read]] = {}
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
    """Return the reads that the model misses."""
    far = [it for it in judged.answered if abs(np.log(it.ratio)) > np.log(NEAR)]
    far.sort(key=lambda it: -abs(np.log(it.ratio)))
    lines = [
        "## Where it is wrong",
        "",
        "| profile | transport | connections | servers | predicted / simulated | runs' own error |",
        "|---|---|---|--:|--:|--:|",
    ]
    for it in far:
        workload, transport = it.tree["workload"], it.tree["transport"]
        lines.append(
            f"| `{it.tree['profile']}` | `{transport['name']}` | {workload['connections']} | "
            f"{workload['servers']} | {it.ratio:.2f} | {it.scatter:.0%} |"
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
