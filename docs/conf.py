import shutil
import sys
from importlib import metadata
from pathlib import Path

from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "incast"
author = "the incast authors"
copyright = author  # noqa: A001
release = metadata.version("incast")

extensions = ["myst_nb", "from_code"]
nb_execution_mode = "force"  # the outputs come from the code
nb_execution_timeout = 120
nb_execution_raise_on_error = True
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3
suppress_warnings = ["toc.empty_glob"]

html_theme = "furo"
html_title = f"incast {release}"
html_static_path = ["_static"]
html_css_files = ["gallery.css"]
html_copy_source = False
html_show_sphinx = False
exclude_patterns = ["_build", "jupyter_execute"]
nitpicky = True  # a dangling reference is an error

# `make explorer` builds the page; without it, the documentation has no copy.
_PAGE = Path(__file__).parents[1] / "python" / "incast" / "explorer"
if (_PAGE / "index.html").is_file():
    tags.add("explorer")  # noqa: F821 (Sphinx defines it)


def _copy_explorer(app: Sphinx, error: Exception | None) -> None:
    if error is None and app.builder.format == "html" and "explorer" in app.tags:
        place = app.outdir / "_static" / "explorer"
        shutil.copytree(_PAGE, place, dirs_exist_ok=True)


def setup(app: Sphinx) -> None:
    """Put the explorer into the documentation."""
    app.connect("build-finished", _copy_explorer)
