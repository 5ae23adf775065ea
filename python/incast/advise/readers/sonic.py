"""A SONiC `config_db.json`: speed of ports, buffers, dynamic thresholds, WRED and ECN profiles.

Source: SONiC's Configuration.md and YANG models: `PORT.speed` in Mbit/s, `BUFFER_POOL.size` and
`BUFFER_PROFILE.static_th` in bytes, `dynamic_th` the exponent of alpha = 2^n, thresholds of
`WRED_PROFILE` in bytes (`incast.advise.sonic_schema`).
"""

import json
from collections import Counter
from typing import Any

from incast import units
from incast.advise.readers.taken import Taken, refused
from incast.advise.sonic_schema import ECN, EXPONENT
from incast.errors import AdviceError

NAME = "SONiC config_db.json"


def recognises(text: str) -> bool:
    """Return whether a text is such a configuration."""
    return text.lstrip().startswith("{")


def read(text: str, where: str) -> Taken:
    """Read it.

    Raises
    ------
    AdviceError
        It is not JSON, has no table that counts here, or a value is not valid.
    """
    try:
        tables = json.loads(text)
    except json.JSONDecodeError as error:
        raise refused(where, error.lineno, f"not JSON: {error.msg}") from None
    known = {"PORT", "BUFFER_POOL", "BUFFER_PROFILE", "WRED_PROFILE"}
    if not isinstance(tables, dict) or not known & set(tables):
        raise AdviceError(f"{where}: no table of {', '.join(sorted(known))}")
    for name in known & set(tables):
        rows = tables[name]
        if not isinstance(rows, dict) or not all(isinstance(row, dict) for row in rows.values()):
            raise AdviceError(f"{where}: {name}: must be a table of tables")
    taken = Taken()
    _speed(taken, tables.get("PORT", {}), where)
    _buffer(taken, tables, where)
    _marks(taken, tables, where)
    return taken


def _whole(where: str, path: str, value: object, least: int = 1) -> int:
    """Read a whole number, which SONiC writes as text.

    Raises
    ------
    AdviceError
        It is none, or too small.
    """
    try:
        number = int(str(value))
    except ValueError:
        number = least - 1
    if number < least:
        raise AdviceError(f"{where}: {path} = {value!r}: must be a whole number from {least} on")
    return number


def _speed(taken: Taken, ports: dict[str, Any], where: str) -> None:
    speeds = Counter(
        _whole(where, f"PORT|{name}|speed", port["speed"])
        for name, port in ports.items()
        if "speed" in port
    )
    if not speeds:
        return
    usual, count = speeds.most_common(1)[0]
    taken.take(
        f"{count} of {sum(speeds.values())} ports have {units.rate(usual * 1e6)}.",
        network__rate=f"{usual}Mbps",
    )
    if len(speeds) > 1:
        taken.assumed.append("Client and servers are at ports of the most frequent speed.")


def _buffer(taken: Taken, tables: dict[str, Any], where: str) -> None:
    """Take the buffer of lossy queues: a dynamic threshold on its pool, or a fixed size."""
    profiles = {
        name: profile
        for name, profile in tables.get("BUFFER_PROFILE", {}).items()
        if "dynamic_th" in profile or "static_th" in profile
    }
    name = next((it for it in profiles if "egress" in it and "lossy" in it), None)
    name = name or next((it for it in profiles if "lossless" not in it), None)
    if name is None:
        return
    profile, path = profiles[name], f"BUFFER_PROFILE|{name}"
    if "static_th" in profile:
        size = _whole(where, f"{path}|static_th", profile["static_th"])
        taken.take(f"Queues of {name} hold {units.size(size)}.", network__buffer=f"{size}B")
        return
    exponent = str(profile["dynamic_th"])
    if why := EXPONENT.wrong(exponent):
        raise AdviceError(f"{where}: {path}|dynamic_th = {exponent!r}: {why}")
    pool = str(profile.get("pool", "")).strip("[]").removeprefix("BUFFER_POOL|")
    pools = tables.get("BUFFER_POOL", {})
    if pool not in pools or "size" not in pools[pool]:
        raise AdviceError(f"{where}: {path}|pool = {pool!r}: must be a BUFFER_POOL with a size")
    total = _whole(where, f"BUFFER_POOL|{pool}|size", pools[pool]["size"])
    taken.take(
        f"Queues of {name} share {units.size(total)} with alpha = 2^{exponent}.",
        network__buffer={"name": "dynamic", "total": f"{total}B", "alpha": f"2^{exponent}"},
    )
    taken.assumed.append("No other port of the switch is congested; reserves are left out.")


def _marks(taken: Taken, tables: dict[str, Any], where: str) -> None:
    """Take the threshold of marks where a queue uses a profile with ECN."""
    used = {
        str(queue.get("wred_profile", "")).strip("[]").removeprefix("WRED_PROFILE|")
        for queue in tables.get("QUEUE", {}).values()
        if isinstance(queue, dict)
    }
    for name, profile in tables.get("WRED_PROFILE", {}).items():
        path = f"WRED_PROFILE|{name}"
        ecn = profile.get("ecn", "ecn_none")
        if why := ECN.wrong(str(ecn)):
            raise AdviceError(f"{where}: {path}|ecn = {ecn!r}: {why}")
        if ecn == "ecn_none" or (used - {""} and name not in used):
            continue
        threshold = profile.get("green_min_threshold")
        if threshold is None:
            continue
        size = _whole(where, f"{path}|green_min_threshold", threshold)
        taken.take(
            f"{name} marks from {units.size(size)} on.",
            network__queue={"name": "ecn-threshold", "threshold": f"{size}B"},
        )
        taken.assumed.append("Everything beyond the lower threshold is marked.")
        return
