"""A table of fan-in: a CSV file with time, flows and bytes per bin, as ms-bin samplers write it.

The bins with the most flows are the bursts; of them come the number of servers and the bytes of
each.
"""

import csv
import io
from statistics import median

from incast import units
from incast.advise.readers.taken import Taken, refused

NAME = "fan-in table"
_NAMES = {
    "time": {"time", "time_s", "time_ms", "time_us", "timestamp", "t"},
    "flows": {"flows", "fan_in", "connections", "conns", "active_flows"},
    "bytes": {"bytes", "ingress_bytes", "rx_bytes", "in_bytes"},
}
_BURSTS = 0.99  # share of the bins that have fewer flows


def recognises(text: str) -> bool:
    """Return whether the first line names the three columns."""
    head = {word.strip().lower() for word in text.splitlines()[0].split(",")} if text else set()
    return all(head & names for names in _NAMES.values())


def read(text: str, where: str) -> Taken:
    """Read it.

    Raises
    ------
    AdviceError
        A line has no numbers in these columns, or no bin has a flow.
    """
    rows = csv.reader(io.StringIO(text))
    head = [word.strip().lower() for word in next(rows)]
    places = {
        column: next(i for i, word in enumerate(head) if word in names)
        for column, names in _NAMES.items()
    }
    bins = []
    for row in rows:
        number = rows.line_num
        if not row:
            continue
        try:
            flows, size = (float(row[places[column]]) for column in ("flows", "bytes"))
            float(row[places["time"]])
        except (ValueError, IndexError):
            said = ",".join(row)[:40]
            raise refused(where, number, f"{said!r} must have numbers for {head}") from None
        if flows < 0 or size < 0:
            raise refused(where, number, "flows and bytes must not be negative")
        bins.append((flows, size))
    busy = sorted(one for one in bins if one[0] >= 1)
    if not busy:
        raise refused(where, 1, "no bin has a flow")
    least = busy[min(int(len(busy) * _BURSTS), len(busy) - 1)][0]
    bursts = [one for one in busy if one[0] >= least]
    servers = round(max(flows for flows, _ in bursts))
    each = max(round(median(size / flows for flows, size in bursts)), 1)
    taken = Taken()
    taken.take(
        f"{len(bins)} bins; the largest burst has {units.plural(servers, 'flow')}, with "
        f"{units.size(each)} each.",
        workload__servers=servers,
        workload__sru=each,
        workload__block=None,
    )
    taken.assumed.append("A burst is one read, and ends within its bin.")
    return taken
