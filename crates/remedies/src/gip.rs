//! A remedy modelled on GIP, "guarantee important packets" (Zhang, Ren, Tang & Lin, ICNP 2013).
//!
//! The loss of two kinds of segments causes a timeout: the first segments of a message, which all
//! servers send at the same time, and the last segments, after which no later segments trigger
//! duplicate ACKs. Every message therefore begins with the initial window. Its last segment is sent
//! again, up to three times, until it is acknowledged.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use incast_tcp::hooks::{Advice, Copies, SendEvent, SendView, SenderHook};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::message::Message;
use crate::seam::{Installation, Measure, Outcome, Place, Remedy, Situation};

/// A small window at the head of every message, and copies of its last segment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "GipRemedy")]
pub struct Params {
    /// Whether cwnd is reset to the initial window at the head of every message. Default: true.
    pub restart: bool,
    /// Maximum number of copies of a message's last segment, 0 to 10. Default: 3.
    #[schemars(range(max = 10))]
    pub copies: u32,
    /// When the copies are sent.
    pub when: When,
}

/// When the copies of a message's last segment are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// One copy for each ACK that does not cover the last segment, if there is nothing else to
    /// send.
    #[default]
    Acks,
    /// All copies directly after the last segment.
    AtOnce,
}

impl Default for Params {
    fn default() -> Self {
        Self { restart: true, copies: 3, when: When::default() }
    }
}

impl Remedy for Params {
    fn measures(&self) -> &'static [Measure] {
        const COUNTS: &[Measure] = &[Measure {
            name: "gip.copies",
            unit: "1",
            description: "Copies of last segments, which are part of `retransmitted_packets`.",
        }];
        COUNTS
    }

    fn install(&self, _: &Situation) -> Box<dyn Installation> {
        Box::new(Gip { params: self.clone(), copies: Arc::default() })
    }
}

struct Gip {
    params: Params,
    copies: Arc<AtomicU64>,
}

impl Installation for Gip {
    fn measure(&self, _: &Outcome) -> Vec<Option<f64>> {
        vec![Some(self.copies.load(Relaxed) as f64)]
    }

    fn sender(&mut self, _: Place<'_>) -> Option<Box<dyn SenderHook>> {
        let (params, copies) = (self.params.clone(), Arc::clone(&self.copies));
        Some(Box::new(Sender { params, copies, message: Message::NONE, left: 0 }))
    }
}

struct Sender {
    params: Params,
    copies: Arc<AtomicU64>,
    message: Message,
    /// Number of copies of the message's last segment that may still be sent.
    left: u32,
}

impl Sender {
    fn copy(&mut self) -> Advice {
        if self.left == 0 {
            return Advice::NONE;
        }
        self.left -= 1;
        self.copies.fetch_add(1, Relaxed);
        Advice { copies: Copies::HIGHEST, ..Advice::NONE }
    }
}

impl SenderHook for Sender {
    fn on_event(&mut self, event: SendEvent<'_>, view: &SendView) -> Advice {
        match event {
            SendEvent::Sent(packet) => {
                let begins = self.message.is_begun_by(packet, view);
                if begins {
                    self.left = self.params.copies;
                }
                let restart_window = begins && self.params.restart;
                // A copy of the last segment is itself the last segment, so it triggers the next copy.
                let is_last = packet.seq + u64::from(packet.payload) == view.written;
                let copies = if is_last && self.params.when == When::AtOnce {
                    self.copy()
                } else {
                    Advice::NONE
                };
                Advice { restart_window, ..copies }
            }
            SendEvent::Ack { .. } if self.params.when == When::Acks && is_at_tail(view) => {
                self.copy()
            }
            SendEvent::Ack { .. } | SendEvent::Timeout => Advice::NONE,
        }
    }
}

/// Whether the last segment is outstanding and there is nothing else to send or retransmit.
fn is_at_tail(view: &SendView) -> bool {
    let all_sent = view.max >= view.written && view.next == view.max;
    all_sent && view.una < view.written && !view.in_recovery
}
