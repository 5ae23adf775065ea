//! Builds TCP connections with their remedies.

use std::collections::BTreeMap;
use std::sync::Arc;

use incast_engine::Stream;
use incast_remedies::schedule::{ClientPlace, FullPacket, RequestScheduler};
use incast_remedies::{Installation, Measure, Outcome, Place, Situation};
use incast_tcp::{Config, Connection, Role};

use crate::kind::Seat;
use crate::stalls::ROUND_TRIPS;
use crate::transport::{Opener, Tcp};

/// The TCP connections of a group.
pub(super) struct Connections {
    config: Arc<Config>,
    opener_is_client: bool,
    /// The remedies and their names.
    remedies: Vec<(&'static str, Box<dyn Installation>)>,
    measures: Vec<&'static [Measure]>,
    /// Flow of the first server.
    first_flow: u32,
}

impl Connections {
    pub(super) fn new(tcp: &Tcp, situation: &Situation, first_flow: u32) -> Self {
        let install = |it: &incast_remedies::RemedyConfig| it.remedy().install(situation);
        Self {
            config: Arc::new(tcp.config.clone()),
            opener_is_client: tcp.opener == Opener::Client,
            remedies: tcp.remedies.iter().map(|it| (it.name(), install(it))).collect(),
            measures: tcp.remedies.iter().map(|it| it.remedy().measures()).collect(),
            first_flow,
        }
    }

    /// Whether no remedy changes the connections.
    pub(super) fn is_plain(&self) -> bool {
        self.remedies.is_empty()
    }

    /// The results of the remedies, each with its column.
    pub(super) fn measure(&self, outcome: Outcome) -> BTreeMap<&'static str, Option<f64>> {
        let remedies = self.measures.iter().zip(&self.remedies);
        remedies
            .flat_map(|(measures, (_, remedy))| measures.iter().zip(remedy.measure(&outcome)))
            .map(|(measure, value)| (measure.name, value))
            .collect()
    }

    pub(super) fn full_packet(&self) -> FullPacket {
        FullPacket { payload: self.config.mss, header: self.config.header.into() }
    }

    pub(super) fn receive_window(&self) -> u64 {
        self.config.receive_window
    }

    /// The scheduler of the client, if a remedy has one.
    pub(super) fn scheduler(&mut self, client: &ClientPlace) -> Option<Box<dyn RequestScheduler>> {
        self.remedies.iter_mut().find_map(|(_, remedy)| remedy.scheduler(client.clone()))
    }

    /// Builds one end of a connection. `stream` returns the random stream of a remedy's hook.
    pub(super) fn build(&mut self, seat: Seat, stream: impl Fn(&str) -> Stream) -> Connection {
        let Seat { end, incarnation, base_rtt, random, .. } = seat;
        let is_opener = self.opener_is_client != end.is_server();
        let role = if is_opener { Role::Opener } else { Role::Acceptor };
        let config = Arc::clone(&self.config);
        let mut connection = Connection::new(config, role, end.route(), incarnation as u8, random);
        // A longer delay than this is at least half as long as the shortest stall.
        connection.set_patience(base_rtt * (ROUND_TRIPS / 2));
        for (name, remedy) in &mut self.remedies {
            let place = Place {
                config: &self.config,
                server: end.flow() - self.first_flow,
                random: stream(name),
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
