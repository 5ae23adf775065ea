"""The names that scenarios and commands accept, by kind."""

import json
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from incast.models import Model

_CORE = (
    "transports",
    "congestion-controls",
    "recoveries",
    "remedies",
    "repairs",
    "rates",
    "paths",
    "credits",
    "nics",
    "queues",
    "buffers",
    "workloads",
    "topologies",
    "profiles",
)
KINDS = (*_CORE, "traces", "plots", "models", "scenarios")


@cache
def entries(kind: str) -> Sequence[dict[str, Any]]:
    """Return the entries of a kind: `name`, `summary` and `parameters`."""
    from incast import _core
    from incast.models import MODELS
    from incast.plots import KINDS as PLOTS
    from incast.results.traces import KINDS as TRACES
    from incast.scenario import shipped

    if kind == "traces":
        return [
            {"name": trace.name, "summary": trace.summary, "parameters": _columns(trace.table)}
            for trace in TRACES.values()
        ]
    if kind == "plots":
        return [
            {"name": plot.name, "summary": plot.summary, "parameters": {}}
            for plot in PLOTS.values()
        ]
    if kind == "models":
        return [
            {"name": model.name, "summary": model.summary, "parameters": _measures(model)}
            for model in MODELS.values()
        ]
    if kind == "scenarios":
        return [
            {"name": name, "summary": shipped.question(name), "parameters": {}}
            for name in shipped.names()
        ]
    found: list[dict[str, Any]] = json.loads(_core.entries(kind))
    return found


def _columns(table: str) -> dict[str, Any]:
    """Return the columns of a trace, with their units."""
    from incast import _core

    return {
        column["name"]: {"description": f"[{column['unit'] or 'text'}] {column['description']}"}
        for column in json.loads(_core.columns(table))
    }


def _measures(model: "Model") -> dict[str, Any]:
    """Return the columns that only this model predicts, with their units."""
    return {
        measure.name: {"description": f"[{measure.unit}] {measure.summary}"}
        for measure in model.measures
    }
