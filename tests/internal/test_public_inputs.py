"""Captures that resemble public captures once mistaken for incast, and their diagnoses."""

import re
from pathlib import Path
from typing import Any

import pytest

from incast.diagnose import diagnose
from validation.captures.foreign.files import Form, write
from validation.captures.foreign.public import CAPTURES


def _report(name: str, directory: Path, form: Form | None = None) -> dict[str, Any]:
    path = directory / f"{name}.pcap"
    write(CAPTURES[name](), path, form or Form(snaplen=96, nanoseconds=False))
    return diagnose([path])


def _found(report: dict[str, Any], name: str) -> bool | None:
    found: bool | None = _look_alike(report, name)["found"]
    return found


def _look_alike(report: dict[str, Any], name: str) -> dict[str, Any]:
    return next(one for one in report["look_alikes"] if one["name"] == name)


def _causes(report: dict[str, Any]) -> list[str]:
    return [one["cause"] for one in report["stalls"] if one["cause"]]


def _gist(report: dict[str, Any]) -> tuple[object, ...]:
    found = {one["name"]: one["found"] for one in report["look_alikes"]}
    return report["incast"], report["episodes"], _causes(report), found


def test_a_counter_of_the_host_is_no_loss(tmp_path: Path) -> None:
    report = _report("global_ipid", tmp_path)
    assert report["incast"] is False
    assert _causes(report) == []
    assert _found(report, "bad_link") is not True
    assert _found(report, "slow_server") is True


@pytest.mark.parametrize("name", ["greeting", "slow_rpc"])
def test_a_late_answer_is_no_loss(name: str, tmp_path: Path) -> None:
    report = _report(name, tmp_path)
    assert report["incast"] is False
    assert _causes(report) == []
    assert _found(report, "bad_link") is not True
    assert _found(report, "slow_server") is True


def test_a_file_that_a_filter_wrote_proves_nothing(tmp_path: Path) -> None:
    report = _report("filtered", tmp_path)
    assert report["incast"] is None
    assert "filtered" in report.get("incomplete", ())


def test_a_window_below_a_segment_is_a_pause(tmp_path: Path) -> None:
    report = _report("small_window", tmp_path)
    assert report["incast"] is not True
    assert _causes(report) == []
    pause = _look_alike(report, "receiver_paused")
    assert pause["found"] is True
    assert re.search(r"\b2 waits", pause["why"])
    assert re.search(r"\b(1\.20? s|120\d(\.\d+)? ms)", pause["why"])


def test_a_window_may_be_closed_to_the_end(tmp_path: Path) -> None:
    report = _report("zero_end", tmp_path)
    assert report["incast"] is not True
    pause = _look_alike(report, "receiver_paused")
    assert pause["found"] is True
    assert re.search(r"\b(23\.7\d* s|237\d\d(\.\d+)? ms)", pause["why"])
    assert re.search("still closed|to the end", pause["why"])


def test_a_mirror_is_read_like_what_it_mirrors(tmp_path: Path) -> None:
    report = _report("slow_rpc", tmp_path, Form("erspan2", 200, nanoseconds=False))
    assert report["packets"] == 135
    (tunnel,) = report.get("tunnels", ())
    assert "erspan" in tunnel["kind"].lower()
    assert tunnel["packets"] == 135
    assert _gist(report) == _gist(_report("slow_rpc", tmp_path))
