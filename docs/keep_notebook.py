"""Runs the notebook of the documentation and stores its outputs; --check only runs it."""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[1] / "docs" / "tutorial" / "notebook.ipynb"


def execute(path: Path = NOTEBOOK) -> nbformat.NotebookNode:
    """Run the notebook from top to bottom, and return it with its outputs."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    client = NotebookClient(notebook, timeout=120, record_timing=False)
    client.execute(cwd=str(path.parent))
    return notebook


if __name__ == "__main__":
    done = execute()
    if "--check" not in sys.argv:
        done.metadata.pop("language_info", None)
        nbformat.write(done, NOTEBOOK)
