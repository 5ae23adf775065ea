import sys
from importlib import metadata
from pathlib import Path

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
html_copy_source = False
html_show_sphinx = False
exclude_patterns = ["_build"]
nitpicky = True  # a dangling reference is an error
