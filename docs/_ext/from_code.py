"""Expands `<!-- from code: NAME -->` in pages, for parts that are too large to store."""

import re
from collections.abc import Callable, Iterator

from classes import classes, outcome, scorecard
from gallery import gallery, thumbnails, verdicts
from sphinx.application import Sphinx

WRITERS: dict[str, Callable[..., Iterator[str]]] = {
    "classes": classes,
    "gallery": gallery,
    "outcomes": outcome,
    "scorecard": scorecard,
    "thumbnails": thumbnails,
    "verdicts": verdicts,
}
MARKER = re.compile(rf"<!-- from code: ({'|'.join(WRITERS)})((?: \w+)*) -->")


def _expand(_: Sphinx, _docname: str, source: list[str]) -> None:
    source[0] = MARKER.sub(_written, source[0])


def _written(marker: re.Match[str]) -> str:
    return "\n".join(WRITERS[marker[1]](*marker[2].split()))


def setup(app: Sphinx) -> dict[str, bool]:
    """Expand the markers in every page."""
    app.connect("source-read", _expand)
    return {"parallel_read_safe": True}
