//! A limit on the number of simultaneous servers. The requests to the other servers wait in their
//! order.

use std::collections::VecDeque;

use incast_engine::Limit;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schedule::{ClientView, FullPacket, Note, Order, RequestScheduler};

/// When waiting servers replace servers that have finished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Refill {
    /// When the whole group has finished.
    #[default]
    Group,
    /// One by one, whenever a server has finished.
    Each,
}

/// The scheduler.
#[derive(Debug)]
pub(crate) struct Admission {
    /// Number of servers that may answer at the same time.
    places: u64,
    refill: Refill,
    /// Window of each server, bytes; `None` for the transport's window.
    window: Option<u64>,
    /// Number of servers that have received a request and have not finished.
    open: u64,
    /// Number of further servers that may be asked now.
    free: u64,
    waiting: VecDeque<u32>,
}

impl Admission {
    pub(crate) fn new(places: u64, refill: Refill, window: Option<u64>) -> Self {
        Self { places, refill, window, open: 0, free: places, waiting: VecDeque::new() }
    }

    fn advance(&mut self, orders: &mut Vec<Order>) {
        while self.free > 0
            && let Some(server) = self.waiting.pop_front()
        {
            self.free -= 1;
            self.open += 1;
            orders.push(Order::Ask { server, window: self.window });
        }
    }

    fn leave(&mut self) {
        self.open -= 1;
        match self.refill {
            Refill::Each => self.free += 1,
            Refill::Group if self.open == 0 => self.free = self.places,
            Refill::Group => {}
        }
    }
}

impl RequestScheduler for Admission {
    fn on_note(&mut self, note: Note, _: &ClientView<'_>, orders: &mut Vec<Order>) {
        match note {
            Note::Wanted(server) => self.waiting.push_back(server),
            Note::Complete(_) => self.leave(),
            Note::Established(_) | Note::Marked(_) | Note::Alarm => return,
        }
        self.advance(orders);
    }

    fn end_block(&mut self, _: u32, _: &ClientView<'_>) {
        self.open = 0;
        self.free = self.places;
    }
}

/// Number of full packets that a buffer holds.
pub(crate) fn packets_in(buffer: Limit, packet: FullPacket) -> u64 {
    match buffer {
        Limit::Packets(packets) => packets,
        Limit::Bytes(bytes) => bytes / (u64::from(packet.payload) + u64::from(packet.header)),
    }
}
