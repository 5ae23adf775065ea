"""Add scenarios to the corpus. This command adds 400:

PYTHONPATH=tests/internal python tests/internal/corpus/draw.py 400

Run this when scenarios have a new key, or a registry has a new entry. The script first adds
scenarios with every key and every entry, then random scenarios. The present scenarios and their
hashes stay unchanged.
"""

import gzip
import itertools
import json
import random
import sys
from collections.abc import Iterator

from knob_walk import Document, around, keys, others, put, scenarios, table

import incast
from corpus import DOCUMENTS, Case, cases, hashes, outcome, write_hashes
from incast import _core
from incast.sweep.work import packets

PROFILES = ["lab", "linux", "linux-dctcp", "ns2", "ns3", "rfc"]
TRACES = [
    [],
    ["events"],
    ["queue"],
    ["cwnd"],
    ["events", "cwnd:full", "queue:full"],
    [],
]
MOST_PACKETS = 20_000
OWN: Document = {
    key: given
    for name in ("network", "traffic", "transport", "parts", "remedies")
    for key, given in table(name).items()
}
BASES = scenarios()


def knobs() -> Iterator[tuple[str, Document, object]]:
    """Yield every key, with scenarios in which it may have an effect, and values to try."""
    for key, about in keys().items():
        if own := OWN.get(key):
            yield key, around(key, own, BASES[own.get("in", "collapse")]), own["is"]
        else:
            for value, base in itertools.product(list(others(about))[:3], ("collapse", "again")):
                yield key, around(key, {}, BASES[base]), value


def transports() -> list[str]:
    """Return the names of TCP's transports."""
    found = json.loads(_core.entries("transports"))
    return [one["name"] for one in found if one["family"] == "tcp"]


def families() -> Iterator[Document]:
    """Yield scenarios with transports of other families, and with every part of them."""
    found = json.loads(_core.entries("transports"))
    parts = {
        key: [None, *(one["name"] for one in json.loads(_core.entries(kind)))]
        for key, kind in (("repair", "repairs"), ("paths", "paths"), ("nic", "nics"))
    }
    for name in (one["name"] for one in found if one["family"] != "tcp"):
        for workload, *chosen in itertools.product(WORKLOADS[:4], *parts.values()):
            transport = {"name": name, **dict(zip(parts, chosen, strict=True))}
            network = {
                "buffer": "24KiB",
                "clients": 2,
                "topology": {"name": "leaf-spine", "leaves": 2, "spines": 3},
            }
            yield {
                "network": network,
                "workload": workload,
                "transport": transport,
                "run": {"time_limit": "2s", "seeds": [3]},
            }


def systematic() -> Iterator[Document]:
    """Yield scenarios with every key, and with every transport in every profile."""
    for key, document, value in knobs():
        yield put(document, key, value)
    for profile, name in itertools.product(PROFILES, transports()):
        base = BASES[("collapse", "again", "lossy")[len(name) % 3]]
        yield put(base, "transport.name", name) | {"profile": profile}


WORKLOADS: list[Document] = [
    {"name": "barrier-read", "servers": 5, "sru": "24KiB", "blocks": 2},
    {
        "name": "barrier-read",
        "servers": 9,
        "sru": "10KiB",
        "blocks": 3,
        "connections": "persistent",
    },
    {"name": "barrier-read", "servers": 4, "sru": "8KiB", "blocks": 3, "client": 1},
    {"name": "barrier-read", "servers": 3, "sru": "30KiB", "duration": "30ms", "interval": "5ms"},
    {"name": "all-to-all", "message": "8KiB", "rounds": 2, "start_spread": "10us"},
    {"name": "long-flows", "servers": 2, "duration": "15ms"},
    {"name": "empirical-flows", "servers": 4, "sizes": "websearch.csv", "flows": 20},
]
LINUX: list[tuple[str, list[object]]] = [
    ("transport.name", ["cubic", "newreno", "reno", "bbr", "dctcp", "sack"]),
    ("transport.sack", [True, False]),
    ("transport.timestamps", [True, False]),
    ("transport.delayed_ack", [False, {"segments": 2, "timeout": "4ms"}]),
    ("transport.segmentation_offload", ["off", "64KiB", "16KiB"]),
    ("transport.receive_offload", [True, False]),
    ("transport.undo", ["linux", "off"]),
    ("transport.idle_restart", ["rfc2861", "none"]),
    ("transport.receive_window", ["64KiB", "20seg"]),
    ("transport.rto_min", ["5ms", "20ms"]),
    ("transport.send_jitter", ["3us"]),
    ("workload.handshakes", ["before"]),
    ("workload.request_spread", ["100us"]),
    ("workload.start_spread", ["20us"]),
    ("workload.servers", [3, 8, 20]),
    ("workload.sru", ["6KiB", "40KiB", "100KiB"]),
    ("network.buffer", ["16KiB", "20pkt", "64KiB"]),
    ("network.rate", ["100Mbps", "1Gbps", "10Gbps"]),
    ("network.clock_noise", ["1us"]),
]
PLACES = [
    "client",
    "switch",
    "server:0",
    "server:1",
    "client+truth",
    "switch+truth",
    "client+offload",
]


def later(seed: int) -> Iterator[tuple[Document, str]]:
    """Yield random scenarios: half have several workloads, half use Linux; 40 % are captured."""
    draw = random.Random(seed)
    usual = {"run": {"time_limit": "2s", "seeds": [3]}, "network": {"buffer": "24KiB"}}
    timers = dict(BASES["collapse"]["transport"])
    for number in itertools.count():
        if number % 2:
            document: Document = {**usual, "profile": draw.choice(PROFILES), "transport": timers}
            tables = [dict(table) for table in draw.sample(WORKLOADS, k=draw.choice([2, 2, 3]))]
            for table in tables:
                if draw.random() < 0.4:
                    table["transport"] = {**timers, "name": draw.choice(transports())}
            network = {**usual["network"], "clients": 2}
            if draw.random() < 0.3:
                network["topology"] = {"name": "two-tier", "racks": 2}
            document |= {"workload": tables, "network": network}
        else:
            document = BASES[draw.choice(["collapse", "again", "lossy", "marks"])]
            for key, values in draw.sample(LINUX, k=draw.choice([2, 3, 5])):
                document = put(document, key, draw.choice(values))
            document |= {"profile": draw.choice(["linux", "linux", "linux-dctcp"])}
        yield document, draw.choice(PLACES) if draw.random() < 0.4 else ""


def usable(document: Document) -> bool:
    """Return whether a document is a valid scenario with short runs."""
    try:
        points = incast.load(document).plan.points
    except (incast.ScenarioError, KeyError, TypeError, AttributeError):
        return False
    return len(points) <= 2 and sum(packets(point.here) for point in points) < MOST_PACKETS


def _written(case: Case) -> Document:
    told = dict(vars(case))
    if not case.capture:
        del told["capture"]
    return told


def main() -> int:
    """Draw and run scenarios; write the documents and the hashes of their results."""
    kept = cases()
    more = int(sys.argv[1])
    seen = {json.dumps(case.document) for case in kept}
    new: list[Case] = []
    keys_and_entries = ((document, "") for document in (*families(), *systematic()))
    for document, capture in itertools.chain(keys_and_entries, later(len(kept))):
        if len(new) >= more:
            break
        text = json.dumps(document)
        if text in seen or not usable(document):
            continue
        seen.add(text)
        new.append(Case(document, TRACES[len(new) % len(TRACES)], capture))
    lines = "".join(json.dumps(_written(case)) + "\n" for case in [*kept, *new])
    DOCUMENTS.write_bytes(gzip.compress(lines.encode(), mtime=0))
    write_hashes([*hashes(), *map(outcome, new)])
    sys.stdout.write(f"{len(new)} scenarios more, {DOCUMENTS.stat().st_size} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
