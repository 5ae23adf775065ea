"""The figure of every picture, which looks the same in files and notebooks."""

from io import BytesIO
from typing import Any
from warnings import catch_warnings, filterwarnings

from matplotlib import rc_context
from matplotlib.figure import Figure

RC: Any = {
    "axes.axisbelow": True,
    "axes.edgecolor": "0.35",
    "axes.grid": True,
    "axes.labelsize": 10,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10,
    "figure.dpi": 100,
    "font.size": 9.5,
    "grid.color": "0.9",
    "grid.linewidth": 0.8,
    "hatch.linewidth": 0.6,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "lines.linewidth": 1.7,
    "lines.markersize": 5,
    "savefig.dpi": 160,
    "svg.fonttype": "none",
    "svg.hashsalt": "incast",
}

_PIXELS_PER_INCH = 90  # in a notebook; the picture has more pixels, to stay sharp if enlarged


class Sheet(Figure):
    """A matplotlib figure with a fixed style, which notebooks display."""

    def draw(self, renderer: Any) -> None:  # noqa: ANN401 (of any of matplotlib's backends)
        """Draw the figure in the style of all pictures, including text made while drawing."""
        with rc_context(RC), catch_warnings():
            # A title may have letters that the font lacks; each is drawn as a box.
            filterwarnings("ignore", "Glyph .* missing from", UserWarning)
            super().draw(renderer)

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        """Return the picture and its size, for notebooks."""
        return shown(self)


def shown(figure: Figure) -> tuple[bytes, dict[str, int]]:
    """Return a figure as PNG, and the size that it has in a notebook."""
    file = BytesIO()
    with rc_context(RC):
        figure.savefig(file, format="png")
    width, height = (round(inches * _PIXELS_PER_INCH) for inches in figure.get_size_inches())
    return file.getvalue(), {"width": width, "height": height}
