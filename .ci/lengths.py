"""Refuses files of more than 500 lines, and Python functions of more than 60 lines.

python .ci/lengths.py [FOLDER]

The length of a function is the number of lines of its body that hold code, without docstring,
comments and blank lines. Clippy counts the same lines in Rust (`too-many-lines-threshold` in
clippy.toml). In a file, every line counts. `LATER` lists the exceptions.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
import tomllib
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_OF_FILE, MOST_OF_FUNCTION = 500, 60
FOLDERS = (
    ".ci", "benches", "crates", "docs", "explorer/bench", "explorer/src", "explorer/tests",
    "papers", "python", "tests", "validation",
)  # fmt: skip
KINDS = (".rs", ".py", ".pyi", ".ts")
LATER: dict[str, tuple[int, date]] = {}
"""Files and functions (`path::name`) that may be longer, each with its limit in lines and the last
day of this limit. A crate with a clippy.toml of its own has another limit for functions."""
NO_CODE = {
    tokenize.COMMENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.INDENT,
    tokenize.NEWLINE,
    tokenize.NL,
}


def main(arguments: list[str]) -> int:
    """Print the files and functions that are too long."""
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    today = datetime.now(UTC).date()
    found = 0
    for path in sources(root):
        for name, lines, most in limits(path, path.relative_to(root).as_posix()):
            allowed, until = LATER.get(name, (most, today))
            if lines > (allowed if today <= until else most):
                print(f"{name}: {lines} lines; at most {most} are allowed")
                found += 1
    return int(found > 0)


def sources(root: Path) -> list[Path]:
    """Return the files of source code, without generated files."""
    files = (path for folder in FOLDERS for path in sorted((root / folder).rglob("*")))
    return [
        path
        for path in files
        if (path.suffix in KINDS or path.name == "clippy.toml") and "_build" not in path.parts
    ]


def limits(path: Path, name: str) -> Iterator[tuple[str, int, int]]:
    """Yield each length in a file with its limit; for a clippy.toml, the limit that it sets."""
    if path.name == "clippy.toml":
        tree = tomllib.loads(path.read_text(encoding="utf-8"))
        yield name, tree.get("too-many-lines-threshold", 100), MOST_OF_FUNCTION
    else:
        yield from lengths(path, name)


def lengths(path: Path, name: str) -> Iterator[tuple[str, int, int]]:
    """Yield a file and its functions: the name, the number of lines and the limit."""
    text = path.read_text(encoding="utf-8")
    yield name, len(text.splitlines()), MOST_OF_FILE
    if path.suffix in {".rs", ".ts"}:
        return
    code = lines_of_code(text)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{name}::{node.name}", length(node, code), MOST_OF_FUNCTION


def length(function: ast.FunctionDef | ast.AsyncFunctionDef, code: set[int]) -> int:
    """Return how many lines of code the body has."""
    documented = ast.get_docstring(function, clean=False) is not None
    body = function.body[1:] if documented else function.body
    if not body:
        return 0
    return len(code & set(range(body[0].lineno, (function.end_lineno or 0) + 1)))


def lines_of_code(text: str) -> set[int]:
    """Return the numbers of the lines that hold more than a comment."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    spans = ((it.start[0], it.end[0]) for it in tokens if it.type not in NO_CODE)
    return {line for first, last in spans for line in range(first, last + 1)}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
