"""The verdict: a sentence that says where and why a read collapses, with the numbers behind it."""

from collections.abc import Callable
from itertools import pairwise

import polars as pl

from incast import units
from incast.collapse import LEAST_SHARE, LEAST_TIMEOUTS
from incast.results import causes, caveats, messages, waits
from incast.results.collapse import COLLAPSED, at_points
from incast.results.intervals import HIGH
from incast.results.series import SERVERS, Series, split, written
from incast.scenario.lossless import lossless_goodput
from incast.scenario.resolved import Resolved

Row = dict[str, float]
_COUNTS = (SERVERS, "workload.active")  # keys that set how many servers answer
MOST_SERIES = 24  # maximum number of sentences to print
_ORDINALS = ("", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


def sentences(
    summary: pl.DataFrame, swept: list[str], resolved: Callable[[int], Resolved]
) -> list[str]:
    """Return one sentence per curve of the summary; each curve is judged separately.

    Parameters
    ----------
    summary
        Means per point (see `Results.summary`).
    swept
        The swept keys.
    resolved
        The quantities of a point, by its index.
    """
    axis, series = split(summary, swept)
    lines = []
    for one in series[:MOST_SERIES]:
        sentence = _Curve(axis, one, resolved).sentence()
        lines.append(f"{one.label}: {_lower(sentence)}" if one.label else sentence)
    if len(series) > MOST_SERIES:
        lines.append(f"… and {len(series) - MOST_SERIES} more curves.")
    return lines


class _Curve:
    """The verdict on one curve, from the points that have at least one finished run."""

    def __init__(
        self, axis: str | None, series: Series, resolved: Callable[[int], Resolved]
    ) -> None:
        whole = series.points.filter(pl.col("ok") > 0)
        self.axis = axis
        if axis is None:  # the same point, perhaps several times
            whole = whole.head(1)
        self.ends: list[str] = series.points["status"].to_list()
        self.unfinished = series.points.filter(pl.col("ok") == 0).height
        self.rows: list[Row] = whole.to_dicts()
        self.at = [resolved(int(row["point"])) for row in self.rows]
        self.bad = at_points(whole, resolved)

    def sentence(self) -> str:
        if not self.rows:
            return self._nothing()
        if not all(here.judged for here in self.at):
            return messages.sentence(self.rows, self.at, self._points()) + self._left_out()
        text = self._servers() if self.axis in _COUNTS else self._other()
        text += self._waits_otherwise()
        text += caveats.outcomes(self.rows, self._points())
        return text + self._left_out()

    def _left_out(self) -> str:
        """Report points without a finished run."""
        if not self.unfinished:
            return ""
        return f" (Left out: {units.plural(self.unfinished, 'point')} without a finished run.)"

    def _nothing(self) -> str:
        ends = " ".join(self.ends)
        if "untrusted" in ends and "time-limit" not in ends:
            return "No run can be trusted: use a machine with less other work."
        return "No run finished: increase run.time_limit."

    def _servers(self) -> str:
        """Find the collapse along the number of servers."""
        first = next(filter(self._collapsed, range(len(self.rows))), None)
        if first is None:
            return self._without_collapse()
        here, safe = f"{self.at[first].servers} servers", self._safe()
        if first == 0:
            text = f"Collapsed from {here} on, the smallest number tried: {self._why(first)}"
        elif safe is None:
            text = (
                f"Collapses at {here}, and in some seeds already at {self.at[0].servers}, the "
                f"smallest number tried: {self._why(first)}"
            )
        else:
            text = f"Collapses between {self.at[safe].servers} and {here}: {self._why(first)}"
        after = range(first + 1, len(self.rows))
        better = [
            str(self.at[i].servers)
            for i in after
            if self._recovered(i) and not self._may_collapse(i)
        ]
        if better:
            text += f" (There is no collapse at {', '.join(better)} servers.)"
        return text + self._doubt(first)

    def _without_collapse(self) -> str:
        """Report a curve whose means have not collapsed at any number of servers."""
        goodput = [row["goodput_bps"] for row in self.rows]
        falls = (i + 1 for i, (a, b) in enumerate(pairwise(goodput)) if b <= a / 2)
        first = next(falls, None)
        if first is None:
            return self._slow() if self._below(self._best()) else self._healthy()
        to = units.rate(goodput[first])
        why = "but not because of" if self._times_out(first) else "but without"
        span = f"between {self.at[first - 1].servers} and {self.at[first].servers} servers"
        return f"Slows down {span}, to {to}, {why} timeouts: {self._idle(first)}."

    def _safe(self) -> int | None:
        """Return the last point before any seed collapses; None if there is no such point."""
        unsafe = (i for i in range(len(self.rows)) if self._collapsed(i) or self._may_collapse(i))
        safe = next(unsafe, len(self.rows)) - 1
        return safe if safe >= 0 else None

    def _may_collapse(self, index: int) -> bool:
        """Return whether any seed collapses at a point."""
        return (self.rows[index].get(COLLAPSED) or 0.0) > 0

    def _other(self) -> str:
        """Report a sweep of a key other than the number of servers, or a single point."""
        bad = [i for i in range(len(self.rows)) if self._collapsed(i)]
        count = len(self.rows)
        if count == 1:
            servers = units.plural(self.at[0].servers, "server")
            if bad:
                why = self._why(0) + self._doubt(0)
                return f"Collapsed at {servers}: {self._goodput(0)}, {why}"
            if self._below(0):
                return self._slow()
            return self._healthy()
        if not bad:
            return self._slow() if self._below(self._best()) else self._healthy()
        values = ", ".join(map(self._value, bad)) if self.axis else ""
        where = f"every {self._name} tried" if len(bad) == count else f"{self._name} = {values}"
        text = f"Collapsed at {where}; at {self._value(bad[0])}: {self._why(bad[0])}"
        slow = [self._value(i) for i in range(count) if self._below(i) and i not in bad]
        if slow:
            text += (
                f" (Below half of the line rate, but not because of timeouts: {', '.join(slow)}.)"
            )
        return text

    @property
    def _name(self) -> str:
        """The last word of the swept key, `transport` for `transport.name`."""
        return str(self.axis).removesuffix(".name").rpartition(".")[2]

    def _collapsed(self, index: int) -> bool:
        return self.bad[index]

    def _recovered(self, index: int) -> bool:
        """Return whether a point has recovered: enough goodput, and few waits."""
        return not self._collapsed(index) and self._waits(index) < LEAST_TIMEOUTS

    def _waits(self, index: int) -> float:
        """Return the timeouts per block, or per run if the run has no blocks."""
        row = self.rows[index]
        return row["timeouts_per_block"] or row["timeouts"]

    def _below(self, index: int) -> bool:
        return self.rows[index]["goodput_bps"] < self.at[index].capacity / 2

    def _points(self) -> list[str]:
        """Return the name of each point: its number of servers, or its value of the swept key."""
        if self.axis is None or self.axis in _COUNTS:
            return [units.plural(here.servers, "server") for here in self.at]
        return [f"{self._name} = {self._value(i)}" for i in range(len(self.rows))]

    def _waits_otherwise(self) -> str:
        """Report blocks that wait without a timeout, at the point with most of these waits."""
        most = max(range(len(self.rows)), key=lambda i: waits.others(self.rows[i]))
        where = f"at {self._points()[most]}" if len(self.rows) > 1 else ""
        return waits.sentence(self.rows[most], where)

    def _times_out(self, index: int) -> bool:
        return self.rows[index]["timeouts"] > 0

    def _best(self) -> int:
        return max(range(len(self.rows)), key=lambda i: self.rows[i]["goodput_bps"])

    def _value(self, index: int) -> str:
        return written(self.rows[index][self.axis]) if self.axis else "this point"

    def _healthy(self) -> str:
        """Report a curve without a collapse, with the goodput of its last or slowest point."""
        last = shown = len(self.rows) - 1
        if last == 0:
            where, goodput = f"at {units.plural(self.at[0].servers, 'server')}", self._goodput(0)
        elif self.axis in _COUNTS:
            where = f"up to {self.at[last].servers} servers{self._but_some()}"
            goodput = f"{self._goodput(last)} there"
        else:
            shown = min(range(len(self.rows)), key=lambda i: self.rows[i]["goodput_bps"])
            where = f"at any {self._name} tried"
            goodput = f"at least {self._goodput(shown)}, at {self._value(shown)}"
        most = self.rows[max(range(len(self.rows)), key=self._waits)]
        upto = "" if last == 0 or most["timeouts"] == 0 else "at most "
        return (
            f"No collapse {where}: {goodput}, {upto}{causes.told(most)}; {self._idle(shown)}; "
            f"{self._arithmetic(shown)}.{caveats.poor(self.rows, self.at, self._points())}"
        )

    def _but_some(self) -> str:
        """Report the number of servers beyond which some seeds collapse, if any do."""
        if not any(map(self._may_collapse, range(len(self.rows)))):
            return ""
        safe = self._safe()
        upto = (
            f" from {self.at[0].servers} on" if safe is None else f" beyond {self.at[safe].servers}"
        )
        return f", but in some seeds{upto}"

    def _slow(self) -> str:
        """Report a low goodput without timeouts."""
        best = self._best()
        here = self.at[best]
        lossless = lossless_goodput(here)
        short = here.reads and lossless < here.capacity / 2
        row = self.rows[best]
        told = f"{causes.told(row)}, too few to cause this" if row["timeouts"] else "no timeout"
        reach = f"without losses it reaches {units.rate(lossless)}" if here.reads else ""
        why = "the requests are too short for a higher goodput" if short else reach
        return (
            f"No collapse, but always below half of the line rate: {self._goodput(best)} at best, "
            f"{told}; {self._idle(best)}{f': {why}' if why else ''}."
        )

    def _doubt(self, index: int) -> str:
        """Report that there are too few seeds to decide whether a point has collapsed."""
        share = self.rows[index].get(COLLAPSED)
        if share is not None and 0 < share < 1:
            return ""  # `caveats.outcomes` names all points of this kind
        high = self.rows[index].get(f"goodput_bps{HIGH}") or 0.0
        if high < lossless_goodput(self.at[index]) * LEAST_SHARE:
            return ""
        servers, seeds = self.at[index].servers, units.plural(int(self.rows[index]["ok"]), "seed")
        return (
            f" (Not certain: at {servers} servers the 95 % interval of {seeds} includes more "
            "than half of the goodput without losses; use --seeds to run more.)"
        )

    def _why(self, index: int) -> str:
        row = self.rows[index]
        why = ", ".join(filter(None, (causes.told(row), causes.most(row))))
        return f"{why}; {self._idle(index)}; {self._arithmetic(index)}."

    def _goodput(self, index: int) -> str:
        here, goodput = self.at[index], units.rate(self.rows[index]["goodput_bps"])
        if here.demand <= here.capacity:
            return f"{goodput} of {units.rate(here.demand)} requested"
        return f"{goodput} {'of' if here.lines == here.clients else 'over links of'} {here.line}"

    def _idle(self, index: int) -> str:
        busy = self.rows[index]["link_utilization"]
        here = self.at[index]
        if busy > 1 / 2 and self._below(index) and here.groups[1:]:
            share = units.percent(busy)
            return f"the client's link is busy {share} of the time, with the other traffic"
        idle = max(1 - busy, 0.0)
        return f"the client's link is idle {units.percent(idle)} of the time"

    def _arithmetic(self, index: int) -> str:
        """Compare the buffer with the servers' first burst."""
        here = self.at[index]
        buffer = f"the buffer holds {units.plural(here.buffer_packets, 'packet')}"
        if not here.reads:
            return buffer
        if not here.fresh:
            return f"{buffer}, the windows allow up to {here.servers * here.window_limit}"
        first = here.window(1)
        # The first windows arrive as one burst. ACKs spread later windows in time, so that some of
        # their packets are on the path.
        room = here.buffer_packets + here.round_trip_packets
        over = next((n for n in range(2, len(_ORDINALS)) if here.window(n) > room), None)
        if over is None or first > here.buffer_packets:
            return f"{buffer}, the first windows send {first}"
        return (
            f"{buffer}, the first windows send {first}, and the {_ORDINALS[over]} windows "
            f"send {here.window(over)}"
        )


def _lower(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]
