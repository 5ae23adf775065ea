//! Units and meanings of the trace tables' columns.

use crate::column::Column;

const fn column(name: &'static str, unit: &'static str, description: &'static str) -> Column {
    Column { name, unit, description }
}

/// Columns of the event table.
pub const EVENT_COLUMNS: &[Column] = &[
    column("time_s", "s", "When."),
    column(
        "kind",
        "",
        "block_start, request, flow_done, block_done, timeout, tail_probe, stall (its end), fast_retransmit, recovery_exit, drop, link_idle or link_busy.",
    ),
    column("flow", "1", "Flow, which is the server's number for the workload; -1 if none."),
    column("block", "1", "Block of the workload, from 0."),
    column(
        "seq",
        "byte",
        "First unacknowledged, or dropped, sequence number; of a stall the one that the client expects next; data begin at 1.",
    ),
    column("cwnd", "byte", "Congestion window; for a timeout before the reaction."),
    column("ssthresh", "byte", "Slow-start threshold; for a timeout before the reaction."),
    column("flight", "byte", "Outstanding data; for a timeout before the reaction."),
    column("dupacks", "1", "Consecutive duplicate ACKs received."),
    column(
        "lost_in_window",
        "1",
        "Segments of the outstanding window that are lost and not yet repaired, at a timeout.",
    ),
    column(
        "packets",
        "1",
        "Data packets that the connection has sent, retransmissions included; in rows of a timeout, a recovery or a finished flow, as are the next two.",
    ),
    column("srtt_s", "s", "Smoothed round-trip time."),
    column("rto_s", "s", "Retransmission timeout; for a timeout the one that expired."),
    column(
        "cause",
        "",
        "Why a timer expired: handshake, spurious, ack_loss, lost_retransmission, full_window, tail or lack_of_dupacks. What ended a stall: timeout, tail_probe, handshake, pacer, persist, delayed_ack, application or network.",
    ),
    column(
        "place",
        "",
        "Of a timeout: block_head (the first window of a block, ABTT) or inside (IBTT).",
    ),
    column("wait_s", "s", "Of a stall: how long the client's link brought nothing of the block."),
];

/// Columns of the queue table.
pub const QUEUE_COLUMNS: &[Column] = &[
    column("time_s", "s", "Start of the bin."),
    column("bin_s", "s", "Width of the bin; bins without a change are left out."),
    column(
        "port",
        "",
        "Which port of a switch, on the way to a client; with several switches both ends of its link are numbered.",
    ),
    column("packets_min", "1", "Fewest packets waiting; the one in service is not counted."),
    column("packets_max", "1", "Most packets waiting."),
    column("packets_last", "1", "Packets waiting at the end of the bin."),
    column("bytes_min", "byte", "Fewest bytes waiting."),
    column("bytes_max", "byte", "Most bytes waiting."),
    column("bytes_last", "byte", "Bytes waiting at the end of the bin."),
    column("labelled_min", "1", "Fewest waiting packets with a label, such as PLATO's."),
    column("labelled_max", "1", "Most of them."),
    column("labelled_last", "1", "How many at the end of the bin."),
    column(
        "heartbeats_last",
        "1",
        "PLATO's heartbeats among them, without retransmissions and dummies; none are told apart with `single_bit`.",
    ),
    column("drops", "1", "Packets dropped."),
    column("busy", "1", "Share of the bin in which the link was sending."),
];

/// Columns of the flow table.
pub const FLOW_COLUMNS: &[Column] = &[
    column("time_s", "s", "Start of the bin."),
    column("bin_s", "s", "Width of the bin; bins without a change are left out."),
    column("flow", "1", "Flow, which is the server's number for the workload."),
    column("cwnd_min", "byte", "Smallest congestion window."),
    column("cwnd_max", "byte", "Largest congestion window."),
    column("cwnd_last", "byte", "Congestion window at the end of the bin."),
    column("ssthresh_last", "byte", "Slow-start threshold at the end of the bin."),
    column("rto_s_last", "s", "Retransmission timeout at the end of the bin, backed off."),
    column("flight_last", "byte", "Outstanding data at the end of the bin."),
    column(
        "labelled_last",
        "1",
        "New segments sent with a label up to the end of the bin: PLATO's heartbeats.",
    ),
];
