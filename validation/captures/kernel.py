"""The part of the corpus that real hosts make, in namespaces, with tcpdump at three places.

The kernel counts the timeouts of each host, so their number is known, but not their times. The
capture at the client shows when the client's link was idle.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import time
from contextlib import ExitStack, contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from threading import Thread
from typing import TYPE_CHECKING, Any

import incast
from incast._core import FIRST_PORT, Namespace, Switch
from incast.live import counters
from incast.live.namespaces import inside
from incast.live.stack import Stack
from incast.live.star import Ends, Star, address
from validation.captures.frames import read
from validation.captures.truth import FEWEST

if TYPE_CHECKING:
    from collections.abc import Iterator

    from validation.captures.scenarios import Case, Document, View

_REQUEST = 64  # bytes
_SETTLED = 0.3  # seconds in which the last ACKs arrive and tcpdump reads them
_BETWEEN = 0.05  # seconds between two blocks
_DELAY = 50e-6  # delay of a link in seconds
_ROUND_TRIPS = 10  # a longer time without data is a wait, as in the simulator's `stalls`
_SMALL = 4096  # bytes of a receive buffer that limits the window


def lacks() -> str | None:
    """Return what this machine lacks, or None."""
    if shutil.which("tcpdump") is None:
        return "tcpdump is not installed"
    if not Path("/proc/self/ns/net").exists() or os.geteuid() != 0:
        return "network namespaces need Linux, and root"
    return None


def make(case: Case, directory: Path) -> list[Path]:
    """Write the captures of a case, and the truth of each; return the captures' files."""
    document = case.document
    servers = int(document["servers"])
    scenario = incast.load(_scenario(case))
    point = scenario.plan.points[0]
    hosts = list(range(1, servers + 1))
    paths = [directory / f"{case.name}-{number}.pcap" for number in range(len(case.views))]
    with Star(servers + 1, Stack.of(point.here), Ends(0, hosts)) as star, ExitStack() as stack:
        with inside(star.switch):
            switch = Switch(point.scenario, 1, star.interfaces)
        for view, path in zip(case.views, paths, strict=True):
            host, interface = _place(star, view)
            stack.enter_context(tcpdump(host, interface, path, "-s", str(view.snaplen)))
        blocks = _read(case, star)
        time.sleep(_SETTLED)
        switch.stop()
    add_idle(blocks, paths[0], address(0))
    for view, path in zip(case.views, paths, strict=True):
        told = {"file": path.name} | _truth(case, view, blocks)
        path.with_suffix(".json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return paths


def _scenario(case: Case) -> Document:
    """Return a scenario with the settings of the switch between the hosts, and of their TCP."""
    document = case.document
    delay = "2ms" if case.family == "window-limited" else f"{round(_DELAY * 1e6)}us"
    return {
        "profile": "linux",
        "network": {"rate": "100Mbps", "delay": delay, "buffer": document["buffer"]},
        "workload": {
            "name": "barrier-read",
            "servers": document["servers"],
            "sru": document["sru"],
            "connections": "persistent",
        },
        "transport": {"timestamps": document["timestamps"]},
        "run": {"seeds": [1]},
    }


def _place(star: Star, view: View) -> tuple[Namespace, str]:
    """Return the namespace and the interface of a view: a host's link, or all of the switch."""
    return {
        "client": (star.hosts[0], "eth0"),
        "switch": (star.switch, "any"),
        "server:0": (star.hosts[1], "eth0"),
    }[view.at]


@contextmanager
def tcpdump(host: Namespace, interface: str, path: Path, *more: str) -> Iterator[None]:
    """Capture at one interface of a host, or at all its interfaces (`any`)."""
    words = ["tcpdump", "-Z", "root", "-i", interface, "-w", str(path), *more]
    words += ["--time-stamp-precision=nano", "--immediate-mode", "-B", "16384", "tcp"]
    with inside(host):
        running = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    assert running.stderr is not None
    for line in running.stderr:
        if "listening on" in line:
            break
    try:
        yield
    finally:
        running.send_signal(signal.SIGINT)
        running.communicate()


class Server(Thread):
    """Answers each request with `size` bytes, after a pause."""

    def __init__(self, host: Namespace, place: tuple[str, int], size: int, pause: float) -> None:
        super().__init__(daemon=True)
        self.answer, self.pause = bytes(size), pause
        with inside(host):
            self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind(place)
        self.listener.listen()

    def run(self) -> None:
        """Serve one connection until it ends."""
        one, _ = self.listener.accept()
        self.listener.close()
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with one, suppress(ConnectionError):  # raised if the client closed the connection early
            while one.recv(_REQUEST, socket.MSG_WAITALL):
                time.sleep(self.pause)
                one.sendall(self.answer)


def _read(case: Case, star: Star) -> list[dict[str, Any]]:
    """Let the hosts run a case; return the times of each block, and the kernel's counts."""
    document, numbers = case.document, range(1, int(case.document["servers"]) + 1)
    size, pause = int(document["sru"]), float(document["pause"])
    slow = case.family == "slow-server"
    for number in numbers:
        late = pause if slow and number == 1 else 0
        Server(star.hosts[number], _socket(number), size, late).start()
    connections = [_connect(case, star, number) for number in numbers]
    blocks = []
    for _ in range(int(document["blocks"])):
        before = [counters.count([star.hosts[number]]) for number in numbers]
        start = time.time()
        if case.family == "one-by-one":
            for one in connections:
                fetch([one], size, 0)
        else:
            fetch(connections, size, pause if case.family == "zero-window" else 0)
        end = time.time()
        after = [counters.count([star.hosts[number]]) for number in numbers]
        grown = [now - then for now, then in zip(after, before, strict=True)]
        blocks.append({"start": start, "end": end, "counted": grown})
        time.sleep(_BETWEEN)
    for one in connections:
        one.close()
    return blocks


def _socket(number: int) -> tuple[str, int]:
    return address(number), FIRST_PORT + number - 1


def _connect(case: Case, star: Star, number: int) -> socket.socket:
    with inside(star.hosts[0]):
        one = socket.socket()
    if case.family in ("zero-window", "window-limited"):
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _SMALL)
    one.connect(_socket(number))
    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return one


def fetch(connections: list[socket.socket], size: int, pause: float, longest: float = 60.0) -> None:
    """Send a request on every connection; after a pause, read for at most `longest` seconds."""
    end = time.monotonic() + longest
    for one in connections:
        one.sendall(bytes(_REQUEST))
    time.sleep(pause)
    left = dict.fromkeys(connections, size)
    with DefaultSelector() as selector:
        for one in connections:
            selector.register(one, EVENT_READ, one)
        while left and time.monotonic() < end:
            for key, _ in selector.select(0.1):
                ready: socket.socket = key.data
                left[ready] -= len(ready.recv(left[ready]))
                if not left[ready]:
                    selector.unregister(ready)
                    del left[ready]


def add_idle(blocks: list[dict[str, Any]], client: Path, receiver: str) -> None:
    """Add to each block the longest time in which the client received no data."""
    arrivals = [one.time for one in read(client) if one.target == receiver and one.payload]
    for block in blocks:
        here = [at for at in arrivals if block["start"] <= at <= block["end"]]
        times = [block["start"], *here]
        block["idle"] = max(after - before for before, after in pairwise(times))


def repairs(counted: dict[str, int]) -> int:
    """Return the number of timeouts and probes whose data had not arrived before (RFC 2883)."""
    sent = counted["TCPTimeouts"] + counted["TCPLossProbes"]
    return max(sent - counted["TCPDSACKRecv"], 0)


def _truth(case: Case, view: View, blocks: list[dict[str, Any]]) -> dict[str, Any]:
    servers = int(case.document["servers"])
    stalls, episodes = [], []
    for number, block in enumerate(blocks):
        late = [at for at, counted in enumerate(block["counted"]) if repairs(counted)]
        here = {"block": number, "start": block["start"], "end": block["end"]}
        stalls += [
            here
            | {
                "server": address(at + 1),
                "client": address(0),
                "cause": None,
                "repairs": repairs(block["counted"][at]),
            }
            for at in late
        ]
        waited = late and block["idle"] > _ROUND_TRIPS * 4 * _DELAY
        if case.family == "incast" and servers >= FEWEST and waited:
            stalled = [address(at + 1) for at in late]
            episodes.append(here | {"receiver": address(0), "fan_in": servers, "stalled": stalled})
    return {
        "scenario": case.name,
        "source": "kernel",
        "seed": view.seed,
        "snaplen": view.snaplen,
        "offload": False,
        "lost_by_capture": 0,
        "family": case.family,
        "look_alike": None if case.family in ("incast", "healthy") else case.family,
        "episodes": episodes,
        "stalls": stalls,
        "other_waits": [],
        "servers": servers,
        "server": address(1),
        "vantage": view.at,
        "document": case.document,
    }
