"""The commands of a page, in order, with the output that the page prints under each command."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^```(?:console|bash)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"`([\w.-]+)`:\n\n```\w+\n(.*?)^```", re.MULTILINE | re.DOTALL)
_PROMPT = "$ "
_ELIDED = {"…", "..."}


@dataclass(frozen=True)
class Step:
    """A command and its printed output.

    Parameters
    ----------
    page, line
        Page and line of the command.
    command
        The command as typed in a shell, including a comment.
    printed
        The lines under the command; empty if the page does not show its output.
    """

    page: str
    line: int
    command: str
    printed: tuple[str, ...]

    @property
    def place(self) -> str:
        """Page, line and command, for messages."""
        return f"{self.page}:{self.line}: {self.command}"


def pages() -> list[str]:
    """Return the pages whose commands a reader types: README, tutorial, how-to and reference."""
    folders = ("tutorial", "how-to", "reference")
    found = [path for name in folders for path in sorted((ROOT / "docs" / name).glob("*.md"))]
    told = [str(path.relative_to(ROOT)) for path in found]
    return [name for name in ("README.md", *told) if steps(name)]


def blocks(page: str) -> list[list[Step]]:
    """Return the steps of a page, block by block."""
    text = (ROOT / page).read_text("utf-8")
    return [
        list(_steps(page, text[: one.start(1)].count("\n") + 1, one[1].splitlines()))
        for one in _BLOCK.finditer(text)
    ]


def steps(page: str) -> list[Step]:
    """Return all steps of a page."""
    return [step for block in blocks(page) for step in block]


def files(page: str) -> dict[str, str]:
    """Return the files that a page shows, by name."""
    return dict(_FILE.findall((ROOT / page).read_text("utf-8")))


def _steps(page: str, first: int, lines: list[str]) -> Iterator[Step]:
    command, printed, start = "", [], first
    for number, line in enumerate(lines, first):
        if command.endswith("\\"):
            command += "\n" + line
        elif line.startswith(_PROMPT):
            if command:
                yield Step(page, start, command, tuple(printed))
            command, printed, start = line.removeprefix(_PROMPT), [], number
        elif command:
            printed.append(line)
    if command:
        yield Step(page, start, command, tuple(printed))


def differs(printed: tuple[str, ...], got: str, masks: list[tuple[str, str]]) -> bool:
    """Return whether an output differs from the printed output.

    Differences of line breaks do not count. `…` alone on a line stands for any number of lines.
    Each pattern of `masks` is replaced in both outputs before they are compared.
    """
    if not printed:
        return False
    pieces: list[list[str]] = [[]]
    for line in printed:
        if line.strip() in _ELIDED:
            pieces.append([])
        else:
            pieces[-1] += line.split()
    wanted = ".*".join(re.escape(_masked(" ".join(piece), masks)) for piece in pieces)
    return re.fullmatch(rf"\s*{wanted}\s*", _masked(" ".join(got.split()), masks)) is None


def _masked(text: str, masks: list[tuple[str, str]]) -> str:
    for pattern, instead in masks:
        text = re.sub(pattern, instead, text)
    return text
