"""Instructions per packet-hop, compared with the kept counts."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

from timing import callgrind, cases
from timing.sheet import Sheet

KEPT = Path(__file__).with_name("instructions.json")
MOST = 1.02
"""Largest count as a multiple of the kept count."""


def sheet(*, keep: bool) -> Sheet:
    """Return the table.

    Parameters
    ----------
    keep
        Whether to keep the new counts instead of comparing them.
    """
    made = Sheet(
        "Instructions per packet-hop",
        ["what", "kept", "now", "change"],
        "Callgrind counts the instructions of the cases above, and of reads of ten blocks from 16 "
        "servers (256 KiB each) with each transport. A count above "
        f"{MOST:g} times the kept count (`{KEPT.name}`) fails.",
    )
    if shutil.which("valgrind") is None:
        made.note = "Not counted: valgrind is not installed."
        return made
    kept = {} if keep else json.loads(KEPT.read_text())
    compiler = subprocess.run(["rustc", "--version"], check=True, capture_output=True, text=True)
    reads = cases.counted()
    found = callgrind.all_at_once(callgrind.instructions, list(reads.values()))
    counts = dict(zip(reads, found, strict=True))
    if keep:
        rounded = {name: round(count, 1) for name, count in counts.items()}
        written = {"compiler": compiler.stdout.strip(), "counts": rounded}
        KEPT.write_text(json.dumps(written, indent=1) + "\n")
    elif kept["compiler"] != compiler.stdout.strip():
        made.note += f" Not compared, because the kept counts come from {kept['compiler']}."
        kept = {}
    before = kept.get("counts", {})
    for name, count in counts.items():
        ratio = count / before.get(name, count)
        if ratio > MOST:
            made.missed.append(f"{name} {ratio - 1:+.1%} instructions")
        old = f"{before[name]:,.0f}" if name in before else ""
        made.add(name, old, f"{count:,.0f}", f"{ratio - 1:+.1%}" if old else "")
    return made
