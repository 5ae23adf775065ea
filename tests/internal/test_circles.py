"""No two source files need each other, neither directly nor through other files."""

import ast
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CRATES = sorted(path.parent for path in ROOT.glob("crates/*/src"))

Name = tuple[str, ...]
Graph = dict[Name, set[Name]]
"""The modules that each module uses. A module and the modules in it may use each other, because the
outer one declares the inner ones, and these extend it."""

ACCEPTED = {
    # An advice shows its own page in a notebook.
    ("incast.advise.advice", "incast.advise.page"),
    # The network gives packets to ends, and ends send packets. Each imports the other for its types
    # only.
    ("validation.captures.foreign.end", "validation.captures.foreign.network"),
}

USE = re.compile(r"\buse\s+([^;]+);")
PATH = re.compile(r"\b(?:crate|super|self)(?:::\w+)+")
TESTS_OF_FILE = re.compile(r"^#\[cfg\(test\)\]\n(?:pub )?mod \w+ \{.*", re.MULTILINE | re.DOTALL)
IMPORT = re.compile(r"""(?:from|import)\s*\(?\s*["'](\.[^"']+\.ts)["']""")


def circles(graph: Graph) -> list[tuple[str, ...]]:
    """Return the groups of modules in which every module needs every other one."""
    reached = {name: _reached(graph, name) for name in graph}
    found = {
        frozenset(other for other in reached[name] if name in reached[other])
        for name in graph
        if name in reached[name]
    }
    return sorted(tuple(sorted(".".join(one) for one in group)) for group in found)


def _reached(graph: Graph, start: Name) -> set[Name]:
    found: set[Name] = set()
    waiting = [start]
    while waiting:
        new = graph[waiting.pop()] - found
        found |= new
        waiting.extend(new)
    return found


def _may_use(user: Name, used: Name) -> bool:
    """Return whether one of the modules contains the other."""
    shorter = min(len(user), len(used))
    return user[:shorter] == used[:shorter]


def rust(sources: dict[Name, str]) -> Graph:
    """Read the paths in the code of a crate; a name that a module re-exports is where it is from.

    Unit tests may use everything, so they do not count.
    """
    sources = {name: text for name, text in sources.items() if not _is_test(name)}
    code = {
        name: TESTS_OF_FILE.sub("", re.sub(r"//.*", "", text)) for name, text in sources.items()
    }
    named = {
        name: {path[-1]: path for use in USE.findall(text) for path in spread(use)}
        for name, text in code.items()
    }

    def home(name: Name, path: Name, depth: int = 0) -> Name | None:
        first, *rest = path
        if first == "crate":
            place: Name = ()
        elif first in {"self", "super"}:
            place = name if first == "self" else name[:-1]
        elif (*name, first) in code:
            place, rest = name, list(path)
        else:
            return None
        while rest and rest[0] == "super":
            place, rest = place[:-1], rest[1:]
        while rest and (*place, rest[0]) in code:
            place, rest = (*place, rest[0]), rest[1:]
        again = named[place].get(rest[0]) if rest and depth < len(code) else None
        beyond = home(place, (*again, *rest[1:]), depth + 1) if again else None
        return place if beyond is None else beyond

    graph: Graph = {}
    for name, text in code.items():
        paths = {*named[name].values(), *(tuple(it.split("::")) for it in PATH.findall(text))}
        homes = {home(name, path) for path in paths}
        graph[name] = {it for it in homes if it is not None and not _may_use(name, it)}
    return graph


def spread(use: str) -> Iterator[Name]:
    """Yield the paths of a `use`, which may contain nested lists."""
    head, brace, rest = " ".join(use.split()).partition("{")
    if not brace:
        yield tuple(head.split(" as ")[0].strip().split("::"))
        return
    depth, item = 0, ""
    for letter in rest[: rest.rindex("}")] + ",":
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            if item.strip():
                yield from spread(head + item.strip())
            item = ""
        else:
            item += letter


def _is_test(name: Name) -> bool:
    return any(part == "tests" or part.endswith("_tests") for part in name)


def crate(folder: Path) -> dict[Name, str]:
    """Return the modules of a crate, with their code."""
    found = {}
    for file in (folder / "src").rglob("*.rs"):
        name = file.relative_to(folder / "src").with_suffix("").parts
        if name[-1] == "mod" or name in {("lib",), ("main",)}:
            name = name[:-1]
        found[name] = file.read_text("utf-8")
    return found


def python(folder: Path) -> Graph:
    """Read the imports of a package, also those in functions."""
    files: dict[Name, Path] = {}
    for file in folder.rglob("*.py"):
        name = file.relative_to(folder.parent).with_suffix("").parts
        files[name[:-1] if name[-1] == "__init__" else name] = file
    graph: Graph = {}
    for name, file in files.items():
        graph[name] = set()
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            for imported in _imported(node):
                prefixes = (imported[:length] for length in range(len(imported), 0, -1))
                home = next((it for it in prefixes if it in files), name)
                if not _may_use(name, home):
                    graph[name].add(home)
    return graph


def _imported(node: ast.AST) -> list[Name]:
    if isinstance(node, ast.Import):
        return [tuple(alias.name.split(".")) for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module is not None and not node.level:
        return [(*node.module.split("."), alias.name) for alias in node.names]
    return []


def typescript(sources: dict[str, str]) -> Graph:
    """Read the relative imports of files."""
    graph: Graph = {}
    for path, text in sources.items():
        folder = posixpath.dirname(path)
        targets = {posixpath.normpath(f"{folder}/{it}") for it in IMPORT.findall(text)}
        graph[path,] = {(it,) for it in targets if it in sources}
    return graph


@pytest.mark.parametrize("folder", CRATES, ids=lambda folder: folder.name)
def test_no_files_of_a_crate_need_each_other(folder: Path) -> None:
    assert circles(rust(crate(folder))) == [], "move what both need to a file that both use"


@pytest.mark.parametrize("folder", ["python/incast", "validation", "benches", "docs"])
def test_no_modules_of_python_need_each_other(folder: str) -> None:
    found = circles(python(ROOT / folder))
    assert set(found) == {one for one in ACCEPTED if one[0].startswith(Path(folder).name)}


def test_no_files_of_the_explorer_need_each_other() -> None:
    files = (ROOT / "explorer").glob("[!n]*/**/*.ts")
    sources = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in files}
    assert len(sources) > 1
    assert circles(typescript(sources)) == []


def test_a_circle_of_rust_is_found_through_lists_re_exports_and_inline_paths() -> None:
    sources = {
        (): "pub use a::{One, deep::{Two}};",
        ("a",): "mod deep;\npub struct One;\nuse crate::b::Three;",
        ("a", "deep"): "use super::One;\npub struct Two;",
        ("b",): "pub struct Three(crate::Two);",
        ("c",): "use super::{b::Three, One as First};\n// use crate::d\n",
        ("d",): "use crate::c;\n#[cfg(test)]\nmod tests {\n    use crate::e;\n}\n",
        ("e",): "use crate::d;",
    }
    graph = rust(sources)
    assert graph["b",] == {("a", "deep")}
    assert graph["c",] == {("a",), ("b",)}
    assert graph["a", "deep"] == set()
    assert circles(graph) == []
    sources["a", "deep"] += "\nuse crate::e;"
    sources["d",] += "\nuse crate::b;"
    assert circles(rust({**sources, ("d",): "use crate::b;"})) == [("a.deep", "b", "d", "e")]


def test_a_circle_of_typescript_is_found() -> None:
    sources = {
        "x/a.ts": 'import { b } from "./y/b.ts";',
        "x/y/b.ts": 'import type A from "../a.ts"',
    }
    assert circles(typescript(sources)) == [("x/a.ts", "x/y/b.ts")]


def test_a_circle_of_python_is_found_also_in_functions(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("from package.one import first\n")
    (package / "one.py").write_text("from package import two\n\nfirst = two\n")
    (package / "two.py").write_text("def f():\n    from package.one import first\n")
    assert circles(python(package)) == [("package.one", "package.two")]
