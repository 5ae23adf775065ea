//! Rare events that are recorded as rows: timeouts, recoveries, drops, blocks.

use incast_engine::{Span, Time};
use incast_tcp::TimeoutReport;
use incast_tcp::connection::FIRST_BYTE;

use crate::cause::{Cause, Diagnosis};
use crate::end::End;
use crate::stalls::{Stall, StallCause};
use crate::state::State;

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// The client begins to request a block.
    BlockStart,
    /// The client sends a request to one server.
    Request,
    /// All data of a server has arrived.
    FlowDone,
    /// All data of the block has arrived.
    BlockDone,
    /// A timer expired.
    Timeout,
    /// A tail loss probe was sent.
    TailProbe,
    /// A wait of a block that was longer than ten base round trips has ended.
    Stall,
    /// Loss recovery began.
    FastRetransmit,
    /// Loss recovery ended.
    RecoveryExit,
    /// A packet was dropped.
    Drop,
    /// The client's link was idle for longer than a base round trip.
    LinkIdle,
    /// The client's link is busy again.
    LinkBusy,
}

impl EventKind {
    /// The name in event rows.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BlockStart => "block_start",
            Self::Request => "request",
            Self::FlowDone => "flow_done",
            Self::BlockDone => "block_done",
            Self::Timeout => "timeout",
            Self::TailProbe => "tail_probe",
            Self::Stall => "stall",
            Self::FastRetransmit => "fast_retransmit",
            Self::RecoveryExit => "recovery_exit",
            Self::Drop => "drop",
            Self::LinkIdle => "link_idle",
            Self::LinkBusy => "link_busy",
        }
    }
}

/// One event. Fields that do not apply are zero or `None`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EventRow {
    /// Time of the event.
    pub time: Time,
    /// Kind of the event.
    pub kind: EventKind,
    /// Flow of the event.
    pub flow: Option<u32>,
    /// Number of the workload's block, counted from 0. The trace fills in this number.
    pub block: u32,
    /// First unacknowledged sequence number, or the sequence number of a dropped packet.
    pub seq: u64,
    /// cwnd, bytes.
    pub cwnd: u64,
    /// ssthresh, bytes.
    pub ssthresh: u64,
    /// Outstanding bytes.
    pub flight: u64,
    /// Number of duplicate ACKs received.
    pub dupacks: u32,
    /// Number of segments of the window that are lost and have not been repaired yet.
    pub lost_in_window: u32,
    /// Number of data packets that the connection has sent, including retransmissions.
    pub packets: u64,
    /// Smoothed round-trip time, if there was a sample.
    pub srtt: Option<Span>,
    /// Retransmission timeout.
    pub rto: Option<Span>,
    /// Cause of a timer's expiry.
    pub cause: Option<Cause>,
    /// Cause of a stall.
    pub stall: Option<StallCause>,
    /// Duration of a stall.
    pub wait: Option<Span>,
    /// Whether the segment belongs to the first window of its block.
    pub block_head: Option<bool>,
}

impl EventRow {
    /// A row with only time, kind and flow.
    pub fn new(time: Time, kind: EventKind, flow: Option<u32>) -> Self {
        Self {
            time,
            kind,
            flow,
            block: 0,
            seq: 0,
            cwnd: 0,
            ssthresh: 0,
            flight: 0,
            dupacks: 0,
            lost_in_window: 0,
            packets: 0,
            srtt: None,
            rto: None,
            cause: None,
            stall: None,
            wait: None,
            block_head: None,
        }
    }

    /// The row of the expiry of a TCP timer.
    pub fn timeout(
        time: Time,
        flow: u32,
        report: &TimeoutReport,
        diagnosis: Diagnosis,
        end: &End,
    ) -> Self {
        Self {
            seq: report.una,
            cwnd: report.cwnd,
            ssthresh: report.ssthresh,
            flight: report.flight,
            dupacks: report.dupacks,
            lost_in_window: diagnosis.lost_in_window,
            rto: Some(report.rto),
            cause: Some(diagnosis.cause),
            block_head: Some(report.block_head),
            ..Self::of(time, EventKind::Timeout, flow, end)
        }
    }

    /// The row of a stall; `client` is the client's end.
    pub fn stall(time: Time, stall: Stall, client: &End) -> Self {
        let Stall { flow, wait, cause } = stall;
        Self {
            seq: client.delivered() + FIRST_BYTE,
            stall: Some(cause),
            wait: Some(wait),
            ..Self::new(time, EventKind::Stall, Some(flow))
        }
    }

    /// The row of an event of an end.
    pub fn of(time: Time, kind: EventKind, flow: u32, end: &End) -> Self {
        let State { seq, cwnd, ssthresh, flight, dupacks, srtt, rto } = end.state();
        Self {
            seq,
            cwnd,
            ssthresh,
            flight,
            dupacks,
            packets: end.counters().data_packets,
            srtt,
            rto,
            ..Self::new(time, kind, Some(flow))
        }
    }
}
