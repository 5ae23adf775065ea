//! The interface of all kinds of traffic.

use incast_engine::{Fault, Rate, Span};
use incast_host::{BlueprintId, Hosts};
use incast_net::topology::{HostId, SwitchId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::application::Application;
use crate::draws::{Draws, Scope};
use crate::layout::Layout;
use crate::numbers::Numbers;

/// The role of a table of traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A workload: the run ends when its workloads have ended.
    Workload,
    /// Background traffic: it continues until the run ends.
    Background,
}

impl Role {
    /// The role of a table with this scope.
    pub const fn of(scope: Scope) -> Self {
        match scope {
            Scope::Workload(_) => Self::Workload,
            Scope::Background(_) => Self::Background,
        }
    }
}

/// The sending hosts of a table of traffic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Senders {
    /// The number of hosts that only this table has, and the switches to which these hosts are
    /// connected in turn.
    Own(u32, Vec<SwitchId>),
    /// The servers of the first workload.
    Servers,
    /// The clients that the traffic sends to.
    Clients,
}

/// The sources of traffic that has no servers of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum From {
    /// A host of its own, with a link like a server's.
    #[default]
    Host,
    /// Every server of the first workload.
    Servers,
}

impl From {
    /// If the sources are the first workload's servers, refuses a scenario that gives their number
    /// or switches. If the sources are hosts of their own, fills in the switches of these hosts.
    pub(crate) fn settle(
        self,
        count: Option<u32>,
        at: &mut Option<Numbers>,
        layout: &Layout,
    ) -> Result<(), Fault> {
        if self == Self::Servers {
            return if count.is_some() {
                let message = "must not be given: every server sends; leave it out, or write from \
                               = \"host\"";
                Err(Fault::new("count", message))
            } else if at.is_some() {
                let message = "must not be given: the servers already have switches; leave it out, \
                               or write from = \"host\"";
                Err(Fault::new("at", message))
            } else {
                Ok(())
            };
        }
        *at = layout.settled_switches(at.as_ref(), "at")?;
        Ok(())
    }

    /// The sending hosts; `at` must be resolved.
    pub(crate) fn senders(
        self,
        count: Option<u32>,
        at: Option<&Numbers>,
        layout: &Layout,
    ) -> Senders {
        match self {
            Self::Host => Senders::Own(count.unwrap_or(1), layout.switches_of(at)),
            Self::Servers => Senders::Servers,
        }
    }
}

/// The load of connections, as far as it is known in advance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// The largest amount that a connection sends at a time, bytes; [`u64::MAX`] if the connection
    /// never ends.
    pub most: u64,
    /// The smallest amount that a connection sends at a time, bytes.
    pub least: u64,
    /// Number of connections that may send at once.
    pub at_once: u32,
    /// Number of connections that send to one client at once.
    pub fan_in: u32,
    /// Whether a client requests the data. A remedy may then schedule the requests.
    pub is_asked_for: bool,
    /// Whether the connections deliver the parts of one block.
    pub is_shared: bool,
    /// The reason why the connections never end, if they do not end.
    pub endless: Option<&'static str>,
}

/// Datagrams that hosts offer to their links.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Offered {
    /// The rate of each source while it sends.
    pub rate: Rate,
    /// The share of time in which a source sends.
    pub share: f64,
    /// The size of a datagram, bytes.
    pub packet: u32,
    /// The time of the first datagram.
    pub start: Span,
    /// Whether the servers send the datagrams in addition to their workload.
    pub on_servers: bool,
}

/// The context in which an application starts.
pub struct Setting {
    /// Number of the application, for its timers.
    pub number: u16,
    /// The first flow of the application; its other flows have the next numbers.
    pub first_flow: u32,
    /// Number of hosts that send.
    pub senders: u32,
    /// The blueprint of the application's connections; `None` for datagrams.
    pub blueprint: Option<BlueprintId>,
    /// Payload of a full segment, in bytes.
    pub mss: u32,
    /// The receive window of the application's transport, bytes.
    pub receive_window: u64,
    /// The rate of a client's link.
    pub client_rate: Rate,
    /// The random streams of the application.
    pub draws: Draws,
}

/// A kind of traffic with its parameters.
pub trait Workload {
    /// Refuses parameters that are invalid on this network, and fills in defaults.
    ///
    /// # Errors
    /// The first parameter that is wrong.
    fn settle(&mut self, layout: &Layout, role: Role) -> Result<(), Fault>;

    /// The sending hosts of a table of traffic.
    fn senders(&self, layout: &Layout) -> Senders;

    /// The clients that the parameters name as receivers; `None` means the first client.
    fn to(&self) -> Option<&Numbers> {
        None
    }

    /// The pairs of a sender and a client.
    fn pairing(&self) -> Pairing {
        Pairing::InTurn(1)
    }

    /// The clients that the traffic sends to.
    fn clients(&self) -> Vec<u32> {
        Numbers::or_first(self.to())
    }

    /// The two hosts of each flow, the sending host first; `senders` are the sending hosts in
    /// order.
    fn flows(&self, senders: &[HostId]) -> Vec<(HostId, HostId)> {
        self.pairing().flows(senders, &self.clients())
    }

    /// Number of flows, with `senders` sending hosts.
    fn count(&self, senders: u32) -> u32 {
        self.pairing().count(senders, self.clients().len())
    }

    /// The load of the connections, with `senders` sending hosts; `None` if there are no
    /// connections.
    fn load(&self, senders: u32) -> Option<Load>;

    /// If the scenario sets a key that makes a client open connections before it requests data, the
    /// name of this key.
    fn opens_early(&self) -> Option<&'static str> {
        None
    }

    /// The datagrams that this traffic sends, if any.
    fn offered(&self) -> Option<Offered> {
        None
    }

    /// Whether this traffic ends by itself as a workload.
    fn ends(&self) -> bool;

    /// The time at which this traffic ends, if it is known.
    fn duration(&self) -> Option<Span> {
        None
    }

    /// The application that runs on the hosts of this traffic.
    fn application(&self, setting: Setting, hosts: &mut Hosts) -> Box<dyn Application>;
}

/// The pairs of a sender and a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairing {
    /// A flow from every sender to every client.
    Every,
    /// The clients are assigned to the senders in turn, and each sender has this number of flows.
    InTurn(u32),
}

impl Pairing {
    fn flows(self, senders: &[HostId], clients: &[u32]) -> Vec<(HostId, HostId)> {
        match self {
            Self::Every => {
                let with_all =
                    |sender: HostId| clients.iter().map(move |client| (sender, HostId(*client)));
                senders.iter().flat_map(|sender| with_all(*sender)).collect()
            }
            Self::InTurn(each) => {
                let pairs = senders.iter().zip(clients.iter().cycle());
                let flows = |(sender, client): (&HostId, &u32)| (*sender, HostId(*client));
                pairs.flat_map(|pair| (0..each).map(move |_| flows(pair))).collect()
            }
        }
    }

    fn count(self, senders: u32, clients: usize) -> u32 {
        senders.saturating_mul(match self {
            Self::Every => clients as u32,
            Self::InTurn(each) => each,
        })
    }
}
