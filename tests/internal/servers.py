"""A server on loopback that answers correctly, or with one of many kinds of errors.

The first part of the URL's path names the behaviour, e.g. `http://127.0.0.1:PORT/short/x`. The
expected results are in `test_fetch_servers.py`.
"""

import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

OBJECT = bytes(number % 251 for number in range(5000))
Behaviour = Callable[[socket.socket, dict[str, str]], None]
_SILENCE = 20.0  # seconds; longer than any time limit of a test


def answer(
    *head: str,
    status: str = "200 OK",
    body: bytes = OBJECT,
    length: bool = True,
    ends: Callable[[socket.socket], None] | None = None,
) -> Behaviour:
    """Return a behaviour: send a head and a body, and end the connection."""

    def behave(connection: socket.socket, _: dict[str, str]) -> None:
        # Without this header, the client would keep the connection and use it for another piece.
        lines = [f"HTTP/1.1 {status}", "Connection: close", *head]
        if length:
            lines.append(f"Content-Length: {len(body)}")
        connection.sendall("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body)
        (ends or close)(connection)

    return behave


def raw(data: bytes, ends: Callable[[socket.socket], None] | None = None) -> Behaviour:
    """Return a behaviour: send these bytes."""

    def behave(connection: socket.socket, _: dict[str, str]) -> None:
        connection.sendall(data)
        (ends or close)(connection)

    return behave


def close(connection: socket.socket) -> None:
    """Close a connection with a FIN."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_WR)
        connection.settimeout(1)
        while connection.recv(4096):
            pass


def reset(connection: socket.socket) -> None:
    """Close a connection with a RST, after the client has read the sent bytes."""
    time.sleep(0.1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def wait(connection: socket.socket) -> None:
    """Send nothing more, and wait until the client closes the connection."""
    connection.settimeout(_SILENCE)
    with suppress(OSError):
        while connection.recv(4096):
            pass


def part(told: str, body: bytes, *head: str) -> Behaviour:
    """Return a behaviour: send a part of the object, with `told` as its Content-Range."""
    return answer(f"Content-Range: {told}", *head, status="206 Partial Content", body=body)


def drip(connection: socket.socket, _: dict[str, str]) -> None:
    """Send a byte every tenth of a second."""
    connection.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {len(OBJECT)}\r\n\r\n".encode())
    with suppress(OSError):
        for number in range(len(OBJECT)):
            connection.sendall(OBJECT[number : number + 1])
            time.sleep(0.1)


def endless(head: bytes, chunk: bytes) -> Behaviour:
    """Return a behaviour: send an answer that never ends."""

    def behave(connection: socket.socket, _: dict[str, str]) -> None:
        with suppress(OSError):
            connection.sendall(head)
            while True:
                connection.sendall(chunk)

    return behave


def good(connection: socket.socket, head: dict[str, str]) -> None:
    """Serve the object and its ranges correctly."""
    wanted = head.get("range")
    if wanted is None:
        return answer()(connection, head)
    first, _, last = wanted.removeprefix("bytes=").partition("-")
    start, stop = int(first), min(int(last) + 1 if last else len(OBJECT), len(OBJECT))
    told = f"bytes {start}-{stop - 1}/{len(OBJECT)}"
    return part(told, OBJECT[start:stop])(connection, head)


def once_more(connection: socket.socket, head: dict[str, str]) -> None:
    """Cut the answer to the first request, and serve another object at the second request."""
    once_more.asked = getattr(once_more, "asked", 0) + 1  # type: ignore[attr-defined]
    if once_more.asked % 2:  # type: ignore[attr-defined]
        return answer("Content-Length: 5000", body=OBJECT[:2000], length=False)(connection, head)
    return answer(body=b"n" * 5000)(connection, head)


CHUNKED = "Transfer-Encoding: chunked"
LOCATION = "Location: "
BEHAVIOURS: dict[str, Behaviour] = {
    "good": good,
    # Statuses
    **{
        f"status-{told.split()[0]}": answer(status=told, body=b"why")
        for told in (
            "201 Created",
            "202 Accepted",
            "203 Non-Authoritative",
            "226 IM Used",
            "299 Odd",
            "300 Multiple Choices",
            "400 Bad Request",
            "401 Unauthorized",
            "403 Forbidden",
            "404 Not Found",
            "416 Range Not Satisfiable",
            "429 Too Many Requests",
            "500 Internal Server Error",
            "503 Service Unavailable",
            "999 Odd",
        )
    },
    "status-204": answer(status="204 No Content", body=b"", length=False),
    "status-205": answer(status="205 Reset Content", body=b""),
    "status-304": answer(status="304 Not Modified", body=b"", length=False),
    "status-101": answer("Upgrade: x", status="101 Switching", body=b""),
    "status-000": raw(b"HTTP/1.1 000 Zero\r\nContent-Length: 3\r\n\r\nabc"),
    "status-none": raw(b"HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"),
    "long-reason": answer(status="404 " + "x\x1b[31m" * 500, body=b""),
    # Ranges
    "part-unasked": part("bytes 0-99/5000", OBJECT[:100]),
    "part-other": part("bytes 5-104/5000", OBJECT[5:105]),
    "part-short": part("bytes 0-49/5000", OBJECT[:50]),
    "part-long": part("bytes 0-149/5000", OBJECT[:150]),
    "part-lies": part("bytes 0-99/5000", OBJECT[:50]),
    "part-backwards": part("bytes 100-99/5000", b""),
    "part-without": answer(status="206 Partial Content", body=OBJECT[:100]),
    "part-nonsense": part("bytes zero-99/5000", OBJECT[:100]),
    "part-units": part("items 0-99/5000", OBJECT[:100]),
    "part-twice": part("bytes 0-99/5000", OBJECT[:100], "Content-Range: bytes 0-99/6000"),
    "part-many": answer(
        "Content-Type: multipart/byteranges; boundary=x",
        status="206 Partial Content",
        body=b"--x\r\nContent-Range: bytes 0-99/5000\r\n\r\n" + OBJECT[:100] + b"\r\n--x--\r\n",
    ),
    "part-star": part("bytes 0-99/*", OBJECT[:100]),
    "part-whole": answer(),
    # Lengths
    "short": answer("Content-Length: 5000", body=OBJECT[:3000], length=False),
    "short-reset": answer("Content-Length: 5000", body=OBJECT[:3000], length=False, ends=reset),
    "long": answer("Content-Length: 3000", length=False),
    "two-lengths": answer("Content-Length: 3000", "Content-Length: 5000", length=False),
    "negative-length": answer("Content-Length: -5", length=False),
    "word-length": answer("Content-Length: many", length=False),
    "huge-length": answer(f"Content-Length: {'9' * 30}", length=False),
    "length-and-chunks": answer(CHUNKED, body=b"3\r\nabc\r\n0\r\n\r\n"),
    "no-length": answer(length=False),
    "no-length-reset": answer(length=False, ends=reset),
    "empty": answer(body=b""),
    # Chunks
    "chunks": answer(CHUNKED, body=b"1388\r\n" + OBJECT + b"\r\n0\r\n\r\n", length=False),
    "chunks-cut": answer(CHUNKED, body=b"1388\r\n" + OBJECT[:9], length=False),
    "chunks-without-end": answer(CHUNKED, body=b"1388\r\n" + OBJECT + b"\r\n", length=False),
    "chunks-bad": answer(CHUNKED, body=b"xyz\r\nabc\r\n0\r\n\r\n", length=False),
    "chunks-reset": answer(CHUNKED, body=b"3\r\nabc\r\n", length=False, ends=reset),
    # Encodings
    "gzip": answer("Content-Encoding: gzip"),
    "brotli": answer("Content-Encoding: br"),
    "odd-encoding": answer("Content-Encoding: \x1b[31m" + "x" * 2000),
    "identity": answer("Content-Encoding: identity"),
    # Redirects
    "to-good": answer(LOCATION + "/good/x", status="302 Found", body=b""),
    "to-nowhere": answer(status="302 Found", body=b""),
    "to-itself": answer(LOCATION + "/to-itself/x", status="307 Temporary", body=b""),
    "to-long-host": answer(LOCATION + "http://" + "a" * 300 + "/", status="302 Found", body=b""),
    "to-odd-host": answer(LOCATION + "http://a..b/", status="302 Found", body=b""),
    "to-odd-port": answer(LOCATION + "http://127.0.0.1:99999/", status="302 Found", body=b""),
    "to-short-host": answer(LOCATION + "http://127.1:1/", status="302 Found", body=b""),
    "to-mail": answer(LOCATION + "mailto:x@example.com", status="302 Found", body=b""),
    "to-file": answer(LOCATION + "file:///etc/passwd", status="302 Found", body=b""),
    "to-blank": answer(LOCATION + "", status="302 Found", body=b""),
    # Answers that are not HTTP
    "garbage": raw(b"\x00\xff garbage \x1b[31m\r\n\r\n"),
    "garbage-head": raw(b"HTTP/1.1 200 OK\r\nno colon here\r\n\r\nabc"),
    "ssh": raw(b"SSH-2.0-OpenSSH_9.2\r\n"),
    "closes": raw(b""),
    "resets": raw(b"", ends=reset),
    "half-head": raw(b"HTTP/1.1 200 OK\r\nContent-Le"),
    # Answers that do not end
    "silent": raw(b"", ends=wait),
    "half-silent": answer("Content-Length: 5000", body=OBJECT[:3000], length=False, ends=wait),
    "drip": drip,
    "endless-head": endless(b"HTTP/1.1 200 OK\r\n", b"X-More: " + b"x" * 60_000 + b"\r\n"),
    "endless-body": endless(b"HTTP/1.1 200 OK\r\n\r\n", bytes(65_536)),
    "endless-chunks": endless(
        b"HTTP/1.1 200 OK\r\n" + CHUNKED.encode() + b"\r\n\r\n", b"400\r\n" + bytes(1024) + b"\r\n"
    ),
    "other-object": once_more,
}


def _serve(connection: socket.socket) -> None:
    with connection:
        connection.settimeout(_SILENCE)
        head = b""
        while b"\r\n\r\n" not in head:
            data = connection.recv(4096)
            if not data:
                return
            head += data
        first, *lines = head.decode("latin-1").split("\r\n")
        method, path, _ = first.split(" ", 2)
        fields = {
            name.lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines)
        }
        name = path.split("/")[1]
        if method == "HEAD" and name == "silent":
            wait(connection)
        elif method == "HEAD":
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        else:
            BEHAVIOURS[name](connection, fields)


@contextmanager
def serving() -> Iterator[str]:
    """Serve on a free port of loopback; yield the address."""
    with socket.create_server(("127.0.0.1", 0), backlog=200) as listener:

        def accept() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=_quietly, args=(connection,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)


def _quietly(connection: socket.socket) -> None:
    with suppress(OSError):
        _serve(connection)
