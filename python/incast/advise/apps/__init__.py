"""Applications whose throttles are known by name: one file each, one line here."""

from collections.abc import Sequence

from incast import units
from incast.advise.apps import ceph, hdfs, memcached, nfs, spark
from incast.advise.apps.app import App
from incast.errors import AdviceError
from incast.scenario import Scenario

_KNOWN = (spark.APP, ceph.APP, hdfs.APP, nfs.APP, memcached.APP)
APPS = {one.name: one for one in _KNOWN}
"""Every application, by its name."""


def find(name: str) -> App:
    """Return an application.

    Raises
    ------
    AdviceError
        It is not known.
    """
    if name not in APPS:
        raise AdviceError(f"--app: must be one of {', '.join(APPS)}, not {name!r}")
    return APPS[name]


def throttled(scenario: Scenario, app: App, settings: Sequence[str]) -> tuple[Scenario, list[str]]:
    """Return the scenario with an application's own settings in it, and what they mean.

    Raises
    ------
    AdviceError
        A setting is not known, or its value is no number or size.
    """
    notes = []
    for setting in settings:
        key, _, text = setting.partition("=")
        throttle = app.throttles.get(key.strip())
        if throttle is None:
            known = ", ".join(app.throttles)
            raise AdviceError(f"--throttle {setting!r}: {app.name} has {known}")
        value = _number(setting, text.strip())
        for name, new in throttle.changes(value).items():
            scenario = scenario.override(name, new)
        notes.append(f"{key.strip()} = {text.strip()}: {throttle.means}.")
    return scenario, notes


def _number(setting: str, text: str) -> int:
    """Read a number, or a size as Java writes it: 48m."""
    if text.isdigit() and int(text) > 0:
        return int(text)
    suffix = {"k": "KiB", "m": "MiB", "g": "GiB"}.get(text[-1:].lower())
    try:
        value = int(units.quantity(text[:-1] + suffix, "size")) if suffix else 0
    except units.QuantityError:
        value = 0
    if value < 1:
        raise AdviceError(f"--throttle {setting!r}: must be KEY=NUMBER, or a size such as 48m")
    return value
