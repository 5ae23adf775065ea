"""`tc -s qdisc`: the packets that the queues of a host dropped and marked.

Source: tc(8). A queue has a line `qdisc KIND …`, and indented lines with its counters.
"""

import re

from incast.advise.readers.taken import Taken, refused
from incast.advise.readers.words import listed

NAME = "tc -s qdisc"
_KIND = re.compile(r"[A-Za-z0-9_]{1,32}")
_COUNT = re.compile(r"\b(dropped|overlimits|requeues|ecn_mark|marked|drop_overlimit) ([0-9]{1,20})")
_DEVICE = re.compile(r" dev ([^ ]{1,32})")
_BOUND = re.compile(r" maxrate ([0-9A-Za-z.]{1,20})")


def recognises(text: str) -> bool:
    """Return whether a file is a list of queues."""
    return text.lstrip().startswith("qdisc ")


def read(text: str, where: str) -> Taken:
    """Read the queues of a file.

    Raises
    ------
    AdviceError
        A line is not a queue, or counters come before the first queue. The message gives the number
        of the line.
    """
    found: list[tuple[str, dict[str, int]]] = []
    bounds: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        words = line.split(None, 2)
        if not words:
            continue
        if not line[0].isspace():
            if words[0] != "qdisc" or len(words) < 2 or not _KIND.fullmatch(words[1]):  # noqa: PLR2004
                raise refused(where, number, f"{line.strip()[:40]!r} is not a queue of tc -s qdisc")
            device = _DEVICE.search(line)
            found.append((f"{words[1]}@{device[1]}" if device else words[1], {}))
            bounds += _BOUND.findall(line)
        elif not found:
            raise refused(where, number, "has counters, but no queue is above them")
        else:
            counts = found[-1][1]
            for name, text_of_it in _COUNT.findall(line):
                counts[name] = counts.get(name, 0) + int(text_of_it)
    taken = Taken()
    _tell(taken, found, bounds)
    return taken


def _tell(taken: Taken, found: list[tuple[str, dict[str, int]]], bounds: list[str]) -> None:
    """Add sentences on the queues, and on the packets that they dropped or marked."""
    taken.took.append(f"Queues of this host: {listed([name for name, _ in found])}.")
    if lost := _counted(found, "dropped"):
        taken.took.append(f"Packets dropped in this host, not in the network: {lost}.")
    elif any(counts for _, counts in found):
        taken.took.append("No queue of this host dropped a packet.")
    if marked := _counted(found, "ecn_mark", "marked"):
        taken.took.append(f"Packets marked in this host: {marked}.")
    if over := _counted(found, "overlimits"):
        taken.took.append(f"Times that packets were held back (overlimits): {over}.")
    if bounds:
        taken.took.append(f"The rate is bounded by maxrate {listed(bounds)}.")


def _counted(found: list[tuple[str, dict[str, int]]], *names: str) -> str:
    """Return the queues whose named counters are not all 0, with the sums of these counters."""
    sums = ((queue, sum(counts.get(name, 0) for name in names)) for queue, counts in found)
    return listed([f"{queue}: {count}" for queue, count in sums if count])
