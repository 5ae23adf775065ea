"""The formulas of chapter 3, applied to scenarios with measured parameters."""

from collections.abc import Callable, Sequence

import numpy as np

from incast.models import padhye
from incast.models.kulkarni import cumulative
from incast.models.kulkarni.cumulative import CORRECTED, PRINTED, Kind, Losses, Reading
from incast.models.numbers import Floats, floats
from incast.models.registry import Answer, NotApplicable, Question


def td_only(questions: Sequence[Question]) -> list[Answer]:
    """Answer with equation (3.21)."""
    return _answers("kulkarni-td-only", "td-only", questions, _corrected)


def full(questions: Sequence[Question]) -> list[Answer]:
    """Answer with equation (3.39), corrected."""
    return _answers("kulkarni-full", "full", questions, _corrected)


def full_printed(questions: Sequence[Question]) -> list[Answer]:
    """Answer with equation (3.39), as printed."""
    return _answers("kulkarni-full-printed", "full", questions, lambda _: PRINTED)


def ibtt_only(questions: Sequence[Question]) -> list[Answer]:
    """Answer with equation (3.39) without Q_abtt."""
    return _answers("kulkarni-ibtt-only", "ibtt-only", questions, _corrected)


def abtt_only(questions: Sequence[Question]) -> list[Answer]:
    """Answer with equation (3.39) without Q_ibtt."""
    return _answers("kulkarni-abtt-only", "abtt-only", questions, _corrected)


def abtt_only_whole(questions: Sequence[Question]) -> list[Answer]:
    """As `abtt_only`, but a timeout at a block's head counts only if a whole window was lost."""
    name, head = "kulkarni-abtt-only-whole", "block_head_whole_share"
    return _answers(name, "abtt-only", questions, _corrected, head)


def split(questions: Sequence[Question]) -> list[Answer]:
    """Answer with equation (3.40), corrected."""
    return _answers("kulkarni-split", "split", questions, _corrected)


def split_printed(questions: Sequence[Question]) -> list[Answer]:
    """Answer with equation (3.40), as printed, with the text's n* = 3."""
    return _answers("kulkarni-split-printed", "split", questions, lambda _: PRINTED)


def extended(questions: Sequence[Question]) -> list[Answer]:
    """Answer with the extended model: scattered losses, and limits of window and link."""
    answers: list[Answer] = [
        NotApplicable("the transport must be NewReno or SACK")
        if _recovery(it) not in {"newreno", "sack", "sack1"}
        else NotApplicable("the number of lost packets must be known")
        for it in questions
    ]
    for limited_transmit in (False, True):

        def reading(asked: Sequence[Question], limited: bool = limited_transmit) -> Reading:
            return Reading(
                window_limit=[it.point.receive_window for it in asked],
                limited_transmit=limited,
                capacity=[it.point.capacity / (8 * it.point.packet) for it in asked],
            )

        known = [
            i
            for i, it in enumerate(questions)
            if _recovery(it) in {"newreno", "sack", "sack1"}
            and not np.isnan(it.measured["packet_loss_ratio"])
            and it.point.tree["transport"]["limited_transmit"] is limited_transmit
        ]
        asked = [questions[i] for i in known]
        answered = _answers("kulkarni-extended", "scattered", asked, reading)
        for i, answer in zip(known, answered, strict=True):
            answers[i] = answer
    return answers


def _recovery(question: Question) -> str:
    return str(question.point.tree["transport"]["recovery"]["name"])


def n_padhye(questions: Sequence[Question]) -> list[Answer]:
    """Answer with n times the throughput of PFTK, at p = p_r (§3.2.1)."""

    def rates(asked: Sequence[Question]) -> Floats:
        each = padhye.throughput(
            _measured(asked, "loss_indication_ratio"),
            _measured(asked, "rtt_s"),
            _timeout(asked),
            [it.point.receive_window for it in asked],
        )
        return floats([it.point.servers for it in asked]) * each

    return _filled("padhye", questions, rates, None)


def _corrected(asked: Sequence[Question]) -> Reading:
    return Reading(CORRECTED.sums, knee=_measured(asked, "knee"))


def _answers(
    name: str,
    kind: Kind,
    questions: Sequence[Question],
    read: Callable[[Sequence[Question]], Reading],
    head: str = "",
) -> list[Answer]:
    def losses(asked: Sequence[Question], reading: Reading) -> Losses:
        # The text counts every ABTT, although simultaneous ABTTs take the time of a single ABTT.
        given = "block_head_timeouts" if reading is PRINTED else "block_head_share"
        return Losses(
            [it.point.servers for it in asked],
            _measured(asked, "loss_event_ratio"),
            _measured(asked, "loss_indication_ratio"),
            _measured(asked, "rtt_s"),
            _timeout(asked),
            _measured(asked, head or given),
            [it.point.block_packets for it in asked],
            np.array(_measured(asked, "packet_loss_ratio"))
            / np.array(_measured(asked, "loss_indication_ratio")),
        )

    def rates(asked: Sequence[Question]) -> Floats:
        reading = read(asked)
        return cumulative.throughput(losses(asked, reading), kind, reading)

    def per_block(asked: Sequence[Question]) -> Floats:
        reading = read(asked)
        told = losses(asked, reading)
        return cumulative.timeouts_per_packet(told, kind, reading) * floats(told.block)

    return _filled(name, questions, rates, None if kind == "td-only" else per_block)


def _filled(
    name: str,
    questions: Sequence[Question],
    rates: Callable[[Sequence[Question]], Floats],
    timeouts: Callable[[Sequence[Question]], Floats] | None,
) -> list[Answer]:
    """Answer the questions with measured losses; the goodput excludes the lost packets."""
    lossy = [it for it in questions if it.measured["loss_event_ratio"] > 0]
    sent = np.broadcast_to(rates(lossy), len(lossy)) if lossy else np.zeros(0)
    waits = np.broadcast_to(timeouts(lossy), len(lossy)) if lossy and timeouts else None
    answers: list[Answer] = []
    at = 0
    for question in questions:
        if question.measured["loss_event_ratio"] <= 0:
            answers.append(NotApplicable("no loss was measured, and the model has no other limit"))
            continue
        # If the measurements have no loss ratio, e.g. from a capture at a host, subtract nothing.
        arriving = float(sent[at]) * (1 - np.nan_to_num(question.measured["packet_loss_ratio"]))
        goodput = float(arriving) * question.point.mss * 8
        answer = {
            "goodput_bps": goodput,
            "completion_s": question.point.servers * question.point.sru * 8 / goodput,
            f"{name}.packets_per_s": float(sent[at]),
        }
        if waits is not None:
            answer["timeouts_per_block"] = float(waits[at])
        answers.append(answer)
        at += 1
    return answers


def _measured(asked: Sequence[Question], name: str) -> list[float]:
    return [it.measured[name] for it in asked]


def _timeout(asked: Sequence[Question]) -> list[float]:
    """Return T0, or the minimum RTO where no timer expired and T0 was not measured."""
    measured = [it.measured["timeout_s"] for it in asked]
    return [
        time if np.isfinite(time) else it.point.rto_min
        for time, it in zip(measured, asked, strict=True)
    ]
