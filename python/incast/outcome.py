"""Results for users, with pictures and a form that notebooks display."""

from pathlib import Path

from incast import results
from incast.plots import Plots


class Results(results.Results):
    """The results of the runs of a plan, and their pictures.

    Parameters
    ----------
    plan
        The points and seeds.
    store
        The storage of rows and traces.
    """

    @property
    def plot(self) -> Plots:
        """The pictures, one method per kind: `results.plot.goodput()`."""
        return Plots(self)

    def _repr_html_(self) -> str:
        """Return the table and the verdicts, for notebooks."""
        from incast.results.html import page

        return page(self)


def open_results(directory: str | Path) -> Results:
    """Open the results of an earlier run in `directory`.

    Raises
    ------
    ResultsError
        The directory contains no results.
    """
    return Results.open(directory)
