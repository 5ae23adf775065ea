"""The built page of the explorer, and a server for it on this machine."""

import base64
import json
import shutil
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socket import SHUT_RDWR
from threading import BoundedSemaphore, Lock
from types import TracebackType
from typing import Any, Self

from incast import scenario as scenarios
from incast.errors import ExploreError
from incast.userfile import text_of

_PAGE = Path(__file__).parent / "explorer"
_TYPES = {".js": "text/javascript", ".svg": "image/svg+xml", ".wasm": "application/wasm"}
# The page contains the same policy, too, for other servers, which do not send this header.
_POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src blob:; "
    "connect-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self'"
)
# Requests with other host names are refused: they may come from a site that uses DNS rebinding.
_OWN_NAMES = ("localhost", "127.0.0.1", "[::1]")
_AT_ONCE = 32  # connections; a browser opens six
_PATIENCE = 10.0  # seconds for a connection to send its request, or to read more of the answer


def page() -> Path:
    """Return the folder of the built page.

    Raises
    ------
    ExploreError
        This package was built without the page.
    """
    if not (_PAGE / "index.html").is_file():
        raise ExploreError(
            "explore: this package was built without the page; in a checkout, make explorer adds "
            "it (needs Node 20, and rustup target add wasm32-unknown-unknown)"
        )
    return _PAGE


def copy(folder: Path) -> None:
    """Copy the page into a new folder.

    Raises
    ------
    ExploreError
        The page is missing, or the folder exists already.
    """
    source = page()
    if folder.exists():
        raise ExploreError(f"{folder}: it exists; name a new folder")
    shutil.copytree(source, folder)


def fragment(scenario: Path) -> str:
    """Return the URL fragment with which the page opens a scenario.

    Raises
    ------
    ScenarioError
        The scenario has a mistake.
    """
    from incast.scenario import shipped

    scenarios.load(scenario)
    text = text_of(shipped.located(scenario))
    state = json.dumps({"s": [text]}).encode()
    return "#s=" + base64.urlsafe_b64encode(state).decode().rstrip("=")


class Server:
    """Serves the page to this machine only.

    Parameters
    ----------
    port
        The port; 0 selects a free port.

    Raises
    ------
    ExploreError
        The page is missing, or the port is in use.
    """

    def __init__(self, port: int) -> None:
        handler = partial(_Handler, directory=str(page()))
        try:
            self._server = _Bounded(("127.0.0.1", port), handler)
        except OSError as error:
            raise ExploreError(f"--port {port}: {error.strerror}; 0 uses a free port") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.server_close()

    @property
    def address(self) -> str:
        """The address of the page."""
        return f"http://127.0.0.1:{self._server.server_port}/"

    def serve(self) -> None:
        """Serve the page until `stop` or an interrupt."""
        self._server.serve_forever()

    def stop(self) -> None:
        """End `serve`; call this from another thread."""
        self._server.shutdown()


class _Bounded(ThreadingHTTPServer):
    """A server with few threads; if all are busy, a new connection ends the oldest connection."""

    request_queue_size = 128  # maximum number of connections that wait to be accepted

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._free = BoundedSemaphore(_AT_ONCE)
        self._lock = Lock()
        self._open: dict[Any, None] = {}  # connections, oldest first

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        """Start a thread; if no thread is free, end the oldest connection first."""
        if not self._free.acquire(blocking=False):
            self._end_the_oldest()
            if not self._free.acquire(timeout=_PATIENCE):
                self.shutdown_request(request)
                return
        with self._lock:
            self._open[request] = None
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._left(request)
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        """Answer one connection."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._left(request)

    def _end_the_oldest(self) -> None:
        """End the oldest connection. It is probably idle, because active connections end soon."""
        with self._lock:
            oldest = next(iter(self._open), None)
            if oldest is not None:
                del self._open[oldest]
                with suppress(OSError):
                    oldest.shutdown(SHUT_RDWR)

    def _left(self, request: Any) -> None:  # noqa: ANN401
        with self._lock:
            self._open.pop(request, None)
        self._free.release()

    def handle_error(self, request: object, client_address: object) -> None:
        """Print nothing: a broken connection does not matter to the user."""


class _Handler(SimpleHTTPRequestHandler):
    """Serves files with their types, and with headers that isolate the page."""

    extensions_map = SimpleHTTPRequestHandler.extensions_map | _TYPES
    timeout = _PATIENCE

    def send_head(self) -> Any:  # noqa: ANN401 (a file or None; the base class declares no type)
        """Find the file, if the request names this server as its host."""
        if not self._named_as_us():
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST, "The request names another server")
            return None
        if not self.translate_path(self.path).isprintable():
            self.send_error(HTTPStatus.NOT_FOUND)
            return None
        return super().send_head()

    def _named_as_us(self) -> bool:
        """Return whether the request's host is one of this server's own names."""
        names = self.headers.get_all("Host", [])
        if len(names) != 1:
            return False
        bound, port = self.connection.getsockname()[:2]
        own = {*_OWN_NAMES, bound}
        return names[0].strip().lower() in own | {f"{name}:{port}" for name in own}

    def end_headers(self) -> None:
        """Add the headers."""
        self.send_header("Content-Security-Policy", _POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        # The next version of the package has different files at the same addresses.
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the base's name)
        """Print nothing: only the address of the page is printed, not the requests."""
