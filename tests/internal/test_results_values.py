"""Numbers that a directory of results keeps of itself."""

from pathlib import Path

import pytest

import incast
from conftest import document
from incast.results import manifest
from incast.results.store import Directory


def test_the_time_of_all_processes_is_added_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr("incast.results.store.time.monotonic", lambda: now[0])
    scenario = incast.load(document())
    for seconds, whole in ((2.5, 2.5), (0.1234, 2.623), (0.0, 2.623)):
        store = Directory.create(tmp_path, scenario, [])
        assert store.manifest["wall_s"] == pytest.approx(whole - seconds, abs=6e-4)
        now[0] += seconds
        store.close("done")
        told = manifest.read(tmp_path)
        assert told is not None
        assert (told["wall_s"], told["status"]) == (whole, "done")


def test_a_new_directory_has_taken_no_time(tmp_path: Path) -> None:
    store = Directory.create(tmp_path, incast.load(document()), ["queue"])
    assert store.manifest["wall_s"] == 0
    assert (store.manifest["status"], store.manifest["traces"]) == ("running", ["queue"])
    store.widen([1, 2, 3])
    told = manifest.read(tmp_path)
    assert told is not None
    assert (told["plan"]["seeds"], told["wall_s"]) == ([1, 2, 3], 0)
