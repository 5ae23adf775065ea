//! The trace of events: timeouts, recoveries, drops, blocks.

use std::ops::Range;

use incast_engine::{Span, Time};
use incast_host::cause::Cause;
use incast_host::milestone::{EventKind, EventRow};
use incast_host::stalls::StallCause;
use incast_net::topology::Network;
use incast_net::{Packet, PortId};

use super::kind::Read::{F64, I64, Text, U32, U64};
use super::{Detail, Field, Listener, Setting, TraceKind};

/// The events of a run, in the order of their times.
#[derive(Clone, Debug)]
pub struct EventTrace {
    rows: Vec<EventRow>,
    port: PortId,
    idle_after: Span,
    /// The time at which the link became idle before the current packet.
    idle_since: Time,
    /// The flows of each workload. Other flows are assigned to the first workload.
    workloads: Vec<Range<u32>>,
    /// The current block of each workload.
    blocks: Vec<u32>,
}

impl EventTrace {
    /// The rows.
    pub fn rows(&self) -> &[EventRow] {
        &self.rows
    }

    fn push(&mut self, row: EventRow) {
        let own = |flow: u32| self.workloads.iter().position(|flows| flows.contains(&flow));
        let workload = row.flow.map_or(Some(0), own);
        if let Some(workload) = workload.filter(|_| row.kind == EventKind::BlockStart) {
            self.blocks[workload] = row.block;
        }
        self.rows.push(EventRow { block: self.blocks[workload.unwrap_or(0)], ..row });
    }
}

impl TraceKind for EventTrace {
    const NAME: &'static str = "events";
    const TABLE: &'static str = "events";
    const SUMMARY: &'static str = "Timeouts, recoveries, drops and milestones of blocks.";
    type Row = EventRow;
    const FIELDS: &'static [Field<EventRow>] = &[
        Field::new("time_s", "s", "Time of the event.", F64(|row| row.time.as_secs_f64())),
        Field::new(
            "kind",
            "",
            "block_start, request, flow_done, block_done, timeout, tail_probe, stall (at its end), fast_retransmit, recovery_exit, drop, link_idle or link_busy.",
            Text(|row| row.kind.name()),
        ),
        Field::new(
            "flow",
            "1",
            "Number of the flow; in the workload, this is the server's number. -1 if the event has \
             no flow.",
            I64(|row| row.flow.map_or(-1, i64::from)),
        ),
        Field::new("block", "1", "Block of the workload, from 0.", U32(|row| row.block)),
        Field::new(
            "seq",
            "byte",
            "First unacknowledged or dropped sequence number; for a stall, the next sequence \
             number that the client expects. Data begin at 1.",
            U64(|row| row.seq),
        ),
        Field::new(
            "cwnd",
            "byte",
            "Congestion window; in rows of a timeout, the value before the reaction.",
            U64(|row| row.cwnd),
        ),
        Field::new(
            "ssthresh",
            "byte",
            "Slow-start threshold; in rows of a timeout, the value before the reaction.",
            U64(|row| row.ssthresh),
        ),
        Field::new(
            "flight",
            "byte",
            "Outstanding data; in rows of a timeout, the value before the reaction.",
            U64(|row| row.flight),
        ),
        Field::new("dupacks", "1", "Consecutive duplicate ACKs received.", U32(|row| row.dupacks)),
        Field::new(
            "lost_in_window",
            "1",
            "For a timeout: segments of the outstanding window that are lost and not yet repaired.",
            U32(|row| row.lost_in_window),
        ),
        Field::new(
            "packets",
            "1",
            "Data packets that the connection has sent, retransmissions included. This and the next two columns have values in rows of a timeout, a recovery or a finished flow.",
            U64(|row| row.packets),
        ),
        Field::new("srtt_s", "s", "Smoothed round-trip time.", F64(|row| seconds(row.srtt))),
        Field::new(
            "rto_s",
            "s",
            "Retransmission timeout; for a timeout, the value that expired.",
            F64(|row| seconds(row.rto)),
        ),
        Field::new(
            "cause",
            "",
            "Cause of a timeout: handshake, spurious, ack_loss, lost_retransmission, full_window, \
             tail or lack_of_dupacks. Cause of a stall: timeout, tail_probe, handshake, pacer, \
             persist, delayed_ack, application or network.",
            Text(|row| cause(row)),
        ),
        Field::new(
            "place",
            "",
            "For a timeout: block_head (the first window of a block, ABTT) or inside (IBTT).",
            Text(|row| place(row)),
        ),
        Field::new(
            "wait_s",
            "s",
            "For a stall: time for which the client's link carried no data of the block.",
            F64(|row| seconds(row.wait)),
        ),
    ];

    fn new(_: Detail, setting: &Setting) -> Self {
        let workloads = setting.workloads.clone();
        Self {
            rows: Vec::new(),
            port: setting.own_port,
            idle_after: setting.base_rtt,
            idle_since: Time::ZERO,
            blocks: vec![0; workloads.len()],
            workloads,
        }
    }

    fn for_each_row(&self, emit: impl FnMut(&EventRow)) {
        self.rows.iter().for_each(emit);
    }
}

impl Listener for EventTrace {
    fn before_offer(&mut self, _: Time, port: PortId, network: &mut Network) {
        if port == self.port {
            self.idle_since = network.port(port).last_departure();
        }
    }

    fn after_offer(&mut self, now: Time, port: PortId, _: &Packet, _: &Network) {
        if port != self.port || now.saturating_since(self.idle_since) <= self.idle_after {
            return;
        }
        let at = self.rows.partition_point(|row| row.time <= self.idle_since);
        let block = self.rows[..at].last().map_or(0, |row| row.block);
        let idle = EventRow::new(self.idle_since, EventKind::LinkIdle, None);
        self.rows.insert(at, EventRow { block, ..idle });
        self.push(EventRow::new(now, EventKind::LinkBusy, None));
    }

    fn on_drop(&mut self, now: Time, _: PortId, packet: &Packet) {
        let row = EventRow::new(now, EventKind::Drop, Some(packet.route.flow()));
        self.push(EventRow { seq: packet.seq, ..row });
    }

    fn on_event(&mut self, row: EventRow) {
        self.push(row);
    }
}

/// A span in seconds, if there is one.
fn seconds(span: Option<Span>) -> f64 {
    span.map_or(f64::NAN, Span::as_secs_f64)
}

/// The cause of a timer's expiry or of a stall.
fn cause(row: &EventRow) -> &'static str {
    row.cause.map_or_else(|| row.stall.map_or("", StallCause::name), Cause::name)
}

fn place(row: &EventRow) -> &'static str {
    match row.block_head {
        None => "",
        Some(true) => "block_head",
        Some(false) => "inside",
    }
}

#[cfg(test)]
mod tests {
    use incast_net::RouteId;

    use super::*;
    use crate::probe::{Recorder, Values};

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    /// A trace of two workloads. Flows 0 and 1 belong to the first workload, and flow 2 belongs to
    /// the second.
    fn trace() -> EventTrace {
        let setting = Setting {
            flows: 3,
            workloads: vec![0..2, 2..3],
            base_rtt: Span::from_micros(100),
            own_port: PortId(1),
            ports: Vec::new(),
        };
        EventTrace::new(Detail::Binned, &setting)
    }

    /// The names in a column of strings.
    fn names(trace: &EventTrace, column: &str) -> Vec<String> {
        let mut columns = trace.table().columns.into_iter();
        match columns.find(|(name, _)| *name == column) {
            Some((_, Values::Text(names))) => {
                names.codes.iter().map(|code| names.names[*code as usize].clone()).collect()
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_row_names_what_ended_a_stall_or_let_a_timer_expire() {
        let mut trace = trace();
        let row = EventRow::new(at(1), EventKind::Timeout, Some(0));
        let rows = [
            row,
            EventRow { cause: Some(Cause::AckLoss), block_head: Some(true), ..row },
            EventRow { cause: Some(Cause::Tail), block_head: Some(false), ..row },
            EventRow { stall: Some(StallCause::DelayedAck), ..row },
            EventRow { cause: Some(Cause::Spurious), stall: Some(StallCause::Pacer), ..row },
        ];
        for row in rows {
            trace.on_event(row);
        }
        assert_eq!(names(&trace, "cause"), ["", "ack_loss", "tail", "delayed_ack", "spurious"]);
        assert_eq!(names(&trace, "place"), ["", "block_head", "inside", "", ""]);
        assert_eq!(names(&trace, "kind"), ["timeout"; 5]);
    }

    #[test]
    fn an_event_belongs_to_the_block_of_its_workload() {
        let mut trace = trace();
        let row = |kind, flow| EventRow::new(at(1), kind, flow);
        let start = |flow, block| EventRow { block, ..row(EventKind::BlockStart, flow) };
        for event in [
            start(None, 4),
            start(Some(2), 9),
            row(EventKind::Timeout, Some(1)),
            row(EventKind::Timeout, Some(2)),
            EventRow { block: 7, ..row(EventKind::FlowDone, Some(0)) },
            row(EventKind::Timeout, Some(50)),
        ] {
            trace.on_event(event);
        }
        let packet = Packet { route: RouteId::new(2, true), seq: 33, ..Packet::default() };
        trace.on_drop(at(2), PortId(5), &packet);
        let blocks: Vec<_> = trace.rows().iter().map(|row| row.block).collect();
        assert_eq!(blocks, [4, 9, 4, 9, 4, 4, 9]);
        let drop = trace.rows()[6];
        assert_eq!((drop.kind, drop.flow, drop.seq), (EventKind::Drop, Some(2), 33));
    }
}
