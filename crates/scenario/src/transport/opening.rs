//! Opening and closing of connections: `handshake`, `opener`, `fin`.

use incast_host::{Opener, Transport};
use incast_tcp::config::Handshake;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Opening {
    /// Packets exchanged before the first data.
    pub(super) handshake: Handshake,
    /// Who opens a connection.
    pub(super) opener: Opener,
    /// Whether a connection is closed with a FIN (RFC 9293 §3.6).
    pub(super) fin: bool,
}

impl Opening {
    pub(super) fn of(Transport { opener, tcp, .. }: &Transport) -> Self {
        Self { handshake: tcp.handshake, opener: *opener, fin: tcp.fin }
    }
}
