"""`make validate` runs all studies in `validation/`."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import incast
from validation.__main__ import STUDIES

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = sorted(file.parent.name for file in (ROOT / "validation").glob("*/__main__.py"))


def test_every_folder_with_a_study_is_run() -> None:
    assert len(FOLDERS) > 10
    listed = {study.name for study in STUDIES if "-m" in study.command and study.quick}
    assert listed == set(FOLDERS)


@pytest.mark.parametrize("name", ["nosuch", "ns4"])
def test_an_unknown_study_is_refused_with_the_names(name: str) -> None:
    command = [sys.executable, "-m", "validation", name]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert name in done.stderr
    assert all(folder in done.stderr for folder in FOLDERS)


def test_benches_measure_speed_and_memory_only() -> None:
    """`benches/` has no comparisons of results; these belong to `validation/`."""
    found = {
        file.relative_to(ROOT).as_posix()
        for file in (ROOT / "benches").rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    outside = {file for file in found if not file.startswith("benches/timing/")}
    assert outside == {
        "benches/captures.py",
        "benches/probe/Cargo.lock",
        "benches/probe/Cargo.toml",
        "benches/probe/src/fused.rs",
        "benches/probe/src/main.rs",
        "benches/shapes.py",
        "benches/speed.py",
        "benches/store.py",
        "benches/sweep.py",
        "benches/train.py",
        "benches/walk.py",
    }


def test_benches_name_files_that_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benches"))
    from timing import clock, peers  # type: ignore[import-not-found]

    assert peers.NS2.is_file()
    assert clock.WORKER.is_file()


def test_benches_fail_where_instructions_have_grown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benches"))
    from timing import callgrind, instructions

    kept = json.loads(instructions.KEPT.read_text())
    compiler = subprocess.CompletedProcess([], 0, stdout=kept["compiler"])
    counts = [1.04 * count if name == "sack" else count for name, count in kept["counts"].items()]
    monkeypatch.setattr(instructions.shutil, "which", lambda _: "valgrind")
    monkeypatch.setattr(instructions.subprocess, "run", lambda *_, **__: compiler)
    monkeypatch.setattr(callgrind, "all_at_once", lambda *_: counts)
    assert instructions.sheet(keep=False).missed == ["sack +4.0% instructions"]


def test_benches_run_scenarios_of_one_point(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benches"))
    import train  # type: ignore[import-not-found]
    from timing import cases, shapes

    documents = [case.document for case in cases.ENGINE] + list(cases.counted().values())
    documents += train.documents()
    documents += [shape.document(shape.sizes[0]) for shape in shapes.SHAPES]
    for document in [*documents, cases.cluster()]:
        assert len(incast.load(document).plan.points) == 1
