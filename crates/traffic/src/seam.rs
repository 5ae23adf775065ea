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
    /// The role of the table of a scope.
    pub const fn of(scope: Scope) -> Self {
        match scope {
            Scope::Workload(_) => Self::Workload,
            Scope::Background(_) => Self::Background,
        }
    }
}

/// Places of the sending hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Senders {
    /// This many own hosts, on these switches in turn.
    Own(u32, Vec<SwitchId>),
    /// The servers of the first workload.
    Servers,
    /// The clients that it sends to.
    Clients,
}

/// The sources of traffic without servers of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum From {
    /// An own host, with a link like a server's.
    #[default]
    Host,
    /// Every server of the first workload.
    Servers,
}

impl From {
    /// Refuses a number of own hosts, and switches, for the first workload's servers, and fills in
    /// the switches of own hosts.
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
                let message = "must not be given: the servers already have their places; leave it \
                               out, or write from = \"host\"";
                Err(Fault::new("at", message))
            } else {
                Ok(())
            };
        }
        *at = layout.settled_switches(at.as_ref(), "at")?;
        Ok(())
    }

    /// The places of the sending hosts; `at` is resolved.
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
    /// The largest amount that a connection sends at a time, bytes; the whole range if it never
    /// ends.
    pub most: u64,
    /// The smallest.
    pub least: u64,
    /// How many connections may send at once.
    pub at_once: u32,
    /// Number of connections that send to one client at once.
    pub fan_in: u32,
    /// Whether a client requests it. A remedy may then schedule it.
    pub is_asked_for: bool,
    /// Whether the connections deliver the parts of one block.
    pub is_shared: bool,
    /// Why its connections never end, if so.
    pub endless: Option<&'static str>,
}

/// Datagrams that hosts offer to their links.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Offered {
    /// The rate of each source while sending.
    pub rate: Rate,
    /// The share of time spent sending.
    pub share: f64,
    /// The size of a datagram, bytes.
    pub packet: u32,
    /// Its start.
    pub start: Span,
    /// Whether the servers send it in addition to their workload.
    pub on_servers: bool,
}

/// The context in which an application starts.
pub struct Setting {
    /// Number of the application, for its timers.
    pub number: u16,
    /// Its first flow; the others follow.
    pub first_flow: u32,
    /// Number of hosts that send.
    pub senders: u32,
    /// The blueprint of its connections; `None` for datagrams.
    pub blueprint: Option<BlueprintId>,
    /// Payload of a full segment, bytes.
    pub mss: u32,
    /// The receive window of its transport, bytes.
    pub receive_window: u64,
    /// The rate of a client's link.
    pub client_rate: Rate,
    /// Its random streams.
    pub draws: Draws,
}

/// A kind of traffic, by its parameters.
pub trait Workload {
    /// Refuses parameters that are invalid on this network, and fills in defaults.
    ///
    /// # Errors
    /// The first parameter that is wrong.
    fn settle(&mut self, layout: &Layout, role: Role) -> Result<(), Fault>;

    /// Places of the sending hosts.
    fn senders(&self, layout: &Layout) -> Senders;

    /// The clients that it sends to by name; the first without one.
    fn to(&self) -> Option<&Numbers> {
        None
    }

    /// Which sender sends to which client.
    fn pairing(&self) -> Pairing {
        Pairing::InTurn(1)
    }

    /// The clients that it sends to.
    fn clients(&self) -> Vec<u32> {
        Numbers::or_first(self.to())
    }

    /// The two hosts of each flow, the sending one first; `senders` are in their order.
    fn flows(&self, senders: &[HostId]) -> Vec<(HostId, HostId)> {
        self.pairing().flows(senders, &self.clients())
    }

    /// Number of its flows, with this many sending hosts.
    fn count(&self, senders: u32) -> u32 {
        self.pairing().count(senders, self.clients().len())
    }

    /// The load of its connections, with this many sending hosts; `None` without connections.
    fn load(&self, senders: u32) -> Option<Load>;

    /// The key with which a client opens connections before it requests anything, if it does.
    fn opens_early(&self) -> Option<&'static str> {
        None
    }

    /// The datagrams that it sends, if it sends any.
    fn offered(&self) -> Option<Offered> {
        None
    }

    /// Whether it ends as a workload.
    fn ends(&self) -> bool;

    /// When it ends, if that is known.
    fn duration(&self) -> Option<Span> {
        None
    }

    /// The application that runs on its hosts.
    fn application(&self, setting: Setting, hosts: &mut Hosts) -> Box<dyn Application>;
}

/// Which sender sends to which client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairing {
    /// Every sender to every client.
    Every,
    /// Every sender with this many flows: the first sender to the first client, and so on in turn.
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
