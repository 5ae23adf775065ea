"""The script that sorts the timeouts of ns-2's traces by cause."""

from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def causes(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the script in the data's folder, which is no package."""
    monkeypatch.syspath_prepend(str(ROOT / "papers" / "ns2"))
    return import_module("causes")


def line(variable: str, value: int) -> str:
    return f"1.00000  7  0  1  0  {variable} {value}"


def test_timeouts_are_sorted_by_place_and_duplicates(causes: ModuleType) -> None:
    timeout = [line("dupacks_", 0), line("nrexmit_", 1)]
    head = ["0 0 is 7", "0 0 begins 4.5", line("ack_", 0)]
    again = ["2.0 0 begins 9.9"]
    trace = [
        *head, *timeout,
        line("ack_", 5), line("dupacks_", 1), line("dupacks_", 2), *timeout,
        line("ack_", 9), line("dupacks_", 1), line("dupacks_", 2), line("dupacks_", 3), *timeout,
        line("ack_", 100), *again, *timeout,
        line("ack_", 109), line("dupacks_", 1), *timeout,
        line("ack_", 110), line("nrexmit_", 6),
    ]  # fmt: skip
    found = causes.sort(trace, 100)
    assert found == {
        "head_none": 2,
        "inside_few": 1,
        "inside_enough": 1,
        "head_few": 1,
        "inside_none": 1,
    }
