"""`ethtool -S`: what a network card counted, in the names of its driver.

Source: the drivers' documentation; every driver has names of its own, so those are looked for that
drivers of common cards use. Counters of single queues are passed over where the sum is there.
"""

import re

from incast.advise.readers.taken import Taken, refused
from incast.advise.readers.words import listed, whole

NAME = "ethtool -S"
_HEAD = "NIC statistics:"
_MOST = 2**64 - 1
_RING = re.compile(
    r"rx_(missed_errors|no_buffer_count|no_buffer|out_of_buffer|fifo_errors|over_errors|discards"
    r"|buf_alloc_fail|nodesc_trunc|nodesc_drop_cnt|no_dma_resources|missed|ring_full|drops?)"
)
_WIRE = re.compile(r"(rx|port\.rx)_(crc_errors|symbol_err_phy|crc_errors_phy|length_errors)")
_SWITCH = re.compile(r"(rx_discards_phy|tx_discards_phy|port\.rx_discards)")
_PAUSED = re.compile(
    r"(?P<end>rx|tx)_(pause|pause_ctrl_phy|pause_frames|flow_control_xoff|xoff|pfc_frames"
    r"|global_pause|link_xoff|prio_?[0-7]_pause|priority[0-7]_xoff|priority_[0-7]_xoff"
    r"|pfc_ena_frames_pri[0-7]|priority_xoff_[0-7]|prio_[0-7]_xoff)"
)
_QUEUE = re.compile(r"(\[[0-9]{1,4}\]: ?|(rx_queue_|rxq|rx|queue)_?[0-9]{1,4}_)")


def recognises(text: str) -> bool:
    """Return whether a text is the statistics of a card."""
    return text.lstrip().startswith(_HEAD)


def read(text: str, where: str) -> Taken:
    """Read it.

    Raises
    ------
    AdviceError
        A line has no name and number. The message has its number.
    """
    found: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        words = line.strip()
        if not words or words == _HEAD:
            continue
        name, colon, count = (part.strip() for part in words.rpartition(":"))
        value = whole(count.removeprefix("-"), 0, _MOST)
        if not colon or not name or value is None:
            raise refused(where, number, f"{words[:40]!r} is not a counter and its number")
        name = name.removeprefix("port.")
        if not _QUEUE.match(name):
            found[name] = value
    taken = Taken()
    _tell(taken, found)
    return taken


def _tell(taken: Taken, found: dict[str, int]) -> None:
    lost = _sum(found, _RING)
    if lost:
        taken.took.append(
            f"{sum(lost.values())} packets were lost in this host's ring, not in the network "
            f"({_counts(lost)}): look at ethtool -g first."
        )
    else:
        taken.took.append("No loss in this host's ring is counted.")
    if damaged := _sum(found, _WIRE):
        taken.took.append(
            f"{sum(damaged.values())} packets came damaged ({_counts(damaged)}): a bad link."
        )
    if discarded := _sum(found, _SWITCH):
        taken.took.append(
            f"{sum(discarded.values())} packets were lost in the card ({_counts(discarded)})."
        )
    for end, what in (("rx", "The switch paused this host"), ("tx", "This host paused the switch")):
        paused = {
            name: value for name, value in _sum(found, _PAUSED).items() if name.startswith(end)
        }
        if paused:
            taken.took.append(
                f"{what} {sum(paused.values())} times ({_counts(paused)}): such a link loses "
                "hardly anything, and others behind it wait; the scenario has no pauses."
            )


def _sum(found: dict[str, int], names: re.Pattern[str]) -> dict[str, int]:
    """Return the counters of some names that are not 0."""
    return {name: value for name, value in found.items() if value and names.fullmatch(name)}


def _counts(found: dict[str, int]) -> str:
    return listed([f"{name}={value}" for name, value in found.items()])
