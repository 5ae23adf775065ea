"""The uncertainty of an answer, taken from the errors of similar reads that a study held out.

`validation/jitter` writes the numbers of `trust.json`, and checks them.
"""

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

LEAST = 0.9
"""Share of a region's held-out reads whose error is within the region's factor."""
EDGES = (0.02, 0.1, 0.25)
"""Upper limits of the uncertainty in each region. Above the last limit, there is no answer."""
MOST = EDGES[-1]
RUNS = 10
"""Number of runs over which goodput is averaged, in the study and in every answer."""


@dataclass(frozen=True)
class Region:
    """Held-out reads with similar scatter.

    Parameters
    ----------
    most
        Largest uncertainty of an answer in this region: the relative standard error of the mean
        goodput of `RUNS` runs.
    reads
        Number of held-out reads in this region.
    factor
        For a share of `LEAST` of these reads, the predicted and the simulated goodput differ by at
        most this factor.
    """

    most: float
    reads: int
    factor: float


@cache
def regions() -> tuple[Region, ...]:
    """Return the results of the study, by increasing uncertainty."""
    text = files("incast.models.collapse").joinpath("trust.json").read_text()
    return tuple(Region(**one) for one in json.loads(text)["regions"])


def region(uncertainty: float) -> Region:
    """Return the region of an answer with this uncertainty."""
    return next((one for one in regions() if uncertainty <= one.most), regions()[-1])


def line(uncertainties: list[float]) -> str:
    """Describe the accuracy of answers with these uncertainties."""
    counts: dict[Region, int] = {}
    for each in sorted(uncertainties):
        counts[region(each)] = counts.get(region(each), 0) + 1
    whole = len(uncertainties)
    parts = []
    for one, count in counts.items():
        at = f" at {count} of {whole} points" if len(counts) > 1 else ""
        parts.append(f"a factor of {one.factor:.2f}{at}")
    reads = sum(one.reads for one in counts)
    return (
        f"Accuracy: for {LEAST:.0%} of {reads} held-out reads with similar variation, predicted "
        f"and simulated goodput (mean of {RUNS} runs) differ by at most {', '.join(parts)} "
        "(docs/validation/jitter.md)."
    )


def chance(uncertainty: float, blocks: int) -> str:
    """Return the reason for the refusal of an answer that depends on chance."""
    several = "block" if blocks == 1 else "blocks"
    return (
        f"the result depends on chance: the mean goodput of {RUNS} runs of {blocks} {several} has "
        f"a standard error of {uncertainty:.0%}; simulate more blocks"
    )
