"""Runs the commands of a page in a separate folder."""

import os
import re
import subprocess
import sys
from pathlib import Path

from validation.pages import blocks, lists
from validation.pages.blocks import ROOT, Step

_MARK = "\x1fstep"
_PATIENCE = 1800  # maximum seconds for the commands of a block
_TOML = re.compile(r"^```toml\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def page(name: str, folder: Path) -> list[str]:
    """Run every command of a page that can run here; return the errors.

    Parameters
    ----------
    name
        Path of the page, relative to the root of the project.
    folder
        An empty folder, in which the commands run one after the other.
    """
    _prepare(name, folder)
    wrong: list[str] = []
    for block in blocks.blocks(name):
        wrong += _block([step for step in block if lists.cause(step) is None], folder)
    return wrong


def _prepare(name: str, folder: Path) -> None:
    """Write the files that the page shows, and the files that a reader of the page would have."""
    tools = folder / ".tools"
    tools.mkdir()
    program = tools / "incast"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m incast "$@"\n')
    program.chmod(0o755)
    (folder / "scenarios").symlink_to(ROOT / "scenarios")
    for file, content in blocks.files(name).items():
        (folder / file).write_text(content)
    if name == "README.md" or name in lists.MINE:
        mine = _TOML.search((ROOT / "README.md").read_text("utf-8"))
        (folder / "mine.toml").write_text(mine[1] if mine else "")
    if name in lists.READS:
        (folder / "reads.toml").write_text((ROOT / "scenarios/storage-read.toml").read_text())
    if lists.PREPARED.get(name):
        _shell(lists.PREPARED[name], folder)


def _block(steps: list[Step], folder: Path) -> list[str]:
    """Run the commands of a block in one shell, so that `$?` is the last command's exit code."""
    if not steps:
        return []
    parts = [
        f"(exit ${{code:-0}})\n{step.command}\ncode=$?; printf '{_MARK} %s\\n' $code"
        for step in steps
    ]
    outputs = _shell("\n".join(parts), folder).split(_MARK)
    wrong = []
    for step, got, after in zip(steps, outputs, outputs[1:], strict=False):
        said = got.partition("\n")[2] if step is not steps[0] else got
        code = int(after.split()[0])
        if code not in lists.codes(step):
            wrong.append(f"{step.place}\n  exit code {code}: {said.strip()[-300:]}")
        elif blocks.differs(step.printed, said, lists.MASKS):
            wrong.append(f"{step.place}\n  printed: {' '.join(step.printed)}\n  got: {said}")
    return wrong


def _shell(script: str, folder: Path) -> str:
    paths = os.pathsep.join([str(folder / ".tools"), os.environ["PATH"]])
    module = os.pathsep.join([str(ROOT / "python"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=os.environ | {"PATH": paths, "PYTHONPATH": module, "COLUMNS": "80"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        timeout=_PATIENCE,
        check=False,
    )
    return done.stdout.decode("utf-8", "replace")
