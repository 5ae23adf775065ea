"""nginx in every server's namespace of a star, each with a file to read."""

from __future__ import annotations

import shutil
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from validation.client import star

if TYPE_CHECKING:
    from collections.abc import Iterator

CONFIGURATION = """
user root;
daemon off;
master_process off;
error_log stderr crit;
pid {folder}/pid;
events {{ worker_connections 64; }}
http {{
    access_log off;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000;
    client_body_temp_path {folder}/a;
    proxy_temp_path {folder}/b;
    fastcgi_temp_path {folder}/c;
    scgi_temp_path {folder}/d;
    uwsgi_temp_path {folder}/e;
    server {{
        listen 80;
        root {files};
    }}
}}
"""
"""Debian's own settings where they matter: `sendfile`, `tcp_nopush`, 65 s of keep-alive."""
PATIENCE = 10.0  # seconds for nginx to come up


@contextmanager
def nginx(servers: int, folder: Path, size: int) -> Iterator[list[str]]:
    """Run nginx in the namespaces `s0`, `s1`, …; yield the addresses of a file on each.

    Parameters
    ----------
    servers
        How many.
    folder
        Where files and configurations go.
    size
        Bytes of the file.
    """
    files = folder / "files"
    files.mkdir()
    (files / "piece").write_bytes(bytes(size))
    started = []
    try:
        for number in range(servers):
            own = folder / f"s{number}"
            own.mkdir()
            (own / "conf").write_text(CONFIGURATION.format(folder=own, files=files))
            with star.within(f"s{number}"):
                command = ["nginx", "-p", str(own), "-c", str(own / "conf")]
                started.append(subprocess.Popen(command))
        for number in range(servers):
            _wait(number)
        yield [f"http://{star.address(number)}/piece" for number in range(servers)]
    finally:
        for process in started:
            process.kill()
            process.wait()


def _wait(number: int) -> None:
    end = time.monotonic() + PATIENCE
    with star.within(f"s{number}"):
        while ":0050 " not in Path("/proc/thread-self/net/tcp").read_text():
            if time.monotonic() > end:
                raise TimeoutError(f"nginx of server {number} does not listen")
            time.sleep(0.01)


def missing() -> str | None:
    """Return what this machine lacks for servers, or None."""
    return None if shutil.which("nginx") else "no nginx here"
