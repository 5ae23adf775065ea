"""Plans learnt from measurements of answers.

The learner starts with the safe budget. The learner tries a smaller plan first, since this cannot
cause losses. If the smaller plan is not slower, the network is already full, and a larger plan
could only fill buffers. Otherwise the learner increases the number of answers or the windows in
steps, as long as each step gains goodput. The learner undoes a step that gains nothing or loses
packets.
"""

from collections import deque
from dataclasses import dataclass, replace
from enum import Enum
from math import ceil
from statistics import median

from incast.client.plan import SAFE_BUDGET, SLOTS, WINDOW, Plan
from incast.client.sample import Meter, Sample

LOOK, ROUNDS, SECONDS = 32, 4, 0.1
"""A measurement has at least this many answers, answers per slot, and seconds."""
REST = 8
"""Number of measurements until the learner checks again whether a smaller plan would be slower."""
LONGEST_REST = 64
DOWN, UP = 0.75, 1.5
SLOWER = 0.3
"""Largest ratio of the relative loss of goodput to the relative cut of the budget.

A smaller plan with a larger ratio is too small.
"""
PAYS = 0.03
"""Minimum gain of goodput for which a larger plan is kept."""
STALL = 0.15
"""Seconds without data that indicate a timeout; Linux retransmits after at least 200 ms."""
UNUSUAL = 10  # a stall is also longer than this many median gaps: some servers are slow
REMEMBERED = 64  # number of gaps from which the median is computed
LOSSY = 0.1
"""A plan is too large if at least this share of answers have losses."""
MOST_SLOTS, LARGEST_WINDOW = 256, 1 << 22


class Way(Enum):
    """The part of a plan that a step changes: the slots or the window."""

    SLOTS = "slots"
    WINDOW = "window"


@dataclass(frozen=True)
class Size:
    """The number of slots and the window of a plan; the window is None if it has no limit."""

    slots: int
    window: int | None

    @property
    def budget(self) -> int:
        """Sum of the windows in bytes, or the number of slots if windows are not bounded."""
        return self.slots * (self.window or 1)

    def times(self, factor: float, way: Way) -> "Size":
        """Return a size whose slots or window are multiplied by a factor, within their limits."""
        if way is Way.SLOTS:
            slots = ceil(self.slots * factor) if factor > 1 else int(self.slots * factor)
            return replace(self, slots=min(max(slots, 1), MOST_SLOTS))
        if self.window is None:
            return self
        window = max(int(self.window * factor), WINDOW // 2)
        return replace(self, window=min(window, LARGEST_WINDOW))

    def plan(self) -> Plan:
        """Return the plan of this size."""
        return Plan.fixed(self.slots, self.window)


class Learner:
    """Learns the number of answers and the windows that a network can carry.

    Parameters
    ----------
    budget
        Upper limit of the sum of the windows, bytes; None if only measurements limit the sum. The
        learner starts with at most `SAFE_BUDGET` in any case.
    windows
        Whether windows are bounded at all; False to learn the number of answers only.
    """

    def __init__(self, budget: int | None = None, *, windows: bool = True) -> None:
        self._most = budget
        start = Size(SLOTS, WINDOW if windows else None)
        if budget is not None and windows and budget < SAFE_BUDGET:
            start = Size(max(1, budget // WINDOW), min(WINDOW, budget))
        self._base = start
        """The best size so far."""
        self._trial = start
        """The size that is measured at present."""
        self._goodput = 0.0
        """Goodput of the base, bytes per second."""
        self._todo: deque[tuple[float, Way]] = deque()
        """Steps to try from the base."""
        self._gaps: deque[float] = deque(maxlen=REMEMBERED)
        self._rest = self._left = 0
        self._is_rested = True
        self._ceiling = float("inf")
        self._wanted = MOST_SLOTS
        """Maximum number of slots that the caller's requests would fill."""
        self._answers = self._stalls = self._lossy = self._largest = 0
        self.plan = start.plan()

    def observe(self, sample: Sample, meter: Meter) -> Plan:
        """Take a finished answer and the goodput so far; return the plan for later answers."""
        self._answers += 1
        self._largest = max(self._largest, sample.received)
        self._stalls += self._has_stalled(sample.gap)
        self._lossy += sample.lost > 0
        self._gaps.append(sample.gap)
        if self._is_too_large():
            self._shrink()
        elif (
            self._answers >= max(LOOK, ROUNDS * self._trial.slots)
            and meter.seconds >= SECONDS
            and meter.received
        ):
            self._wanted = meter.wanted or self._wanted
            self._judge(meter.goodput)
        else:
            return self.plan
        meter.clear()
        self._clear()
        self.plan = self._trial.plan()
        return self.plan

    def _clear(self) -> None:
        self._answers = self._stalls = self._lossy = self._largest = 0

    def _has_stalled(self, gap: float) -> bool:
        usual = median(self._gaps) if self._gaps else 0.0
        return gap > max(STALL, UNUSUAL * usual)

    def _is_too_large(self) -> bool:
        """Return whether the trial loses packets; if it exceeds the base, one stall suffices."""
        if self._trial.budget > self._base.budget:
            return self._stalls > 0 or self._lossy > LOSSY * max(LOOK, self._answers)
        return self._stalls > 1 or self._lossy > LOSSY * max(LOOK, self._answers)

    def _shrink(self) -> None:
        """Undo a step that lost packets, or halve a base that loses packets."""
        self._ceiling = min(self._ceiling, self._trial.budget)
        if self._trial.budget <= self._base.budget:
            way = Way.WINDOW if (self._base.window or 0) > WINDOW else Way.SLOTS
            half = self._base.times(0.5, way)
            self._base = half if half != self._base else self._base.times(0.5, Way.WINDOW)
        self._settle()

    def _judge(self, goodput: float) -> None:
        """Compare the trial with the base, which was measured before it; choose the next trial."""
        trial, base = self._trial, self._base
        self._trial = base
        if trial == base:
            self._goodput = goodput
            self._continue()
        elif trial.budget < base.budget:
            lost = 1 - goodput / self._goodput
            if lost > SLOWER * (1 - trial.budget / base.budget):
                way = Way.SLOTS if trial.slots < base.slots else Way.WINDOW
                self._todo.append((UP, way))
        elif goodput > (1 + PAYS) * self._goodput:
            way = Way.SLOTS if trial.slots > base.slots else Way.WINDOW
            self._base, self._goodput, self._rest = trial, goodput, 0
            self._todo.appendleft((UP, way))
            self._continue()

    def _continue(self) -> None:
        """Take the next possible step from the base; pause if no step is possible."""
        if self._left > 0:
            self._left -= 1
            return
        if self._is_rested:
            self._is_rested = False
            self._ceiling *= UP  # a plan that was too large may fit now
            smallest = {way for way in Way if self._base.times(DOWN, way) == self._base}
            self._todo = deque((UP if way in smallest else DOWN, way) for way in Way)
        while self._todo:
            trial = self._base.times(*self._todo.popleft())
            trial = replace(trial, slots=min(trial.slots, max(self._wanted, self._base.slots)))
            if trial != self._base and self._may(trial):
                self._trial = trial
                return
        self._settle()

    def _may(self, trial: Size) -> bool:
        if trial.budget <= self._base.budget:
            return True
        if trial.window is not None:
            # A window larger than a whole answer gains nothing.
            if trial.window > max(UP * self._largest, WINDOW) and trial.slots == self._base.slots:
                return False
            if self._most is not None and trial.budget > self._most:
                return False
        return trial.budget < self._ceiling

    def _settle(self) -> None:
        """Keep the base for twice as many measurements as last time, up to `LONGEST_REST`."""
        self._todo.clear()
        self._trial = self._base
        self._rest = min(2 * self._rest or REST, LONGEST_REST)
        self._left, self._is_rested = self._rest, True
