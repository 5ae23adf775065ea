//! Growth of a window by ACKs, and its reduction by a loss (RFC 5681, RFC 3465, RFC 9438).

use super::{Rules, Sender};
use crate::flavour::{Growth, Halved};
use crate::hybrid::State;
use crate::packet::Ticks;
use crate::parts::{BITS, Parts, SEGMENT};

/// Minimum slow-start threshold (RFC 5681, equation 4).
const LEAST_WINDOW: Parts = 2 * SEGMENT;

/// The reason for which a window is reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    /// Recovery begins.
    Detected,
    /// The timer has expired; `repeated` if it had expired for the same segment before.
    Timeout { repeated: bool },
}

impl Sender {
    /// Grows the window for an ACK of all segments before `ack`. `rtt` is the round trip of the
    /// youngest acknowledged segment, if all acknowledged segments were sent once.
    #[inline]
    pub(crate) fn grow(&mut self, now: Ticks, ack: u32, rtt: Option<Ticks>, rules: &Rules) {
        if rules.flavour.growth != Growth::Acks {
            return self.grow_by_data(now, ack, rtt, rules);
        }
        let starts = self.window < self.threshold;
        self.window += if starts { SEGMENT } else { (SEGMENT << BITS) / self.window };
    }

    #[inline(never)]
    fn grow_by_data(&mut self, now: Ticks, ack: u32, rtt: Option<Ticks>, rules: &Rules) {
        let acked = Parts::from(ack - self.una) << BITS;
        let room = self.threshold.saturating_sub(self.window);
        match rules.flavour.growth {
            Growth::Cubic => self.grow_by_curve(now, (ack, acked), rtt, rules),
            Growth::Data if room > 0 => self.window += acked.min(SEGMENT),
            Growth::AllData if room > 0 => {
                self.window += acked.min(room);
                if acked > room {
                    self.count(acked - room);
                }
            }
            Growth::Bbr => {}
            Growth::Acks | Growth::Data | Growth::AllData => self.count(acked),
        }
    }

    /// Congestion avoidance by acknowledged data (RFC 3465 §2.1).
    fn count(&mut self, acked: Parts) {
        self.counted += acked;
        if self.counted >= self.window {
            self.counted -= self.window;
            self.window += SEGMENT;
        }
    }

    /// Grows the window along CUBIC's curve. A window that is not fully used does not grow (RFC
    /// 9438 §5.8).
    fn grow_by_curve(
        &mut self,
        now: Ticks,
        (ack, acked): (u32, Parts),
        rtt: Option<Ticks>,
        rules: &Rules,
    ) {
        let flight = self.outstanding(self.max, rules);
        let was_deferred = self.deferral.as_deref().is_some_and(|it| it.was_limited(ack));
        let is_limited = flight + SEGMENT > self.window || was_deferred;
        let is_short = self.max >= self.end || flight + SEGMENT > rules.most_window;
        let starts = self.window < self.threshold;
        let state = State {
            una: ack,
            max: self.max,
            window: self.window,
            threshold: self.threshold,
            srtt: self.rto.smoothed(),
        };
        let Some(cubic) = self.cubic.as_deref_mut() else { return };
        if let Some(rtt) = rtt {
            cubic.on_rtt(now, rtt, rules);
        }
        if !is_limited && is_short {
            cubic.pause(now);
            if starts && cubic.watch(now, rtt, &state, rules) {
                self.threshold = self.window;
                cubic.end_start();
            }
        } else if starts {
            match cubic.start(now, acked, rtt, &state, rules) {
                Some(growth) => self.window += growth,
                None => self.threshold = self.window,
            }
            if self.window >= self.threshold {
                cubic.end_start();
            }
        } else {
            let is_empty = ack == self.max;
            self.window += cubic.avoid(now, (acked, self.window), (state.srtt, is_empty), rules);
        }
    }

    /// Reduces the window for a loss with `flight` outstanding.
    pub(crate) fn reduce(&mut self, flight: Parts, rules: &Rules) {
        self.reduce_for(Loss::Detected, flight, rules);
    }

    /// Reduces window and threshold.
    pub(crate) fn reduce_for(&mut self, loss: Loss, flight: Parts, rules: &Rules) {
        self.counted = 0;
        if let Some(marks) = &mut self.marks {
            marks.on_loss(self.max, loss != Loss::Detected);
        }
        if let Some(bbr) = &mut self.bbr {
            let flight = (loss == Loss::Detected).then_some(flight as f64 / SEGMENT as f64);
            bbr.on_loss(flight, self.max);
            self.window = bbr.window();
            return;
        }
        let halved = rules.flavour.halved;
        let is_repeated = loss == Loss::Timeout { repeated: true };
        let reduced = if self.cubic.is_some() {
            self.reduce_by_curve(loss, flight, rules)
        } else {
            let whole = |window: Parts| {
                if rules.flavour.counts_packets { window >> BITS << BITS } else { window }
            };
            match halved {
                Halved::Flight => whole(flight / 2).max(LEAST_WINDOW),
                Halved::Pipe => whole(self.pipe(rules) / 2).max(LEAST_WINDOW),
                Halved::Window => (self.window.min(rules.most_window) / 2).max(SEGMENT),
                Halved::Once => (((self.window >> BITS) / 2) << BITS).max(LEAST_WINDOW),
            }
        };
        let may_hold = halved != Halved::Window || self.cubic.is_some();
        if !(is_repeated && may_hold) {
            self.threshold = match halved {
                Halved::Window if self.cubic.is_none() => {
                    (reduced >> BITS << BITS).max(LEAST_WINDOW)
                }
                _ => reduced,
            };
        }
        self.window = if loss == Loss::Detected { reduced } else { SEGMENT };
    }

    fn reduce_by_curve(&mut self, loss: Loss, flight: Parts, rules: &Rules) -> Parts {
        let (window, threshold) = (self.window, self.threshold);
        let pipe = match rules.flavour.halved {
            Halved::Flight => Some(flight),
            Halved::Pipe => Some(self.pipe(rules)),
            Halved::Window | Halved::Once => None,
        };
        let Some(cubic) = self.cubic.as_deref_mut() else { return threshold };
        cubic.end_start();
        let reduced = if loss == (Loss::Timeout { repeated: true }) {
            threshold
        } else {
            cubic.reduce(window, pipe, rules).max(LEAST_WINDOW)
        };
        if loss != Loss::Detected {
            cubic.time_out();
        }
        reduced
    }

    /// Estimated data in the network (ns-3).
    fn pipe(&self, rules: &Rules) -> Parts {
        match &self.selective {
            Some(it) => Parts::from(it.board.pipe()) << BITS,
            None => self.outstanding(self.next, rules).saturating_sub(self.inflation),
        }
    }
}
