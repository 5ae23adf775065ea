"""Runs, draws and judges figures of the literature, which are data in `papers/`."""
