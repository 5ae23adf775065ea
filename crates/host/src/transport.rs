//! The common properties of the connections of a group.

use incast_remedies::RemedyConfig;
use incast_tcp::Config;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A transport: the parameters of both ends of its connections.
#[derive(Clone, Debug)]
pub struct Transport {
    /// The name of its preset.
    pub name: String,
    /// Which end opens a connection.
    pub opener: Opener,
    /// The configuration of every connection.
    pub tcp: Config,
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
