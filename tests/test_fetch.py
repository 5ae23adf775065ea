"""`incast fetch` on the command line, from a local server."""

import csv
import io
import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from conftest import Command

pytest.importorskip("aiohttp")
OBJECT = bytes(number % 251 for number in range(20_000))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path.endswith("missing"):
            self.send_error(404)
            return
        body, part = OBJECT, None
        if wanted := self.headers.get("Range"):
            first, _, last = wanted.removeprefix("bytes=").partition("-")
            body = OBJECT[int(first) : int(last) + 1 if last else None]
            part = f"bytes {first}-{int(first) + len(body) - 1}/{len(OBJECT)}"
        self.send_response(200 if part is None else 206)
        if part is not None:
            self.send_header("Content-Range", part)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def base() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_objects_are_read_and_kept_under_their_names(
    command: Command, base: str, tmp_path: Path
) -> None:
    told = command("fetch", f"{base}/a/one", f"{base}/b/two.bin?x=1", "--out", tmp_path / "new")
    assert (told.code, told.err) == (0, "")
    files = {it.name: it.read_bytes() for it in (tmp_path / "new").iterdir()}
    assert files == {"one": OBJECT, "two.bin": OBJECT}
    assert "2 of 2 pieces, 40 KB in " in told.out
    # The number of stalls depends on the load of the machine.
    assert (
        "; at most 4 answers at a time with windows of 5\N{NARROW NO-BREAK SPACE}792 B." in told.out
    )
    assert f"slowest {base}/" in told.out


def test_nothing_is_overwritten_unasked(command: Command, base: str, tmp_path: Path) -> None:
    (tmp_path / "one").write_text("mine")
    told = command("fetch", f"{base}/zero", f"{base}/one", "--out", tmp_path)
    assert told.code == 2
    expected = f"incast: {tmp_path}/one: already exists; give another --out, or --overwrite\n"
    assert told.err == expected
    assert [it.name for it in tmp_path.iterdir()] == ["one"]
    assert command("fetch", f"{base}/one", "--out", tmp_path, "--overwrite").code == 0
    assert (tmp_path / "one").read_bytes() == OBJECT


def test_names_that_several_addresses_share_have_the_host_before_them(
    command: Command, base: str, tmp_path: Path
) -> None:
    other = base.replace("127.0.0.1", "localhost")
    assert command("fetch", f"{base}/one", f"{other}/one", "--out", tmp_path).code == 0
    port = base.rpartition(":")[2]
    names = sorted(it.name for it in tmp_path.iterdir())
    assert names == [f"127.0.0.1-{port}_one", f"localhost-{port}_one"]
    told = command("fetch", f"{base}/one", f"{base}/x/one", "--out", tmp_path / "new")
    assert told.code == 2
    assert "another address would be saved in the same file" in told.err


def test_what_failed_is_named_and_the_rest_is_read(
    command: Command, base: str, tmp_path: Path
) -> None:
    told = command(
        "fetch", f"{base}/missing", f"{base}/one", f"{base}/also-missing", "--out", tmp_path
    )
    assert told.code == 2
    line = f"incast: {base}/missing: the server answers 404 Not Found; 2 of 3 failed\n"
    assert told.err == line
    assert "1 of 3 pieces" in told.out
    assert [it.name for it in tmp_path.iterdir()] == ["one"]


def test_ranges_for_programs(command: Command, base: str) -> None:
    told = command("fetch", f"{base}/one", "--range", "100-299", "-k", 2, "--format", "json")
    tree = json.loads(told.out)
    assert tree["pieces"][0]["bytes"] == tree["summary"]["bytes"] == 200
    assert tree["summary"]["slots"] == 2
    assert tree["summary"]["budget_bytes"] == 2 * 5792
    told = command("fetch", *[f"{base}/{it}" for it in "abc"], "--range", "19999-", "--format=csv")
    rows = list(csv.DictReader(io.StringIO(told.out)))
    assert [row["url"] for row in rows] == [f"{base}/{it} [19999:]" for it in "abc"]
    assert {row["bytes"] for row in rows} == {"1"}


def test_the_budget_is_shared_and_auto_begins_safe(command: Command, base: str) -> None:
    def plan(*options: object) -> list[object]:
        told = command("fetch", f"{base}/one", *options, "--format", "json")
        summary = json.loads(told.out)["summary"]
        return [summary[name] for name in ("slots", "window_bytes", "budget_bytes")]

    assert plan("--slots", 8, "--budget", "64KiB") == [8, 8192, 65536]
    assert plan("--window", "none") == [4, None, None]
    assert plan("--auto") == plan() == [4, 5792, 23168]
    assert plan("--auto", "--budget", "12KB") == [2, 5792, 11584]
    assert plan("--auto", "--window", "none") == [4, None, None]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nonsense"], "nonsense is not an address; must be http://… or https://…"),
        (["http://"], "http:// is not an address; must be http://… or https://…"),
        (["http://a", "--window", "4"], "4 is not a size; must be a number with a unit"),
        (["http://a", "--timeout", "0s"], "0s must be above 0"),
        (["http://a", "--slots", "0"], "greater than or equal to 1"),
        (
            ["http://a", "-k", "9", "--window", "8KiB", "--budget", "64KiB"],
            "9 windows of 8192 bytes do not fit into the budget of 65536; must be at most 7281",
        ),
        (
            ["http://a", "--auto", "-k", "2"],
            "cannot be combined with --auto, which learns the slots",
        ),
        (
            ["http://a", "--auto", "--window", "8KiB"],
            "cannot be combined with --auto, which learns the windows",
        ),
        (["http://a", "--range", "9-3"], "9-3 is not a range; must be FIRST-LAST in bytes"),
        (["http://a", "--overwrite"], "needs --out DIR"),
        (["http://a", "--out", __file__], "is a file; --out must be a directory"),
    ],
)
def test_mistakes_are_one_line(command: Command, arguments: list[str], message: str) -> None:
    told = command("fetch", *arguments)
    assert (told.code, told.out) == (2, "")
    assert message in told.err
    assert told.err.count("\n") == 1


def test_without_the_package_it_names_the_extra(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "incast.client.http", raising=False)
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    told = command("fetch", "http://localhost/x")
    assert told.code == 2
    assert "pip install 'incast[client]'" in told.err
