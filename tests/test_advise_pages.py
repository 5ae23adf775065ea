"""Every command on the pages of advice runs, with the files that the pages show."""

import re
import shlex
from pathlib import Path

import pytest

from conftest import Command

HOW_TO = Path(__file__).parents[1] / "docs" / "how-to"
PAGES = ("advise-storage", "advise-timer", "advise-switch", "advise-spark")
FILE = re.compile(r"`([\w.]+)`:\n\n```\w+\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_a_page_runs(
    command: Command, page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (HOW_TO / f"{page}.md").read_text("utf-8")
    for name, content in FILE.findall(text):
        (tmp_path / name).write_text(content)
    monkeypatch.chdir(tmp_path)
    commands = re.findall(r"^\$ incast (.*)$", text, re.MULTILINE)
    assert commands
    for line in commands:
        words = shlex.split(line)
        if words[0] == "advise":
            words += ["--budget", "4s"]  # a shorter search than on the page
        result = command(*words)
        assert (result.code, result.err) == (0, ""), line
        assert "ollapse" in result.out
