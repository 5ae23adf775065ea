"""How time grows with the size of a scenario: every exponent must be about 1.

Exits with 1 if one is larger.
"""

from __future__ import annotations

import argparse
import sys

from rich.console import Console
from rich.progress import track
from rich.table import Table
from timing.clock import Timing, alone
from timing.shapes import BAR, SHAPES, Shape, exponent


def main() -> int:
    """Run the shapes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="*", help="run the shapes whose names contain one of these")
    only = parser.parse_args().only
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 140)
    chosen = [one for one in SHAPES if not only or any(word in one.name for word in only)]
    table = Table("what grows", "sizes", "time, ms", "ns per hop", "peak, MB", "exponent")
    holds = True
    for shape in track(chosen, console=Console(stderr=True)):
        runs = [_least(shape, size) for size in shape.sizes]
        units = shape.units
        work = [
            run.hops if units is None else units(size)
            for run, size in zip(runs, shape.sizes, strict=True)
        ]
        slope = exponent(work, [run.work_s for run in runs])
        holds &= slope <= BAR
        table.add_row(
            shape.name,
            " ".join(f"{size:,}" for size in shape.sizes),
            " ".join(f"{1e3 * run.work_s:,.0f}" for run in runs),
            " ".join(f"{run.work_ns:,.0f}" for run in runs),
            " ".join(f"{run.peak_kib / 1e3:,.0f}" for run in runs),
            f"{slope:.2f}{'' if slope <= BAR else ' !'}",
        )
    console.print(table)
    console.print(
        f"Processor time of the engine, the least of {_RUNS} runs; the exponent is that of the "
        f"time over the work (packet-hops, sources or connections), at most {BAR:g}."
    )
    return int(not holds)


_RUNS = 2


def _least(shape: Shape, size: int) -> Timing:
    return min(
        (alone(shape.document(size)) for _ in range(_RUNS)), key=lambda timing: timing.work_s
    )


if __name__ == "__main__":
    sys.exit(main())
