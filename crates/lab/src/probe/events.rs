//! The trace of events: timeouts, recoveries, drops, blocks.

use std::ops::Range;

use incast_engine::{Span, Time};
use incast_host::milestone::{EventKind, EventRow};
use incast_net::PortId;

/// The events of a run, in the order of their times.
#[derive(Clone, Debug)]
pub struct EventTrace {
    rows: Vec<EventRow>,
    port: PortId,
    idle_after: Span,
    /// Since when the link has had nothing to send, as of the packet at hand.
    idle_since: Time,
    /// The flows of each workload; others count as the first one's.
    workloads: Vec<Range<u32>>,
    /// The block of each workload.
    blocks: Vec<u32>,
}

impl EventTrace {
    pub(super) fn new(port: PortId, idle_after: Span, workloads: Vec<Range<u32>>) -> Self {
        let blocks = vec![0; workloads.len()];
        let idle_since = Time::ZERO;
        Self { rows: Vec::new(), port, idle_after, idle_since, workloads, blocks }
    }

    pub(super) fn port(&self) -> PortId {
        self.port
    }

    /// The rows.
    pub fn rows(&self) -> &[EventRow] {
        &self.rows
    }

    pub(super) fn push(&mut self, row: EventRow) {
        let own = |flow: u32| self.workloads.iter().position(|flows| flows.contains(&flow));
        let workload = row.flow.map_or(Some(0), own);
        if let Some(workload) = workload.filter(|_| row.kind == EventKind::BlockStart) {
            self.blocks[workload] = row.block;
        }
        self.rows.push(EventRow { block: self.blocks[workload.unwrap_or(0)], ..row });
    }

    /// The client's link is offered a packet, after having been idle since `idle_since` if that
    /// is past.
    pub(super) fn before_offer(&mut self, idle_since: Time) {
        self.idle_since = idle_since;
    }

    /// It admitted the packet.
    pub(super) fn after_offer(&mut self, now: Time) {
        if now.saturating_since(self.idle_since) <= self.idle_after {
            return;
        }
        let at = self.rows.partition_point(|row| row.time <= self.idle_since);
        let block = self.rows[..at].last().map_or(0, |row| row.block);
        let idle = EventRow::new(self.idle_since, EventKind::LinkIdle, None);
        self.rows.insert(at, EventRow { block, ..idle });
        self.push(EventRow::new(now, EventKind::LinkBusy, None));
    }
}
