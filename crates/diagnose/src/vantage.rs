//! Where a capture was taken.

use crate::connection::Connection;

/// A place to capture packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Vantage {
    /// At the host that receives the data.
    Client,
    /// At a host that sends it.
    Server,
    /// Between them.
    Switch,
}

impl Vantage {
    /// The one of a name.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "client" => Some(Self::Client),
            "server" => Some(Self::Server),
            "switch" => Some(Self::Switch),
            _ => None,
        }
    }
}

/// What speaks for each place.
#[derive(Clone, Copy, Debug, Default)]
pub struct Evidence {
    /// Bytes of flows whose receiver answers at once, whose sender does, and of others.
    client: i64,
    server: i64,
    switch: i64,
}

/// An end answers at once if its part of the round trip is below this share.
const NEAR: f64 = 0.2;

impl Evidence {
    /// Takes what a connection shows: the medians, as the shortest times have no queue in them, and
    /// a queue tells before it from behind it.
    pub fn take(&mut self, connection: &Connection) {
        let sender = usize::from(connection.flows[1].top > connection.flows[0].top);
        let bytes = connection.flows[sender].top;
        let trips = &connection.trips;
        let (Some(to_sender), Some(to_receiver)) =
            (trips[sender].median(), trips[1 - sender].median())
        else {
            return;
        };
        let share = to_receiver as f64 / (to_receiver + to_sender).max(1) as f64;
        if share < NEAR {
            self.client += bytes;
        } else if share > 1.0 - NEAR {
            self.server += bytes;
        } else {
            self.switch += bytes;
        }
    }

    /// The place that most bytes speak for, and the share of those that do.
    pub fn vantage(&self) -> Option<(Vantage, f64)> {
        let all = [
            (self.client, Vantage::Client),
            (self.server, Vantage::Server),
            (self.switch, Vantage::Switch),
        ];
        let (bytes, vantage) = all.into_iter().max_by_key(|(bytes, _)| *bytes)?;
        let total: i64 = all.iter().map(|(bytes, _)| bytes).sum();
        (bytes > 0).then(|| (vantage, bytes as f64 / total as f64))
    }
}
