"""A random invalid document leads to an immediate one-line error, and to nothing else.

`INCAST_DOCUMENTS` sets the number of documents, 10 000 by default. They are the same in every run.
"""

import json
import os
import random
import resource
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from documents import Documents

import incast
from incast import _core
from incast.scenario.override import parse

CASES = int(os.environ.get("INCAST_DOCUMENTS", "10000"))
MOST_SECONDS = 1.0
MOST_KIB = 200 * 1024


def refusal(act: Callable[[], object]) -> str:
    """Return the error message of a call that is refused; an empty string if it succeeds."""
    try:
        act()
    except incast.ScenarioError as error:
        return str(error)
    return ""


def planned(document: Any) -> list[dict[str, Any]]:  # noqa: ANN401 (anything at all)
    """Plan a document, or check that it is refused properly; return its points."""
    start, points = time.process_time(), []
    line = refusal(
        lambda: points.extend(point.resolved for point in incast.load(document).plan.points)
    )
    if not points:
        assert ": " in line, line
        assert "\n" not in line, line
        assert len(line) < 3000, line[:200]
    seconds = time.process_time() - start
    assert seconds < MOST_SECONDS, f"{seconds:.2f} s for {len(points)} points"
    for resolved in points[:3]:
        assert incast.load(resolved).plan.points[0].resolved == resolved
    return points


def see(number: int, document: object, judge: Any) -> Any:  # noqa: ANN401
    """Judge a document; after an unexpected exception, fail with the document's number and text."""
    try:
        return judge(document)
    except KeyboardInterrupt:
        raise
    except BaseException as escaped:  # noqa: BLE001 (a panic of the core is not an Exception)
        text = repr(document)
        pytest.fail(f"document {number}: {type(escaped).__name__}: {escaped}\n{text[:3000]}")


def peak() -> int:
    """Return the peak memory of this process in KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def test_documents_are_planned_or_refused_with_one_line_at_once() -> None:
    # The first plan imports modules, whose memory must not count.
    incast.load({"workload": {"servers": 1, "sru": 1}}).plan  # noqa: B018
    before, valid = peak(), 0
    for number, document in zip(range(CASES * 7 // 10), Documents(1), strict=False):
        valid += bool(see(number, document, planned))
    assert valid > CASES // 50, "some make sense"
    assert peak() - before < MOST_KIB


def test_toml_of_any_bytes_is_read_or_refused_with_its_name(tmp_path: Path) -> None:
    files = sorted(Path(__file__).parents[2].glob("scenarios/*.toml"))
    texts = [path.read_bytes() for path in files]
    draw = random.Random(2)
    path = tmp_path / "any.toml"

    def judge(data: bytes) -> None:
        path.write_bytes(data)
        line = refusal(lambda: planned(incast.load(path).document))
        assert line == "" or line.startswith(f"{path}: "), line

    for number in range(CASES // 10):
        see(number, spoilt(draw.choice(texts), draw), judge)


def spoilt(data: bytes, draw: random.Random) -> bytes:
    """Change some bytes of a text."""
    spoilt = bytearray(data)
    for _ in range(draw.choice([1, 1, 2, 5, 50])):
        at = draw.randrange(len(spoilt) + 1)
        what = draw.choice(
            [
                b"\xff",
                b"\x00",
                b"=",
                b"[",
                b"]",
                b'"',
                b"\n",
                b"9" * 5000,
                b"nan",
                b"-inf",
                b"1e999",
                b"[" * 500,
                b"{a=" * 300,
                b"2024-01-01",
                b"\xef\xbb\xbf",
            ]
        )
        end = at + draw.choice([0, 1, 1, 5, 50])
        spoilt[at:end] = draw.choice([what, what, b"", bytes([draw.randrange(256)])])
    return bytes(spoilt)


def test_overrides_are_applied_or_refused_with_one_line() -> None:
    documents = Documents(3)
    draw = documents.random

    def judge(change: str) -> None:
        scenario = incast.load({"workload": {"servers": 4, "sru": "64KiB"}, "background": []})
        line = refusal(lambda: planned(scenario.override(*parse(change)).document))
        assert "\n" not in line, line

    for number in range(CASES // 10):
        key = ".".join(draw.choice(documents.paths))
        key = draw.choice(
            [key, key, key, f"sweep.{key}", "a." * draw.choice([3, 30, 300]) + "a", ""]
        )
        value = documents.odd() if draw.random() < 0.5 else documents.fitting(key.split("."))
        try:
            text = draw.choice([str(value), json.dumps(value), repr(value)])
        except (ValueError, RecursionError):  # too large or too nested for Python to write
            text = draw.choice(["9" * 5000, "[" * 2000 + "]" * 2000, "{a=" * 2000])
        see(number, f"{key}={text}", judge)


def test_what_is_planned_runs_and_ends_when_it_is_told_to() -> None:
    documents, ran = Documents(4), 0
    for number in range(CASES // 10):
        document = documents.base()
        for _ in range(number % 3):
            documents.mutate(document)
        try:
            points = incast.load(document).plan.points
        except incast.ScenarioError:
            continue
        for point in points[:1]:
            if is_small(point.resolved):
                see(number, point.resolved, ends)
                ran += 1
    assert ran > CASES // 200


def is_small(resolved: dict[str, Any]) -> bool:
    """Whether the simulator quickly builds a network of this size."""
    hosts = resolved["workload"]["servers"] * resolved["workload"].get("flows", 1)
    hosts += resolved["network"]["clients"]
    for table in resolved["background"]:
        hosts += table.get("count", 1) * table.get("flows", 1)
    return bool(hosts <= 2000)


def ends(resolved: dict[str, Any]) -> None:
    """Run a point for 50 ms, then cancel it; the run must end within half a second."""
    control, outcome = _core.Control(), []

    def work() -> None:
        try:
            _core.run(_core.Scenario(json.dumps(resolved)), 1, [], control)
        except BaseException as escaped:  # noqa: BLE001 (the caller judges it)
            outcome.append(escaped)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(0.05)
    control.cancel()
    began = time.process_time()
    thread.join(30)
    seconds = time.process_time() - began
    assert not thread.is_alive(), "it never ends"
    assert seconds < 0.5, f"{seconds:.2f} s after it was cancelled"
    for escaped in outcome:
        if not isinstance(escaped, KeyboardInterrupt | incast.ScenarioError):
            raise escaped
