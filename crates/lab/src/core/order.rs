//! The order of packets that leave their hosts at the same time, if a scenario lets it be drawn.

use incast_engine::Time;
use incast_engine::random::splitmix;
use incast_net::PortId;
use incast_net::port::ArrivalOrder;

/// A drawn number has `DRAW_BITS` random bits above `COUNT_BITS` bits of the count. Together these
/// are the 48 bits that a port uses for the order of sending.
const COUNT_BITS: u32 = 28;
const DRAW_BITS: u32 = 20;

/// Draws the order of packets.
#[derive(Clone, Copy)]
pub(super) struct Draw {
    key: u64,
}

impl Draw {
    /// The draws of a run; `None` if packets keep the order of sending.
    pub(super) fn new(order: ArrivalOrder, seed: u64) -> Option<Self> {
        match order {
            ArrivalOrder::Source => None,
            ArrivalOrder::Drawn => Some(Self { key: splitmix(seed) }),
        }
    }

    /// The number of a packet that leaves its host by `port` at `at`, and is the packet number
    /// `count`. The draw depends on the host and the time, but not on the order of calls, because
    /// probes may change this order.
    #[inline(never)]
    pub(super) fn of_packet(self, count: u64, PortId(port): PortId, at: Time) -> u64 {
        let drawn = splitmix(self.key ^ splitmix(at.as_picos()) ^ u64::from(port));
        drawn >> (u64::BITS - DRAW_BITS) << COUNT_BITS | count & ((1 << COUNT_BITS) - 1)
    }
}

#[cfg(test)]
mod tests {
    use incast_engine::Span;
    use incast_net::port::unplaced;

    use super::super::AFTER_TIMERS;
    use super::*;

    fn numbers(seed: u64) -> Vec<u64> {
        let draw = Draw::new(ArrivalOrder::Drawn, seed).expect("the order is drawn");
        let at = |step| Time::ZERO + Span::from_nanos(step);
        (0..10_000)
            .map(|step| draw.of_packet(step, PortId(step as u32 % 10), at(step / 10)))
            .collect()
    }

    #[test]
    fn by_default_no_order_is_drawn() {
        assert!(Draw::new(ArrivalOrder::Source, 1).is_none());
    }

    /// Timers have plain counts, which are far below this bit. A port changes the bits below it.
    #[test]
    fn a_timer_comes_before_a_packet_that_was_sent_earlier() {
        let last_timer = (1 << 48) - 1;
        assert!(numbers(1).iter().all(|packet| AFTER_TIMERS | packet > last_timer));
        assert_eq!(unplaced(AFTER_TIMERS), AFTER_TIMERS);
    }

    /// Each of ten hosts comes first about equally often. Each seed gives different numbers.
    #[test]
    fn a_drawn_order_favours_no_host() {
        let drawn = numbers(1);
        assert_eq!(drawn, numbers(1));
        assert_ne!(drawn, numbers(2));
        let mut firsts = [0; 10];
        for together in drawn.chunks(10) {
            let least = (0..10).min_by_key(|host| together[*host]).expect("ten");
            firsts[least] += 1;
        }
        assert!(firsts.iter().all(|count| (60..140).contains(count)), "{firsts:?}");
        let mut distinct = drawn.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), drawn.len());
        assert!(drawn.iter().all(|number| *number < 1 << 48), "the bits above are the port's");
    }
}
