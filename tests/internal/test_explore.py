"""`incast explore`: the page, which is served to this machine only."""

import base64
import json
import select
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
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
    yield from serving()


def serving() -> Iterator[explore.Server]:
    """Serve the page in a thread, until the test ends."""
    with explore.Server(0) as server:
        thread = threading.Thread(target=server.serve)
        thread.start()
        yield server
        server.stop()
        thread.join()


def get(
    server: explore.Server, path: str, host: str | None = None
) -> tuple[int, dict[str, str], bytes]:
    connection = HTTPConnection(server.address.removeprefix("http://").rstrip("/"))
    connection.request("GET", path, headers={} if host is None else {"Host": host})
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


@pytest.mark.parametrize("host", ["localhost", "LocalHost:{port}", "[::1]:{port}", "127.0.0.1"])
def test_it_answers_to_its_own_names(server: explore.Server, host: str) -> None:
    port = server.address.rstrip("/").rpartition(":")[2]
    assert get(server, "/", host.format(port=port))[0] == 200


@pytest.mark.parametrize(
    "host", ["rebound.example", "rebound.example:{port}", "localhost.example", "127.0.0.1:1", ""]
)
def test_other_names_are_not_answered(server: explore.Server, host: str) -> None:
    port = server.address.rstrip("/").rpartition(":")[2]
    status, _, body = get(server, "/", host.format(port=port))
    assert status == 421
    assert b"incast explorer" not in body


@pytest.mark.parametrize("path", ["/%00", "/a%00/index.html", "/%ff%0a", "/%E0%80%80"])
def test_a_strange_path_is_not_found(
    server: explore.Server, path: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert get(server, path)[0] == 404
    assert capfd.readouterr() == ("", "")


def test_idle_connections_take_few_threads_and_end(
    page: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(explore._Handler, "timeout", 0.5)
    before = threading.active_count()
    with explore.Server(0) as server:
        thread = threading.Thread(target=server.serve)
        thread.start()
        port = int(server.address.rstrip("/").rpartition(":")[2])
        idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(100)]
        ended = [one.recv(1) for one in idle]  # closed immediately, or after the timeout
        most = threading.active_count() - before - 1
        assert ended == [b""] * 100
        assert most <= explore._AT_ONCE
        assert get(server, "/")[0] == 200
        for one in idle:
            one.close()
        server.stop()
        thread.join()
    assert capfd.readouterr() == ("", "")


LONG = bytes(1 << 25)
"""The content of a file that is larger than the socket buffers of a connection."""


@pytest.fixture
def patient(page: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[explore.Server]:
    """Yield a server whose timeout is too long to end a connection during a test."""
    monkeypatch.setattr(explore._Handler, "timeout", 300.0)
    (page / "long").write_bytes(LONG)
    yield from serving()


def connected(server: explore.Server, stack: ExitStack, sent: bytes) -> socket.socket:
    """Open a connection, and send some bytes."""
    port = int(server.address.rstrip("/").rpartition(":")[2])
    connection = stack.enter_context(socket.create_connection(("127.0.0.1", port), 60))
    connection.sendall(sent)
    return connection


REQUEST = b"GET /long HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.mark.parametrize("sent", [b"", REQUEST[:8], REQUEST[:-2], REQUEST])
def test_a_reader_takes_the_place_of_the_oldest_connection(
    patient: explore.Server, sent: bytes
) -> None:
    before = threading.active_count()
    with ExitStack() as stack:
        slow = [connected(patient, stack, sent) for _ in range(explore._AT_ONCE)]
        if sent == REQUEST:
            assert [one.recv(1) for one in slow] == [b"H"] * len(slow)
        for _ in range(5):
            assert get(patient, "/")[0] == 200
        assert threading.active_count() - before <= explore._AT_ONCE
        assert read_to_the_end(slow[0]) < len(LONG)
        if sent == REQUEST:
            assert read_to_the_end(slow[-1]) > len(LONG)
        else:
            assert select.select([slow[-1]], [], [], 0) == ([], [], [])


def read_to_the_end(connection: socket.socket) -> int:
    """Read until the connection ends; return the number of bytes."""
    number = 0
    with suppress(ConnectionResetError):
        while data := connection.recv(1 << 16):
            number += len(data)
    return number


def test_a_port_in_use_is_one_line(server: explore.Server) -> None:
    port = int(server.address.rstrip("/").rpartition(":")[2])
    with pytest.raises(ExploreError, match=f"--port {port}: .* in use; 0 uses a free port"):
        explore.Server(port)


def test_a_package_without_the_page_says_so(
    command: Command, page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(explore, "_PAGE", page / "none")
    failed = command("explore", "--no-browser")
    assert failed.code == 2
    assert failed.err == (
        "incast: explore: this package was built without the page; in a checkout, make explorer "
        "adds it (needs Node 20, and rustup target add wasm32-unknown-unknown)\n"
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
