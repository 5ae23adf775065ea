"""`incast explore`: the page, served to this machine."""

import base64
import json
import threading
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path

import pytest

from conftest import SMALL, Command
from incast import explore
from incast.errors import ExploreError


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a page that stands in for the built one."""
    folder = tmp_path / "page"
    folder.mkdir()
    (folder / "index.html").write_text("<title>incast explorer</title>", "utf-8")
    (folder / "engine.wasm").write_bytes(b"\0asm")
    monkeypatch.setattr(explore, "_PAGE", folder)
    return folder


@pytest.fixture
def server(page: Path) -> Iterator[explore.Server]:
    """Yield a server that is serving."""
    with explore.Server(0) as server:
        thread = threading.Thread(target=server.serve)
        thread.start()
        yield server
        server.stop()
        thread.join()


def get(server: explore.Server, path: str) -> tuple[int, dict[str, str], bytes]:
    connection = HTTPConnection(server.address.removeprefix("http://").rstrip("/"))
    connection.request("GET", path)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, dict(answer.getheaders()), body


def test_the_page_is_served_with_its_policy(server: explore.Server) -> None:
    assert server.address.startswith("http://127.0.0.1:")
    status, headers, body = get(server, "/")
    assert (status, body) == (200, b"<title>incast explorer</title>")
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    _, headers, _ = get(server, "/engine.wasm")
    assert headers["Content-type"] == "application/wasm"
    assert get(server, "/../conftest.py")[0] == 404


def test_a_port_in_use_is_one_line(server: explore.Server) -> None:
    port = int(server.address.rstrip("/").rpartition(":")[2])
    with pytest.raises(ExploreError, match=f"--port {port}: .* in use; 0 takes a free one"):
        explore.Server(port)


def test_a_package_without_the_page_says_so(
    command: Command, page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(explore, "_PAGE", page / "none")
    failed = command("explore", "--no-browser")
    assert failed.code == 2
    assert failed.err == (
        "incast: explore: this package was built without the page; in a checkout, make explorer "
        "adds it there, and make wheel makes a package that has it\n"
    )


def test_a_copy_for_a_web_server(command: Command, page: Path, tmp_path: Path) -> None:
    copied = tmp_path / "public"
    assert command("explore", "--out", str(copied)).code == 0
    assert (copied / "engine.wasm").read_bytes() == b"\0asm"
    again = command("explore", "--out", str(copied))
    assert (again.code, again.err) == (2, f"incast: {copied}: it exists; name a new folder\n")


def test_an_address_that_opens_a_scenario(page: Path, tmp_path: Path) -> None:
    file = tmp_path / "read.toml"
    file.write_text(SMALL, "utf-8")
    name, _, packed = explore.fragment(file).partition("=")
    state = json.loads(base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)))
    assert (name, state) == ("#s", {"s": [SMALL]})
    assert explore.fragment(Path("storage-read")).startswith("#s=")


def test_a_wrong_scenario_is_refused_before_the_page_opens(command: Command, page: Path) -> None:
    failed = command("explore", "nowhere.toml", "--no-browser")
    assert failed.code == 2
    assert failed.err.startswith("incast: nowhere.toml: No such file")
