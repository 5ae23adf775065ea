"""The page and the picture of a set of blind predictions."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl

from validation.live.points import JITTERS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from validation.common.judge import Verdict
    from validation.live.judge import Judged
    from validation.live.predict import Prediction

mpl.use("Agg")

_READ = "control, recovery, SRU, buffer, minimum RTO"

_OPENING = """# Blind predictions of the real kernel: the {which} set

Written by `python -m validation.live ask {which}`; do not edit. The simulator, in the profile
`linux`, predicted what `incast live` would measure. The points were drawn at random from a seed,
and the [predictions](live/{which}-predicted.csv) were committed before the kernel ran. Each point
was then run three times ([measured](live/{which}-measured.csv)). A run is trusted if 99 % of its
frames left the switch at most 0.5 ms late, all frames left at most 10 ms late, and no processor was
saturated. Other runs are left out and were not replaced.

The network is a star{rate} with 25 us per link. The time between two requests of a block is
random, at most {jitter}.
A *plateau* is a point whose simulated goodput hardly changes with the seed, or with 1.5 times as
many servers; its goodput is predicted. A *knee* is predicted as an interval of numbers of servers:
the read does not collapse with the lower number, and collapses with twice as many servers.
"""


def write(folder: Path, which: str, found: Sequence[Judged], held: Sequence[Verdict]) -> None:
    """Write the page and the picture."""
    rates = {one.prediction.rate for one in found}
    several = len(rates) > 1
    rate = "" if several else f" at {found[0].prediction.rate}"
    jitter = ", ".join(f"{JITTERS[rate]} at {rate}" for rate in JITTERS if rate in rates)
    opening = _OPENING.format(which=which, rate=rate, jitter=jitter)
    lines = [opening, "| bar | measured | holds |", "|---|---|---|"]
    lines += [
        f"| {one.bar} | {one.measured} | {'yes' if one.holds else '**no**'} |" for one in held
    ]
    name = _with_rate if several else (lambda of: of.name)
    lines += ["", f"![Measured over predicted goodput](live/{which}.png)", ""]
    lines += [*_plateaus(found, name), "", *_knees(found, name), ""]
    notes = Path(__file__).with_name(f"{which}-notes.md")
    if notes.exists():
        lines += [notes.read_text().strip(), ""]
    (folder / f"live-{which}.md").write_text("\n".join(lines))
    _draw(folder / "live" / f"{which}.png", found)


def _with_rate(of: Prediction) -> str:
    return f"{of.rate}, {of.name}"


def _plateaus(found: Sequence[Judged], name: Callable[[Prediction], str]) -> list[str]:
    pairs = "Mbit/s | measured | ln ratio | timeouts | measured | block | measured"
    lines = [
        "## Plateaus",
        "",
        "In each pair of columns, the first value is the prediction. Timeouts are per block; block",
        "times are medians in ms.",
        "",
        f"| {_READ} | servers | {pairs} |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for one in found:
        of = one.prediction
        if of.kind != "plateau":
            continue
        told = one.told[of.servers]
        measured = ("–", "–", "–", "–")
        if told is not None:
            goodput = f"{told.goodput / 1e6:.1f}"
            block = _ms(told.block * 1e3)
            measured = (goodput, f"{one.log_ratio:+.2f}", f"{told.timeouts:.2f}", block)
        lines.append(
            f"| {name(of)} | {of.servers} | {of.goodput_mbps:.1f} | {measured[0]} "
            f"| {measured[1]} | {of.timeouts_per_block:.2f} | {measured[2]} "
            f"| {_ms(of.block_ms)} | {measured[3]} |"
        )
    return lines


def _ms(value: float) -> str:
    """Write a time in ms, or a dash for older sets, in which block times were not measured."""
    return "–" if math.isnan(value) else f"{value:.1f}"


def _knees(found: Sequence[Judged], name: Callable[[Prediction], str]) -> list[str]:
    lines = [
        "## Knees",
        "",
        f"| {_READ} | does not collapse | measured | collapses | measured | right |",
        "|---|--:|--:|--:|--:|---|",
    ]
    for one in found:
        if one.prediction.kind != "knee":
            continue
        low, high = one.prediction.servers_to_run()
        goodputs = [
            "–" if told is None else f"{told.goodput / 1e6:.1f}"
            for told in (one.told[low], one.told[high])
        ]
        right = "yes" if one.is_right else "**no**"
        lines.append(
            f"| {name(one.prediction)} | {low} | {goodputs[0]} | {high} | {goodputs[1]} | {right} |"
        )
    return lines


def _draw(path: Path, found: Sequence[Judged]) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.2, 4.6), layout="constrained")
    axes = figure.subplots()
    plateaus = [one for one in found if one.prediction.kind == "plateau"]
    for control, marker in (("reno", "o"), ("cubic", "s"), ("bbr", "d"), ("fixed", "^")):
        points = [
            (one.prediction.goodput_mbps, told.goodput / 1e6)
            for one in plateaus
            if one.prediction.control == control
            and (told := one.told[one.prediction.servers]) is not None
        ]
        axes.plot(
            *zip(*points, strict=True) if points else ((), ()), marker, label=control, mfc="none"
        )
    ends = (1, 100)
    axes.plot(ends, ends, color="0.4", linewidth=0.8)
    for factor in (1.35, 1 / 1.35):
        axes.plot(ends, [end * factor for end in ends], ":", color="0.4", linewidth=0.8)
    axes.set(xscale="log", yscale="log", xlim=(1, 120), ylim=(1, 120))
    axes.set_xlabel("predicted goodput [Mbit/s]")
    axes.set_ylabel("measured goodput [Mbit/s]")
    axes.legend(title="congestion control")
    figure.savefig(path, dpi=120)
