//! CUBIC (RFC 9438). In the equation of the curve, windows are in segments and times in seconds.

use super::Rules;
use crate::careful::Careful;
use crate::counted::{Counted, HZ};
use crate::flavour::{self, Watch};
use crate::hybrid::{Hybrid, State};
use crate::packet::Ticks;
use crate::parts::{BITS, Parts, SEGMENT};

/// Maximum growth per round trip (RFC 9438 §4.2).
const MOST_GROWTH: f64 = 1.5;

/// The state of one connection.
#[derive(Clone, Debug)]
pub struct Cubic {
    epoch: Option<Epoch>,
    /// `W_max`; `None` before the first loss and after a timeout.
    maximum: Option<f64>,
    /// Whether no loss has shown a maximum yet, or the last loss led to a timeout.
    is_blind: bool,
    /// `cwnd_prior`: the window before the last reduction.
    prior: f64,
    start: Start,
    /// The state of Linux's counting, if it is used.
    counted: Option<Box<Counted>>,
}

/// The detector of the end of slow start.
#[derive(Clone, Debug)]
enum Start {
    Plain,
    Careful(Box<Careful>),
    Hybrid(Box<Hybrid>),
}

/// A stage of congestion avoidance (RFC 9438 §4.1.2).
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// The beginning of the stage, plus the time for which there was too little data to send.
    began: Ticks,
    last_ack: Ticks,
    /// Whether there has been too little data since `last_ack`.
    is_short: bool,
    /// `K`: the time that the curve takes to reach `W_max`, seconds.
    rise: f64,
    /// `W_est`.
    friendly: f64,
}

impl Epoch {
    /// RFC 9438 §5.8: time without enough data does not count.
    fn advance(&mut self, now: Ticks, is_short: bool) {
        if self.is_short {
            self.began += now - self.last_ack;
        }
        (self.last_ack, self.is_short) = (now, is_short);
    }
}

fn segments(window: Parts) -> f64 {
    window as f64 / SEGMENT as f64
}

impl Cubic {
    /// A connection before its first loss.
    pub fn new(law: &flavour::Cubic) -> Self {
        let start = match law.watch {
            Watch::Off => Start::Plain,
            Watch::Careful => Start::Careful(Box::default()),
            Watch::Linux | Watch::Ns3 => Start::Hybrid(Box::default()),
        };
        let counted = law.counts.then(Box::default);
        Self { epoch: None, maximum: None, is_blind: true, prior: 0.0, start, counted }
    }

    /// Handles an ACK of `acked` data in slow start. Returns the growth, or `None` if slow start
    /// ends.
    pub fn start(
        &mut self,
        now: Ticks,
        acked: Parts,
        rtt: Option<Ticks>,
        state: &State,
        rules: &Rules,
    ) -> Option<Parts> {
        match &mut self.start {
            Start::Plain => Some(SEGMENT),
            Start::Careful(it) => {
                let bounds = (rules.hybrid.least, rules.hybrid.most);
                it.on_ack((state.una, state.max), acked, rtt, bounds)
            }
            Start::Hybrid(it) => {
                if rtt.is_some_and(|rtt| it.ends(now, rtt, state, &rules.hybrid)) {
                    return None;
                }
                Some(acked.min(state.threshold.saturating_sub(state.window).max(SEGMENT)))
            }
        }
    }

    /// Observes an ACK in slow start that does not grow the window because the window was not used.
    /// Returns whether slow start ends. Linux also counts such ACKs.
    pub fn watch(&mut self, now: Ticks, rtt: Option<Ticks>, state: &State, rules: &Rules) -> bool {
        let Start::Hybrid(it) = &mut self.start else { return false };
        rtt.is_some_and(|rtt| it.ends(now, rtt, state, &rules.hybrid))
    }

    /// Ends slow start, also after a loss. RFC 9406 §4.2 applies `HyStart++` only to the first slow
    /// start. Linux applies `HyStart` to every slow start.
    pub fn end_start(&mut self) {
        self.start = match std::mem::replace(&mut self.start, Start::Plain) {
            Start::Plain | Start::Careful(_) => Start::Plain,
            Start::Hybrid(_) => Start::Hybrid(Box::default()),
        };
    }

    /// Notes that there is too little data to use the window.
    pub fn pause(&mut self, now: Ticks) {
        if let Some(epoch) = &mut self.epoch {
            epoch.is_short = true;
            epoch.advance(now, true);
        }
    }

    /// Begins another stage after a reduction that is not a loss.
    pub fn restart(&mut self) {
        self.epoch = None;
        if let Some(counted) = &mut self.counted {
            counted.restart();
        }
    }

    /// Handles a measured round trip.
    pub fn on_rtt(&mut self, now: Ticks, rtt: Ticks, rules: &Rules) {
        if let Some(counted) = &mut self.counted {
            let ticks = |span: Ticks| span as f64 / rules.second * HZ as f64;
            counted.on_rtt(ticks(now) as u64, ticks(rtt).ceil() as u64);
        }
    }

    fn begin(&mut self, now: Ticks, window: f64, law: &flavour::Cubic) -> Epoch {
        let maximum = self.maximum.filter(|&it| it > window).unwrap_or(window);
        if self.maximum.is_none() && self.prior == 0.0 {
            // Slow start ended without a loss (§4.10).
            self.prior = window;
        }
        self.maximum = Some(maximum);
        let rise = ((maximum - window) / law.c).cbrt();
        Epoch { began: now, last_ack: now, is_short: false, rise, friendly: window }
    }

    /// Handles an ACK of `acked` data in congestion avoidance. Returns the growth of the window.
    /// `is_empty` says whether nothing is outstanding after this ACK.
    pub fn avoid(
        &mut self,
        now: Ticks,
        (acked, window): (Parts, Parts),
        (srtt, is_empty): (Ticks, bool),
        rules: &Rules,
    ) -> Parts {
        let law = &rules.flavour.cubic;
        if let Some(counted) = &mut self.counted {
            let tick = (now as f64 / rules.second * HZ as f64) as u64;
            let packets = (acked.div_ceil(SEGMENT), (window >> BITS).max(1));
            return counted.on_ack(tick, packets, is_empty, law) << BITS;
        }
        let (acked, window) = (segments(acked), segments(window));
        let mut epoch = match self.epoch {
            Some(epoch) => epoch,
            None => self.begin(now, window, law),
        };
        epoch.advance(now, is_empty);
        let seconds = |ticks: Ticks| ticks as f64 / rules.second;
        let since = seconds(now.saturating_sub(epoch.began));
        let maximum = self.maximum.unwrap_or_default();
        let curve = |at: f64| law.c * (at - epoch.rise).powi(3) + maximum;
        // The factor α of RFC 9438 §4.3.
        let alpha = if epoch.friendly >= self.prior {
            1.0
        } else {
            3.0 * (1.0 - law.beta) / (1.0 + law.beta)
        };
        let (early, later) = (curve(since), curve(since + seconds(srtt)));
        epoch.friendly += alpha * acked / window;
        self.epoch = Some(epoch);
        let growth = if law.is_friendly && early < epoch.friendly {
            (epoch.friendly - window).max(0.0)
        } else {
            (later.clamp(window, MOST_GROWTH * window) - window) / window
        };
        let blind = if self.is_blind && law.blind > 0.0 { acked / law.blind } else { 0.0 };
        (growth.max(blind) * SEGMENT as f64) as Parts
    }

    /// Handles a loss (RFC 9438 §4.6 and §4.7). `flight` is the outstanding data if the reduction
    /// depends on it. Returns the reduced window.
    pub fn reduce(&mut self, window: Parts, flight: Option<Parts>, rules: &Rules) -> Parts {
        let law = &rules.flavour.cubic;
        if let Some(counted) = &mut self.counted {
            return counted.reduce((window >> BITS).max(1), law) << BITS;
        }
        let whole = |window: Parts| {
            if rules.flavour.counts_packets { window >> BITS << BITS } else { window }
        };
        let window = whole(window);
        let size = segments(window);
        let yields = law.yields && self.maximum.is_some_and(|maximum| size < maximum);
        self.maximum = Some(if yields { size * f64::midpoint(1.0, law.beta) } else { size });
        self.prior = size;
        self.is_blind = false;
        self.epoch = None;
        let reduced = flight.map_or(window, |flight| flight.min(window));
        whole((reduced as f64 * law.beta) as Parts)
    }

    /// `W_max`, segments.
    #[cfg(test)]
    pub fn maximum(&self) -> Option<f64> {
        self.maximum
    }

    /// Handles a timeout (RFC 9438 §4.8). Unless the timeout is repeated, [`Self::reduce`] must be
    /// called before.
    pub fn time_out(&mut self) {
        (self.epoch, self.maximum, self.is_blind) = (None, None, true);
        if let Some(counted) = &mut self.counted {
            counted.reset();
        }
    }
}
