"""Mutation tests of every crate, on a random sample that is kept.

python -m validation.mutants.rust [--sample 200] [--jobs 1] [--again]

Draws mutants with cargo-mutants (`cargo install cargo-mutants --locked`). Runs the tests of the
crate, then the tests of the crates that depend on it. Each outcome is kept at once in
validation/reference/mutants/rust.csv. So an interruption loses at most one mutant, and the same
command continues. `--again` repeats the missed mutants, which new tests may catch. Equivalent
mutants, which equivalent.csv lists with the reason, do not count. Exits with 1 if fewer than 92 %
of the other mutants that were run are caught.
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from queue import SimpleQueue

from rich.console import Console

from validation.mutants import age, page, table
from validation.mutants.draw import Mutant, in_blocks, sample, unseen_first
from validation.mutants.tree import Tree

BAR = 0.92


def main() -> int:
    """Run the mutants that the table lacks, and print the rates."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=int, default=200, help="number of mutants; default: 200")
    parser.add_argument("--jobs", type=int, default=1, help="number of parallel trees; default: 1")
    parser.add_argument("--again", action="store_true", help="run the missed mutants again")
    options = parser.parse_args()
    console = Console(highlight=False, soft_wrap=True)
    drawn = sample(options.sample)
    known = table.read()
    left = [
        it
        for it in drawn
        if it.key not in known or (options.again and known[it.key].outcome == "missed")
    ]
    seen = [known[it.key].package for it in drawn if it.key in known]
    left = unseen_first(left, seen, lambda mutant: mutant.package)
    console.print(f"{len(drawn)} mutants drawn, {len(left)} to run")
    trees: SimpleQueue[Tree] = SimpleQueue()
    for number in range(min(options.jobs, len(left))):
        trees.put(Tree(number))

    def judge(mutant: Mutant) -> table.Verdict:
        tree = trees.get()
        try:
            return tree.judge(mutant)
        finally:
            trees.put(tree)

    with ThreadPoolExecutor(max(1, options.jobs)) as pool:
        runs = {pool.submit(judge, mutant): mutant for mutant in in_blocks(left)}
        try:
            for count, run in enumerate(as_completed(runs), 1):
                known[runs[run].key] = verdict = run.result()
                table.write(known)
                page.write(table.judged(drawn, known), BAR, page.RUST)
                line = f"{count}/{len(left)}  {verdict.outcome:9}{verdict.mutant}"
                console.print(line, markup=False)
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
            raise
    age.keep("rust")
    rate = page.write(table.judged(drawn, known), BAR, page.RUST)
    console.print(f"{rate:.1%} caught; written: docs/validation/mutants.md")
    return int(rate < BAR)


if __name__ == "__main__":
    sys.exit(main())
