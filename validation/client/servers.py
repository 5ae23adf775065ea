"""nginx on every server of a star; each server has a file to read."""

from __future__ import annotations

import shutil
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from incast.live.namespaces import inside
from incast.live.star import address

if TYPE_CHECKING:
    from collections.abc import Iterator

    from incast._core import Namespace
    from incast.live.star import Star

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
"""A configuration with Debian's settings that matter here: `sendfile`, `tcp_nopush`, keep-alive."""
PATIENCE = 10.0  # seconds for nginx to start


@contextmanager
def nginx(star: Star, folder: Path, size: int) -> Iterator[list[str]]:
    """Run nginx on every host but the first; yield the URL of the file on each host.

    Parameters
    ----------
    star
        The star of the hosts.
    folder
        Folder for files and configurations.
    size
        Bytes of the file.
    """
    files = folder / "files"
    files.mkdir()
    (files / "piece").write_bytes(bytes(size))
    started = []
    try:
        for number, host in enumerate(star.hosts[1:], start=1):
            own = folder / str(number)
            own.mkdir()
            (own / "conf").write_text(CONFIGURATION.format(folder=own, files=files))
            with inside(host):
                command = ["nginx", "-p", str(own), "-c", str(own / "conf")]
                started.append(subprocess.Popen(command))
        for host in star.hosts[1:]:
            _wait(host)
        yield [f"http://{address(number)}/piece" for number in range(1, len(star.hosts))]
    finally:
        for process in started:
            process.kill()
            process.wait()


def _wait(host: Namespace) -> None:
    end = time.monotonic() + PATIENCE
    with inside(host):
        while ":0050 " not in Path("/proc/thread-self/net/tcp").read_text():
            if time.monotonic() > end:
                raise TimeoutError("nginx does not listen")
            time.sleep(0.01)


def missing() -> str | None:
    """Return what this machine lacks for servers, or None."""
    return None if shutil.which("nginx") else "nginx is not installed"
