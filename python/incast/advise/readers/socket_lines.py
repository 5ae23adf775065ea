"""The lines of `ss` in every form: one or two lines per socket, with or without some columns.

Source: ss(8). A line may begin with the kind of socket (Netid) and with the state. The kind is
printed only if there are several kinds, and the state only if a filter leaves several states. The
kernel's details of a connection are on an indented line of their own or, with `-O`, behind the
addresses. Milliseconds are printed as `%g`.
"""

import ipaddress
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from incast.advise.readers.taken import refused
from incast.advise.readers.words import decimal, whole

STATES = {
    *("ESTAB", "SYN-SENT", "SYN-RECV", "FIN-WAIT-1", "FIN-WAIT-2", "TIME-WAIT", "CLOSE-WAIT"),
    *("LAST-ACK", "CLOSING", "LISTEN", "UNCONN", "UNDEF", "UNKNOWN"),
}
_TCP = {"tcp", "tcp4", "tcp6"}
_OTHERS = {
    *("udp", "udp4", "udp6", "raw", "raw4", "raw6", "nl", "u_str", "u_dgr", "u_seq", "p_raw"),
    *("p_dgr", "icmp6", "sctp", "dccp", "mptcp", "v_str", "v_dgr", "v_seq", "tipc", "ti_rd"),
    *("ti_sq", "ti_dg", "ti_st", "xdp", "???"),
}
_HEADS = ("State", "Netid", "Recv-Q", "Process")
_HEAD = 1000  # the names of the columns must be among this many first characters
_WRAPPED = ("users:", "timer:", "uid:", "ino:", "sk:", "fwmark:", "cgroup:")
_NUMBERS = {"rto": 1e9, "rtt": 1e9, "minrtt": 1e9, "mss": 65_535, "backoff": 255}
"""The fields that are read, and the largest value of each field. Times are in milliseconds."""
_KNOWN = {
    *_NUMBERS,
    *("wscale", "ato", "cwnd", "ssthresh", "pmtu", "rcvmss", "advmss", "skmem", "mem", "send"),
    *("lastsnd", "lastrcv", "lastack", "rcv_space", "rcv_rtt", "bytes_acked", "bytes_received"),
    *("bytes_sent", "segs_out", "segs_in", "tcp-ulp-mptcp", "ino", "uid", "sk", "users", "timer"),
    *("fwmark", "cgroup", "fallback_mode"),
}
_TIMER = re.compile(r"timer:\(([A-Za-z0-9_]{1,20}),([^,() ]{0,40}),([0-9]{1,9})\)")
_PORT = re.compile(r"[A-Za-z0-9_.+-]{1,40}|\*")
_HOST = re.compile(r"[A-Za-z0-9_.:%@*-]{1,255}")


@dataclass
class Socket:
    """A connection of TCP.

    Parameters
    ----------
    state
        The state as printed; empty if a filter leaves only one state.
    local, peer
        The addresses, without brackets and scope. An IPv4 address in IPv6 form is written as IPv4.
    local_port, peer_port
        The ports, as numbers or names of services.
    fields
        The kernel's details as printed, with times in milliseconds.
    words
        All words after the addresses.
    """

    state: str
    local: str
    local_port: str
    peer: str
    peer_port: str
    fields: dict[str, float] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)

    @property
    def established(self) -> bool:
        """Whether the connection is open; if no state is printed, whether `rtt` is printed."""
        return self.state == "ESTAB" or (not self.state and "rtt" in self.fields)

    @property
    def repeated(self) -> bool:
        """Whether `timer:` shows that the timer expired, and was doubled, since the last ACK."""
        timer = next((found for word in self.words if (found := _TIMER.fullmatch(word))), None)
        return timer is not None and timer[1] in {"on", "persist"} and int(timer[3]) > 0


def recognises(text: str) -> bool:
    """Return whether a file is `ss` output: it has a head or details, or begins with a state."""
    first = next(iter(text.split(None, 1)), "")
    return first in STATES | _TCP or " rto:" in text or "Address:Port" in text[:_HEAD]


def sockets(text: str, where: str) -> list[Socket]:
    """Return the connections of TCP.

    Raises
    ------
    AdviceError
        A line is not what `ss` prints. The message gives the number of the line.
    """
    found: list[Socket] = []
    here: Socket | None = None  # the socket that an indented line belongs to
    began = False
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.startswith(_HEADS):
            continue
        if line[0] in " \t" or line.startswith(_WRAPPED):
            words = list(_words(line))
            if not began or not any(word.partition(":")[0] in _KNOWN for word in words):
                raise refused(where, number, "has no field such as rto:, mss: or rtt:")
            if here is not None:
                _detail(here, words, where, number)
            continue
        began = True
        here = _socket(line, where, number)
        if here is not None:
            found.append(here)
    return found


def _words(line: str) -> Iterator[str]:
    """Yield the words of a line, except process names, which may contain any characters."""
    begin = line.find("users:((")
    if begin >= 0:
        end = line.find("))", begin)
        yield "users:"
        line = line[:begin] + (line[end + 2 :] if end >= 0 else "")
    yield from line.split()


def _socket(line: str, where: str, number: int) -> Socket | None:
    """Return a connection, or None for a socket of another kind."""
    words = line.split(None, 7)
    if words[0] in _OTHERS:
        return None
    if words[0] in _TCP:
        words = words[1:]
    state = ""
    if words and words[0] in STATES:
        state, words = words[0], words[1:]
    if not words or whole(words[0], 0, 2**32) is None:
        first = words[0] if words else line
        raise refused(where, number, f"{first[:40]!r} is not a state of a connection")
    if len(words) < 4 or whole(words[1], 0, 2**32) is None:  # noqa: PLR2004 (queues and ends)
        raise refused(where, number, "must have two queues, a local and a peer address")
    here = Socket(state, *_end(words[2], where, number), *_end(words[3], where, number))
    _detail(here, list(_words(" ".join(words[4:]))), where, number)
    return here


def _end(text: str, where: str, number: int) -> tuple[str, str]:
    """Split an address such as `10.0.0.1:80` into host and port."""
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]").partition("%")[0]
    if not colon or not _PORT.fullmatch(port) or not (host == "" or _HOST.fullmatch(host)):
        raise refused(where, number, f"{text[:40]!r} is not an address and a port")
    return _plain(host), port


def _plain(host: str) -> str:
    """Return an address in its usual form, or a name in lower case."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host.lower()
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)


def _detail(here: Socket, words: list[str], where: str, number: int) -> None:
    """Add the details in a line to a connection."""
    for word in words:
        name, colon, text = word.partition(":")
        if not colon or name not in _NUMBERS:
            continue
        value = decimal(text.partition("/")[0], 0, _NUMBERS[name])
        if value is None:
            raise refused(
                where,
                number,
                f"{word[:40]!r} must have a number from 0 to {_NUMBERS[name]:.0f}",
            )
        here.fields[name] = value
    here.words += words
