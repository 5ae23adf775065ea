"""The times of runs, stored with the rows."""

import errno
import os
from pathlib import Path

import pytest

from incast.errors import ResultsError
from incast.results.times import Times


def test_batches_of_several_processes_have_one_head_each(tmp_path: Path) -> None:
    first, second = Times(tmp_path), Times(tmp_path)
    first.put({"a": 1.0, "b": 2.0})
    second.put({"c": 3.0})
    first.put({"d": 4.0})
    for file in first.folder.iterdir():
        head, *lines = file.read_text().splitlines()
        assert head == "run,wall_s,host,check"
        assert lines
        assert head not in lines
    assert sorted(second.read().rows()) == [("a", 1.0), ("b", 2.0), ("c", 3.0), ("d", 4.0)]
    first.put({"e": 5.0})  # lines that were added after the first read are read, too
    assert second.read().height == 5


def test_a_line_that_was_cut_is_ignored(tmp_path: Path) -> None:
    times = Times(tmp_path)
    times.put({"a": 1.0, "b": 2.0})
    (file,) = times.folder.iterdir()
    file.write_bytes(file.read_bytes()[:-5])
    assert times.read().rows() == [("a", 1.0)]


def test_a_disk_that_is_full_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(handle: int, content: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    times = Times(tmp_path)
    monkeypatch.setattr(os, "write", full)
    with pytest.raises(ResultsError) as refusal:
        times.put({"a": 1.0})
    assert str(refusal.value) == f"{times.folder}: cannot be written to: No space left on device"
