"""A copy of the sources in which one mutant at a time is built and tested."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from typing import TYPE_CHECKING

from .draw import ROOT
from .table import Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from .draw import Mutant

ABOVE = {
    "incast-engine": ("incast-net", "incast-lab"),
    "incast-net": ("incast-lab",),
    "incast-tcp": ("incast-script", "incast-lab"),
    "incast-remedies": ("incast-script", "incast-lab"),
    "incast-lab": (),
    "incast-theory": (),
    "incast-script": (),
}
"""Packages whose tests are asked about what the package's own tests miss."""
PATIENCE, LEAST_S = 5.0, 60.0
"""A mutant times out after so many times the tests' time, at least after a minute."""


class Tree:
    """A copy of the tracked files, with build artefacts of its own."""

    def __init__(self, number: int) -> None:
        self.path: Path = ROOT / "target" / "mutants" / f"tree-{number}"
        self.usual_s: dict[str, float] = {}
        listed = subprocess.run(
            ["git", "ls-files", "-z", "Cargo.toml", "Cargo.lock", "crates", "scenarios"],
            cwd=ROOT,
            check=True,
            capture_output=True,
            text=True,
        )
        for name in filter(None, listed.stdout.split("\0")):
            here, there = ROOT / name, self.path / name
            if not there.exists() or there.read_bytes() != here.read_bytes():
                there.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(here, there)

    def judge(self, mutant: Mutant) -> Verdict:
        """Build and test one mutant, crate by crate, until one notices it."""
        packages = (mutant.package, *ABOVE[mutant.package])
        for package in packages:
            self._learn(package)
        self._patch(mutant)
        try:
            if not self._cargo(mutant.package, "--no-run", None):
                return Verdict(mutant.name, mutant.package, "unviable", "")
            for package in packages:
                self._cargo(package, "--no-run", None)
                limit = max(LEAST_S, PATIENCE * self.usual_s[package])
                passed = self._cargo(package, "--quiet", limit)
                if passed is None:
                    return Verdict(mutant.name, mutant.package, "timeout", package)
                if not passed:
                    return Verdict(mutant.name, mutant.package, "caught", package)
            return Verdict(mutant.name, mutant.package, "missed", "")
        finally:
            self._patch(mutant, "--reverse")

    def _learn(self, package: str) -> None:
        """Time the tests of a package without a mutant; they have to pass."""
        if package in self.usual_s:
            return
        self._cargo(package, "--no-run", None)
        start = time.monotonic()
        if not self._cargo(package, "--quiet", None):
            raise RuntimeError(f"the tests of {package} fail without a mutant")
        self.usual_s[package] = time.monotonic() - start

    def _patch(self, mutant: Mutant, *options: str) -> None:
        command = ["patch", "--silent", "--no-backup-if-mismatch", *options, mutant.file]
        subprocess.run(command, cwd=self.path, check=True, input=mutant.diff, text=True)

    def _cargo(self, package: str, option: str, limit: float | None) -> bool | None:
        """Return whether the command succeeds; nothing if it takes longer than the limit."""
        process = subprocess.Popen(
            ["cargo", "test", "--locked", "--lib", "--tests", f"--package={package}", option],
            cwd=self.path,
            env=os.environ | {"CARGO_TARGET_DIR": str(self.path / "target")},
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
