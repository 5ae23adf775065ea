"""The only list of models, which `incast list models`, the reference page and the laws use."""

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
        The reason, in one line that fits after "does not apply:".
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
"""Columns of result rows that a model may predict; counts are per block."""

Answer = dict[str, float] | NotApplicable
"""Values of some of the `COLUMNS`, in the units of rows, and the model's own numbers.

The model's own numbers are called `<model>.<name>`. A `Measure` describes each of these numbers.
"""


@dataclass(frozen=True)
class Question:
    """A question to a model.

    Parameters
    ----------
    point
        A scenario as the core resolved it.
    measured
        Measurements of a run of this scenario, with the names of `incast.models.estimate`. Only
        some models need measurements.
    """

    point: Resolved
    measured: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Measure:
    """A number that only one model predicts.

    Parameters
    ----------
    name
        Name of the column, without the model's name before it.
    unit
        SI unit; "1" for counts and ratios.
    summary
        Meaning of the number, in one line.
    """

    name: str
    unit: str
    summary: str


@dataclass(frozen=True)
class Model:
    """A model that predicts the results of a scenario without simulating it.

    Parameters
    ----------
    name
        Name of the model.
    summary
        Description in one line.
    source
        Publication of the model; "own" if the model is not published.
    entry
        `module:function` in this package. The function takes a sequence of questions and returns
        an answer to each question, so that one call over arrays answers a whole sweep.
    needs
        Keys of `Question.measured` that the model requires.
    measures
        Numbers that only this model predicts.
    trust
        `module:function` in this package, or empty if the uncertainty is unknown. The function
        takes the rows of the model's answers and describes their uncertainty. The column
        `<model>.factor` then has the uncertainty of each row.
    """

    name: str
    summary: str
    source: str
    entry: str
    needs: tuple[str, ...] = ()
    measures: tuple[Measure, ...] = ()
    trust: str = ""

    def say(self, rows: "pl.DataFrame") -> str:
        """Return a description of the uncertainty of answers; empty if unknown."""
        if not self.trust:
            return ""
        module, _, function = self.trust.partition(":")
        return str(getattr(import_module(f"incast.models.{module}"), function)(rows))

    def answer_many(self, questions: Sequence[Question]) -> list[Answer]:
        """Answer the questions, in order."""
        answers: list[Answer] = [NotApplicable("")] * len(questions)
        asked = []
        for i, question in enumerate(questions):
            missing = [name for name in self.needs if name not in question.measured]
            if why := question.point.other_family("a model"):
                answers[i] = NotApplicable(why)
            elif not question.point.judged:
                reason = f"the workload must be one read or long flows, not {question.point.doing}"
                answers[i] = NotApplicable(reason)
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
                Measure("peak_packets", "1", "Longest queue if no packet is dropped."),
                Measure("lost_packets", "1", "Packets of the burst that are dropped."),
                Measure(
                    "safe_servers",
                    "1",
                    "Largest number of servers whose first burst always fits; later bursts are "
                    "larger, and may overflow with fewer servers.",
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
                Measure(
                    "uncertainty", "1", "Relative standard error of the mean goodput of ten runs."
                ),
                Measure(
                    "factor",
                    "1",
                    "The simulator's goodput is within this factor of the prediction; the line "
                    "below the table says how often.",
                ),
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
                Measure(
                    "safe_places",
                    "1",
                    "Smallest buffer, in packets, for a loss below one in a million.",
                ),
            ),
        ),
        Model(
            "serialisation",
            "completion time, goodput and queue of a read that ccs, nccs or ocs serialises",
            "Osada et al., TCP Incast Avoidance Based on Connection Serialization, eq. 2 to 12",
            "serialisation:answer",
            measures=(
                Measure(
                    "ramp_s", "s", "T1, time until a connection's window fills the link (eq. 4)."
                ),
                Measure("sets_connections", "1", "n_min, connections in a set (eq. 8 to 10)."),
                Measure("sets_window", "1", "Window of each connection, in packets (eq. 9)."),
            ),
        ),
        _of_losses(
            "kulkarni-td-only",
            "throughput as a function of measured losses, without timeouts",
            f"{_BOOK}, eq. 3.21",
            "td_only",
        ),
        _of_losses(
            "kulkarni-full",
            "throughput as a function of measured losses, with all timeouts",
            f"{_BOOK}, eq. 3.39, corrected",
            "full",
        ),
        _of_losses(
            "kulkarni-full-printed",
            "`kulkarni-full` with the equation as printed",
            f"{_BOOK}, eq. 3.39",
            "full_printed",
        ),
        _of_losses(
            "kulkarni-ibtt-only",
            "throughput as a function of measured losses, with only the timeouts inside a block",
            f"{_BOOK}, eq. 3.39 with Q_abtt = 0, corrected",
            "ibtt_only",
        ),
        _of_losses(
            "kulkarni-abtt-only",
            "throughput as a function of measured losses, with only the timeouts at the head of a "
            "block",
            f"{_BOOK}, eq. 3.39 with Q_ibtt = 0",
            "abtt_only",
        ),
        _of_losses(
            "kulkarni-abtt-only-whole",
            "throughput as a function of measured losses, with only the timeouts after the loss of "
            "a whole window at the head of a block",
            f"{_BOOK}, eq. 3.39 with Q_ibtt = 0, and ABTTs as §3 defines them",
            "abtt_only_whole",
            "block_head_whole_share",
        ),
        _of_losses(
            "kulkarni-split",
            "throughput as a function of measured losses; timeouts have one cause up to n* "
            "servers, and another cause with more servers",
            f"{_BOOK}, eq. 3.40, corrected",
            "split",
        ),
        _of_losses(
            "kulkarni-split-printed",
            "`kulkarni-split` with the equation as printed",
            f"{_BOOK}, eq. 3.40",
            "split_printed",
        ),
        _of_losses(
            "kulkarni-extended",
            "throughput of NewReno and SACK as a function of measured losses that are scattered",
            f"own, after {_BOOK}, §5.2",
            "extended",
        ),
        _of_losses(
            "padhye",
            "n times the throughput of a single long flow with the measured losses (PFTK)",
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
        No model has this name. The message lists all models.
    """
    if name not in MODELS:
        raise ModelError(f"--model: there is no model {name!r}; choose from {', '.join(MODELS)}")
    return MODELS[name]
