"""The notebook of the documentation runs, and its stored outputs are up to date."""

import nbformat

from docs.keep_notebook import NOTEBOOK, execute

IMAGE, PAGE = "image/png", "text/html"


def shown(notebook: nbformat.NotebookNode) -> list[str]:
    """Return the output of every code cell: a picture, or a table."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(len(cell.outputs) == 1 for cell in cells)
    return [IMAGE if IMAGE in cell.outputs[0].data else PAGE for cell in cells]


def test_the_notebook_runs_and_shows_what_is_kept() -> None:
    kept, again = nbformat.read(NOTEBOOK, as_version=4), execute()
    assert shown(again) == shown(kept) == [PAGE, PAGE, IMAGE, IMAGE, IMAGE, IMAGE, PAGE]
    first = again.cells[1].outputs[0].data[PAGE]
    assert "Collapses between" in first
    assert first.count("<tr>") == 9
