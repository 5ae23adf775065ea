"""Hashes of the code whose mutants the pages report, so that a test can find outdated pages.

Comments and docstrings do not count, because they have no mutants.
"""

from __future__ import annotations

import ast
import csv
import hashlib
import re
from typing import TYPE_CHECKING

from validation.common.places import REFERENCE, ROOT
from validation.mutants import draw
from validation.mutants.python_tests import TESTS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PATHS = {kind: REFERENCE / "mutants" / f"{kind}-files.csv" for kind in ("rust", "python")}
MOST = 0.5
"""A page is out of date if more than this share of the code's files has changed."""
OLD = "**Older than the code**"
"""First words of the note on a page that is out of date; the next `make mutants` removes it."""
OWN_TESTS = "#[cfg(test)]\nmod tests {"
"""In a Rust file, the code after this line is not mutated."""
_COMMENT = re.compile(r"^\s*//.*\n", re.MULTILINE)


def stamps(kind: str) -> dict[str, str]:
    """Return a hash of the code of each file; tests in the file do not count."""
    code = _of_rust if kind == "rust" else _of_python
    return {
        path.relative_to(ROOT).as_posix(): _hash(code(path.read_text("utf-8")))
        for path in _files(kind)
    }


def _files(kind: str) -> Iterator[Path]:
    if kind == "rust":
        for name in draw.PACKAGES:
            yield from sorted((ROOT / "crates" / name / "src").rglob("*.rs"))
    else:
        for name in TESTS:
            yield from sorted((ROOT / "python" / "incast" / name).rglob("*.py"))


def _of_rust(text: str) -> str:
    """Return the code without its tests, and without lines that are comments."""
    return _COMMENT.sub("", text.split(OWN_TESTS, maxsplit=1)[0])


def _of_python(text: str) -> str:
    """Return the syntax tree of the code as text, without docstrings."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [it for it in body if not _is_text(it)]  # type: ignore[attr-defined]
    return ast.dump(tree)


def _is_text(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _hash(code: str) -> str:
    return hashlib.sha256(code.encode()).hexdigest()[:12]


def keep(kind: str) -> None:
    """Store the hashes of the present files."""
    with PATHS[kind].open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["file", "hash"])
        writer.writerows(stamps(kind).items())


def kept(kind: str) -> dict[str, str]:
    """Return the stored hashes."""
    with PATHS[kind].open(newline="", encoding="utf-8") as file:
        return {row["file"]: row["hash"] for row in csv.DictReader(file)}


def changed(then: dict[str, str], now: dict[str, str]) -> float:
    """Return the share of the files that were changed, added or removed."""
    every = then.keys() | now.keys()
    return sum(then.get(file) != now.get(file) for file in every) / max(1, len(every))
