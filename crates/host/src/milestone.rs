//! What happens rarely and is worth a row: timeouts, recoveries, drops, blocks.

use incast_engine::{Span, Time};
use incast_tcp::{Connection, TimeoutReport};

use crate::cause::{Cause, Diagnosis};
use crate::stalls::{Stall, StallCause};

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// The client starts to ask for a block.
    BlockStart,
    /// It asks one server.
    Request,
    /// A server's part has arrived.
    FlowDone,
    /// All parts have arrived.
    BlockDone,
    /// A timer expired.
    Timeout,
    /// A tail-loss probe left.
    TailProbe,
    /// A block has waited for more than ten base round trips, until now.
    Stall,
    /// Loss recovery began.
    FastRetransmit,
    /// Loss recovery ended.
    RecoveryExit,
    /// A packet was dropped.
    Drop,
    /// The client's link ran empty for longer than a base round trip.
    LinkIdle,
    /// It is busy again.
    LinkBusy,
}

impl EventKind {
    /// As written in event rows.
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

/// One event; fields that do not apply are zero or none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EventRow {
    /// When.
    pub time: Time,
    /// What.
    pub kind: EventKind,
    /// Whose.
    pub flow: Option<u32>,
    /// In which block of the workload, from 0; filled in by the trace.
    pub block: u32,
    /// First unacknowledged, or dropped, sequence number.
    pub seq: u64,
    /// cwnd, bytes.
    pub cwnd: u64,
    /// ssthresh, bytes.
    pub ssthresh: u64,
    /// Outstanding bytes.
    pub flight: u64,
    /// Duplicate ACKs received.
    pub dupacks: u32,
    /// Segments of the window that are lost and not yet repaired.
    pub lost_in_window: u32,
    /// Data packets that the connection sent, retransmissions included.
    pub packets: u64,
    /// Smoothed round-trip time, if there was a sample.
    pub srtt: Option<Span>,
    /// Retransmission timeout.
    pub rto: Option<Span>,
    /// Why a timer expired.
    pub cause: Option<Cause>,
    /// What ended a stall.
    pub stall: Option<StallCause>,
    /// How long it was.
    pub wait: Option<Span>,
    /// Whether the segment belongs to the first window of its block.
    pub block_head: Option<bool>,
}

impl EventRow {
    /// A row with nothing but time, kind and flow.
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

    /// The row of an expiry.
    pub fn timeout(
        time: Time,
        flow: u32,
        report: &TimeoutReport,
        diagnosis: Diagnosis,
        connection: &Connection,
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
            ..Self::of(time, EventKind::Timeout, flow, connection)
        }
    }

    /// The row of a stall, whose end is at `connection`, a client's.
    pub fn stall(time: Time, stall: Stall, connection: &Connection) -> Self {
        let Stall { flow, wait, cause } = stall;
        Self {
            seq: connection.received().next(),
            stall: Some(cause),
            wait: Some(wait),
            ..Self::new(time, EventKind::Stall, Some(flow))
        }
    }

    /// The row of something that happened to a connection.
    pub fn of(time: Time, kind: EventKind, flow: u32, connection: &Connection) -> Self {
        Self {
            seq: connection.una(),
            cwnd: connection.cwnd(),
            ssthresh: connection.ssthresh(),
            flight: connection.flight(),
            dupacks: connection.dupacks(),
            packets: connection.counters().data_packets,
            srtt: connection.rtt().srtt(),
            rto: Some(connection.rtt().rto()),
            ..Self::new(time, kind, Some(flow))
        }
    }
}
