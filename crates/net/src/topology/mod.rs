//! Topologies. Each topology has a file, and a line in the list below.
//!
//! A topology defines the switches, the links between them, and the default switches of hosts.
//! Ports and routes are derived from the topology.

mod build;
mod chain;
mod fabric;
mod leaf_spine;
mod network;
mod parallel;
mod routing;
mod star;
mod two_tier;

pub use build::{Attachment, Trunks};
pub use fabric::{Fabric, Spread, SwitchId};
pub use network::{HostId, Network};
pub use routing::Router;

use incast_engine::{Elsewhere, Entry};

/// The parameters of a topology.
pub trait Shape {
    /// The switches, the links between them, and the default switches of hosts.
    fn fabric(&self) -> Fabric;
}

/// The largest number of switches of a kind.
const MOST_SWITCHES: u32 = 1000;
/// The largest number of switches of a chain, and the largest number of spine switches.
const MOST_IN_ROW: u32 = 100;

macro_rules! topologies {
    ($($name:literal => $variant:ident($module:ident): $summary:literal;)+) => {
        /// A topology and its parameters, as a scenario names it.
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(tag = "name")]
        #[schemars(rename = "Topology")]
        pub enum TopologyConfig {
            $(#[doc = $summary] #[serde(rename = $name)] $variant($module::Params),)+
            /// A topology that is defined elsewhere.
            #[serde(rename = "foreign", skip_deserializing)]
            #[schemars(skip)]
            Foreign(Elsewhere<dyn Shape + Send + Sync>),
        }

        /// The list of topologies.
        pub const ENTRIES: &[Entry] = &[$(Entry { name: $name, summary: $summary },)+];

        impl TopologyConfig {
            /// The name of this topology in the list.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)+
                    Self::Foreign(topology) => topology.name(),
                }
            }

            /// The parameters, as a [`Shape`].
            pub fn shape(&self) -> &dyn Shape {
                match self {
                    $(Self::$variant(params) => params,)+
                    Self::Foreign(topology) => topology.entry(),
                }
            }
        }
    };
}

topologies! {
    "star" => Star(star): "Every host has a link of its own to one switch.";
    "chain" => Chain(chain): "Switches in a row, with the servers at the first switch and the clients at the last.";
    "two-tier" => TwoTier(two_tier): "Racks with a switch each, joined by one aggregation switch.";
    "leaf-spine" => LeafSpine(leaf_spine): "Every leaf switch is joined to every spine; each flow keeps to one spine.";
    "parallel" => Parallel(parallel): "Switches side by side between the servers' switch and the \
                                       clients' switch; each flow keeps to one of them.";
}

#[cfg(test)]
mod law_tests;
