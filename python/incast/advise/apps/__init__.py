"""The applications whose throttles `incast advise` knows, each in a file of its own."""

import copy
import re
from collections.abc import Sequence
from dataclasses import replace

from incast.advise.apps import ceph, grpc, hdfs, memcached, minio, nfs, ray, spark
from incast.advise.apps.app import App
from incast.errors import AdviceError
from incast.scenario import Scenario

_KNOWN = (
    *(spark.APP, ceph.APP, hdfs.APP, nfs.APP, memcached.APP),
    *(ray.APP, minio.APP, grpc.APP),
)
APPS = {one.name: one for one in _KNOWN}
"""Every application, by its name."""


def find(name: str) -> App:
    """Return the application with a given name.

    Raises
    ------
    AdviceError
        No application has this name.
    """
    if name not in APPS:
        raise AdviceError(f"--app: must be one of {', '.join(APPS)}, not {name!r}")
    return APPS[name]


def throttled(scenario: Scenario, app: App, settings: Sequence[str]) -> tuple[Scenario, list[str]]:
    """Return the scenario with an application's settings, and a note on each setting.

    Raises
    ------
    AdviceError
        A setting is unknown, or its value is neither a number nor a size.
    """
    notes = []
    for setting in settings:
        key, _, text = setting.partition("=")
        throttle = app.throttles.get(key.strip())
        if throttle is None:
            known = ", ".join(app.throttles)
            raise AdviceError(f"--throttle {setting!r}: must be a setting of {app.name}: {known}")
        value = _number(setting, text.strip())
        here = scenario.plan.points[-1].here
        bound = throttle.bound(value, here)
        for name, new in bound.changes(here).items():
            scenario = _changed(scenario, name, new)
        notes.append(f"{key.strip()} = {text.strip()}: {throttle.means}; {bound.words(here)}.")
    return scenario, notes


def _changed(scenario: Scenario, key: str, value: object) -> Scenario:
    """Return a scenario with another value of a key; the value None removes the key."""
    if value is not None:
        return scenario.override(key, value)
    document = copy.deepcopy(scenario.document)
    table, _, last = key.partition(".")
    if isinstance(document.get(table), dict):
        document[table].pop(last, None)
    return replace(scenario, document=document)


_SIZE = re.compile(r"([0-9]{1,15})([kmg]?)b?", re.IGNORECASE)
_SUFFIXES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def _number(setting: str, text: str) -> int:
    """Read a number, or a size as Java writes it, such as 48m."""
    found = _SIZE.fullmatch(text)
    value = int(found[1]) * _SUFFIXES[found[2].lower()] if found else 0
    if value < 1:
        raise AdviceError(f"--throttle {setting!r}: must be KEY=NUMBER, or a size such as 48m")
    return value
