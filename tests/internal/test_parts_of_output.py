"""Details of tables, files and manifests: headings, cells, groups, the engine's version."""

import re

import polars as pl

import incast
from conftest import document
from incast import _core
from incast.results.frames import harmless
from incast.scenario.facts import of_plan
from incast.scenario.resolved import Resolved


def test_headings_tell_what_all_points_share() -> None:
    shared = document(sweep={"network.buffer.alpha": [1, 2]})
    shared["network"]["buffer"] = {"name": "dynamic", "total": "4MiB"}
    assert of_plan(incast.load(shared).plan) == (
        "1 Gbps, 4 servers, SRU 16 KiB, newreno, profile lab, RTO min 10 ms"
    )
    divided = document(sweep={"workload.servers": [2, 4]})
    divided["workload"] |= {"sru": None, "block": "64KiB"}
    assert ", block 64 KiB, newreno" in of_plan(incast.load(divided).plan)
    crossed = document()
    crossed["workload"] = {"name": "long-flows", "servers": 2, "duration": "1s", "to": [1, 0]}
    crossed["network"]["clients"] = 2
    assert of_plan(incast.load(crossed).plan).startswith("2 × 1 Gbps, ")


def test_only_formulas_are_marked() -> None:
    text = ["=1", "@x", "+x", "-", "\tx", "-2ms", "+.5", "3", "a=b", "", None]
    frame = pl.DataFrame({"a": text, "b": range(len(text))})
    marked = [f"'{cell}" for cell in text[:5]] + text[5:]
    assert harmless(frame)["a"].to_list() == marked
    assert harmless(frame)["b"].equals(frame["b"])


def test_groups_are_known_before_anything_runs() -> None:
    named = [{"name": "cbr", "rate": "10Mbps"}, {"name": "long-flow", "group": "backup"}]
    plan = incast.load(document() | {"background": named}).plan
    assert Resolved(plan.points[0].resolved).groups == ["all", "background.0.cbr", "backup"]


def test_the_engine_is_named_by_the_version_and_its_sources() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+\+[0-9a-f]{16}", _core.version())
    assert _core.version().startswith(f"{incast.__version__}+")
