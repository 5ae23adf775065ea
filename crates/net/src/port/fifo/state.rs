//! What others ask a FIFO port off the path of packets.

use incast_engine::{Span, Time};

use super::Fifo;
use crate::port::{Contents, Transit};

impl Fifo {
    /// Whether the port has no buffer, and admits every packet.
    pub(crate) fn never_drops(&self) -> bool {
        self.buffer.is_none()
    }

    /// Propagation delay of the link.
    pub(crate) fn delay(&self) -> Span {
        self.line.delay
    }

    /// Whether packets may be offered to this port before they arrive, if `feeder` is the only port
    /// that sends to it. For this, the port must not be slower than `feeder`, and must not drop
    /// packets at random.
    pub(crate) fn follows(&self, feeder: &Self) -> bool {
        self.buffer.is_none_or(|buffer| buffer.holds_two())
            && self.is_drop_tail
            && feeder.buffer.is_none()
            && self.line.is_exact()
            && feeder.line.is_exact()
            && self.line.serialisation.rate >= feeder.line.serialisation.rate
    }

    /// The time at which the link becomes idle if no more packets are offered.
    pub(in crate::port) fn last_departure(&self) -> Time {
        self.last_departure
    }

    /// Integral of the waiting bytes up to `now`, byte·ps. The counter already includes the whole
    /// wait of each waiting packet, so the part after `now` is subtracted.
    pub(in crate::port) fn byte_time_until(&self, now: Time) -> u128 {
        let left = now + self.line.delay;
        let still_waiting =
            self.ring.iter().zip(self.ring.iter().skip(1)).map(|(ahead, waiting)| {
                let wait = ahead.arrival.saturating_since(left).as_picos();
                u128::from(waiting.parcel.size()) * u128::from(wait)
            });
        self.counters.byte_time - still_waiting.sum::<u128>()
    }

    pub(in crate::port) fn contents(&self) -> Contents<'_> {
        (&self.ring, &[])
    }

    /// Number of admitted packets from a relay that arrive at this port only after `now`. Packets
    /// do not wait in such a port.
    pub(crate) fn admitted_after(&self, now: Time) -> u64 {
        let admitted = |transit: &Transit| {
            let way = self.line.delay + self.line.serialisation.time(transit.parcel.size());
            transit.arrival > now + way
        };
        self.ring.iter().filter(|transit| admitted(transit)).count() as u64
    }
}
