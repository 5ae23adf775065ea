//! The common properties of the connections of a group, and the family of their transport.

use std::sync::Arc;

use incast_remedies::RemedyConfig;
use incast_remedies::schedule::FullPacket;
use incast_tcp::Config;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kind::{Kind, Needs};
use crate::nic::{Nic, NicSite};

/// The name of the family TCP.
pub const TCP: &str = "tcp";

/// A transport: the parameters of both ends of its connections.
#[derive(Clone, Debug)]
pub struct Transport {
    /// The name of its preset, or of its kind.
    pub name: String,
    /// The family, with its parameters.
    pub family: Family,
}

/// A family of transports. Code that supports only one family asks for the family here, and refuses
/// other families.
#[derive(Clone, Debug)]
pub enum Family {
    /// TCP.
    Tcp(Box<Tcp>),
    /// A transport of another family.
    Other(Arc<dyn Kind>),
}

/// The parameters of TCP.
#[derive(Clone, Debug)]
pub struct Tcp {
    /// Which end opens a connection.
    pub opener: Opener,
    /// The configuration of every connection.
    pub config: Config,
    /// The remedies in use.
    pub remedies: Vec<RemedyConfig>,
}

/// Which end opens a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Opener {
    /// The client opens the connection. The request follows the client's SYN.
    Client,
    /// The server opens the connection when the request arrives.
    Server,
}

impl Transport {
    /// The name of the family: [`TCP`], or the name that the kind gives itself.
    pub fn family(&self) -> &'static str {
        match &self.family {
            Family::Tcp(_) => TCP,
            Family::Other(kind) => kind.family(),
        }
    }

    /// The parameters of TCP, if this is TCP.
    pub fn tcp(&self) -> Option<&Tcp> {
        match &self.family {
            Family::Tcp(tcp) => Some(tcp),
            Family::Other(_) => None,
        }
    }

    /// The properties that the transport needs of the network.
    pub fn needs(&self) -> Needs {
        match &self.family {
            Family::Tcp(_) => Needs::default(),
            Family::Other(kind) => kind.needs(),
        }
    }

    /// The card of a host with ends of this transport; `None` if the host needs no card.
    pub fn nic(&self, site: NicSite) -> Option<Box<dyn Nic>> {
        match &self.family {
            Family::Tcp(_) => None,
            Family::Other(kind) => kind.nic(site),
        }
    }

    /// The remedies in use.
    pub fn remedies(&self) -> &[RemedyConfig] {
        self.tcp().map_or(&[], |tcp| &tcp.remedies)
    }

    /// Payload and header of a full packet.
    pub fn full_packet(&self) -> FullPacket {
        match &self.family {
            Family::Tcp(tcp) => {
                FullPacket { payload: tcp.config.mss, header: tcp.config.header.into() }
            }
            Family::Other(kind) => kind.full_packet(),
        }
    }

    /// Size of a full packet, bytes.
    pub fn packet(&self) -> u32 {
        let FullPacket { payload, header } = self.full_packet();
        payload + header
    }

    /// Size of an acknowledgement without data, bytes.
    pub fn ack_size(&self) -> u32 {
        match &self.family {
            Family::Tcp(tcp) => tcp.config.ack_size.into(),
            Family::Other(kind) => kind.ack_size(),
        }
    }

    /// The largest number of outstanding bytes of a connection.
    pub fn window(&self) -> u64 {
        match &self.family {
            Family::Tcp(tcp) => tcp.config.receive_window,
            Family::Other(kind) => kind.window(),
        }
    }
}
