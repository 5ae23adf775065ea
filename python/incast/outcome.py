"""Results as users hold them: with their pictures, and as a notebook shows them."""

from pathlib import Path

from incast import results
from incast.plots import Plots


class Results(results.Results):
    """What the runs of a plan gave, and its pictures.

    Parameters
    ----------
    plan
        What was asked for.
    store
        Where the parts are kept.
    """

    @property
    def plot(self) -> Plots:
        """The pictures, one method per kind: `results.plot.goodput()`."""
        return Plots(self)

    def _repr_html_(self) -> str:
        """Return the table and the sentences under it, as notebooks ask for them."""
        from incast.results.html import page

        return page(self)


def open_results(directory: str | Path) -> Results:
    """Read results that an earlier run left in `directory`.

    Raises
    ------
    ResultsError
        The directory holds no results.
    """
    return Results.open(directory)
