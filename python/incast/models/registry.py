"""The one list of models: from it come `incast list models`, the reference page and the laws."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from incast.errors import ModelError
from incast.scenario.plan import Point
from incast.scenario.resolved import Resolved

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class NotApplicable:
    """A model's refusal to answer.

    Parameters
    ----------
    reason
        Why, in one line that fits after "does not apply:".
    """

    reason: str


COLUMNS = frozenset(
    {
        "completion_s",
        "completion_p50_s",
        "completion_p95_s",
        "completion_p99_s",
        "drop_ratio",
        "goodput_bps",
        "link_utilization",
        "queue_max_packets",
        "queue_mean_bytes",
        "timeouts_block_head_per_block",
        "timeouts_per_block",
    }
)
"""An answer's value for a row: its columns and, for counts, the count per block."""

Answer = dict[str, float] | NotApplicable
"""Some of `COLUMNS`, in the units of rows, and numbers of the model's own.

Those are called `<model>.<name>`, and described by a `Measure`.
"""


@dataclass(frozen=True)
class Question:
    """A question to a model.

    Parameters
    ----------
    point
        A scenario as the core resolved it.
    measured
        Measurements of a run of it, by the names of `incast.models.estimate`; most models
        need nothing of it.
    """

    point: Resolved
    measured: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Measure:
    """A number that only one model knows.

    Parameters
    ----------
    name
        Its column, without the model's name before it.
    unit
        SI; "1" for numbers and ratios.
    summary
        Meaning, in one line.
    """

    name: str
    unit: str
    summary: str


@dataclass(frozen=True)
class Model:
    """One way to answer a scenario without simulating it.

    Parameters
    ----------
    name
        The name for users.
    summary
        Description in one line.
    source
        Where it is published; "own" if nowhere.
    entry
        `module:function` in this package. The function takes a sequence of questions and returns
        an answer to each, so that a sweep is one call over arrays.
    needs
        The keys of `Question.measured` without which it does not apply.
    measures
        Its own numbers.
    trust
        `module:function` likewise, if it knows: says of the rows of its answers how far they may be
        trusted. The column `<model>.factor` then says it of each.
    """

    name: str
    summary: str
    source: str
    entry: str
    needs: tuple[str, ...] = ()
    measures: tuple[Measure, ...] = ()
    trust: str = ""

    def say(self, rows: "pl.DataFrame") -> str:
        """Return the uncertainty of its answers; nothing if unknown."""
        if not self.trust:
            return ""
        module, _, function = self.trust.partition(":")
        return str(getattr(import_module(f"incast.models.{module}"), function)(rows))

    def answer_many(self, questions: Sequence[Question]) -> list[Answer]:
        """Answer every question, in their order."""
        answers: list[Answer] = [NotApplicable("")] * len(questions)
        asked = []
        for i, question in enumerate(questions):
            missing = [name for name in self.needs if name not in question.measured]
            if not question.point.judged:
                doing = question.point.doing
                answers[i] = NotApplicable(f"it knows one read or long flows, not {doing}")
            elif missing:
                answers[i] = NotApplicable(f"it needs {', '.join(missing)}, measured in a run")
            else:
                asked.append(i)
        module, _, function = self.entry.partition(":")
        compute: Callable[[Sequence[Question]], list[Answer]]
        compute = getattr(import_module(f"incast.models.{module}"), function)
        for i, answer in zip(asked, compute([questions[i] for i in asked]), strict=True):
            answers[i] = answer
        return answers

    def answer(
        self, point: Point | Mapping[str, Any], measured: Mapping[str, float] | None = None
    ) -> Answer:
        """Answer one point of a plan.

        Parameters
        ----------
        point
            The scenario: a point of a plan, or `Point.resolved`, which the core reads again.
        measured
            See `Question`.
        """
        here = point.here if isinstance(point, Point) else Resolved(dict(point))
        return self.answer_many([Question(here, measured or {})])[0]


_BOOK = "Kulkarni & Agrawal, Analysis of TCP Performance in Data Center Networks, 2014"
_LOSSES = (
    "loss_event_ratio",
    "loss_indication_ratio",
    "packet_loss_ratio",
    "rtt_s",
    "timeout_s",
    "block_head_timeouts",
    "block_head_share",
    "knee",
)


def _of_losses(name: str, summary: str, source: str, function: str, *more: str) -> Model:
    sent = Measure("packets_per_s", "1/s", "Packets that the servers send, including lost ones.")
    return Model(name, summary, source, f"kulkarni.answers:{function}", (*_LOSSES, *more), (sent,))


MODELS = {
    model.name: model
    for model in (
        Model(
            "overflow",
            "the largest synchronised first burst that the switch holds without a loss",
            "own; derived in docs/validation/theory.md",
            "overflow:answer",
            measures=(
                Measure("burst_packets", "1", "Packets of the first burst, all servers together."),
                Measure("peak_packets", "1", "Longest queue if no packet were dropped."),
                Measure("lost_packets", "1", "Packets of the burst that are dropped."),
                Measure(
                    "safe_servers",
                    "1",
                    "Servers whose first burst always fits; later bursts grow, and may overflow "
                    "with fewer.",
                ),
            ),
        ),
        Model(
            "collapse",
            "goodput, block time and timeouts of a read, from a reduced simulation",
            "own; docs/how-to/ask-theory.md",
            "collapse.answers:answer",
            trust="collapse.answers:say",
            measures=(
                Measure("lossless_goodput_bps", "bit/s", "Goodput without losses."),
                Measure(
                    "collapsed",
                    "1",
                    "1 if timeouts cost more than half of the lossless goodput, otherwise 0.",
                ),
                Measure("uncertainty", "1", "Relative standard error of ten runs' mean goodput."),
                Measure("factor", "1", "Goodput is within this factor; see the line below."),
            ),
        ),
        Model(
            "edge-queue",
            "the switch port with only the Poisson datagrams of a scenario: M/G/1/K",
            "Takagi: Queueing Analysis, volume 2, 1993; see docs/reference/models-queues.md",
            "queues.edge:answer",
            measures=(
                Measure("load", "1", "Share of the client's link that the datagrams need."),
                Measure("loss", "1", "Share of the datagrams that are dropped."),
                Measure(
                    "mean_waiting",
                    "1",
                    "Mean number of waiting packets, without the one in service.",
                ),
                Measure("utilization", "1", "Share of the time in which the link is sending."),
                Measure("safe_places", "1", "Buffer places for a loss below one in a million."),
            ),
        ),
        Model(
            "serialisation",
            "completion time, goodput and queue of a read that ccs, nccs or ocs serialises",
            "Osada et al., TCP Incast Avoidance Based on Connection Serialization, eq. 2 to 12",
            "serialisation:answer",
            measures=(
                Measure("ramp_s", "s", "T1, until a connection's window fills the link (eq. 4)."),
                Measure("sets_connections", "1", "n_min, connections in a set (eq. 8 to 10)."),
                Measure("sets_window", "1", "Window of each connection, packets (eq. 9)."),
            ),
        ),
        _of_losses(
            "kulkarni-td-only",
            "throughput by measured losses, without timeouts",
            f"{_BOOK}, eq. 3.21",
            "td_only",
        ),
        _of_losses(
            "kulkarni-full",
            "throughput by measured losses, with all timeouts",
            f"{_BOOK}, eq. 3.39, corrected",
            "full",
        ),
        _of_losses(
            "kulkarni-full-printed",
            "throughput by measured losses, with all timeouts, as printed",
            f"{_BOOK}, eq. 3.39",
            "full_printed",
        ),
        _of_losses(
            "kulkarni-ibtt-only",
            "throughput by measured losses, with timeouts inside a block only",
            f"{_BOOK}, eq. 3.39 with Q_abtt = 0, corrected",
            "ibtt_only",
        ),
        _of_losses(
            "kulkarni-abtt-only",
            "throughput by measured losses, with timeouts at a block's head only",
            f"{_BOOK}, eq. 3.39 with Q_ibtt = 0",
            "abtt_only",
        ),
        _of_losses(
            "kulkarni-abtt-only-whole",
            "throughput by measured losses, with whole windows lost at a block's head only",
            f"{_BOOK}, eq. 3.39 with Q_ibtt = 0, delta as §3 defines an ABTT",
            "abtt_only_whole",
            "block_head_whole_share",
        ),
        _of_losses(
            "kulkarni-split",
            "throughput by measured losses, with one reason for timeouts up to n* servers",
            f"{_BOOK}, eq. 3.40, corrected",
            "split",
        ),
        _of_losses(
            "kulkarni-split-printed",
            "throughput by measured losses: `kulkarni-split` as printed",
            f"{_BOOK}, eq. 3.40",
            "split_printed",
        ),
        _of_losses(
            "kulkarni-extended",
            "throughput by measured losses that are scattered, for NewReno and SACK",
            f"own, after {_BOOK}, §5.2",
            "extended",
        ),
        _of_losses(
            "padhye",
            "n times the throughput of a single long flow by its losses (PFTK)",
            f"Padhye et al., IEEE/ACM ToN 8(2), 2000; n times: {_BOOK}, §3.2.1",
            "n_padhye",
        ),
    )
}


def find(name: str) -> Model:
    """Return the model called `name`.

    Raises
    ------
    ModelError
        There is none; those that exist are in the message.
    """
    if name not in MODELS:
        raise ModelError(f"--model: there is no model {name!r}; choose from {', '.join(MODELS)}")
    return MODELS[name]
