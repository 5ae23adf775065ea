"""The installed package: the wheel contains everything that its commands need."""

import os
import re
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from conftest import SMALL, Command

ROOT = Path(__file__).resolve().parents[1]
SHIPPED = sorted(file.stem for file in (ROOT / "scenarios").glob("*.toml"))


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the `incast` of a new environment that has the wheel, but not the checkout.

    The dependencies are those of the environment that runs the tests. The wheel is built with the
    profile `dev`, so its library is not optimised.
    """
    place = tmp_path_factory.mktemp("elsewhere")
    environment = os.environ | {"VIRTUAL_ENV": sys.prefix}
    environment.pop("CONDA_PREFIX", None)
    subprocess.run(
        [
            sys.executable, "-m", "maturin", "build", "--profile", "dev", "--offline", "--locked",
            "--out", place / "dist",
        ],
        cwd=ROOT, env=environment, check=True, capture_output=True,
    )  # fmt: skip
    home = place / "home"
    venv.create(home, with_pip=False)
    python = home / "bin" / "python"
    (wheel,) = (place / "dist").glob("*.whl")
    subprocess.run(
        [
            sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index",
            "--no-deps", "--disable-pip-version-check", wheel,
        ],
        check=True,
    )  # fmt: skip
    (packages,) = home.glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return home / "bin" / "incast"


def elsewhere(incast: Path, place: Path, *arguments: str) -> str:
    """Run a command in an empty directory; return its output."""
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [incast, *arguments], cwd=place, env=clean, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_installed_package_is_not_the_checkout(installed: Path) -> None:
    where = subprocess.run(
        [installed.with_name("python"), "-c", "import incast; print(incast.__file__)"],
        capture_output=True, text=True, check=True, cwd=installed.parent,
    )  # fmt: skip
    assert Path(where.stdout.strip()).is_relative_to(installed.parents[1])


def test_it_runs_a_scenario_by_its_name(installed: Path, tmp_path: Path) -> None:
    said = elsewhere(
        installed,
        tmp_path,
        "run",
        "storage-read",
        "--set",
        "workload.servers=[2,8]",
        "--seeds",
        "1",
    )
    assert said.startswith("Storage read behind a shallow switch\n")
    assert said.count("\n") > 8


def test_it_reproduces_a_figure(installed: Path, tmp_path: Path) -> None:
    said = elsewhere(installed, tmp_path, "reproduce", "--quick", "plato/11")
    assert "plato/11: " in said
    assert (tmp_path / "reproduction" / "index.html").is_file()


def test_it_has_every_text_scenario_and_measured_file(installed: Path, tmp_path: Path) -> None:
    home = ROOT / "python" / "incast"
    (packages,) = installed.parents[1].glob("lib/python*/site-packages/incast")
    for pattern in ("scenarios/*.toml", "papers/*/*.toml", "papers/*/*.csv"):
        there = sorted(file.relative_to(packages) for file in packages.glob(pattern))
        assert there == sorted(file.relative_to(home) for file in home.glob(pattern)) != []
    assert elsewhere(installed, tmp_path, "reproduce", "--list", "serialization")


def test_a_file_goes_before_a_shipped_name(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "storage-read").write_text(SMALL)
    assert command("run", "storage-read").out.startswith("A small read\n")
    (tmp_path / "storage-read").unlink()
    (tmp_path / "storage-read").mkdir()  # a directory, as --out creates it
    assert command("run", "storage-read", "--dry-run").out.startswith("120 runs: ")


def test_unknown_names_say_what_there_is(command: Command, tmp_path: Path) -> None:
    done = command("run", "storage-reed")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "did you mean 'storage-read'?" in done.err
    done = command("model", "xyzzy")
    assert all(name in done.err for name in SHIPPED)
    done = command("run", "storage-read.toml")
    assert "'storage-read'" in done.err
    done = command("run", tmp_path / "none.toml")
    assert done.err == f"incast: {tmp_path}/none.toml: No such file or directory\n"


def test_shipped_scenarios_are_listed_with_their_questions(command: Command) -> None:
    listed = command("list", "scenarios").out
    assert len(SHIPPED) > 5
    for name in SHIPPED:
        assert re.search(rf"^\s*{name}\s.*\?\s*$", listed, re.M), name
