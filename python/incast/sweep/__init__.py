"""Sweeps: many independent runs, side by side, each stored when it is whole."""

from incast.sweep.execute import Interrupted, run

__all__ = ["Interrupted", "run"]
