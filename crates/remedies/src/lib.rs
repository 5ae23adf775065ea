//! Remedies of the literature: one paper, one file, and one line in the list below.
//!
//! A remedy bundles the parts that its paper changes: plain data of the scenario, hooks in the
//! sender and the receiver of every connection, and the discipline that it needs at the switch.
//! Remedies combine as long as they own different [`Slot`]s (`docs/adr/0005-advice.md`).

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
mod nccs;
mod ocs;
mod or_auto;
mod pac;
mod plato;
mod prob_rtx;
mod rapid;
mod resize;
mod staggering;
mod unit;

use incast_engine::Entry;
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
        }

        /// The remedies that exist.
        pub const ENTRIES: &[Entry] = &[$(Entry { name: $name, summary: $summary },)+];

        /// The columns that remedies add to result rows.
        pub fn measures() -> Vec<Measure> {
            [$($module::Params::default().measures(),)+].concat()
        }

        impl RemedyConfig {
            /// Its name in the list.
            pub fn name(&self) -> &'static str {
                match self { $(Self::$variant(_) => $name,)+ }
            }

            /// Its parameters, by what all remedies have in common.
            pub fn remedy(&self) -> &dyn Remedy {
                match self { $(Self::$variant(params) => params,)+ }
            }
        }
    };
}

remedies! {
    "adaptive-pacing" => AdaptivePacing(adaptive_pacing): "Packets further apart the more servers send (after Zou et al.).";
    "adaptive-rto" => AdaptiveRto(adaptive_rto): "A floor under the RTO that rises with the queue (Khalid et al.).";
    "batching" => Batching(batching): "Groups of servers, one after the other (after Podlesny & Williamson).";
    "ccs" => Ccs(ccs): "One server after the other (Osada et al.).";
    "efr" => Efr(efr): "Fast retransmissions for losses at the tail (TCP-EFR, Sreekumari et al.).";
    "fine-rto" => FineRto(fine_rto): "Retransmission timeouts of microseconds (SIGCOMM 2009).";
    "gip" => Gip(gip): "Small windows at a unit's head, copies of its last segment (after GIP, Zhang et al.).";
    "head-tail" => HeadTail(head_tail): "Repairs by the place of a standstill in its unit.";
    "header-compression" => HeaderCompression(header_compression): "TCP/IP headers of a few bytes (RFC 1144; Kulkarni & Agrawal).";
    "ia-tcp" => IaTcp(ia_tcp): "A share of the path for every server, by windows and delayed ACKs (after Hwang et al.).";
    "icat" => Icat(icat): "Admission, timestamps and reiterated FINs (after Tam et al.).";
    "ictcp" => Ictcp(ictcp): "Receive windows from a controller at the client (Wu et al.).";
    "nccs" => Nccs(nccs): "One server after the other, with overlaps (Osada et al.).";
    "ocs" => Ocs(ocs): "One set of servers after the other, with overlaps (Osada et al.).";
    "pac" => Pac(pac): "ACKs that leave as the switch can take what they trigger (Bai et al.).";
    "plato" => Plato(plato): "Labels that keep the ACK clock alive (Shukla et al.).";
    "prob-rtx" => ProbRtx(prob_rtx): "Random copies of the highest outstanding segment (Kulkarni & Agrawal).";
    "rapid" => Rapid(rapid): "Losses that three packets follow, chosen by the switch (after RAPID, Xu et al.).";
    "resize" => Resize(resize): "Segments that begin small and grow with the window (Kulkarni & Agrawal).";
    "staggering" => Staggering(staggering): "Requests a fixed time apart.";
}

#[cfg(test)]
mod desk;
#[cfg(test)]
mod law_tests;
#[cfg(test)]
mod params_tests;
