"""Compare the models of throughput with the simulator, and write docs/validation/throughput.md.

Exits with 1 if the verdict on a claim of the paper has changed. The page explains why some claims
fail.
"""

from __future__ import annotations

import sys

from rich.console import Console

from validation.common.command import asked_quick
from validation.common.judge import Verdict
from validation.common.places import PAGES
from validation.theory.claims import EXPECTED_TO_FAIL, judge, judge_one
from validation.theory.page import write
from validation.theory.runs import BUFFERS, DEFAULT, IN_PHASE, SRUS, run, run_flavours, run_guesses

QUICK_SECONDS = 20


def main() -> int:
    """Run the validation."""
    console = Console(highlight=False)
    if asked_quick(__doc__ or ""):
        return told(console, judge_one(run(DEFAULT, QUICK_SECONDS)))
    curves = {}
    for setting in dict.fromkeys([*BUFFERS, *SRUS]):
        curves[setting] = run(setting)
        console.print(f"{setting.name}: {len(curves[setting].servers)} points")
    found, phased = judge(curves), run(IN_PHASE)
    in_phase = (phased, judge_one(phased))
    write(PAGES, curves, found, in_phase, run_flavours(), run_guesses())
    code = told(console, found)
    console.print("written: docs/validation/throughput.md")
    return code


def told(console: Console, found: list[Verdict]) -> int:
    """Print the verdicts; return 1 if the verdict on a claim has changed."""
    changed = 0
    for verdict in found:
        expected = any(verdict.bar.startswith(it) for it in EXPECTED_TO_FAIL)
        if verdict.holds != expected:
            word = "refuted, as published:" if expected else "holds "
        else:
            word, changed = "FAILS  changed sides:", changed + 1
        console.print(f"{word} {verdict.bar}: {verdict.measured}", soft_wrap=True)
    return int(changed > 0)


if __name__ == "__main__":
    sys.exit(main())
