//! A test client that records the orders of a scheduler, on a link of 1 Gbps with a round trip of
//! 100 us and a buffer of 40 packets.

use incast_engine::{Limit, Rate, Span, Stream, Time};
use serde_json::Value;

use crate::RemedyConfig;
use crate::schedule::{ClientPlace, ClientView, FullPacket, Note, Order, RequestScheduler};
use crate::seam::Situation;

/// Payload of a full packet, bytes. The header has 40 bytes.
pub(crate) const MSS: u64 = 1460;

pub(crate) struct Desk {
    scheduler: Box<dyn RequestScheduler>,
    servers: u32,
    pub(crate) delivered: Vec<u64>,
    pub(crate) now: Time,
}

impl Desk {
    /// A client with the remedy `remedy` that reads `sru` bytes from each of `servers` servers.
    pub(crate) fn new(remedy: &Value, servers: u32, sru: u64) -> Self {
        let situation = Situation {
            servers,
            sru,
            sender_rate: Rate(1_000_000_000),
            client_rate: Rate(1_000_000_000),
            buffer: Limit::Packets(40),
            base_rtt: Span::from_micros(100),
        };
        let remedy: RemedyConfig = serde_json::from_value(remedy.clone()).unwrap();
        let client = ClientPlace {
            packet: FullPacket { payload: MSS as u32, header: 40 },
            receive_window: 1 << 22,
            random: Stream::named(1, "scheduler", 0),
        };
        let scheduler = remedy.remedy().install(&situation).scheduler(client).unwrap();
        Self { scheduler, servers, delivered: vec![0; servers as usize], now: Time::ZERO }
    }

    pub(crate) fn hears(&mut self, note: Note) -> Vec<Order> {
        let delivered = |server: u32| self.delivered[server as usize];
        let view = ClientView { now: self.now, servers: self.servers, delivered: &delivered };
        let mut orders = Vec::new();
        self.scheduler.on_note(note, &view, &mut orders);
        orders
    }

    pub(crate) fn wants_all(&mut self) -> Vec<Order> {
        (0..self.servers).flat_map(|server| self.hears(Note::Wanted(server))).collect()
    }

    pub(crate) fn passes(&mut self, micros: u64) {
        self.now += Span::from_micros(micros);
    }

    pub(crate) fn ends_block(&mut self, server: u32) {
        let delivered = |server: u32| self.delivered[server as usize];
        let view = ClientView { now: self.now, servers: self.servers, delivered: &delivered };
        self.scheduler.end_block(server, &view);
    }
}
