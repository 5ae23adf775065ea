"""The pictures of figures as small files, each with its numbers beside it."""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import polars as pl

from incast.plots import Picture
from incast.reproduce.execute import Done
from incast.results import files
from incast.results.frames import harmless

FOLDER = "pictures"
_DPI = 110
_COLOURS = 48  # of the palette: seven curves, greys, and what lies between at edges
_DIGITS = 6


def write(done: Sequence[Done], out: Path) -> None:
    """Write `pictures/TEXT/NUMBER.png` and `.csv` of every figure that has a picture."""
    for one in done:
        if one.picture is not None:
            folder = out / FOLDER / one.work.chosen.paper.name
            folder.mkdir(parents=True, exist_ok=True)
            name = one.work.chosen.number
            files.write_whole(folder / f"{name}.png", png(one.picture))
            files.write_whole(folder / f"{name}.csv", csv(one.picture))


def png(picture: Picture) -> bytes:
    """Return a picture as a PNG with a palette, a third of the size of one without."""
    from matplotlib import rc_context
    from PIL import Image

    from incast.plots.sheet import RC

    drawn, small = BytesIO(), BytesIO()
    with rc_context({**RC, "savefig.dpi": _DPI}):
        picture.figure.savefig(drawn, format="png", metadata={"Software": None})
    # The default method merges rare colours, a curve's blue with another's green.
    few = Image.open(drawn).convert("RGB").quantize(_COLOURS, Image.Quantize.MAXCOVERAGE)
    few.save(small, "PNG", optimize=True)
    return small.getvalue()


def csv(picture: Picture) -> bytes:
    """Return the numbers of a picture, to six digits."""
    rounded = picture.data.with_columns(pl.col(pl.Float64).round_sig_figs(_DIGITS))
    return harmless(rounded).write_csv().encode()
