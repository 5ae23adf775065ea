//! The order of simultaneous events.

use incast_engine::Time;
use incast_engine::random::splitmix;
use incast_net::PortId;
use incast_net::port::ArrivalOrder;

/// If a packet arrives at the time when a timer expires, the timer is handled first. This holds
/// with and without shortcuts.
const AFTER_TIMERS: u64 = 1 << 63;
/// A drawn number has `DRAW_BITS` random bits above `COUNT_BITS` bits of the count. Together these
/// are the 48 bits that a port uses for the order of sending.
const COUNT_BITS: u32 = 28;
const DRAW_BITS: u32 = 20;

/// Numbers the events of a run.
pub(super) struct Order {
    count: u64,
    /// The key of the draws, if the order of packets is drawn.
    drawn: Option<u64>,
}

impl Order {
    pub(super) fn new(order: ArrivalOrder, seed: u64) -> Self {
        let drawn = match order {
            ArrivalOrder::Source => None,
            ArrivalOrder::Drawn => Some(splitmix(seed)),
        };
        Self { count: 0, drawn }
    }

    /// The number of the next event.
    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    /// The number of a packet that leaves its host by `port` at `at`.
    #[inline]
    pub(super) fn of_packet(&mut self, port: PortId, at: Time) -> u64 {
        let count = self.next();
        AFTER_TIMERS | if self.drawn.is_none() { count } else { self.draw(count, port, at) }
    }

    /// Draws a number that depends on the host and the time, but not on the order of calls, because
    /// probes may change this order.
    #[inline(never)]
    fn draw(&self, count: u64, PortId(port): PortId, at: Time) -> u64 {
        let key = self.drawn.unwrap_or_default();
        let drawn = splitmix(key ^ splitmix(at.as_picos()) ^ u64::from(port));
        drawn >> (u64::BITS - DRAW_BITS) << COUNT_BITS | count & ((1 << COUNT_BITS) - 1)
    }
}

#[cfg(test)]
mod tests {
    use incast_engine::Span;

    use super::*;

    fn numbers(order: ArrivalOrder, seed: u64) -> Vec<u64> {
        let mut all = Order::new(order, seed);
        let at = |step| Time::ZERO + Span::from_nanos(step);
        (0..10_000).map(|step| all.of_packet(PortId(step as u32 % 10), at(step / 10))).collect()
    }

    #[test]
    fn by_default_packets_are_in_the_order_of_sending() {
        assert!(numbers(ArrivalOrder::Source, 1).is_sorted_by(|one, next| one < next));
        assert_eq!(numbers(ArrivalOrder::Source, 1), numbers(ArrivalOrder::Source, 2));
    }

    #[test]
    fn a_timer_comes_before_a_packet_that_was_sent_earlier() {
        for order in [ArrivalOrder::Source, ArrivalOrder::Drawn] {
            let mut all = Order::new(order, 1);
            let packet = all.of_packet(PortId(0), Time::ZERO);
            assert!((0..1000).all(|_| all.next() < packet));
        }
    }

    /// Each of ten hosts comes first about equally often. Each seed gives different numbers.
    #[test]
    fn a_drawn_order_favours_no_host() {
        let drawn = numbers(ArrivalOrder::Drawn, 1);
        assert_eq!(drawn, numbers(ArrivalOrder::Drawn, 1));
        assert_ne!(drawn, numbers(ArrivalOrder::Drawn, 2));
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
        let after_timers =
            |number: &u64| *number >= AFTER_TIMERS && *number < AFTER_TIMERS | 1 << 48;
        assert!(drawn.iter().all(after_timers), "the bits above are the port's");
    }
}
