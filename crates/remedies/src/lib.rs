//! Remedies from the literature. Each paper has a file, and a line in the list below.
//!
//! A remedy consists of the parts that its paper changes: scenario parameters, hooks in the sender
//! and the receiver of every connection, and a queue discipline. Remedies can be combined if they
//! own different [`Slot`]s (`docs/adr/0005-advice.md`).

pub mod label;
pub mod requirement;
pub mod schedule;
mod seam;
pub mod serialize;

mod adaptive_pacing;
mod adaptive_rto;
mod admission;
mod batching;
mod ccs;
mod efr;
mod fine_rto;
mod gip;
mod head_tail;
mod header_compression;
mod ia_tcp;
mod icat;
mod ictcp;
mod message;
mod nccs;
mod ocs;
mod or_auto;
mod pac;
mod plato;
mod prob_rtx;
mod rapid;
mod resize;
mod staggering;

use incast_engine::{Elsewhere, Entry};
pub use or_auto::{Auto, OrAuto};
pub use requirement::Requirement;
pub use seam::{Installation, Measure, Outcome, Place, Remedy, Situation, Slot};

macro_rules! remedies {
    ($($name:literal => $variant:ident($module:ident): $summary:literal;)+) => {
        /// A remedy and its parameters, as a scenario names it.
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(tag = "name")]
        pub enum RemedyConfig {
            $(#[doc = $summary] #[serde(rename = $name)] $variant($module::Params),)+
            /// A remedy that is defined elsewhere.
            #[serde(rename = "foreign", skip_deserializing)]
            #[schemars(skip)]
            Foreign(Elsewhere<dyn Remedy + Send + Sync>),
        }

        /// The list of remedies.
        pub const ENTRIES: &[Entry] = &[$(Entry { name: $name, summary: $summary },)+];

        /// The columns that remedies add to result rows.
        pub fn measures() -> Vec<Measure> {
            [$($module::Params::default().measures(),)+].concat()
        }

        impl RemedyConfig {
            /// The name of the remedy in the list.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)+
                    Self::Foreign(remedy) => remedy.name(),
                }
            }

            /// The parameters of the remedy, as a [`Remedy`].
            pub fn remedy(&self) -> &dyn Remedy {
                match self {
                    $(Self::$variant(params) => params,)+
                    Self::Foreign(remedy) => remedy.entry(),
                }
            }
        }
    };
}

remedies! {
    "adaptive-pacing" => AdaptivePacing(adaptive_pacing): "Gaps between packets that grow with the number of servers (after Zou et al.).";
    "adaptive-rto" => AdaptiveRto(adaptive_rto): "A lower bound of the RTO that rises with the queue (Khalid et al.).";
    "batching" => Batching(batching): "Asks groups of servers, one after the other (after Podlesny & Williamson).";
    "ccs" => Ccs(ccs): "Asks one server after the other (Osada et al.).";
    "efr" => Efr(efr): "Fast retransmissions for tail losses (TCP-EFR, Sreekumari et al.).";
    "fine-rto" => FineRto(fine_rto): "Microsecond retransmission timeouts (SIGCOMM 2009).";
    "gip" => Gip(gip): "A small window at the start of a message, and copies of its last segment (after GIP, Zhang et al.).";
    "head-tail" => HeadTail(head_tail): "Repairs that depend on where in a message a flow stalls.";
    "header-compression" => HeaderCompression(header_compression): "Headers that contain only the difference from the previous packet (RFC 1144; Kulkarni & Agrawal).";
    "ia-tcp" => IaTcp(ia_tcp): "Windows and delayed ACKs that divide the path among the servers (after Hwang et al.).";
    "icat" => Icat(icat): "Admission control, timestamps and repeated FINs (after Tam et al.).";
    "ictcp" => Ictcp(ictcp): "Receive windows set by a controller at the client (Wu et al.).";
    "nccs" => Nccs(nccs): "Asks one server after the other; successive transfers overlap (Osada et al.).";
    "ocs" => Ocs(ocs): "Asks one set of servers after the other; the transfers of successive sets overlap (Osada et al.).";
    "pac" => Pac(pac): "ACKs at the rate at which the switch can accept their data (Bai et al.).";
    "plato" => Plato(plato): "Labels that keep the ACK clock alive (Shukla et al.).";
    "prob-rtx" => ProbRtx(prob_rtx): "Random copies of an outstanding segment (Kulkarni & Agrawal).";
    "rapid" => Rapid(rapid): "The switch drops a packet only if three later packets of its flow follow (after RAPID, Xu et al.).";
    "resize" => Resize(resize): "Segments that start small and grow with the window (Kulkarni & Agrawal).";
    "staggering" => Staggering(staggering): "Sends the requests at a fixed interval.";
}

#[cfg(test)]
mod desk;
#[cfg(test)]
mod law_tests;
#[cfg(test)]
mod params_tests;
