"""Pictures of figures: one file per kind, called by the kind's name."""

from collections.abc import Callable
from importlib import import_module

from incast.plots import Picture
from incast.reproduce.data import Curves
from incast.reproduce.runs import Work


def draw(work: Work, curves: Curves, other: Curves | None) -> Picture | None:
    """Draw a figure. The kind `claims`, and a timeline without a run, have no picture.

    Parameters
    ----------
    work
        The figure.
    curves
        The curves of the figure.
    other
        Another simulator's curves, drawn with ours.
    """
    from matplotlib import rc_context

    from incast.plots.sheet import RC

    if work.figure.kind == "claims":
        return None
    module = import_module(f"{__name__}.{work.figure.kind}")
    picture: Callable[[Work, Curves, Curves | None], Picture | None] = module.draw
    with rc_context(RC):
        return picture(work, curves, other)
