//! Opening and closing of connections: `handshake`, `opener`, `request_on_wire`, `fin`.

use incast_host::Opener;
use incast_tcp::Config;
use incast_tcp::config::Handshake;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Opening {
    /// Packets exchanged before the first data.
    pub(super) handshake: Handshake,
    /// Who opens a connection.
    pub(super) opener: Opener,
    /// Whether a request without a length (`workload.request_size`) that has a packet of its own is
    /// as long as an ACK. If false, the request has one byte, as in a simulator whose script starts
    /// the senders.
    pub(super) request_on_wire: bool,
    /// Whether a connection is closed with a FIN (RFC 9293 §3.6).
    pub(super) fin: bool,
}

impl Opening {
    pub(super) fn of(opener: Opener, tcp: &Config) -> Self {
        Self {
            handshake: tcp.handshake,
            opener,
            request_on_wire: tcp.request_on_wire,
            fin: tcp.fin,
        }
    }
}
