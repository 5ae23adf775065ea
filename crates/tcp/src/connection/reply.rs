//! Sending of ACKs.

use incast_engine::Time;
use incast_net::Packet;

use super::Connection;
use super::demand::Demand;
use crate::config::Config;
use crate::recv::AckPolicy;
use crate::wheel::Wheel;

/// State of the next ACK.
#[derive(Clone, Debug)]
pub(super) struct Acks {
    pub policy: AckPolicy,
    /// Number of further ACKs to send after this ACK.
    pub extra: u8,
    pub label: u16,
    /// The timestamp that the ACK echoes.
    pub ts_recent: Option<u32>,
    /// The acknowledgement number of the last packet with options (RFC 7323 §4.3).
    pub last_sent: u64,
}

impl Acks {
    pub fn new(config: &Config, wheel: Wheel, first: u64) -> Self {
        Self {
            policy: AckPolicy::new(
                config.delayed_ack,
                config.longest_ack_delay(),
                config.receive_offload,
                wheel,
            ),
            extra: 0,
            label: 0,
            ts_recent: None,
            last_sent: first,
        }
    }
}

impl Connection {
    #[inline]
    pub(super) fn send_ack(&mut self, now: Time, out: &mut Packet) -> bool {
        self.fill_control(now, out);
        out.label = self.acks.label;
        if self.acks.extra > 0 {
            self.acks.extra -= 1;
            self.owe(Demand::Ack);
        } else {
            self.acks.label = 0;
        }
        self.acks.policy.on_ack_sent();
        !self.holds_back(now, out)
    }

    /// Notes that a packet with the cumulative ACK was sent.
    #[inline]
    pub(super) fn on_ack_left(&mut self) {
        if self.acks.extra == 0 && self.acks.label == 0 {
            self.waive(Demand::Ack);
            self.acks.policy.on_ack_sent();
        }
    }
}
