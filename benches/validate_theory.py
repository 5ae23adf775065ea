"""Hold the models of throughput against the simulator, write docs/validation/throughput.md.

Exits with 1 if a claim of the text has changed sides since this was written: those that fail, fail
for reasons that the page names.
"""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console
from validation.theory import BUFFERS, IN_PHASE, SRUS, run, run_flavours, run_guesses
from validation.theory_claims import EXPECTED_TO_FAIL, judge, judge_one
from validation.theory_page import write

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "validation"


def main() -> int:
    """Run the validation."""
    console = Console(highlight=False)
    curves = {}
    for setting in dict.fromkeys([*BUFFERS, *SRUS]):
        curves[setting] = run(setting)
        console.print(f"{setting.name}: {len(curves[setting].servers)} points")
    found, phased = judge(curves), run(IN_PHASE)
    in_phase = (phased, judge_one(phased))
    write(FOLDER, curves, found, in_phase, run_flavours(), run_guesses())
    changed = []
    for verdict in found:
        console.print(f"{'holds' if verdict.holds else 'FAILS'}  {verdict.bar}: {verdict.measured}")
        if verdict.holds == any(verdict.bar.startswith(it) for it in EXPECTED_TO_FAIL):
            changed.append(verdict.bar)
    console.print("written: docs/validation/throughput.md")
    for bar in changed:
        console.print(f"changed sides: {bar}")
    return int(bool(changed))


if __name__ == "__main__":
    sys.exit(main())
