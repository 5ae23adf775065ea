"""How far an answer may be trusted: what the held-out reads of a study say of those like it.

`benches/validate_jitter.py` writes the figures (`trust.json`), and holds them.
"""

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

LEAST = 0.85
"""Share of the held-out reads that the factors cover."""
EDGES = (0.02, 0.1, 0.25)
"""Uncertainties that part the regions; beyond the last there is no answer."""
MOST = EDGES[-1]


@dataclass(frozen=True)
class Region:
    """Held-out reads whose runs scatter alike.

    Parameters
    ----------
    most
        The uncertainty of its answers at most: the standard error of the mean goodput of a
        scenario's runs, relative.
    reads
        Of how many it tells.
    factor
        Within this factor of the simulator's mean lie the goodputs of `LEAST` of them.
    """

    most: float
    reads: int
    factor: float


@cache
def regions() -> tuple[Region, ...]:
    """Return what the study has found, by growing uncertainty."""
    text = files("incast.models.collapse").joinpath("trust.json").read_text()
    return tuple(Region(**one) for one in json.loads(text)["regions"])


def region(uncertainty: float) -> Region:
    """Return the region of an answer."""
    return next((one for one in regions() if uncertainty <= one.most), regions()[-1])


def line(uncertainties: list[float]) -> str:
    """Say how far answers with these uncertainties may be trusted."""
    counts: dict[Region, int] = {}
    for one in sorted(uncertainties):
        counts[region(one)] = counts.get(region(one), 0) + 1
    whole = len(uncertainties)
    parts = [
        f"a factor of {one.factor:.2f}" + (f" at {count} of {whole} points" if len(counts) > 1 else "")
        for one, count in counts.items()
    ]
    reads = sum(one.reads for one in counts)
    return (
        f"How far to trust it: its goodput is within {', '.join(parts)} of the simulator's for "
        f"{LEAST:.0%} of {reads} held-out reads that scatter as these (docs/validation/jitter.md)."
    )


def chance(uncertainty: float, runs: int, blocks: int) -> str:
    """Say why there is no answer where chance decides."""
    seeds = "run" if runs == 1 else "runs"
    several = "block" if blocks == 1 else "blocks"
    return (
        f"chance decides: the mean goodput of {runs} {seeds} of {blocks} {several} is uncertain by "
        f"{uncertainty:.0%} (standard error); more seeds or blocks would tell"
    )
