"""Notes on the results of real hosts."""

import polars as pl

from incast import units
from incast.live.stack import Stack
from incast.results import Results


def notes(results: Results) -> list[str]:
    """Return notes on runs that cannot be trusted, and on settings that the kernel changed."""
    rows = results.numbered()
    told = []
    doubted = rows.filter(pl.col("status") == "untrusted").height
    if doubted:
        runs = units.plural(rows.height, "run")
        told.append(
            f"{doubted} of {runs} cannot be trusted, because the switch was late or a processor "
            "was saturated; the means leave them out; use a machine with less other work"
        )
    least = rows.group_by("point", maintain_order=True).agg(pl.col("live.rto_s").min())
    for point, rto in least.iter_rows():
        instead = Stack.of(results.resolved(point)).instead(rto)
        if instead and instead not in told:
            told.append(instead)
    return told
