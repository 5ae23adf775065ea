//! On-off sources like ns-2's exponential traffic.
//!
//! ns-2.35, `tools/expoo.cc`: a burst has packets at equal intervals. The number of packets is an
//! exponentially distributed length divided by the interval, rounded, and at least one. An
//! exponentially distributed pause follows.

use incast_engine::{Fault, Rate, Span, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bursts and pauses of exponentially distributed lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Bursts {
    /// Rate within a burst, in bits per second. No default.
    pub rate: Rate,
    /// Mean length of a burst, in seconds.
    #[serde(default = "half_a_second")]
    pub burst: Span,
    /// Mean length of a pause, in seconds.
    #[serde(default = "half_a_second")]
    pub idle: Span,
}

/// ns-2's default of both mean lengths.
pub(crate) fn half_a_second() -> Span {
    Span::from_millis(500)
}

impl Bursts {
    /// Refuses bursts that never send, in a table called `bursts`.
    pub(crate) fn check(self) -> Result<(), Fault> {
        if self.rate.0 == 0 {
            return Err(Fault::new("bursts.rate", "must be above 0; write e.g. \"1Mbps\""));
        }
        if self.burst.is_zero() {
            let message = "must be longer than 0; write e.g. \"500ms\"";
            return Err(Fault::new("bursts.burst", message));
        }
        Ok(())
    }
}

/// The mean lengths of bursts and pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnOff {
    /// Mean length of a burst.
    pub burst: Span,
    /// Mean length of a pause.
    pub idle: Span,
}

/// The state of a source.
#[derive(Clone, Copy, Debug, Default)]
pub struct Phase {
    /// Remaining packets of the burst.
    left: u64,
}

impl Phase {
    /// Takes the next packet, and returns the time until it is sent. Packets of a burst are
    /// `interval` apart.
    pub fn next(&mut self, on_off: OnOff, interval: Span, random: &mut Stream) -> Span {
        let mut wait = interval;
        if self.left == 0 {
            let length = random.exponential(on_off.burst).as_picos();
            let interval = interval.as_picos().max(1);
            self.left = ((length + interval / 2) / interval).max(1);
            wait += random.exponential(on_off.idle);
        }
        self.left -= 1;
        wait
    }

    /// Takes up to `most` packets of the burst at once; returns their number.
    pub fn take(&mut self, most: u64) -> u64 {
        let taken = self.left.min(most);
        self.left -= taken;
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean lengths of bursts and pauses are correct, and so is the share of time spent
    /// sending.
    #[test]
    fn a_source_is_on_for_its_share_of_the_time() {
        let on_off = OnOff { burst: Span::from_millis(30), idle: Span::from_millis(70) };
        let interval = Span::from_micros(100);
        let mut random = Stream::named(1, "on off", 0);
        let mut phase = Phase::default();
        let waits: Vec<Span> =
            (0..200_000).map(|_| phase.next(on_off, interval, &mut random)).collect();
        let total = waits.iter().fold(Span::ZERO, |sum, wait| sum + *wait).as_secs_f64();
        let share = waits.len() as f64 * interval.as_secs_f64() / total;
        assert!((share - 0.3).abs() < 0.02, "{share}");
        let pauses = waits.iter().filter(|wait| **wait > interval).count() as f64;
        let burst = waits.len() as f64 / pauses * interval.as_secs_f64();
        assert!((burst / 0.03 - 1.0).abs() < 0.05, "{burst}");
    }

    /// Taking several packets of a burst at once does not move later bursts.
    #[test]
    fn packets_that_are_taken_together_leave_the_next_burst_where_it_is() {
        let on_off = OnOff { burst: Span::from_millis(30), idle: Span::from_millis(70) };
        let interval = Span::from_micros(100);
        let begins = |together: u64| {
            let mut random = Stream::named(1, "on off", 0);
            let (mut phase, mut now, mut begins) = (Phase::default(), Span::ZERO, Vec::new());
            while begins.len() < 50 {
                let wait = phase.next(on_off, interval, &mut random);
                now += wait;
                if wait > interval {
                    begins.push(now);
                }
                now += interval * phase.take(together);
            }
            begins
        };
        assert_eq!(begins(7), begins(0));
        assert_eq!(begins(u64::MAX), begins(0));
    }

    #[test]
    fn a_burst_has_a_packet_at_least() {
        let on_off = OnOff { burst: Span::from_picos(1), idle: Span::from_millis(1) };
        let mut random = Stream::named(1, "on off", 0);
        let mut phase = Phase::default();
        let interval = Span::from_micros(1);
        let waits = (0..100).map(|_| phase.next(on_off, interval, &mut random));
        assert!(waits.filter(|wait| *wait > interval).count() > 95, "a pause after each");
    }

    /// A burst whose mean length is one interval has 1.35 packets on average: 1 + Σ exp(½ - k), k =
    /// 2, 3, …
    #[test]
    fn short_bursts_are_rounded_to_whole_packets() {
        let interval = Span::from_micros(100);
        let on_off = OnOff { burst: interval, idle: Span::from_millis(70) };
        let mut random = Stream::named(1, "on off", 0);
        let mut phase = Phase::default();
        let waits = (0..20_000).map(|_| phase.next(on_off, interval, &mut random));
        let pauses = waits.filter(|wait| *wait > interval).count();
        let burst = 20_000.0 / pauses as f64;
        assert!((burst / 1.353 - 1.0).abs() < 0.03, "{burst}");
    }
}
