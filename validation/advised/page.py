"""The page of advice on real hosts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from validation.advised.ask import MOST_TRIES, SEEDS
from validation.advised.draw import SETS
from validation.advised.predict import LEAST_GAIN, STEADY
from validation.common.page import verdicts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from validation.advised.ask import Answer
    from validation.advised.judge import Judged
    from validation.common.judge import Verdict

_OPENING = """# Advice on real hosts

Written by `python -m validation.advised ask SET`; do not edit. Do the commands
that [`incast advise`](../how-to/advise.md) prints have the simulated effect on Linux?

1. `python -m validation.advised predict SET` draws random reads from a seed and asks for advice.
   For each read, the command takes an advised fix of the kind that it has taken least often so far.
   It writes the predicted gain and the shell commands of this fix. The predictions are committed.
2. `python -m validation.advised ask SET` builds a star of network namespaces for each read, as
   `incast live` does. The program measures the read without the fix, runs the commands in a shell
   in the namespaces, measures again, and runs the rollback. The program does this with all reads in
   turn, {seeds} times. The measurements are committed afterwards.

The hosts are set up like a user's hosts, with plain routes and the kernel's defaults, except for
the settings of the scenario. Commands for a host run in a shell in its namespace, with the address
in the first line replaced. Commands for a switch run in a shell with a `config` program that loads,
checkpoints and restores a `config_db.json`. The switch of `incast live` takes its buffer size and
its marking threshold from this file. Application code runs as printed, with HTTP servers in the
namespaces. The state that is compared before and after the commands and the rollback consists of
all routes, queueing disciplines and `net.ipv4` and `net.core` variables of every host, and the
`config_db.json`.

A fix is taken only if its predicted gain is at least × {gain}, so that a fix without any effect
misses the bar. In addition, the judged quantity must vary little between seeds, because near a knee
single runs say little. With the fix and without it, the standard deviation of the quantity's
logarithm must be at most {steady}. In the first three sets, fixes are chosen for goodput and judged
by goodput. In the later sets, fixes are chosen for the 99th percentile of the block times (`incast
advise --for p99`). This percentile is computed for each run, since a run has few blocks.
Application code is tested only for reads with new connections, since the code opens new
connections. This kernel has no `fq`, DCTCP or Vegas, and a namespace can choose only between Reno
and BBR. A run that is not [trusted](live.md) is repeated, up to {tries} times.

The first set found errors in the commands and in the client that measured them. The second set
found that hosts without SACK are not simulated well. After each set, the errors that could be
corrected were corrected, and new predictions were made. Only the newest set, the {newest}, decides:
its bars must be met.

"""
_QUANTITIES = {"goodput": "goodput in Mbit/s", "p99": "99th percentile of the block times in ms"}


@dataclass(frozen=True)
class Outcome:
    """A measured set.

    Parameters
    ----------
    which
        Name of the set.
    found, answers, held
        The judged predictions, the runs, and whether each bar holds.
    """

    which: str
    found: Sequence[Judged]
    answers: Sequence[Answer]
    held: list[Verdict]


def write(folder: Path, sets: Sequence[Outcome]) -> None:
    """Write the page, beginning with the last set."""
    opening = _OPENING.format(
        seeds=len(SEEDS),
        gain=LEAST_GAIN,
        steady=STEADY,
        tries=MOST_TRIES,
        newest=sets[-1].which,
    )
    lines = [opening.rstrip(), ""]
    for one in reversed(sets):
        lines += _section(one)
    (folder / "advised.md").write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


def _section(one: Outcome) -> list[str]:
    doubted = sum(it.status == "untrusted" for it in one.answers)
    predicted, measured = (
        f"advised/{one.which}-{it}" for it in ("predicted.jsonl", "measured.csv")
    )
    said = (
        f"Files: [predictions]({predicted}) and [measurements]({measured}). Seed of the draw: "
        f"{SETS[one.which].seed}. Untrusted runs: {doubted} of {len(one.answers)}."
    )
    lines = [f"## The {one.which} set", "", said, "", *verdicts(one.held), ""]
    notes = Path(__file__).with_name(f"{one.which}-notes.md")
    if notes.exists():
        lines += [notes.read_text(encoding="utf-8").strip(), ""]
    quantity = _QUANTITIES[SETS[one.which].goal]
    lines += [
        f"The table gives the {quantity} and the timeouts per block. In each pair,",
        "the first value is without the fix and the second is with the fix.",
        "",
        "| | read | fix | predicted | × | measured | × | error | timeouts |",
        "|--:|:--|:--|--:|--:|--:|--:|--:|--:|",
    ]
    return [*lines, *(_line(it) for it in one.found), ""]


def _line(one: Judged) -> str:
    of = one.prediction
    measured = ("–", "–", "–")
    if not math.isnan(one.error):
        error = f"{one.error:+.0%}"
        measured = (
            f"{one.before:.1f} → {one.after:.1f}",
            f"{one.ratio:.2f}",
            error if one.is_near else f"**{error}**",
        )
    late = f"{one.timeouts[0]:.2g} → {one.timeouts[1]:.2g}"
    return (
        f"| {one.number} | {read(one)} | {of.name} | {of.before:.1f} → {of.after:.1f} "
        f"| {of.ratio:.2f} | {measured[0]} | {measured[1]} | {measured[2]} | {late} |"
    )


def read(one: Judged) -> str:
    """Return a description of a read."""
    document = one.prediction.document
    workload, transport = document["workload"], document["transport"]
    buffer = document["network"]["buffer"]
    if isinstance(buffer, dict):
        buffer = f"{int(buffer['total'].removesuffix('B')) >> 10} KiB, α {buffer['alpha']}"
    else:
        buffer = f"{int(buffer.removesuffix('B')) >> 10} KiB"
    words = [
        f"{workload['servers']} × {workload['sru']}",
        str(workload["connections"]),
        str(transport["congestion_control"]),
        *(["no SACK"] if transport.get("sack") is False else []),
        *([f"rto_min {transport['rto_min']}"] if "rto_min" in transport else []),
        str(document["network"]["rate"]),
        buffer,
    ]
    return ", ".join(words)
