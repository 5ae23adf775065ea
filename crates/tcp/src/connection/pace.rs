//! Pacing: data leave at a rate, and a window below a segment becomes a distance in time.

use incast_engine::{Span, Stream, Time};

use super::Connection;
use crate::config::{Config, Pacing};
use crate::congestion::{CongestionControl, Needs};

/// When the next data may leave.
#[derive(Clone, Debug)]
pub(super) struct Pacer {
    /// Everything is paced, and not only what a window below a segment lets go.
    always: bool,
    gains: Pacing,
    /// When the last data left.
    last_sent: Option<Time>,
    next_at: Time,
    /// The block whose first segment has been given its moment, and that moment.
    phase: (u64, Time),
    /// Data wait for `next_at`.
    waiting: bool,
}

/// What the pacer needs to know of its connection.
#[derive(Clone, Copy)]
struct Pace {
    window: u64,
    ssthresh: u64,
    segment: u64,
    srtt: Option<Span>,
    rate: Option<incast_engine::Rate>,
}

impl Pacer {
    /// A pacer, if the configuration or the congestion control wants one.
    pub fn new(config: &Config, needs: Needs) -> Option<Box<Self>> {
        let always = config.pacing.is_some() || needs.pacing;
        (always || needs.fractional_window).then(|| {
            Box::new(Self {
                always,
                gains: config.pacing.unwrap_or_default(),
                last_sent: None,
                next_at: Time::ZERO,
                phase: (0, Time::ZERO),
                waiting: false,
            })
        })
    }

    /// When data that wait may leave.
    pub fn deadline(&self) -> Time {
        if self.waiting { self.next_at } else { Time::NEVER }
    }

    /// Time that `bytes` take; none if no round trip has been measured.
    fn interval(&self, pace: Pace, bytes: u64) -> Option<Span> {
        if let Some(rate) = pace.rate {
            return Some(rate.transmission_time(bytes));
        }
        // Linux's tcp_update_pacing_rate: a gain for slow start, another one beyond half of
        // ssthresh. Below a segment the rate is the window's own.
        let permille = if pace.window < pace.segment {
            1000
        } else if pace.window < pace.ssthresh / 2 {
            self.gains.slow_start_permille
        } else {
            self.gains.permille
        };
        let spread = u128::from(pace.srtt?.as_picos()) * u128::from(bytes) * 1000;
        let picos = spread / (u128::from(pace.window.max(1)) * u128::from(permille.max(1)));
        Some(Span::from_picos(u64::try_from(picos).unwrap_or(u64::MAX / 4)))
    }

    /// When the next data may leave.
    fn due(&mut self, now: Time, pace: Pace, block: Option<u64>, random: &mut Stream) -> Time {
        if pace.window >= pace.segment || pace.rate.is_some() {
            return if self.always { self.next_at } else { Time::ZERO };
        }
        // The window may have changed since the last segment left, and with it the distance.
        let Some(interval) = self.interval(pace, pace.segment) else { return Time::ZERO };
        let after_last = self.last_sent.map_or(Time::ZERO, |last| last + interval);
        let Some(block) = block else { return after_last };
        if self.phase.0 != block {
            self.phase = (block, now + random.uniform(interval));
        }
        after_last.max(self.phase.1)
    }
}

impl Connection {
    fn pace(&self) -> Pace {
        Pace {
            window: self.congestion.window(),
            ssthresh: self.congestion.ssthresh(),
            segment: u64::from(self.segment_size),
            srtt: self.rtt.srtt(),
            rate: if self.needs.pacing { self.congestion.pacing_rate() } else { None },
        }
    }

    /// cwnd as the window to send by: of one below a segment the pacer takes care.
    #[inline]
    pub(super) fn send_window(&self) -> u64 {
        let window = self.congestion.window();
        if self.needs.fractional_window { window.max(u64::from(self.segment_size)) } else { window }
    }

    /// Whether the pacer holds back the data at `next`.
    pub(super) fn is_paced_out(&mut self, now: Time, next: u64) -> bool {
        let pace = self.pace();
        let Some(pacer) = &mut self.pacer else { return false };
        let block = (next == self.block_start).then_some(next);
        pacer.next_at = pacer.due(now, pace, block, &mut self.random);
        pacer.waiting = pacer.next_at > now;
        pacer.waiting
    }

    /// `bytes` of data have left.
    pub(super) fn note_pace(&mut self, now: Time, bytes: u64) {
        let pace = self.pace();
        if let Some(pacer) = &mut self.pacer {
            pacer.last_sent = Some(now);
            pacer.waiting = false;
            if let Some(interval) = pacer.interval(pace, bytes) {
                pacer.next_at = pacer.next_at.max(now) + interval;
            }
        }
    }

    /// The clock has reached the deadline.
    pub(super) fn end_pace(&mut self, now: Time) {
        if let Some(pacer) = &mut self.pacer {
            pacer.waiting &= pacer.next_at > now;
        }
    }
}
