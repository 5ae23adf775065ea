//! Blueprints of the connections of a group.

mod tcp;

use std::collections::BTreeMap;
use std::sync::Arc;

use incast_engine::{Rate, Span, Stream};
use incast_remedies::schedule::{ClientPlace, RequestScheduler};
use incast_remedies::{Outcome, Situation};

use crate::end::End;
use crate::ids::EndId;
use crate::kind::{Kind, Seat};
use crate::state::Counters;
use crate::transport::{Family, Transport};
use tcp::Connections;

/// The parameters and remedies of the connections of a group.
pub struct Blueprint {
    builder: Builder,
    /// Flow of the first server.
    first_flow: u32,
    base_rtt: Span,
    /// Rates of the lines of the senders and of the clients.
    rates: [Rate; 2],
    /// Counters of the servers' ends that have been freed or replaced.
    retired: Counters,
}

/// Builds the ends of a family.
enum Builder {
    Tcp(Connections),
    Other(Arc<dyn Kind>),
}

impl Blueprint {
    /// The blueprint of a transport.
    pub fn new(transport: &Transport, situation: &Situation, first_flow: u32) -> Self {
        let builder = match &transport.family {
            Family::Tcp(tcp) => Builder::Tcp(Connections::new(tcp, situation, first_flow)),
            Family::Other(kind) => Builder::Other(Arc::clone(kind)),
        };
        let Situation { base_rtt, sender_rate, client_rate, .. } = *situation;
        let (rates, retired) = ([sender_rate, client_rate], Counters::default());
        Self { builder, first_flow, base_rtt, rates, retired }
    }

    /// The base round trip of the connections.
    pub fn base_rtt(&self) -> Span {
        self.base_rtt
    }

    /// Flow of the first server.
    pub(crate) fn first_flow(&self) -> u32 {
        self.first_flow
    }

    /// Counters of the servers' ends that have been freed or replaced.
    pub(crate) fn retired(&self) -> Counters {
        self.retired
    }

    /// Adds the counters of a server's end that is freed or replaced.
    pub(crate) fn retire(&mut self, server: &End) {
        self.retired = self.retired.and(&server.counters());
    }

    /// Whether the ends are TCP connections that no remedy changes.
    pub fn is_plain(&self) -> bool {
        match &self.builder {
            Builder::Tcp(tcp) => tcp.is_plain(),
            Builder::Other(_) => false,
        }
    }

    /// The results of the remedies, each with its column.
    pub fn measure(&self, outcome: &Outcome) -> BTreeMap<&'static str, Option<f64>> {
        match &self.builder {
            Builder::Tcp(tcp) => tcp.measure(*outcome),
            Builder::Other(_) => BTreeMap::new(),
        }
    }

    /// The scheduler of the client, if a remedy has one. `seed` is the seed of the run.
    pub fn scheduler(&mut self, seed: u64) -> Option<Box<dyn RequestScheduler>> {
        let Builder::Tcp(tcp) = &mut self.builder else { return None };
        let random = Stream::named(seed, "scheduler", self.first_flow.into());
        tcp.scheduler(&ClientPlace {
            packet: tcp.full_packet(),
            receive_window: tcp.receive_window(),
            random,
        })
    }

    /// Builds one end of a flow. `seed` is the seed of the run, and `incarnation` counts the
    /// connections of the flow.
    pub fn build(&mut self, end: EndId, incarnation: u32, seed: u64) -> End {
        let index = u64::from(incarnation) << 32 | u64::from(end.0);
        let random = Stream::named(seed, "connection", index);
        let rate = self.rates[usize::from(!end.is_server())];
        let seat = Seat { end, incarnation, rate, base_rtt: self.base_rtt, random };
        match &mut self.builder {
            Builder::Tcp(tcp) => {
                let hook = |name: &str| Stream::named(seed, name, index);
                End::new(tcp.build(seat, hook))
            }
            Builder::Other(kind) => End::guest(kind.end(seat), incarnation as u8),
        }
    }
}
