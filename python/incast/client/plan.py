"""The number of answers that may be in flight at once, and the bytes of each answer."""

from dataclasses import dataclass
from typing import Literal, Self

from incast.client.window import LARGEST

SEGMENT = 1448
"""Bytes of data in a full packet on Ethernet: 1500 minus IP, TCP and timestamps."""
WINDOW = 4 * SEGMENT
"""Four full segments, bytes. With a smaller window, no loss could cause three duplicate ACKs."""
SLOTS = 4
SAFE_BUDGET = SLOTS * WINDOW
"""Bytes that fit into the buffer of nearly every port: 16 full packets, 24 KB with headers."""


class PlanError(ValueError):
    """A plan that contradicts itself; the message is one line."""


@dataclass(frozen=True)
class Plan:
    """The answers that may be in flight, and their windows.

    Answers start in sets. A new set opens when fewer than `sets` sets are open and every answer of
    the newest set has delivered `trigger` bytes. At most `slots` = `size` × `sets` answers are in
    flight. The classmethods make the plans of Osada et al. and of request batching.

    Parameters
    ----------
    size
        Number of answers in a set.
    sets
        Number of sets that may be open at once.
    trigger
        Bytes that each answer of the newest set must have delivered before the next set opens.
    window
        Receive window of each answer, bytes; None to set no windows.
    budget
        Upper limit of the sum of the windows, bytes; None for the sum of `slots` windows.
    grows
        Whether the last answers share the budget of a set, if they are fewer than `size`.
    early
        Whether a connection opens before the turn of its answer; the request waits for the turn.

    Raises
    ------
    PlanError
        A number is below its minimum, or the windows do not fit into the budget.
    """

    size: int = 1
    sets: int = SLOTS
    trigger: int = 0
    window: int | None = WINDOW
    budget: int | None = None
    grows: bool = False
    early: bool = False

    def __post_init__(self) -> None:
        for name, least in (("size", 1), ("sets", 1), ("trigger", 0)):
            if getattr(self, name) < least:
                raise PlanError(f"{name} is {getattr(self, name)}; must be at least {least}")
        if self.window is None:
            if self.budget is not None:
                raise PlanError("budget needs a window, because it limits the sum of the windows")
            return
        if not 1 <= self.window <= LARGEST:
            raise PlanError(f"window is {self.window}; must be 1 to {LARGEST} bytes")
        if self.budget is not None and self.slots * self.window > self.budget:
            raise PlanError(
                f"{self.slots} windows of {self.window} bytes do not fit into the budget of "
                f"{self.budget}; must be at most {self.budget // self.slots} bytes each"
            )

    @property
    def slots(self) -> int:
        """The maximum number of answers in flight, k."""
        return self.size * self.sets

    @property
    def allotted(self) -> int | None:
        """Upper limit of the sum of the windows, bytes; None without a limit."""
        if self.window is None or self.budget is not None:
            return self.budget
        return self.slots * self.window

    @classmethod
    def fixed(
        cls, slots: int = SLOTS, window: int | None = WINDOW, budget: int | None = None
    ) -> Self:
        """Let at most `slots` answers be in flight; the next starts when any answer has ended."""
        return cls(sets=slots, window=window, budget=budget)

    @classmethod
    def ccs(cls, window: int | None = WINDOW) -> Self:
        """Complete serialisation (Osada et al., §4.2): one answer at a time."""
        return cls(sets=1, window=window)

    @classmethod
    def nccs(cls, k: int = SLOTS, trigger: int = 0, window: int | None = WINDOW) -> Self:
        """Nearly complete serialisation (§4.3): at most k answers, which start one by one.

        An answer starts when the newest answer has delivered `trigger` bytes, S - T₁V in the paper.
        """
        return cls(sets=k, trigger=trigger, window=window)

    @classmethod
    def ocs(cls, size: int = 2, trigger: int = 0, window: int = WINDOW) -> Self:
        """Optimised serialisation (§4.4): two sets at once, early connections, growing windows."""
        return cls(size=size, sets=2, trigger=trigger, window=window, grows=True, early=True)

    @classmethod
    def ocs_for(
        cls,
        rate: float,
        base_rtt: float,
        answer: int,
        form: Literal["scaled", "printed"] = "scaled",
    ) -> Self:
        """Compute the sets of OCS from the path, by equations (4) and (8) to (10).

        Parameters
        ----------
        rate
            Rate of the client's link, bit/s.
        base_rtt
            Round-trip time of a full packet on the idle network, with serialisation, seconds.
        answer
            Bytes of an answer.
        form
            Form of the trigger: S - T₁V/n ("scaled"), or S - T₁V as in print ("printed"), which is
            negative for most paths.
        """
        from incast.models.serialisation import Path

        path = Path(rate=rate, base_rtt=base_rtt, mss=SEGMENT, header=52)
        best = path.sets(answer)
        size = int(best.connections)
        sent = float(path.ramp) * rate / 8 / (size if form == "scaled" else 1)
        return cls.ocs(size, max(0, int(answer - sent)), int(best.window) * SEGMENT)

    @classmethod
    def batches(cls, size: int = SLOTS, window: int | None = WINDOW) -> Self:
        """Request batching (Podlesny & Williamson 2011): sets do not overlap."""
        return cls(size=size, sets=1, window=window)
