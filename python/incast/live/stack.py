"""The settings of the kernel's TCP for a scenario: sysctls, options of a route and of sockets."""

from dataclasses import dataclass
from functools import cached_property

from incast import units
from incast.scenario.resolved import Resolved

# Bytes of the timestamp option in every segment (RFC 7323), and the largest MSS without the option.
_TIMESTAMPS = 12
MOST_MSS = 1460
# From this window size on (bytes), the kernel's own tuning of receive buffers is closer to a
# scenario than a fixed window.
_TUNED = 1 << 18
# A server writes a whole SRU at once, as in the simulation.
_SEND_BUFFER = "4096 4194304 6291456"


@dataclass(frozen=True)
class Stack:
    """The settings of TCP at the hosts; stacks of scenarios with the same settings are equal.

    Parameters
    ----------
    control
        The kernel's name of the congestion control.
    recovery
        Name of the loss recovery: `rack-tlp`, `sack` or `newreno`.
    probes
        Whether there are tail-loss probes.
    sack, dsack, timestamps, ecn, delayed_ack, idle_restart, frto
        Whether each of these functions of TCP is on.
    mss, initial_window
        Bytes of data in a full segment, and number of segments of the first window.
    rto_min
        The requested lower bound of the RTO in seconds.
    receive_window
        Largest window that the client advertises, in bytes; None for the kernel's own tuning.
    """

    control: str
    recovery: str
    probes: bool
    sack: bool
    dsack: bool
    timestamps: bool
    ecn: bool
    delayed_ack: bool
    idle_restart: bool
    frto: bool
    mss: int
    initial_window: int
    rto_min: float
    receive_window: int | None

    @classmethod
    def of(cls, here: Resolved) -> "Stack":
        """Take those settings of a resolved scenario that a kernel has, too."""
        tcp = here.tree["transport"]
        recovery = str(tcp["recovery"]["name"])
        window = here.receive_window * here.mss
        return cls(
            control=str(tcp["congestion_control"]["name"]),
            recovery=recovery,
            probes=recovery == "rack-tlp" and tcp["recovery"].get("probes", 1) > 0,
            sack=bool(tcp["sack"]),
            dsack=bool(tcp["dsack"]),
            timestamps=bool(tcp["timestamps"]),
            ecn=tcp["ecn"] == "on",
            delayed_ack=tcp["delayed_ack"] is not False,
            idle_restart=tcp["idle_restart"] != "none",
            frto=tcp["undo"] in ("f-rto", "linux"),
            mss=here.mss,
            initial_window=here.initial_window,
            rto_min=here.rto_min,
            receive_window=window if window < _TUNED else None,
        )

    @cached_property
    def sysctls(self) -> dict[str, object]:
        """Keys below `net.ipv4`, and their values."""
        return {
            "tcp_no_metrics_save": 1,
            "tcp_sack": int(self.sack),
            "tcp_dsack": int(self.dsack),
            "tcp_timestamps": int(self.timestamps),
            "tcp_recovery": int(self.recovery == "rack-tlp"),
            "tcp_early_retrans": 3 if self.probes else 0,
            "tcp_ecn": int(self.ecn),
            "tcp_slow_start_after_idle": int(self.idle_restart),
            "tcp_frto": 2 if self.frto else 0,
            "tcp_wmem": _SEND_BUFFER,
        }

    @cached_property
    def route(self) -> str:
        """Options of the route to the other hosts, as `ip route` writes them."""
        # Inside a namespace, only a route option can select every congestion control.
        options = [
            f"congctl {self.control}",
            f"initcwnd {self.initial_window}",
            f"rto_min {max(round(self.rto_min * 1e3), 1)}ms",
            f"advmss {self.mss + _TIMESTAMPS * self.timestamps}",
        ]
        if not self.delayed_ack:
            options.append("quickack 1")
        if self.receive_window is not None:
            options.append(f"window {self.first_window}")
        return " ".join(options)

    @cached_property
    def first_window(self) -> int | None:
        """First window of the client in bytes; the kernel rounds it to a multiple of `advmss`."""
        if self.receive_window is None:
            return None
        segments = max(self.receive_window // self.mss, 1)
        return segments * (self.mss + _TIMESTAMPS * self.timestamps)

    def instead(self, rto: float | None) -> str:
        """Return a note if `rto` is far above the requested minimum, or else an empty string."""
        if rto is None or rto <= max(2 * self.rto_min, self.rto_min + 5e-3):
            return ""
        return (
            f"transport.rto_min: {units.time(self.rto_min)} was requested; the kernel's RTO was "
            f"{units.time(rto)} or more"
        )
