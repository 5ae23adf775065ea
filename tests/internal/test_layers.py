"""Tests outside `internal/` use the public API and the command line only."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import incast
from incast import models

TESTS = Path(__file__).resolve().parents[1]
DOCS = TESTS.parent / "docs"
COMMAND_LINE = {"incast.cli.main"}


def documented() -> set[str]:
    """Return the modules and names that the documentation imports."""
    pages = [TESTS.parent / "README.md", *DOCS.glob("how-to/*.md"), *DOCS.glob("reference/*.md")]
    found = {f"incast.{name}" for name in incast.__all__}
    found |= {f"incast.models.{name}" for name in models.__all__} | {"incast.models"}
    for page in pages:
        text = page.read_text("utf-8")
        for module, names in re.findall(r"^from (incast[\w.]*) import ([\w, ]+)$", text, re.M):
            found |= {f"{module}.{name.strip()}" for name in names.split(",")}
    return found


def imported(code: str) -> Iterator[str]:
    """Yield the names that a file imports, with their modules."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def private(code: str) -> list[str]:
    """Return a file's imports that do not belong to the public API."""
    allowed = documented() | COMMAND_LINE | {"incast"}
    ours = ("incast", "validation", "docs", "benches")
    return [it for it in imported(code) if it.split(".")[0] in ours and it not in allowed]


@pytest.mark.parametrize("file", sorted(TESTS.glob("*.py")), ids=lambda file: file.name)
def test_tests_of_behaviour_import_nothing_private(file: Path) -> None:
    assert private(file.read_text("utf-8")) == [], "it belongs to tests/internal"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import incast\nfrom incast.models import Question", []),
        ("from incast.models.queues import MG1K", []),
        ("from incast import _core", ["incast._core"]),
        ("import incast.results.store", ["incast.results.store"]),
        ("def f():\n    from incast.errors import ModelError", ["incast.errors.ModelError"]),
        ("from validation.ranking import table", ["validation.ranking.table"]),
    ],
)
def test_what_is_private_is_noticed(code: str, expected: list[str]) -> None:
    assert private(code) == expected


def test_every_internal_test_needs_to_be_there() -> None:
    """Every test in `internal/` imports private code or uses other parts of the repository."""
    for file in (TESTS / "internal").glob("test_*.py"):
        code = file.read_text("utf-8")
        helpers = [it for it in imported(code) if it.split(".")[0] in {"corpus", "knob_walk"}]
        assert private(code) or helpers or "parents[2]" in code, file.name
