"""A table of fan-in: a CSV file with time, flows and bytes per bin, as a sampler writes it.

The bins with the most flows are the bursts. The bursts give the number of servers and the bytes per
server.
"""

import csv
import io
from statistics import median

from incast import units
from incast.advise.readers.taken import Taken, refused
from incast.advise.readers.words import decimal

NAME = "fan-in table"
_NAMES = {
    "time": {"time", "time_s", "time_ms", "time_us", "timestamp", "t"},
    "flows": {"flows", "fan_in", "connections", "conns", "active_flows"},
    "bytes": {"bytes", "ingress_bytes", "rx_bytes", "in_bytes"},
}
_BURSTS = 0.99  # a burst has more flows than this share of the bins
_MOST_FLOWS = 1e6  # the largest number of servers in a scenario
_MOST_BYTES = 1e12
_MOST = (1e18, _MOST_FLOWS, _MOST_BYTES)  # the largest value of each column
_LONGEST = 2000  # characters: the maximum length of the line with the column names


def recognises(text: str) -> bool:
    """Return whether the first line of a file names the three columns."""
    head = {word.strip().lower() for word in text[:_LONGEST].partition("\n")[0].split(",")}
    return all(head & names for names in _NAMES.values())


def read(text: str, where: str) -> Taken:
    """Read the table of a file.

    Raises
    ------
    AdviceError
        A line has no numbers in the three columns, or no bin has a flow.
    """
    rows = csv.reader(io.StringIO(text))
    bins = []
    try:
        at = _columns(next(rows), where)
        bins = [_bin(row, at, where, rows.line_num) for row in rows if row]
    except csv.Error as error:  # e.g. a field without an end
        raise refused(where, rows.line_num, f"is not CSV: {error}") from None
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


def _columns(row: list[str], where: str) -> list[int]:
    """Return the indices of the three columns; refuse a first line without the three names."""
    head = [word.strip().lower() for word in row]
    at = [[i for i, word in enumerate(head) if word in names] for names in _NAMES.values()]
    if not all(at):
        raise refused(where, 1, f"must name the columns {', '.join(_NAMES)}, without quotes")
    return [places[0] for places in at]


def _bin(row: list[str], at: list[int], where: str, number: int) -> tuple[float, float]:
    """Return the flows and bytes of a line; check that the time is a number, too."""
    words = [row[place].strip() if place < len(row) else "" for place in at]
    values = [
        decimal(word.removeprefix("-") if place == 0 else word, 0, most)
        for place, (word, most) in enumerate(zip(words, _MOST, strict=True))
    ]
    _, flows, size = values
    if flows is None or size is None or None in values:
        said = ",".join(row)[:40]
        columns = ", ".join(_NAMES)
        raise refused(
            where,
            number,
            f"{said!r} must have numbers for {columns}, up to {_MOST_FLOWS:.0e} flows and "
            f"{_MOST_BYTES:.0e} bytes",
        )
    return flows, size
