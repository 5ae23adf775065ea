"""Mutation tests of the Python packages, on a random sample that is kept.

python -m validation.mutants.python [--sample 100] [--again]

Changes one line at a time by an operator of Cosmic Ray (`pip install --group mutants`), and runs
the tests. Each outcome is kept at once in validation/reference/mutants/python.csv, so the same
command continues after an interruption. `--again` repeats the missed mutants. Exits with 1 if fewer
than 85 % of the mutants that were run are caught.
"""

from __future__ import annotations

import argparse
import sys

from rich.console import Console

from validation.common.places import REFERENCE
from validation.mutants import age, page, python_tree, table
from validation.mutants.draw import unseen_first

BAR = 0.85
PATH = REFERENCE / "mutants" / "python.csv"


def main() -> int:
    """Run the mutants that the table lacks, and print the share that is caught."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=int, default=100, help="number of mutants; default: 100")
    parser.add_argument("--again", action="store_true", help="run the missed mutants again")
    options = parser.parse_args()
    console = Console(highlight=False, soft_wrap=True)
    drawn = python_tree.sample(options.sample)
    known = table.read(PATH)
    left = [
        it
        for it in drawn
        if it.key not in known or (options.again and known[it.key].outcome == "missed")
    ]
    seen = [known[it.key].package for it in drawn if it.key in known]
    left = unseen_first(left, seen, lambda mutant: mutant.package)
    console.print(f"{len(drawn)} mutants drawn, {len(left)} to run")
    tree = python_tree.Tree() if left else None
    for count, mutant in enumerate(left, 1):
        assert tree is not None
        known[mutant.key] = verdict = tree.judge(mutant)
        table.write(known, PATH)
        page.write(table.judged(drawn, known), BAR, page.PYTHON)
        console.print(f"{count}/{len(left)}  {verdict.outcome:9}{verdict.mutant}", markup=False)
    age.keep("python")
    rate = page.write(table.judged(drawn, known), BAR, page.PYTHON)
    console.print(f"{rate:.1%} caught; written: docs/validation/mutants-python.md")
    return int(rate < BAR)


if __name__ == "__main__":
    sys.exit(main())
