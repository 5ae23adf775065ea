//! Transports that do not belong to the TCP family, and the parts of which they are made. Each
//! transport has a file, and a line in the list below. Each kind of part has a folder with a list
//! of its own.
//!
//! A transport is a [`Kind`]: it has parameters, and creates the two ends of a flow. The parts only
//! decide; the ends send packets and count them.

mod blast;
pub mod credit;
pub mod paths;
pub mod rate;
pub mod repair;

use std::sync::Arc;

use incast_engine::Entry;
use incast_host::Kind;

macro_rules! transports {
    ($($name:literal => $variant:ident($module:ident): $summary:literal;)+) => {
        /// A transport and its parameters, as a scenario names it.
        #[derive(Clone, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(tag = "name", expecting = "a table")]
        #[non_exhaustive]
        pub enum TransportConfig {
            $(#[doc = $summary] #[serde(rename = $name)] $variant($module::Params),)+
        }

        /// The list of transports.
        pub const ENTRIES: &[Entry] = &[$(Entry { name: $name, summary: $summary },)+];

        impl TransportConfig {
            /// The name of this transport in the list.
            pub fn name(&self) -> &'static str {
                match self { $(Self::$variant(_) => $name,)+ }
            }

            /// The transport with these parameters.
            pub fn kind(&self) -> Arc<dyn Kind> {
                match self { $(Self::$variant(params) => Arc::new(params.clone()),)+ }
            }
        }
    };
}

impl TransportConfig {
    /// The transport of this name with its defaults, if there is such a transport.
    pub fn named(name: &str) -> Option<Self> {
        serde_json::from_value(serde_json::json!({ "name": name })).ok()
    }
}

transports! {
    "blast" => Blast(blast): "Sends at the rate of the line, and repairs what is lost: the transport without congestion control.";
}

#[cfg(test)]
mod tests;
