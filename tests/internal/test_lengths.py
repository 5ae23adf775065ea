"""The lints of length report files and functions that are too long."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINT = ROOT / ".ci" / "lengths.py"


def lint(folder: Path) -> tuple[int, list[str]]:
    """Return the exit code and the messages of the lint for a folder."""
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


@pytest.mark.parametrize(("text", "lines"), [("too-many-lines-threshold = 61", 61), ("", 100)])
def test_a_crate_cannot_raise_the_limit_for_functions(
    tmp_path: Path, text: str, lines: int
) -> None:
    name = "crates/net/clippy.toml"
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_text(text)
    assert lint(tmp_path) == (1, [f"{name}: {lines} lines; at most 60 are allowed"])


@pytest.mark.parametrize(("lines", "holds"), [(60, True), (61, False)])
def test_clippy_counts_60_lines_of_a_function(tmp_path: Path, lines: int, holds: bool) -> None:
    driver = shutil.which("clippy-driver")
    assert driver is not None
    body = "".join(f"    let _a{i} = {i};\n" for i in range(lines))
    (tmp_path / "a.rs").write_text(f"//! A.\n/// B.\npub fn long() {{\n{body}}}\n")
    done = subprocess.run(
        [driver, "--crate-type", "lib", "--emit=metadata", "-D", "clippy::too_many_lines", "a.rs"],
        cwd=tmp_path,
        env={"CLIPPY_CONF_DIR": str(ROOT), "PATH": str(Path(driver).parent) + ":/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode == 0) == holds, done.stderr
    assert ("(61/60)" in done.stderr) != holds


def test_clippy_counts_in_every_crate() -> None:
    """The workspace turns on the pedantic lints, and `too_many_lines` is one of these."""
    tree = tomllib.loads((ROOT / "Cargo.toml").read_text())
    assert tree["workspace"]["lints"]["clippy"]["pedantic"]["level"] == "warn"
    assert "too_many_lines" not in tree["workspace"]["lints"]["clippy"]
    for file in (ROOT / "crates").glob("*/Cargo.toml"):
        assert tomllib.loads(file.read_text())["lints"] == {"workspace": True}
    allowed = re.compile(r"allow\([^)]*too_many_lines")
    assert not [it for it in (ROOT / "crates").rglob("*.rs") if allowed.search(it.read_text())]
