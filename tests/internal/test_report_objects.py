"""The objects that `diagnose` and `advise` return in Python: entries, dictionaries and pages."""

from pathlib import Path

import pytest

from conftest import Command, document
from incast.advise import advise
from incast.diagnose import diagnose


def test_a_report_has_entries_attributes_and_a_page(
    command: Command, small: Path, tmp_path: Path
) -> None:
    capture = tmp_path / "c.pcapng"
    assert command("run", small, "--seed", 2, "--pcap", capture).code == 0
    report = diagnose([capture])
    assert diagnose(capture).to_dict() == diagnose(str(capture)).to_dict() == report.to_dict()
    assert report["stalls"] is report.stalls
    assert report.to_dict() == dict(report)
    assert "<h1>" in report._repr_html_()
    assert repr(report).startswith("<Report: ")
    with pytest.raises(AttributeError, match="the report has no 'stals'; it has "):
        _ = report.stals


def test_advice_has_a_page_too() -> None:
    advice = advise(document(run={"seeds": 2}), budget=4)
    assert "<h1>A small read</h1>" in advice._repr_html_()
    assert repr(advice).startswith("<Advice: ")
    assert set(advice.to_dict()) >= {"verdict", "fixes"}


def test_one_seed_is_run_alone(command: Command, small: Path) -> None:
    told = command("run", small, "--seed", 7, "--format", "csv").out.splitlines()
    assert len(told) == 2
    refused = command("run", small, "--seed", 7, "--seeds", 2)
    assert refused.code == 2
    assert "--seed: cannot be combined with --seeds" in refused.err
