"""Facts of a scenario: the core returns the facts that the stub declares."""

import ast
from pathlib import Path

import incast
from conftest import document
from incast import _core


def test_the_stub_names_the_facts_and_their_types() -> None:
    stub = Path(_core.__file__).parent / "_core.pyi"
    classes = {
        it.name: it for it in ast.parse(stub.read_text()).body if isinstance(it, ast.ClassDef)
    }
    named = {
        ast.unparse(it.target): ast.unparse(it.annotation)
        for it in classes["Facts"].body
        if isinstance(it, ast.AnnAssign)
    }
    point = incast.load(document()).plan.points[0]
    facts = point.here.facts
    assert list(facts) == list(named)
    for name, value in facts.items():
        told = "None" if value is None else type(value).__name__
        assert told in named[name], name


def test_a_point_that_was_kept_tells_what_the_plan_told() -> None:
    plan = incast.load(document()).override("transport.name", "dctcp").plan
    kept = type(plan).from_tree(plan.to_dict(), plan.engine)
    assert kept.points[0].ready is None
    assert kept.points[0].here.facts == plan.points[0].here.facts
    rows = [_core.run(it.points[0].scenario, 3)["rows"][0] for it in (plan, kept)]
    assert rows[0]["goodput_bps"] == rows[1]["goodput_bps"]
