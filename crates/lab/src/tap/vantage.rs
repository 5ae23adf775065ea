//! Vantage points: the places at which a capture can be made.

use std::fmt;
use std::str::FromStr;

use incast_net::PortId;
use incast_net::topology::{HostId, Network};
use incast_scenario::Scenario;

use crate::wiring;

/// A vantage point, at which a capture is made. Clients and servers are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vantage {
    /// At a client.
    Client(u32),
    /// At the switch of the first client of the first workload, before its queues.
    Switch,
    /// At a server of the first workload.
    Server(u32),
}

/// The moment at which the tap sees a port's packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    /// The tap does not see the packets.
    Nothing,
    /// The tap sees the packets when they enter the port.
    Entry,
    /// The tap sees the packets at the end of the port's link.
    End,
}

impl FromStr for Vantage {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse::<u32>().ok();
        let found = match text.split_once(':') {
            None if text == "client" => Some(Self::Client(0)),
            None if text == "switch" => Some(Self::Switch),
            Some(("client", which)) => number(which).map(Self::Client),
            Some(("server", which)) => number(which).map(Self::Server),
            _ => None,
        };
        found.ok_or_else(|| {
            format!("{text:?} must be client, client:N, switch or server:N, counted from 0")
        })
    }
}

impl fmt::Display for Vantage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Client(0) => write!(f, "client"),
            Self::Client(which) => write!(f, "client:{which}"),
            Self::Switch => write!(f, "switch"),
            Self::Server(which) => write!(f, "server:{which}"),
        }
    }
}

impl Vantage {
    /// Checks that the scenario has this vantage point.
    ///
    /// # Errors
    /// The error is one line with the vantage points of the scenario.
    pub fn check(self, scenario: &Scenario) -> Result<(), String> {
        scenario.check_tcp("a capture").map_err(|error| error.to_string())?;
        let few = |what: &str, which: u32, count: u32| {
            if which < count {
                return Ok(());
            }
            let last = count.saturating_sub(1);
            Err(format!(
                "{:?} does not exist: the scenario has {what} 0 to {last}",
                self.to_string()
            ))
        };
        match self {
            Self::Switch => Ok(()),
            Self::Client(which) => few("clients", which, scenario.network.clients),
            Self::Server(which) => few("servers", which, servers(scenario).len() as u32),
        }
    }

    /// The host at which the capture is made; `None` for the switch.
    ///
    /// # Panics
    /// Panics if the scenario has no such vantage point.
    pub fn host(self, scenario: &Scenario) -> Option<HostId> {
        match self {
            Self::Client(which) => Some(HostId(which)),
            Self::Server(which) => Some(servers(scenario)[which as usize]),
            Self::Switch => None,
        }
    }

    /// For each port, the moment at which the tap sees its packets.
    pub(super) fn watches(self, scenario: &Scenario) -> Vec<Watch> {
        let groups = scenario.groups();
        let ends = wiring::ends(scenario, &groups);
        let Some(host) = self.host(scenario) else {
            let own = ends[wiring::own_port(&groups).0 as usize - 1];
            let watch = |end| if end == own { Watch::End } else { Watch::Nothing };
            return ends.into_iter().map(watch).collect();
        };
        let down = Network::switch_port(host);
        let watch = |port| match PortId(port) {
            port if port == down => Watch::End,
            port if port.0 + 1 == down.0 => Watch::Entry,
            _ => Watch::Nothing,
        };
        (0..ends.len() as u32).map(watch).collect()
    }
}

/// The servers of the first workload.
fn servers(scenario: &Scenario) -> Vec<HostId> {
    let groups = scenario.groups();
    wiring::senders(scenario, &groups).swap_remove(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vantage_point_is_read_as_it_is_written() {
        for text in ["client", "client:2", "switch", "server:0", "server:3"] {
            let at: Vantage = text.parse().expect("it is one");
            assert_eq!(at.to_string(), text);
        }
        assert_eq!("client:0".parse(), Ok(Vantage::Client(0)));
        for text in ["", "server", "server:", "server:-1", "switch:1", "host:1"] {
            let error = text.parse::<Vantage>().expect_err("it is none");
            assert!(error.contains("must be client"), "{error}");
        }
    }
}
