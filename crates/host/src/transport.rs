//! What the connections of a group share.

use incast_remedies::RemedyConfig;
use incast_tcp::Config;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A transport: the parameters that both ends of its connections share.
#[derive(Clone, Debug)]
pub struct Transport {
    /// The preset that it started from.
    pub name: String,
    /// Who opens a connection.
    pub opener: Opener,
    /// What every connection is built from.
    pub tcp: Config,
    /// The remedies at work.
    pub remedies: Vec<RemedyConfig>,
}

/// Who opens a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Opener {
    /// The client: the request follows its SYN.
    Client,
    /// The server, when the request arrives.
    Server,
}
