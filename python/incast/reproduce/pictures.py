"""The pictures of figures as small files, each with a file of its numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import polars as pl

from incast.plots import Picture
from incast.reproduce.execute import Done
from incast.results import files
from incast.results.frames import harmless

FOLDER = "pictures"
_DPI = 110
_COLOURS = 48  # in the palette: for seven curves, greys, and mixed colours at edges
_DIGITS = 6


@dataclass(frozen=True)
class Files:
    """A picture as files.

    Parameters
    ----------
    png
        The picture.
    csv
        The numbers of the picture.
    """

    png: bytes
    csv: bytes


def rendered(done: Sequence[Done]) -> dict[str, Files]:
    """Return the pictures of all figures that have a picture, by the names of the figures."""
    return {
        one.work.chosen.name: Files(png(one.picture), csv(one.picture))
        for one in done
        if one.picture is not None
    }


def write(pictures: Mapping[str, Files], out: Path) -> None:
    """Write `pictures/TEXT/NUMBER.png` and `.csv` of every figure."""
    for name, picture in pictures.items():
        file = out / FOLDER / name
        file.parent.mkdir(parents=True, exist_ok=True)
        files.write_whole(file.with_name(f"{file.name}.png"), picture.png)
        files.write_whole(file.with_name(f"{file.name}.csv"), picture.csv)


def png(picture: Picture) -> bytes:
    """Return a picture as a PNG with a palette, which makes the file three times smaller."""
    from matplotlib import rc_context
    from PIL import Image

    from incast.plots.sheet import RC

    drawn, small = BytesIO(), BytesIO()
    with rc_context({**RC, "savefig.dpi": _DPI}):
        picture.figure.savefig(drawn, format="png", pil_kwargs={"compress_level": 0})
    # The default method merges rare colours, such as one curve's blue and another curve's green.
    few = Image.open(drawn).convert("RGB").quantize(_COLOURS, Image.Quantize.MAXCOVERAGE)
    few.save(small, "PNG", optimize=True)
    return small.getvalue()


def csv(picture: Picture) -> bytes:
    """Return the numbers of a picture, to six digits."""
    rounded = picture.data.with_columns(pl.col(pl.Float64).round_sig_figs(_DIGITS))
    return harmless(rounded).write_csv().encode()
