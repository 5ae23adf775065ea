"""Files of captures that cannot be written."""

from pathlib import Path

import pytest

import incast
from conftest import SMALL
from incast.errors import ResultsError
from incast.sweep.capture import Capture, Capturing

FULL = Path("/dev/full")


@pytest.fixture
def scenario(tmp_path: Path) -> incast.Scenario:
    """Return a scenario of one run, with more packets than a buffer of the file holds."""
    path = tmp_path / "one.toml"
    text = SMALL.replace("seeds = 2", "seeds = 1").replace("blocks = 2", "blocks = 200")
    path.write_text(text, encoding="utf-8")
    return incast.load(path)


@pytest.mark.skipif(not FULL.exists(), reason="/dev/full, a disk without room, is of Linux")
def test_a_full_disk_ends_the_run_with_one_line(scenario: incast.Scenario, tmp_path: Path) -> None:
    path = tmp_path / "a.pcapng"
    path.with_name("a.pcapng.part").symlink_to(FULL)
    with pytest.raises(ResultsError, match=r"a\.pcapng: No space left on device"):
        incast.run(scenario, backend=Capturing(Capture(path)))
    assert [file.name for file in tmp_path.iterdir()] == ["one.toml"]


def test_an_error_of_the_run_leaves_no_file(scenario: incast.Scenario, tmp_path: Path) -> None:
    capture = Capture(tmp_path / "a.pcapng", "server:9")
    with pytest.raises(ResultsError, match="servers 0 to 3"):
        capture.check(scenario)
    assert [file.name for file in tmp_path.iterdir()] == ["one.toml"]
