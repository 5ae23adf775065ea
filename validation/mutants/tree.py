"""A copy of the sources, in which one mutant after the other is built and tested."""

from __future__ import annotations

import fcntl
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

from validation.common.places import ROOT
from validation.mutants.table import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from validation.mutants.draw import Mutant

ABOVE = {
    "incast-engine": ("incast-net", "incast-lab"),
    "incast-net": ("incast-lab",),
    "incast-tcp": ("incast-script", "incast-lab"),
    "incast-remedies": ("incast-script", "incast-lab"),
    "incast-host": ("incast-lab",),
    "incast-transports": ("incast-lab",),
    "incast-traffic": ("incast-scenario", "incast-lab"),
    "incast-scenario": ("incast-lab",),
    "incast-lab": (),
    "incast-theory": (),
    "incast-script": (),
    "incast-capture": ("incast-diagnose", "incast-lab"),
    "incast-diagnose": (),
    "incast-live": (),
    "incast-web": (),
}
"""For each package, other packages whose tests run if the package's own tests miss a mutant."""
PATIENCE, LEAST_S = 5, 20
"""A mutant times out after this multiple of the tests' usual processor time, but not before 20 s.

Processor time does not depend on the load of the machine."""
SLEEP = 20
"""The limit in real time is this multiple of the limit above; it stops mutants that only wait."""
MEMORY = 8 << 30
"""Maximum address space of a test in bytes, so that a test that stores endless data fails."""


class Stage(NamedTuple):
    """Tests that are built and run together."""

    package: str
    kind: str
    """Kind of the tests, `lib` or `test`, as in cargo."""


class Tree:
    """A copy of the tracked files, with separate build artefacts."""

    def __init__(self, number: int) -> None:
        self.path: Path = ROOT / "target" / "mutants" / f"tree-{number}"
        self.kept: Path = self.path / "usual.json"
        self.path.mkdir(parents=True, exist_ok=True)
        self.lock = (self.path / "lock").open("w")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.lock.close()
            sys.exit(f"{self.path}: another run is using it; wait for it, or stop it")
        if copy_sources(ROOT, self.path):
            self.kept.unlink(missing_ok=True)
        known = json.loads(self.kept.read_text("utf-8")) if self.kept.exists() else {}
        self.usual_s: dict[str, float] = known

    def judge(self, mutant: Mutant) -> Verdict:
        """Build and test one mutant, stage by stage, until a stage catches it."""
        path = self.path / mutant.file
        original = path.read_bytes()
        packages = (mutant.package, *ABOVE[mutant.package])
        stages = [stage for package in packages for stage in stages_of(package)]
        try:
            for stage in stages:
                if " ".join(stage) not in self.usual_s:
                    path.write_bytes(original)
                    self._learn(stage)
                self._change(path, original, mutant)
                tests = self._build(stage)
                if tests is None:
                    if stage is not stages[0]:
                        raise RuntimeError(f"{mutant.name}: the tests of {stage} do not compile")
                    return Verdict(mutant.name, mutant.package, "unviable", "")
                outcome = self.run(stage, tests, self._limit(stage))
                if outcome:
                    return Verdict(mutant.name, mutant.package, outcome, stage.package)
            return Verdict(mutant.name, mutant.package, "missed", "")
        finally:
            path.write_bytes(original)

    def _limit(self, stage: Stage) -> int:
        return max(LEAST_S, round(PATIENCE * self.usual_s[" ".join(stage)]))

    def _learn(self, stage: Stage) -> None:
        """Measure how long the tests take without a mutant, and check that they pass."""
        tests = self._build(stage)
        before = _spent()
        if tests is None or self.run(stage, tests, None):
            raise RuntimeError(f"the tests of {stage.package} fail without a mutant")
        self.usual_s[" ".join(stage)] = _spent() - before
        self.kept.write_text(json.dumps(self.usual_s, indent=1), "utf-8")

    def _change(self, path: Path, original: bytes, mutant: Mutant) -> None:
        """Apply a mutant unless it is already applied."""
        if path.read_bytes() == original:
            command = ["patch", "--silent", "--no-backup-if-mismatch", mutant.file]
            subprocess.run(command, cwd=self.path, check=True, input=mutant.diff, text=True)

    def _build(self, stage: Stage) -> list[str] | None:
        """Build the tests; return their executables, or None if they do not compile."""
        which = ["--lib"] if stage.kind == "lib" else ["--test", "*"]
        command = ["cargo", "test", "--locked", f"--package={stage.package}", *which]
        built = subprocess.run(
            [*command, "--no-run", "--message-format=json"],
            cwd=self.path,
            env=os.environ
            | {
                "CARGO_TARGET_DIR": str(self.path / "target"),
                # Backtraces are not needed, and linking is faster without debug information.
                "CARGO_PROFILE_DEV_DEBUG": "0",
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=False,
        )
        return None if built.returncode else list(_executables(built.stdout))

    def run(self, stage: Stage, tests: list[str], limit_s: int | None) -> str:
        """Run tests; return `caught`, `timeout`, or an empty string if all tests pass."""
        for test in tests:
            process = subprocess.Popen(
                ["sh", "-c", f'{bounds(limit_s)}; exec "$0" --quiet', test],
                cwd=self.path / folder(stage.package),
                # A counter-example need not be small, and is not stored.
                env=os.environ
                | {"PROPTEST_MAX_SHRINK_ITERS": "0", "PROPTEST_DISABLE_FAILURE_PERSISTENCE": "1"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            try:
                code = process.wait(limit_s and SLEEP * limit_s)
            except subprocess.TimeoutExpired:
                return "timeout"
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
            if code:
                return "timeout" if code == -signal.SIGXCPU else "caught"
        return ""


def bounds(limit_s: int | None) -> str:
    """Return commands that limit the resources of a shell."""
    time = f"; ulimit -S -t {limit_s}" if limit_s else ""
    return f"ulimit -c 0; ulimit -v {MEMORY >> 10}{time}"


def folder(package: str) -> str:
    """Return the folder of a package."""
    return f"crates/{package.removeprefix('incast-')}"


def stages_of(package: str) -> list[Stage]:
    """Return the tests of a package, unit tests first."""
    whole = (ROOT / folder(package) / "tests").is_dir()
    return [Stage(package, "lib"), *([Stage(package, "test")] if whole else [])]


def copy_sources(root: Path, into: Path) -> bool:
    """Copy the tracked sources that differ, and remove other files; return whether any changed."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "Cargo.toml", "Cargo.lock", "crates", "scenarios"],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    )
    names = [name for name in listed.stdout.split("\0") if name and (root / name).exists()]
    changed = False
    for name in names:
        here, there = root / name, into / name
        if not there.exists() or there.read_bytes() != here.read_bytes():
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(here, there)
            changed = True
    for path in (into / "crates").rglob("*"):
        if path.is_file() and str(path.relative_to(into)) not in set(names):
            path.unlink()
            changed = True
    return changed


def _executables(messages: str) -> Iterator[str]:
    for line in messages.splitlines():
        message = json.loads(line)
        if message["reason"] == "compiler-artifact" and message["executable"]:
            yield message["executable"]


def _spent() -> float:
    """Return the processor time of all children that have ended, seconds."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
