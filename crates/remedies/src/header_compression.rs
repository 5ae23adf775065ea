//! TCP/IP headers of a few bytes (RFC 1144), as dynamic segment resizing requires (Kulkarni &
//! Agrawal, §4.3): without compression, nearly half of a packet with 50 bytes of data is header.
//!
//! The first segment of each end has a full header. The headers of later segments contain only the
//! difference from the previous header.

use incast_net::Packet;
use incast_tcp::hooks::{
    Advice, ReceiveView, ReceiverHook, SendEvent, SendView, SenderHook, TxPlan,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::seam::{Installation, Place, Remedy, Situation, Slot};

/// Headers that contain only the difference from the previous packet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Size of a compressed header, in bytes. Default: 4 (RFC 1144 §1: 3 on average, up to about
    /// 5).
    #[schemars(range(min = 1))]
    pub size: u8,
    /// Effect of a lost segment on the next segments.
    pub errors: Errors,
}

/// Effect of a lost segment on the segments that were compressed against its header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Errors {
    /// No effect. The paper does not mention an effect of losses.
    #[default]
    Ideal,
    /// The receiver cannot decompress these segments and discards them until a full header arrives.
    /// A segment that does not continue the previous one has a full header (RFC 1144 §4).
    Rfc1144,
}

impl Default for Params {
    fn default() -> Self {
        Self { size: 4, errors: Errors::default() }
    }
}

impl Remedy for Params {
    fn slots(&self) -> &'static [Slot] {
        &[Slot::Headers]
    }

    fn install(&self, _: &Situation) -> Box<dyn Installation> {
        Box::new(self.clone())
    }
}

impl Installation for Params {
    fn sender(&mut self, _: Place<'_>) -> Option<Box<dyn SenderHook>> {
        Some(Box::new(Compressor { params: self.clone(), last_end: None }))
    }

    fn receiver(&mut self, place: Place<'_>) -> Option<Box<dyn ReceiverHook>> {
        Some(Box::new(Decompressor {
            params: self.clone(),
            full: place.config.header,
            last_end: None,
            answers: 0,
        }))
    }
}

/// The hook of the sender.
struct Compressor {
    params: Params,
    /// One past the last segment sent.
    last_end: Option<u64>,
}

impl SenderHook for Compressor {
    fn on_event(&mut self, event: SendEvent<'_>, _: &SendView) -> Advice {
        if let SendEvent::Sent(packet) = event {
            self.last_end = Some(packet.seq_end());
        }
        Advice::NONE
    }

    fn shape(&self, view: &SendView, plan: &TxPlan) -> Advice {
        let compresses = match self.params.errors {
            Errors::Ideal => self.last_end.is_some(),
            // The hook does not see window probes. They occur only when no data is outstanding, so
            // they do not change this condition.
            Errors::Rfc1144 => self.last_end == Some(plan.seq) && plan.seq != view.una,
        };
        let header_bytes = if compresses { self.params.size } else { u8::MAX };
        Advice { header_bytes, ..Advice::NONE }
    }
}

/// The hook of the receiver, which also compresses ACKs.
struct Decompressor {
    params: Params,
    /// A full header, bytes.
    full: u8,
    /// One past the last segment that arrived and was decompressed.
    last_end: Option<u64>,
    /// Number of segments that have arrived. The count stops at two.
    answers: u8,
}

impl ReceiverHook for Decompressor {
    fn admits(&mut self, packet: &Packet) -> bool {
        // A compressed header can be decompressed only after the header that it refers to.
        let lost = self.params.errors == Errors::Rfc1144
            && packet.header < self.full
            && self.last_end != Some(packet.seq);
        if !lost {
            self.last_end = Some(packet.seq_end());
        }
        !lost
    }

    fn on_segment(&mut self, _: &Packet, _: &ReceiveView) -> Advice {
        self.answers = (self.answers + 1).min(2);
        Advice::NONE
    }

    fn shape(&self, _: incast_engine::Time) -> Advice {
        let header_bytes = if self.answers > 1 { self.params.size } else { u8::MAX };
        Advice { header_bytes, ..Advice::NONE }
    }
}
