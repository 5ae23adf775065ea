"""Terms of papers and of switches, and the names that incast uses instead of them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Alias:
    """A term from the literature or from a switch.

    Parameters
    ----------
    name
        The term as the source prints it; case matters only between aliases that differ in case
        alone.
    means
        The meaning of the term.
    source
        The text or system that uses the term.
    here
        The names that incast uses, as `incast explain` takes them.
    """

    name: str
    means: str
    source: str
    here: tuple[str, ...] = ()


_DCTCP = "Alizadeh et al.: Data Center TCP, 2010"
_KULKARNI = "Kulkarni's text (incast reproduce --list)"
_SONIC = "SONiC, config_db.json"

ALIASES = (
    Alias("K", "Queue length above which the switch marks packets.", _DCTCP,
          ("network.queue.threshold",)),
    Alias("g", "Weight of the newest share of marked packets in the estimate.", _DCTCP, ("dctcp",)),
    Alias(
        "dynamic_th",
        "Exponent n of alpha = 2^n; one queue may take alpha times the free buffer.",
        _SONIC,
        ("dynamic", "network.buffer.alpha"),
    ),
    Alias("static_th", "Limit of one queue in bytes.", _SONIC, ("shared", "network.buffer.limit")),
    Alias("xoff", "Space for packets that arrive after a PFC pause (not modelled).", _SONIC),
    Alias("DT", "Dynamic thresholds of a shared buffer.", "Choudhury & Hahne, 1998", ("dynamic",)),
    Alias("WRED", "RED with thresholds by class.", "switches", ("wred",)),
    Alias(
        "Th_P",
        "Queue length above which only labelled packets are admitted.",
        "Shukla et al.: PLATO",
        ("label-threshold", "network.queue.threshold"),
    ),
    Alias("DSR", "Dynamic segment resizing: segments are small at first.", _KULKARNI, ("resize",)),
    Alias(
        "ABTT",
        "Timeout at the head of a block: all outstanding segments of a flow are lost.",
        _KULKARNI,
        ("kulkarni-abtt-only", "timeouts_full_window"),
    ),
    Alias("IBTT", "Timeout inside a block.", _KULKARNI, ("kulkarni-ibtt-only",)),
    Alias("TD", "Loss that three duplicate ACKs signal.", _KULKARNI, ("kulkarni-td-only",)),
    Alias("PFTK", "Throughput of one flow from its losses.", "Padhye et al., 1998", ("padhye",)),
    Alias(
        "M/G/1/B",
        "One queue with Poisson arrivals and B places, called M/G/1/K here.",
        "the text hpc (incast reproduce --list); Takagi: Queueing Analysis, volume 2",
        ("edge-queue",),
    ),
    Alias("M/G/1/K", "One queue with Poisson arrivals; K counts all packets in the system.",
          "Takagi, volume 2", ("edge-queue",)),
    Alias("SRU", "Server request unit: what each server sends for one block.",
          "Phanishayee et al., 2008", ("workload.sru",)),
    Alias("RTOmin", "Minimum of the retransmission timeout.", "RFC 6298", ("transport.rto_min",)),
    Alias("IW", "Initial window.", "RFC 6928", ("transport.initial_window",)),
    Alias("initcwnd", "Initial window of a route.", "Linux, ip-route(8)",
          ("transport.initial_window",)),
    Alias("rwnd", "The receiver's window.", "RFC 5681", ("transport.receive_window",)),
    Alias("RTT", "Round-trip time of the idle network.", "RFC 6298", ("network.base_rtt",)),
    Alias("JCT", "Time of a whole block.", "texts on clusters", ("completion_p99_s",)),
    Alias("FCT", "Time of one flow.", "texts on data centres", ("completion_p99_s",)),
    Alias("TLP", "Tail-loss probe.", "RFC 8985", ("stalls_tail_probe", "rack-tlp")),
)  # fmt: skip


def find(word: str) -> Alias | None:
    """Return the alias of a term, preferably one that is equal in case, too; None if unknown."""
    exact = [one for one in ALIASES if one.name == word]
    alike = [one for one in ALIASES if one.name.lower() == word.lower()]
    return next(iter([*exact, *alike]), None)
