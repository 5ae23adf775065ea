"""Growth of time and memory with the size of a scenario, as a table and a picture."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from timing.clock import Timing, alone
from timing.shapes import BAR, Shape, exponent
from timing.sheet import Sheet

RUNS = 2


@dataclass(frozen=True)
class Grown:
    """A shape, and one run of each of its sizes."""

    shape: Shape
    runs: list[Timing]

    @property
    def slope(self) -> float:
        """Exponent of the time as a function of the work."""
        units = self.shape.units
        work = [
            run.hops if units is None else units(size)
            for run, size in zip(self.runs, self.shape.sizes, strict=True)
        ]
        return exponent(work, [run.work_s for run in self.runs])


def measure(shapes: Iterable[Shape]) -> list[Grown]:
    """Run the shapes."""
    return [Grown(shape, [_least(shape, size) for size in shape.sizes]) for shape in shapes]


def sheet(grown: list[Grown]) -> Sheet:
    """Return the table."""
    made = Sheet(
        "Growth",
        ["what grows", "sizes", "time, ms", "ns per hop", "peak, MB", "exponent"],
        f"The time is the processor time of the engine, the shortest of {RUNS} runs. The time "
        "grows as a power of the work (packet-hops, sources or connections). The exponent of this "
        f"power should be at most {BAR:g}. The peak is the memory of the process, with Python.",
    )
    for one in grown:
        made.add(
            one.shape.name,
            " ".join(f"{size:,}" for size in one.shape.sizes),
            " ".join(f"{1e3 * run.work_s:,.0f}" for run in one.runs),
            " ".join(f"{run.work_ns:,.0f}" for run in one.runs),
            " ".join(f"{run.peak_kib / 1e3:,.0f}" for run in one.runs),
            f"{one.slope:.2f}",
        )
        if one.slope > BAR:
            made.missed.append(f"{one.shape.name}, {one.slope:.2f} of {BAR:g}")
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
