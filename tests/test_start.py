"""What the first second of a command is spent on: modules that it loads, and threads."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

RUN = (
    "import runpy, sys\n"
    "sys.argv = ['incast', *sys.argv[1:]]\n"
    "try:\n"
    "    runpy.run_module('incast', run_name='__main__', alter_sys=True)\n"
    "except SystemExit as stop:\n"
    "    print(*sys.modules, file=sys.stderr)\n"
    "    assert not stop.code\n"
)
TINY = 'workload = { name = "barrier-read", servers = 2, sru = "64KiB", blocks = 1 }\n'
DRAWING = {"matplotlib", "PIL", "xml", "asyncio", "multiprocessing", "fsspec", "distributed"}


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.toml"
    path.write_text(TINY)
    return path


def loaded(*arguments: object) -> set[str]:
    """Return the modules that a command loads."""
    line = [sys.executable, "-c", RUN, *map(str, arguments)]
    done = subprocess.run(line, capture_output=True, check=True, text=True)
    assert done.stdout
    return set(done.stderr.split())


def test_rows_for_programs_need_no_statistics_and_no_table(tiny: Path) -> None:
    modules = loaded("run", tiny, "--format", "json")
    assert not modules & {"scipy", "rich", *DRAWING}
    assert len(modules) < 720


def test_a_table_needs_only_the_functions_of_its_intervals(tiny: Path) -> None:
    modules = loaded("run", tiny)
    assert not modules & {"scipy.stats", "scipy.optimize", "scipy.linalg", *DRAWING}
    assert len(modules) < 950


def test_a_model_needs_neither_statistics_nor_pictures(tiny: Path) -> None:
    modules = loaded("model", tiny)
    assert not modules & {"scipy", *DRAWING}
    assert len(modules) < 800


@pytest.mark.parametrize(("given", "threads"), [(None, "1"), ("3", "3")])
def test_openblas_has_one_thread_unless_its_user_wants_more(
    given: str | None, threads: str
) -> None:
    environment = {name: value for name, value in os.environ.items() if "_THREADS" not in name}
    if given is not None:
        environment["OPENBLAS_NUM_THREADS"] = given
    script = (
        "import atexit, os, sys; sys.argv = ['incast', '--version']\n"
        "atexit.register(lambda: print(os.environ['OPENBLAS_NUM_THREADS']))\n"
        "from incast.__main__ import main\n"
        "assert 'numpy' not in sys.modules\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, text=True, env=environment
    )
    assert done.stdout.splitlines()[-1] == threads
