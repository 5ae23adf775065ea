//! Rate laws: how fast an end sends, and how much may be outstanding. Each law has a file, and a
//! line in the list below.

use incast_engine::{Rate, Span, Time};
use incast_host::Seat;

mod none;

/// An acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acked {
    /// Bytes that this acknowledgement is the first to acknowledge.
    pub bytes: u64,
    /// Time since the packet was sent, if it was sent once.
    pub rtt: Option<Span>,
}

/// Decides how fast an end sends.
pub trait RateLaw: Send {
    /// Notes an acknowledgement.
    fn on_ack(&mut self, now: Time, acked: &Acked) {
        let _ = (now, acked);
    }
    /// Notes that the receiver has reported a marked packet.
    fn on_mark(&mut self, now: Time) {
        let _ = now;
    }
    /// Notes that the receiver has reported a missing packet.
    fn on_nack(&mut self, now: Time) {
        let _ = now;
    }
    /// Notes that the retransmission timer has expired.
    fn on_timeout(&mut self, now: Time) {
        let _ = now;
    }
    /// The law's own deadline; [`Time::NEVER`] if it has none.
    fn poll_timeout(&self) -> Time {
        Time::NEVER
    }
    /// Handles an expiry of the law's own deadline.
    fn on_deadline(&mut self, now: Time) {
        let _ = now;
    }
    /// The rate of the packets, without layer 2; `None` for the rate of the line.
    fn rate(&self) -> Option<Rate> {
        None
    }
    /// The largest number of outstanding bytes; `None` for the limit of the transport.
    fn window(&self) -> Option<u64> {
        None
    }
}

incast_engine::parts! {
    /// One of the list, with its parameters.
    RateLaws of RateLaw at Seat:
    "none" => None(none): "Sends at the rate of the line.";
}

impl Default for RateLaws {
    fn default() -> Self {
        Self::None(none::Params::default())
    }
}
