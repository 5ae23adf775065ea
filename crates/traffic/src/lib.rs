//! Traffic on the hosts. Each kind of traffic has a file, and a line in the list below.
//!
//! The file of a kind contains its parameters and their checks, the switches of its hosts, and its
//! application. A kind may be a workload, which a run simulates, or background traffic.

pub mod application;
mod bursts;
pub mod collective;
mod datagrams;
mod draws;
mod fairness;
mod flow_size;
mod foreign;
mod layout;
mod numbers;
mod seam;
mod sizes;

pub mod barrier_read;
mod cbr;
mod empirical_flows;
mod long_flow;
mod long_flows;
mod on_off;
mod poisson;
mod poisson_flows;

pub use application::{Application, Report};
pub use bursts::Bursts;
pub use draws::{Draws, Scope};
pub use fairness::Jain;
pub use flow_size::FlowSize;
pub use foreign::Foreign;
pub use layout::Layout;
pub use numbers::Numbers;
pub use seam::{Load, Offered, Pairing, Role, Senders, Setting, Workload};

use incast_engine::Entry;

macro_rules! workloads {
    (
        collectives: $($cname:literal => $cvariant:ident($cmodule:ident): $csummary:literal;)+
        connections: $($name:literal => $variant:ident($module:ident): $summary:literal;)+
        datagrams: $($dname:literal => $dvariant:ident($dmodule:ident): $dsummary:literal;)+
    ) => {
        /// A kind of traffic and its parameters, as a scenario names it.
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(tag = "name", expecting = "a table")]
        #[schemars(rename = "Workload")]
        pub enum WorkloadConfig {
            $(#[doc = $summary] #[serde(rename = $name)] $variant($module::Params),)+
            $(
                #[doc = $csummary] #[serde(rename = $cname)]
                $cvariant(collective::$cmodule::Params),
            )+
            $(#[doc = $dsummary] #[serde(rename = $dname)] $dvariant($dmodule::Params),)+
            /// Traffic that is defined elsewhere.
            #[serde(rename = "foreign", skip_deserializing)]
            #[schemars(skip)]
            Foreign(Foreign),
        }

        /// The list of kinds of traffic.
        pub const ENTRIES: &[Entry] = &[
            $(Entry { name: $name, summary: $summary },)+
            $(Entry { name: $cname, summary: $csummary },)+
            $(Entry { name: $dname, summary: $dsummary },)+
        ];

        /// Whether traffic of this name has connections; true for unknown names.
        pub fn connects(name: &str) -> bool {
            ![$($dname,)+].contains(&name)
        }

        impl WorkloadConfig {
            /// The name of this kind in the list.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)+
                    $(Self::$cvariant(_) => $cname,)+
                    $(Self::$dvariant(_) => $dname,)+
                    Self::Foreign(traffic) => traffic.name(),
                }
            }

            /// The parameters, as a [`Workload`].
            pub fn workload(&self) -> &dyn Workload {
                match self {
                    $(Self::$variant(params) => params,)+
                    $(Self::$cvariant(params) => params,)+
                    $(Self::$dvariant(params) => params,)+
                    Self::Foreign(traffic) => traffic,
                }
            }

            /// [`Self::workload`], mutably.
            pub fn workload_mut(&mut self) -> &mut dyn Workload {
                match self {
                    $(Self::$variant(params) => params,)+
                    $(Self::$cvariant(params) => params,)+
                    $(Self::$dvariant(params) => params,)+
                    Self::Foreign(traffic) => traffic,
                }
            }
        }
    };
}

collective::with_collectives! {
    workloads:
    connections:
    "barrier-read" => BarrierRead(barrier_read): "Synchronised reads: every server sends its part of a block, and the client asks for the next block when the last part has arrived.";
    "long-flows" => LongFlows(long_flows): "TCP connections that always have data to send, or that \
                                            send bursts, for a given time.";
    "long-flow" => LongFlow(long_flow): "TCP connections from additional hosts, whose links \
                                         are like a server's. The connections always have \
                                         data to send, or they send bursts.";
    "poisson-flows" => PoissonFlows(poisson_flows): "TCP flows that start at random times, each \
                                                     from a random source to a random client. The \
                                                     sizes of the flows are given. The result row \
                                                     has the completion times of the flows.";
    "empirical-flows" => EmpiricalFlows(empirical_flows): "TCP flows that start at random times, \
                                                           with sizes from a measured \
                                                           distribution, at a given load of the \
                                                           clients' links. The result row has \
                                                           the completion times of the flows.";
    datagrams:
    "cbr" => Cbr(cbr): "Datagrams at equal intervals.";
    "poisson" => Poisson(poisson): "Datagrams at exponentially distributed intervals.";
    "on-off" => OnOff(on_off): "Datagrams at equal intervals in bursts, with pauses between them; bursts and pauses have exponentially distributed lengths, as in ns-2's exponential traffic.";
}
