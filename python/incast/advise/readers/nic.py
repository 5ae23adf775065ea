"""`ethtool -S`: the counters of a network card, with the names that its driver uses.

Source: the drivers' documentation. Every driver names its counters differently; the names that the
drivers of common cards use are recognised. Counters of single queues are added up if the card has
no total.
"""

import re

from incast.advise.readers.taken import Taken, refused
from incast.advise.readers.words import listed, whole

NAME = "ethtool -S"
_HEAD = "NIC statistics:"
_MOST = 2**64 - 1
_RING = re.compile(
    r"rx_(missed_errors|no_buffer_count|no_buffer|out_of_buffer|fifo_errors|over_errors|discards"
    r"|buf_alloc_fail|nodesc_trunc|nodesc_drop_cnt|no_dma_resources|missed|ring_full|drops?"
    r"|dropped)"
)
_DAMAGED = re.compile(r"rx_(crc_errors|crc_errors_phy|symbol_err_phy|length_errors)")
_PORT = re.compile(r"(rx|tx)_discards_phy|rx_prio[0-7]_(discards|buf_discard)")
_PAUSED = re.compile(
    r"(rx|tx)_(pause|pause_ctrl_phy|pause_frames|flow_control_xoff|xoff|pfc_frames|global_pause"
    r"|prio_?[0-7]_(pause|xoff)|priority_?[0-7]_xoff|priority_xoff_[0-7]|pb_[0-7]_pxoff"
    r"|pfc_ena_frames_pri[0-7])|link_xoff_(rx|tx)"
)
_QUEUE = re.compile(r"\[[0-9]{1,4}\]: ?(rx_)?|(rx_queue_|rxq|rx|rx-)_?[0-9]{1,4}[_.]")


def recognises(text: str) -> bool:
    """Return whether a file has the statistics of a card."""
    return text.lstrip().startswith(_HEAD)


def read(text: str, where: str) -> Taken:
    """Read the counters of a file.

    Raises
    ------
    AdviceError
        A line is not a name and a number. The message gives the number of the line.
    """
    found: dict[str, int] = {}
    queues: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        words = line.strip()
        if not words or words == _HEAD:
            continue
        name, colon, count = (part.strip() for part in words.rpartition(":"))
        value = whole(count.removeprefix("-"), 0, _MOST)
        if not colon or not name or value is None:
            raise refused(where, number, f"{words[:40]!r} is not a counter with a number")
        name = name.removeprefix("port.").removesuffix(".nic")
        if queue := _QUEUE.match(name):
            whole_card = f"rx_{name[queue.end() :]}"
            queues[whole_card] = queues.get(whole_card, 0) + value
        else:
            found[name] = value
    taken = Taken()
    _tell(taken, queues | found)
    return taken


def _tell(taken: Taken, found: dict[str, int]) -> None:
    if lost := _counts(found, _RING):
        said = f"Losses in this host's ring, not in the network: {lost}. Look at ethtool -g first."
        taken.took.append(said)
    else:
        taken.took.append("No loss in this host's ring is counted.")
    if damaged := _counts(found, _DAMAGED):
        taken.took.append(f"Packets damaged by a bad link: {damaged}.")
    if full := _counts(found, _PORT):
        taken.took.append(f"Losses in the card's port: {full}.")
    if paused := _counts(found, _PAUSED):
        taken.took.append(f"Pause frames, which are not simulated: {paused}.")


def _counts(found: dict[str, int], names: re.Pattern[str]) -> str:
    """Return the counters that are not 0 and whose names match a pattern."""
    return listed([f"{it}={value}" for it, value in found.items() if value and names.fullmatch(it)])
