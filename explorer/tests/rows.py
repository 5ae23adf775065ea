"""Print, as JSON, 50 scenarios, each with the rows that the command line prints.

The scenarios cover every transport and profile, some topologies and queue disciplines, a shared
buffer, and background traffic.
"""

import contextlib
import io
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from incast import _core
from incast.cli import main


def scenarios() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name of each scenario, and its changes to the base scenario."""
    for entry in json.loads(_core.entries("transports")):
        if entry["family"] == "tcp":  # the page refuses other families
            yield f'transport = "{entry["name"]}"', {"transport": {"name": entry["name"]}}
    for profile in ("lab", "linux", "linux-dctcp", "ns2", "ns3", "rfc"):
        yield f'profile = "{profile}"', {"profile": profile}
    for topology in ("two-tier", "leaf-spine"):
        yield f'network.topology = "{topology}"', {"network": {"topology": topology}}
    for queue in ("red", "codel", "bernoulli"):
        yield f'network.queue = "{queue}"', {"network": {"queue": queue}}
    shared = {"name": "dynamic", "total": "256KiB", "alpha": 1}
    yield "a shared buffer", {"network": {"buffer": shared}}
    poisson = {"name": "poisson", "rate": "300Mbps"}
    yield "background", {"background": [poisson]}
    yield "new connections", {"workload": {"connections": "fresh"}, "run": {"seeds": 2}}


def whole(change: dict[str, Any]) -> dict[str, Any]:
    """Return the base scenario, a short read, with a change."""
    base = {
        "network": {"rate": "1Gbps", "delay": "25us", "buffer": "64KiB"},
        "workload": {"servers": 20, "sru": "32KiB", "blocks": 2, "request_jitter": "20us"},
    }
    tables = {key: value for key, value in change.items() if key in base}
    return {**base, **change, **{key: base[key] | value for key, value in tables.items()}}


def rows(file: Path) -> list[dict[str, Any]]:
    """Return the rows that the command line prints."""
    printed = io.StringIO()
    sys.argv = ["incast", "run", str(file), "--format", "json"]
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        main()
    return json.loads(printed.getvalue())["rows"]


def toml(tree: dict[str, Any]) -> str:
    """Return a tree as TOML. All values except tables are written as in JSON."""

    def value(of: object) -> str:
        if isinstance(of, dict):
            return "{ " + ", ".join(f"{key} = {value(one)}" for key, one in of.items()) + " }"
        if isinstance(of, list):
            return "[" + ", ".join(map(value, of)) + "]"
        return json.dumps(of)

    return "\n".join(f"{key} = {value(of)}" for key, of in tree.items())


def told() -> Iterator[dict[str, Any]]:
    """Yield each scenario with its rows."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scenario.toml"
        for name, change in scenarios():
            tree = whole(change) | {"run": {"seeds": 1} | change.get("run", {})}
            text = toml(tree)
            file.write_text(text, "utf-8")
            yield {"name": name, "document": tree, "toml": text, "rows": rows(file)}


print(json.dumps(list(told())))
