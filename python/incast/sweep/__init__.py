"""Sweeps: many independent runs in parallel, each stored when it is complete."""

from incast.sweep.execute import Interrupted, run

__all__ = ["Interrupted", "run"]
