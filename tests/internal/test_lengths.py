"""The lints of length notice what is too long."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINT = ROOT / ".ci" / "lengths.py"


def lint(folder: Path) -> tuple[int, list[str]]:
    """Return the exit code of the lint, and what it says of a folder."""
    command = [sys.executable, str(LINT), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


@pytest.mark.parametrize("name", ["crates/net/src/port.rs", "python/incast/a.py", "tests/a.pyi"])
@pytest.mark.parametrize(("lines", "code"), [(500, 0), (501, 1)])
def test_a_file_has_at_most_500_lines(tmp_path: Path, name: str, lines: int, code: int) -> None:
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_text("\n" * lines)
    said = [f"{name}: {lines} lines; at most 500 are allowed"] if code else []
    assert lint(tmp_path) == (code, said)


@pytest.mark.parametrize(("lines", "code"), [(60, 0), (61, 1)])
def test_a_function_has_at_most_60_lines_of_code(tmp_path: Path, lines: int, code: int) -> None:
    (tmp_path / "benches").mkdir()
    uncounted = '    """What it does.\n\n    And why.\n    """\n    # A comment.\n\n'
    counted = "    print(\n        1,\n    )\n" + "    print(2)\n" * (lines - 3)
    text = "class A:\n    pass\n\n\ndef long(\n    one,\n    two,\n):\n" + uncounted + counted
    (tmp_path / "benches" / "a.py").write_text(text)
    said = [f"benches/a.py::long: {lines} lines; at most 60 are allowed"] if code else []
    assert lint(tmp_path) == (code, said)


def test_a_method_and_a_function_within_one_are_counted(tmp_path: Path) -> None:
    (tmp_path / "python").mkdir()
    body = "            pass\n" * 61
    text = "class A:\n    async def b(self):\n        def c():\n" + body
    (tmp_path / "python" / "a.py").write_text(text)
    assert [line.split(":")[2] for line in lint(tmp_path)[1]] == ["b", "c"]
