"""Growth of time and memory with the size of a scenario, as a table and a picture."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from timing import bars, callgrind
from timing.clock import Timing, alone
from timing.shapes import Shape, exponent
from timing.sheet import Sheet

RUNS = 2


@dataclass(frozen=True)
class Grown:
    """A shape, and one run of each of its sizes.

    Parameters
    ----------
    shape
        The shape.
    runs
        A run of each size.
    counts
        Instructions of each size; empty if they were not counted.
    """

    shape: Shape
    runs: list[Timing]
    counts: list[float] = field(default_factory=list)

    @property
    def slope(self) -> float:
        """Exponent of the time as a function of the work."""
        return exponent(self._work(), [run.work_s for run in self.runs])

    @property
    def slope_of_counts(self) -> float | None:
        """Exponent of the instructions as a function of the work."""
        return exponent(self._work(), self.counts) if self.counts else None

    @property
    def counts_per_hop(self) -> str:
        """Instructions per packet-hop of each size."""
        pairs = zip(self.counts, self.runs, strict=True)
        return " ".join(f"{count / run.hops:,.0f}" for count, run in pairs)

    def _work(self) -> list[float]:
        units = self.shape.units
        return [
            run.hops if units is None else units(size)
            for run, size in zip(self.runs, self.shape.sizes, strict=True)
        ]


def measure(shapes: Iterable[Shape]) -> list[Grown]:
    """Run the shapes; count the instructions of those that have a bar for them."""
    grown = [Grown(shape, [_least(shape, size) for size in shape.sizes]) for shape in shapes]
    if shutil.which("valgrind") is None:
        return grown
    asked = [
        (one, one.shape.document(size))
        for one in grown
        if one.shape.name in bars.SHAPES
        for size in one.shape.sizes
    ]
    counts = callgrind.all_at_once(callgrind.warm, [document for _, document in asked])
    for (one, _), count in zip(asked, counts, strict=True):
        one.counts.append(count)
    return grown


def sheet(grown: list[Grown]) -> Sheet:
    """Return the table."""
    counted = bars.INSTRUCTIONS_OF_SHAPE.now
    headings = ["what grows", "sizes", "time, ms", "ns per hop", "peak, MB", "exponent", "bar"]
    made = Sheet(
        "Growth",
        [*headings, "instructions per hop", "exponent", "bar"],
        f"The time is the processor time of the engine, the shortest of {RUNS} runs. The time "
        "grows as a power of the work (packet-hops, sources or connections), and the exponent of "
        "this power is compared with a bar. Where the caches of the processor end, the "
        "instructions are counted as well, by valgrind, and have an exponent of their own. The "
        "peak is the memory of the process, with Python.",
    )
    for one in grown:
        bar = (bars.SHAPES | bars.UNCOUNTED_SHAPES).get(one.shape.name, bars.GROWTH).now
        slope = one.slope_of_counts
        made.add(
            one.shape.name,
            " ".join(f"{size:,}" for size in one.shape.sizes),
            " ".join(f"{1e3 * run.work_s:,.0f}" for run in one.runs),
            " ".join(f"{run.work_ns:,.0f}" for run in one.runs),
            " ".join(f"{run.peak_kib / 1e3:,.0f}" for run in one.runs),
            f"{one.slope:.2f}",
            f"{bar:g}",
            *(
                ("", "", "")
                if slope is None
                else (one.counts_per_hop, f"{slope:.2f}", f"{counted:g}")
            ),
        )
        if round(one.slope, 2) > bar:
            made.missed.append(f"{one.shape.name}, {one.slope:.2f} of {bar:g}")
        if slope is not None and round(slope, 2) > counted:
            made.missed.append(f"{one.shape.name}, instructions, {slope:.2f} of {counted:g}")
    return made


def draw(grown: list[Grown], path: Path) -> None:
    """Draw time and memory as functions of the size."""
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    for index, one in enumerate(grown):
        style = {"marker": "osD^v<>ph*X"[index % 11], "color": f"C{index % 10}", "lw": 1.2}
        sizes = one.shape.sizes
        left.loglog(sizes, [1e3 * run.work_s for run in one.runs], label=one.shape.name, **style)
        right.loglog(sizes, [run.peak_kib / 1e3 for run in one.runs], **style)
    for which in (right.yaxis.set_major_formatter, right.yaxis.set_minor_formatter):
        which("{x:g}")
    left.set(xlabel="size", ylabel="processor time, ms", title="Time")
    right.set(xlabel="size", ylabel="peak of the process, MB", title="Memory")
    figure.legend(loc="outside right center", fontsize=8, frameon=False)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def _least(shape: Shape, size: int) -> Timing:
    return min((alone(shape.document(size)) for _ in range(RUNS)), key=lambda timing: timing.work_s)
