//! The trace of events: timeouts, recoveries, drops, blocks.

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
    block: u32,
}

impl EventTrace {
    pub(super) fn new(port: PortId, idle_after: Span) -> Self {
        Self { rows: Vec::new(), port, idle_after, idle_since: Time::ZERO, block: 0 }
    }

    pub(super) fn port(&self) -> PortId {
        self.port
    }

    /// The rows.
    pub fn rows(&self) -> &[EventRow] {
        &self.rows
    }

    pub(super) fn push(&mut self, row: EventRow) {
        if row.kind == EventKind::BlockStart {
            self.block = row.block;
        }
        self.rows.push(EventRow { block: self.block, ..row });
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
