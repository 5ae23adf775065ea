//! The smallest recent round trip (RFC 8985 §6.2, step 1).

use incast_engine::{Span, Time};

/// The minimum over a sliding window. The window has two halves. When the newer half is full, the
/// older half is dropped, so the length of the window varies by one half.
#[derive(Clone, Debug)]
pub(super) struct MinRtt {
    half: Span,
    young: Option<Span>,
    old: Option<Span>,
    turns_at: Time,
}

impl MinRtt {
    pub fn new(window: Span) -> Self {
        Self { half: window / 2, young: None, old: None, turns_at: Time::ZERO }
    }

    pub fn sample(&mut self, now: Time, rtt: Span) {
        if now >= self.turns_at {
            self.old = self.young.take();
            self.turns_at = now + self.half;
        }
        self.young = Some(self.young.map_or(rtt, |min| min.min(rtt)));
    }

    pub fn get(&self) -> Option<Span> {
        match (self.young, self.old) {
            (Some(young), Some(old)) => Some(young.min(old)),
            (young, old) => young.or(old),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minimum_is_forgotten_after_the_window() {
        let mut min = MinRtt::new(Span::from_millis(10));
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        assert_eq!(min.get(), None);
        for (millis, micros, expected) in
            [(0, 100, 100), (1, 300, 100), (6, 400, 100), (12, 500, 400), (30, 900, 500)]
        {
            min.sample(at(millis), Span::from_micros(micros));
            assert_eq!(min.get(), Some(Span::from_micros(expected)), "{millis} ms");
        }
    }
}
