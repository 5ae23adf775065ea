//! DCTCP (RFC 8257 §3.3): a window that is reduced by the fraction of marked data.

use super::{Rules, Sender};
use crate::flavour;
use crate::parts::{BITS, Parts};

/// The state of one connection.
#[derive(Clone, Debug)]
pub struct Marks {
    /// α: the smoothed fraction of marked data.
    alpha: f64,
    /// The observation window ends with the first ACK above this segment.
    end: u32,
    acked: u32,
    marked: u32,
    /// Marks and losses up to this segment do not reduce the window again.
    reduced_until: u32,
    /// The window does not grow until `reduced_until`.
    is_frozen: bool,
}

impl Marks {
    /// A new connection.
    pub fn new(law: &flavour::Marks) -> Self {
        let (end, acked, marked, reduced_until, is_frozen) = (0, 0, 0, 0, false);
        Self { alpha: law.alpha, end, acked, marked, reduced_until, is_frozen }
    }

    fn begin(&mut self, max: u32) {
        (self.end, self.acked, self.marked) = (max, 0, 0);
    }

    /// Notes a loss, which is handled as without marks (§3.5).
    pub fn on_loss(&mut self, max: u32, is_timeout: bool) {
        (self.reduced_until, self.is_frozen) = (max, false);
        if is_timeout {
            self.begin(max);
        }
    }
}

impl Sender {
    /// Observes an ACK of all segments before `ack`, with or without the echo of a mark. Returns
    /// whether the window may grow.
    #[inline(never)]
    pub(crate) fn observe(&mut self, ack: u32, rules: &Rules) -> bool {
        let (una, max, is_marked) = (self.una, self.max, self.is_marked);
        let law = &rules.flavour.marks;
        let Some(it) = self.marks.as_deref_mut() else { return true };
        it.acked += ack - una;
        it.marked += if is_marked { ack - una } else { 0 };
        it.is_frozen &= ack <= it.reduced_until;
        let is_congested = it.marked > 0;
        let mut reacts = is_marked && law.at_once;
        if ack > it.end {
            let fraction = f64::from(it.marked) / f64::from(it.acked.max(1));
            it.alpha += law.gain * (fraction - it.alpha);
            it.begin(max);
            reacts |= is_congested && !law.at_once;
        }
        let reduced = reacts && ack > it.reduced_until;
        if reduced {
            (it.reduced_until, it.is_frozen) = (max, law.at_once);
            let alpha = it.alpha;
            self.reduce_by_marks(alpha, rules);
        }
        let is_frozen = self.marks.as_ref().is_some_and(|it| it.is_frozen);
        !is_marked && !is_frozen && !reduced
    }

    fn reduce_by_marks(&mut self, alpha: f64, rules: &Rules) {
        let whole = |window: Parts| {
            if rules.flavour.counts_packets { window >> BITS << BITS } else { window }
        };
        let window = whole(self.window);
        let less = whole((window as f64 * alpha / 2.0) as Parts);
        let reduced = (window - less).max(Parts::from(rules.flavour.marks.floor) << BITS);
        (self.window, self.threshold) = (reduced.min(window), reduced);
        self.counted = 0;
    }
}
