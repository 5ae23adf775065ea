"""Mutants of the Python package, by Cosmic Ray's operators, and a copy in which they are tested."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cosmic_ray import plugins
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code

from validation.common.places import ROOT
from validation.mutants.draw import SEED, stratified
from validation.mutants.python_tests import TESTS
from validation.mutants.table import Verdict

if TYPE_CHECKING:
    from pathlib import Path

# Operators that are left out, for instance because they change annotations or add new variables.
IDLE = ("VariableReplacer", "VariableInserter", "BitOr_", "RemoveDecorator")
COPIED = (
    "python",
    "tests",
    "validation",
    "scenarios",
    "papers",
    "docs",
    "pyproject.toml",
    "Cargo.toml",
)
SKIPPED = ("__pycache__", "_build")
PATIENCE, LEAST_S = 5.0, 120.0
"""A mutant times out after this multiple of the tests' usual time, but not before two minutes."""


@dataclass(frozen=True)
class Mutant:
    """One change of one file, by an operator at one position."""

    file: str
    operator: str
    place: int
    line: int
    text: str
    """The line without the change."""

    @property
    def key(self) -> str:
        """The mutant's identity: file, text of the line, operator, and number of the position."""
        told = f"{SEED} {self.file} {self.operator} {self.place} {self.text}"
        return hashlib.sha256(told.encode()).hexdigest()[:16]

    @property
    def package(self) -> str:
        """The folder below `incast`."""
        return self.file.split("/", maxsplit=1)[0]

    @property
    def name(self) -> str:
        """Description of the mutant for readers."""
        return f"{self.file}: {self.operator} in {self.text}"


def sample(count: int) -> list[Mutant]:
    """Return `count` mutants, some of each package, with at most one mutant per line of code."""
    found: dict[tuple[str, int], Mutant] = {}
    names = [name for name in plugins.operator_names() if not any(word in name for word in IDLE)]
    for package in TESTS:
        for path in sorted((ROOT / "python" / "incast" / package).rglob("*.py")):
            for mutant in _of_file(path, names):
                other = found.setdefault((mutant.file, mutant.line), mutant)
                found[mutant.file, mutant.line] = min(mutant, other, key=lambda it: it.key)
    return stratified(found.values(), lambda mutant: mutant.package)[:count]


def _of_file(path: Path, names: list[str]) -> list[Mutant]:
    code = path.read_text(encoding="utf-8")
    lines, nodes = code.splitlines(), list(ast_nodes(get_ast(code)))
    file = path.relative_to(ROOT / "python" / "incast").as_posix()
    return [
        Mutant(file, name.removeprefix("core/"), number, start[0], lines[start[0] - 1].strip())
        for name in names
        for number, (start, _) in enumerate(_places(name, nodes))
    ]


def _places(name: str, nodes: list[object]) -> list[tuple[tuple[int, int], object]]:
    operator = plugins.get_operator(name)()
    return [place for node in nodes for place in operator.mutation_positions(node)]


class Tree:
    """A copy of the package and its tests."""

    def __init__(self) -> None:
        self.path = ROOT / "target" / "mutants" / "python"
        shutil.rmtree(self.path, ignore_errors=True)
        self.path.mkdir(parents=True)
        for name in COPIED:
            here, there = ROOT / name, self.path / name
            if here.is_dir():
                ignored = shutil.ignore_patterns(*SKIPPED)
                shutil.copytree(here, there, symlinks=True, ignore=ignored)
            else:
                shutil.copyfile(here, there)
        self.limits: dict[str, float] = {}

    def judge(self, mutant: Mutant) -> Verdict:
        """Change the copy, run the package's tests, and change it back."""
        package = mutant.package
        limit = self._limit(package)
        file = self.path / "python" / "incast" / mutant.file
        code = file.read_text(encoding="utf-8")
        operator = plugins.get_operator(f"core/{mutant.operator}")()
        changed = mutate_code(code, operator, mutant.place)
        if changed is None or changed == code:
            return Verdict(mutant.name, package, "unviable", "")
        file.write_text(changed, encoding="utf-8")
        try:
            passes = self._passes(package, limit)
        finally:
            file.write_text(code, encoding="utf-8")
        outcome = {True: "missed", False: "caught", None: "timeout"}[passes]
        return Verdict(mutant.name, package, outcome, "")

    def _limit(self, package: str) -> float:
        """Return the time limit of a package's tests; measure once how long they usually take."""
        if package not in self.limits:
            start = time.monotonic()
            if not self._passes(package, None):
                raise RuntimeError(f"the tests of {package} fail without a mutant")
            self.limits[package] = max(LEAST_S, PATIENCE * (time.monotonic() - start))
        return self.limits[package]

    def _passes(self, package: str, limit: float | None) -> bool | None:
        """Return whether the tests pass; None if they take longer than the limit."""
        tests = self.path / "tests"
        files = [str(next(tests.rglob(f"test_{name}.py"))) for name in TESTS[package]]
        # Hypothesis must not repeat an example that failed with the previous mutant.
        shutil.rmtree(self.path / ".hypothesis", ignore_errors=True)
        options = ["-x", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=0"]
        command = [sys.executable, "-m", "pytest", *options, *files]
        process = subprocess.Popen(
            command,
            cwd=self.path,
            env=os.environ
            | {"PYTHONPATH": str(self.path / "python"), "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            return process.wait(limit) == 0
        except subprocess.TimeoutExpired:
            return None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
