//! When data leaves: pacing at a rate, with gaps for a window below a segment, and bursts of
//! segmentation offload.

use incast_engine::time::mul_div;
use incast_engine::{Rate, Span, Stream, Time};

use super::Connection;
use super::extras::Extras;
use crate::config::{Config, Pacing};
use crate::congestion::{CongestionControl, Needs};
use crate::recovery::LossRecovery;

/// The pacer. Fields that every segment needs are first.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Pacer {
    pub(super) next_at: Time,
    /// When the last data left, or its departure time.
    pub(super) last_sent: Time,
    /// The last computed interval, and its inputs.
    memo: (Fraction, Span),
    /// Whether data waits for `next_at`.
    pub(super) waiting: bool,
    /// The time at which this data began to wait.
    waiting_since: Time,
    /// Whether all data is paced. If not, data is paced only with a window below a segment.
    always: bool,
    /// Whether segments may have departure times.
    pub(super) timing: Timing,
    /// Bytes of the current burst that have not left yet.
    burst_left: u32,
    /// If the congestion control sends bursts: the time by which the current burst left later than
    /// allowed.
    credit: Span,
    /// Maximum burst, bytes; 0 without segmentation offload.
    burst_size: u32,
    /// Size of the next burst, bytes.
    burst_granted: u32,
    /// The block whose first segment starts at a random time, and this random time.
    phase: (u64, Time),
    gains: Pacing,
    /// With [`Timing::Doubtful`]: all retransmitted data is below this number.
    pub(super) copied_below: u64,
}

/// Whether the host keeps segments until a departure time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timing {
    /// The host does not keep segments.
    Off,
    /// The host keeps segments, but copies of a segment, or their ACKs, may be in flight.
    Doubtful,
    /// The host keeps segments.
    On,
}

/// An interval as a quotient: picoseconds times bytes, divided by `divisor`. The interval is stored
/// because it rarely changes between two ACKs and a division is slow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Fraction {
    picos: u64,
    bytes: u64,
    divisor: u64,
}

/// Extras with which nothing leaves before the time that the pacer has set.
const HELD: Extras = Extras::RECOVERY
    .or(Extras::TIMED_RECOVERY)
    .or(Extras::PACKETS)
    .or(Extras::TIMESTAMPS)
    .or(Extras::SACK_OPTION)
    .or(Extras::PACER)
    .or(Extras::PRR)
    .or(Extras::JITTER)
    .or(Extras::ECN)
    .or(Extras::SENT)
    .or(Extras::IDLE_TIMER)
    .or(Extras::RECEIVER_HOOKS)
    .or(Extras::DELIVERY)
    .or(Extras::DELAYED_ACKS)
    .or(Extras::TICKS);

/// The inputs of the pacer.
#[derive(Clone, Copy, Default)]
struct Pace {
    /// The rate of the congestion control. If `None`, the rate follows from the fields below.
    rate: Option<Rate>,
    srtt: Option<Span>,
    window: u64,
    ssthresh: u64,
    segment: u64,
}

impl Pacer {
    /// A pacer, if the configuration or the congestion control wants one.
    pub fn new(config: &Config, needs: Needs) -> Option<Box<Self>> {
        let always = config.pacing.is_some() || needs.pacing;
        let burst_size = config.segmentation_offload.unwrap_or(0);
        (always || needs.fractional_window || burst_size > 0).then(|| {
            Box::new(Self {
                always,
                gains: config.pacing.unwrap_or_default(),
                last_sent: Time::NEVER,
                next_at: Time::ZERO,
                phase: (0, Time::ZERO),
                waiting: false,
                waiting_since: Time::ZERO,
                memo: (Fraction::default(), Span::ZERO),
                burst_size,
                burst_granted: 0,
                burst_left: 0,
                credit: Span::ZERO,
                timing: Timing::Off,
                copied_below: 0,
            })
        })
    }

    /// Notes that data waits from now on, unless it waits already.
    #[inline]
    fn wait(&mut self, now: Time) {
        if !self.waiting {
            self.waiting = true;
            self.waiting_since = now;
        }
    }

    /// Whether more data of the current burst may leave.
    #[inline]
    fn is_in_burst(&self, now: Time) -> bool {
        self.burst_left > 0 && self.last_sent == now
    }

    /// The time at which waiting data may leave.
    #[inline]
    pub fn deadline(&self) -> Time {
        if self.waiting { self.next_at } else { Time::NEVER }
    }

    /// Pacing interval for `bytes` bytes; `None` before the first round-trip sample.
    #[inline]
    fn interval(&mut self, pace: Pace, bytes: u64) -> Option<Span> {
        let fraction = match pace.rate {
            Some(Rate(rate)) => Fraction { picos: 0, bytes, divisor: rate },
            None => Fraction { picos: pace.srtt?.as_picos(), bytes, divisor: self.divisor(pace) },
        };
        if self.memo.0 != fraction {
            let Fraction { picos, divisor, .. } = fraction;
            let interval = match pace.rate {
                Some(rate) => rate.transmission_time(bytes),
                None => Span::from_picos(mul_div(picos, bytes * 1000, divisor).min(u64::MAX / 4)),
            };
            self.memo = (fraction, interval);
        }
        Some(self.memo.1)
    }

    /// Gain times window, in thousandths of bytes per round trip. As in Linux's
    /// `tcp_update_pacing_rate`, one gain applies to windows below half of ssthresh, and another
    /// gain to larger windows. The gain of a window below a segment is 1.
    fn divisor(&self, pace: Pace) -> u64 {
        let permille = if pace.window < pace.segment {
            1000
        } else if pace.window < pace.ssthresh / 2 {
            self.gains.slow_start_permille
        } else {
            self.gains.permille
        };
        pace.window.max(1).saturating_mul(permille.max(1))
    }

    /// The time at which the next data may leave.
    #[inline]
    fn due(&mut self, now: Time, pace: Pace, block: Option<u64>, random: &mut Stream) -> Time {
        if pace.window >= pace.segment || pace.rate.is_some() {
            return if self.always { self.next_at } else { Time::ZERO };
        }
        // The window, and with it the gap, may have changed since the last segment.
        let Some(interval) = self.interval(pace, pace.segment) else { return Time::ZERO };
        let has_sent = self.last_sent != Time::NEVER;
        let after_last = if has_sent { self.last_sent + interval } else { Time::ZERO };
        let Some(block) = block else { return after_last };
        if self.phase.0 != block {
            self.phase = (block, now + random.uniform(interval));
        }
        after_last.max(self.phase.1)
    }
}

impl Connection {
    #[inline]
    fn pace(&self) -> Pace {
        if self.needs.pacing
            && let rate @ Some(_) = self.congestion.pacing_rate()
        {
            return Pace { rate, ..Pace::default() };
        }
        // Only a pacer that paces all data has a gain for slow start.
        let has_gains = self.pacer.as_ref().is_some_and(|pacer| pacer.always);
        Pace {
            rate: None,
            srtt: self.rtt.srtt(),
            window: self.congestion.window(),
            ssthresh: if has_gains { self.congestion.ssthresh() } else { 0 },
            segment: u64::from(self.segment_size),
        }
    }

    /// cwnd for sending, at least a segment, because the pacer implements a window below a segment.
    #[inline]
    pub(super) fn send_window(&self) -> u64 {
        let window = self.congestion.window();
        if self.needs.fractional_window { window.max(u64::from(self.segment_size)) } else { window }
    }

    /// Whether data waits for the pacer at the congestion control's rate, and nothing else can
    /// leave earlier. If data waits in this way, the search for the next segment is unnecessary.
    #[inline]
    pub(super) fn is_held(&mut self, now: Time) -> bool {
        let is_early = |pacer: &Pacer| pacer.next_at > now && !pacer.is_in_burst(now);
        let is_early = self.pacer.as_deref().is_some_and(is_early);
        let is_plain = is_early
            && self.congestion.pacing_rate().is_some()
            && self.extras.has(Extras::BY_PIPE)
            && self.extras.only(HELD)
            && self.peer_window > 0
            && !self.recovery.in_recovery();
        let waits = is_plain
            && (self.pacer.as_ref().is_some_and(|pacer| pacer.waiting) || self.has_room_for_more());
        if waits && let Some(pacer) = &mut self.pacer {
            pacer.wait(now);
        }
        waits
    }

    /// Whether only the pacer delays another full segment of new data.
    fn has_room_for_more(&self) -> bool {
        let (next, segment) = (self.board.next(), u64::from(self.segment_size));
        next < self.stream_end()
            && !self.board.is_due()
            && self.recovery.dupacks() == 0
            && self.pipe() + segment <= self.congestion.window()
            && next + segment <= self.board.una() + self.peer_window
    }

    /// Whether the data at `next` must wait, if the window allows `allowed` bytes in all.
    pub(super) fn is_paced_out(&mut self, now: Time, next: u64, allowed: u64) -> bool {
        let pace = self.pace();
        let Some(pacer) = &mut self.pacer else { return false };
        if pacer.is_in_burst(now) {
            return false;
        }
        let burst = if self.needs.pacing {
            self.congestion.pacing_burst(self.segment_size.into()) as u32
        } else {
            0
        };
        let size = pacer.burst_size.max(burst);
        pacer.burst_granted = size.min(u32::try_from(allowed).unwrap_or(u32::MAX));
        let block = (next == self.block.start).then_some(next);
        pacer.next_at = pacer.due(now, pace, block, &mut self.random);
        pacer.credit = if burst > 0 { now.saturating_since(pacer.next_at) } else { Span::ZERO };
        if pacer.next_at > now {
            pacer.wait(now);
        } else {
            pacer.waiting = false;
        }
        pacer.waiting
    }

    /// Notes that `bytes` bytes of data were sent.
    #[inline]
    pub(super) fn note_pace(&mut self, now: Time, bytes: u64) {
        let Some(pacer) = &mut self.pacer else { return };
        let begun = std::mem::take(&mut pacer.burst_granted);
        let left = if begun > 0 { begun } else { pacer.burst_left };
        pacer.burst_left = left.saturating_sub(bytes as u32);
        pacer.last_sent = now;
        pacer.waiting = false;
        // The gap for a window below a segment starts when the last data left.
        if pacer.always {
            self.set_next(now, bytes);
        }
    }

    /// Sets the time at which the next data may leave, after `bytes` bytes left now.
    fn set_next(&mut self, now: Time, bytes: u64) {
        let pace = self.pace();
        if let Some(pacer) = &mut self.pacer
            && let Some(interval) = pacer.interval(pace, bytes)
        {
            // Linux's tcp_update_skb_after_send(): at most half of the interval makes up for the
            // jitter of the host.
            let made_up = pacer.credit.min(interval / 2);
            pacer.credit = pacer.credit.saturating_sub(made_up);
            pacer.next_at = pacer.next_at.max(now) + interval.saturating_sub(made_up);
        }
    }

    /// Ends the wait once the pacer's deadline has passed.
    pub(super) fn end_pace(&mut self, now: Time) {
        let Some(pacer) = &mut self.pacer else { return };
        if pacer.waiting && pacer.next_at <= now {
            pacer.waiting = false;
            let held = now - pacer.waiting_since;
            self.note_hold(held);
        }
    }
}
