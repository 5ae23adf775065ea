//! Blueprints of the connections of a group.

use std::collections::BTreeMap;
use std::sync::Arc;

use incast_engine::{Span, Stream};
use incast_remedies::schedule::{ClientPlace, FullPacket, RequestScheduler};
use incast_remedies::{Installation, Measure, Outcome, Place, Situation};
use incast_tcp::connection::Counters;
use incast_tcp::{Config, Connection, Role};

use crate::ends::End;
use crate::ids::EndId;
use crate::stalls::ROUND_TRIPS;
use crate::transport::{Opener, Transport};

/// The parameters and remedies of the connections of a group.
pub struct Blueprint {
    config: Arc<Config>,
    opener_is_client: bool,
    /// The remedies and their names.
    remedies: Vec<(&'static str, Box<dyn Installation>)>,
    measures: Vec<&'static [Measure]>,
    /// Flow of the first server.
    first_flow: u32,
    base_rtt: Span,
    /// Counters of the servers' ends that have been freed or replaced.
    retired: Counters,
}

impl Blueprint {
    /// The blueprint of a transport.
    pub fn new(transport: &Transport, situation: &Situation, first_flow: u32) -> Self {
        let remedies = transport.remedies.iter();
        Self {
            config: Arc::new(transport.tcp.clone()),
            opener_is_client: transport.opener == Opener::Client,
            remedies: remedies
                .map(|remedy| (remedy.name(), remedy.remedy().install(situation)))
                .collect(),
            measures: transport.remedies.iter().map(|it| it.remedy().measures()).collect(),
            first_flow,
            base_rtt: situation.base_rtt,
            retired: Counters::default(),
        }
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

    /// Whether no remedy changes the connections.
    pub fn is_plain(&self) -> bool {
        self.remedies.is_empty()
    }

    /// The results of the remedies, each with its column.
    pub fn measure(&self, outcome: &Outcome) -> BTreeMap<&'static str, Option<f64>> {
        let remedies = self.measures.iter().zip(&self.remedies);
        remedies
            .flat_map(|(measures, (_, remedy))| measures.iter().zip(remedy.measure(outcome)))
            .map(|(measure, value)| (measure.name, value))
            .collect()
    }

    /// The scheduler of the client, if a remedy has one. `seed` is the seed of the run.
    pub fn scheduler(&mut self, seed: u64) -> Option<Box<dyn RequestScheduler>> {
        let Config { mss, header, receive_window, .. } = *self.config;
        let client = ClientPlace {
            packet: FullPacket { payload: mss, header: header.into() },
            receive_window,
            random: Stream::named(seed, "scheduler", self.first_flow.into()),
        };
        self.remedies.iter_mut().find_map(|(_, remedy)| remedy.scheduler(client.clone()))
    }

    /// Builds one end of a connection. `seed` is the seed of the run, and `incarnation` counts the
    /// connections of the flow.
    pub fn build(&mut self, end: EndId, incarnation: u32, seed: u64) -> Connection {
        let is_opener = self.opener_is_client != end.is_server();
        let role = if is_opener { Role::Opener } else { Role::Acceptor };
        let index = u64::from(incarnation) << 32 | u64::from(end.0);
        let random = Stream::named(seed, "connection", index);
        let config = Arc::clone(&self.config);
        let mut connection = Connection::new(config, role, end.route(), incarnation as u8, random);
        // A delay that is longer than this patience is at least half of a stall.
        connection.set_patience(self.base_rtt * (ROUND_TRIPS / 2));
        for (name, remedy) in &mut self.remedies {
            let place = Place {
                config: &self.config,
                server: end.flow() - self.first_flow,
                random: Stream::named(seed, name, index),
            };
            if end.is_server() {
                if let Some(hook) = remedy.sender(place) {
                    connection.add_sender_hook(hook);
                }
            } else if let Some(hook) = remedy.receiver(place) {
                connection.add_receiver_hook(hook);
            }
        }
        connection
    }
}
