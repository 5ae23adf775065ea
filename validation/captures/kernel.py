"""The part of the corpus that real hosts make: namespaces, and tcpdump at three places.

The times of timeouts are not known here, but their number: the kernel counts them for each host.
When the client's link was idle, the capture at the client says.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import time
from contextlib import ExitStack, contextmanager
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
_DELAY = 50e-6  # seconds, of a link
_ROUND_TRIPS = 10  # without data in a block that waited, as in the simulator's `stalls`
_SMALL = 4096  # bytes of a receive buffer that limits the window


def lacks() -> str | None:
    """Say what this machine lacks, if anything."""
    if shutil.which("tcpdump") is None:
        return "tcpdump is not installed"
    if not Path("/proc/self/ns/net").exists() or os.geteuid() != 0:
        return "network namespaces need Linux, and root"
    return None


def make(case: Case, directory: Path) -> list[Path]:
    """Write the captures of a case, each with its truth beside it; return their files."""
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
            stack.enter_context(_tcpdump(star, view, path))
        blocks = _read(case, star)
        time.sleep(_SETTLED)
        switch.stop()
    _add_idle(blocks, paths[0])
    for view, path in zip(case.views, paths, strict=True):
        told = {"file": path.name} | _truth(case, view, blocks)
        path.with_suffix(".json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return paths


def _scenario(case: Case) -> Document:
    """Return the scenario of the switch between the hosts, and of their TCP."""
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


@contextmanager
def _tcpdump(star: Star, view: View, path: Path) -> Iterator[None]:
    """Capture at a place: the link of a host, or what enters the switch from all of them."""
    place, interface = {
        "client": (star.hosts[0], "eth0"),
        "switch": (star.switch, "any"),
        "server:0": (star.hosts[1], "eth0"),
    }[view.at]
    words = ["tcpdump", "-Z", "root", "-i", interface, "-s", str(view.snaplen), "-w", str(path)]
    words += ["--time-stamp-precision=nano", "--immediate-mode", "-B", "16384", "tcp"]
    with inside(place):
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


class _Server(Thread):
    """Answers each request by `size` bytes, after a pause."""

    def __init__(self, host: Namespace, number: int, size: int, pause: float) -> None:
        super().__init__(daemon=True)
        self.answer, self.pause = bytes(size), pause
        with inside(host):
            self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind((address(number), FIRST_PORT + number - 1))
        self.listener.listen()

    def run(self) -> None:
        """Serve one connection to its end."""
        one, _ = self.listener.accept()
        self.listener.close()
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with one:
            while one.recv(_REQUEST, socket.MSG_WAITALL):
                time.sleep(self.pause)
                one.sendall(self.answer)


def _read(case: Case, star: Star) -> list[dict[str, Any]]:
    """Let the hosts do what the case says; return when each block was, and its timeouts."""
    document, numbers = case.document, range(1, int(case.document["servers"]) + 1)
    size, pause = int(document["sru"]), float(document["pause"])
    slow = case.family == "slow-server"
    for number in numbers:
        _Server(star.hosts[number], number, size, pause if slow and number == 1 else 0).start()
    connections = [_connect(case, star, number) for number in numbers]
    blocks = []
    for _ in range(int(document["blocks"])):
        before = [counters.count([star.hosts[number]]) for number in numbers]
        start = time.time()
        if case.family == "one-by-one":
            for one in connections:
                _fetch([one], size, 0)
        else:
            _fetch(connections, size, pause if case.family == "zero-window" else 0)
        end = time.time()
        after = [counters.count([star.hosts[number]]) for number in numbers]
        grown = [now - then for now, then in zip(after, before, strict=True)]
        blocks.append({"start": start, "end": end, "counted": grown})
        time.sleep(_BETWEEN)
    for one in connections:
        one.close()
    return blocks


def _connect(case: Case, star: Star, number: int) -> socket.socket:
    with inside(star.hosts[0]):
        one = socket.socket()
    if case.family in ("zero-window", "window-limited"):
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _SMALL)
    one.connect((address(number), FIRST_PORT + number - 1))
    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return one


def _fetch(connections: list[socket.socket], size: int, pause: float) -> None:
    """Ask on all connections at once, and read the answers after a pause."""
    for one in connections:
        one.sendall(bytes(_REQUEST))
    time.sleep(pause)
    left = dict.fromkeys(connections, size)
    with DefaultSelector() as selector:
        for one in connections:
            selector.register(one, EVENT_READ, one)
        while left:
            for key, _ in selector.select():
                ready: socket.socket = key.data
                left[ready] -= len(ready.recv(left[ready]))
                if not left[ready]:
                    selector.unregister(ready)
                    del left[ready]


def _add_idle(blocks: list[dict[str, Any]], client: Path) -> None:
    """Add to each block the longest time in which the client got no data."""
    arrivals = [one.time for one in read(client) if one.target == address(0) and one.payload]
    for block in blocks:
        here = [at for at in arrivals if block["start"] <= at <= block["end"]]
        times = [block["start"], *here]
        block["idle"] = max(after - before for before, after in pairwise(times))


def _repairs(counted: dict[str, int]) -> int:
    """Return the timers and probes, without those that sent what had arrived (RFC 2883)."""
    sent = counted["TCPTimeouts"] + counted["TCPLossProbes"]
    return max(sent - counted["TCPDSACKRecv"], 0)


def _truth(case: Case, view: View, blocks: list[dict[str, Any]]) -> dict[str, Any]:
    servers = int(case.document["servers"])
    stalls, episodes = [], []
    for number, block in enumerate(blocks):
        late = [at for at, counted in enumerate(block["counted"]) if _repairs(counted)]
        here = {"block": number, "start": block["start"], "end": block["end"]}
        stalls += [
            here
            | {
                "server": address(at + 1),
                "client": address(0),
                "cause": None,
                "repairs": _repairs(block["counted"][at]),
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
