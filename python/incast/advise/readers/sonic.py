"""A SONiC `config_db.json`: speed of ports, buffers, dynamic thresholds, WRED and ECN profiles.

Source: SONiC's Configuration.md and YANG models (`incast.advise.sonic_schema`). `PORT.speed` is in
Mbit/s. `BUFFER_POOL.size`, `BUFFER_PROFILE.static_th` and the thresholds of `WRED_PROFILE` are in
bytes. `dynamic_th` is the exponent n of alpha = 2^n.
"""

import json
from collections import Counter
from math import inf
from typing import Any

from incast import units
from incast.advise.readers.sonic_marks import USED, marks
from incast.advise.readers.sonic_rows import (
    LARGEST,
    lossless_queues,
    number,
    queues,
    row_of,
    wrong,
)
from incast.advise.readers.taken import Taken, refused
from incast.advise.readers.words import shown
from incast.advise.sonic_schema import EXPONENT
from incast.errors import AdviceError

NAME = "SONiC config_db.json"
_KNOWN = {"PORT", "BUFFER_POOL", "BUFFER_PROFILE", "WRED_PROFILE"}
_FASTEST_MBPS = 10_000_000


def recognises(text: str) -> bool:
    """Return whether a file is a JSON object, as a configuration of SONiC is."""
    return text.lstrip()[:1] == "{"


def read(text: str, where: str) -> Taken:
    """Read the configuration in a file.

    Raises
    ------
    AdviceError
        The file is not JSON, has none of the tables that this reader needs, or has a value that is
        not valid.
    """
    try:
        tables = json.loads(text)
    except json.JSONDecodeError as error:
        raise refused(where, error.lineno, f"not JSON: {error.msg}") from None
    except (ValueError, RecursionError):  # numbers too long, tables too deep
        raise AdviceError(
            f"{where}: not JSON that can be read: numbers are too long, or tables too deep"
        ) from None
    if not isinstance(tables, dict) or _KNOWN.isdisjoint(tables):
        raise AdviceError(f"{where}: must contain one of the tables {', '.join(sorted(_KNOWN))}")
    for name in sorted((_KNOWN | USED).intersection(tables)):
        rows = tables[name]
        if not isinstance(rows, dict) or not all(isinstance(row, dict) for row in rows.values()):
            raise AdviceError(f"{where}: {name}: must be a table of tables")
    taken = Taken()
    _speed(taken, tables.get("PORT", {}), where)
    profile, longest = _buffer(taken, tables, where)
    marks(taken, tables, profile, longest, where)
    return taken


def _speed(taken: Taken, ports: dict[str, Any], where: str) -> None:
    speeds = Counter(
        number(where, ("PORT", name, "speed"), port["speed"], _FASTEST_MBPS)
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


def _buffer(taken: Taken, tables: dict[str, Any], where: str) -> tuple[str, float]:
    """Take the buffer of lossy queues: a dynamic threshold on its pool, or a fixed size.

    Returns
    -------
    str
        The name of the profile, empty if there is none.
    float
        The longest queue that the profile allows, in bytes.
    """
    name = _lossy(tables)
    if not name:
        return "", inf
    profile = tables["BUFFER_PROFILE"][name]
    path = ("BUFFER_PROFILE", name)
    if "static_th" in profile:
        size = number(where, (*path, "static_th"), profile["static_th"], LARGEST)
        taken.take(f"Queues of {shown(name)} hold {units.size(size)}.", network__buffer=f"{size}B")
        return name, size
    exponent = str(profile["dynamic_th"])
    if why := EXPONENT.wrong(exponent):
        raise wrong(where, (*path, "dynamic_th"), exponent, why)
    pool = row_of(profile.get("pool", ""))
    pools = tables.get("BUFFER_POOL", {})
    if pool not in pools or "size" not in pools[pool]:
        raise wrong(where, (*path, "pool"), pool, "must be a BUFFER_POOL with a size")
    total = number(where, ("BUFFER_POOL", pool, "size"), pools[pool]["size"], LARGEST)
    alpha = f"2^{int(exponent)}"
    taken.take(
        f"Queues of {shown(name)} share {units.size(total)} with alpha = {alpha}.",
        network__buffer={"name": "dynamic", "total": f"{total}B", "alpha": alpha},
    )
    taken.assumed.append("No other port of the switch is congested, and no memory is reserved.")
    # A single queue grows until it is alpha times the free memory: T = alpha (total - T).
    share = 2.0 ** int(exponent)
    return name, total * share / (1 + share)


def _lossy(tables: dict[str, Any]) -> str:
    """Return the profile of the queues that carry TCP: the lossy profile that most queues have."""
    profiles = [
        name
        for name, profile in tables.get("BUFFER_PROFILE", {}).items()
        if ("dynamic_th" in profile or "static_th" in profile) and "lossless" not in name.lower()
    ]
    lossless = lossless_queues(tables)
    used = Counter(
        row_of(row.get("profile", ""))
        for queue, row in queues(tables.get("BUFFER_QUEUE", {}))
        if queue not in lossless
    )
    egress = [name for name in profiles if "egress" in name and "lossy" in name]
    names = [name for name in profiles if used[name]] or egress or profiles
    return max(names, key=lambda name: used[name], default="")
