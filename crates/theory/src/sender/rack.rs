//! RACK-TLP: loss detection by time, and tail loss probes (RFC 8985).

use super::{Rules, Sender};
use crate::board::{Found, Horizon, Sent};
use crate::flavour;
use crate::packet::{NEVER, Ticks, ticks};
use crate::parts::Parts;
use crate::wheel;

/// The reordering window is the smallest round trip divided by this number, times a multiplier
/// (§6.2).
const DIVISOR: Ticks = 4;
/// Number of recoveries without a duplicate after which the multiplier is 1 again (§6.2).
const PERSISTENCE: u32 = 16;
/// If at least this number of segments above a hole have arrived, and no reordering was observed,
/// the reordering window is 0 (§6.2, step 4).
const ENOUGH: u32 = 3;

/// The time parameters of RACK-TLP.
#[derive(Clone, Copy, Debug)]
pub struct Spans {
    /// Probe timeout before the first round-trip sample.
    pub first: Ticks,
    /// Addition to the probe timeout and to the reordering timer.
    pub margin: Ticks,
    /// Addition to the probe timeout if only one segment is outstanding.
    pub ack_delay: Ticks,
}

impl Spans {
    /// The parameters of a stack.
    pub fn new(rack: &flavour::Rack) -> Self {
        let flavour::Rack { first, margin, ack_delay, .. } = *rack;
        Self { first: ticks(first), margin: ticks(margin), ack_delay: ticks(ack_delay) }
    }
}

/// The state of one connection.
#[derive(Clone, Debug)]
pub struct Rack {
    smallest: Option<Ticks>,
    /// The arrived segment that was sent last (`RACK.xmit_ts`), and its round trip.
    newest: Option<(Ticks, u32)>,
    rtt: Ticks,
    /// One past the highest segment that has arrived (`RACK.fack`).
    forward: u32,
    is_reordered: bool,
    multiplier: Ticks,
    persistence: u32,
    /// End of the round in which a duplicate was reported.
    twice_until: Option<u32>,
    reduced_at: Ticks,
    /// When segments that may be reordered are declared lost.
    pub(crate) reorder_at: Ticks,
    /// When a probe is sent.
    pub(crate) probe_at: Ticks,
    /// The last probe, until its result is known: one past the highest segment, whether the probe
    /// was a retransmission, and the flight at the probe.
    probed: Option<(u32, bool, Parts)>,
    /// Number of probes since the last round-trip sample.
    probes: u32,
}

/// The effect of an ACK or a deadline on loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Nothing,
    /// Recovery begins.
    Loss,
    /// A retransmission was lost.
    Again,
    /// A probe has repaired a loss. The value is the flight when the probe was sent.
    Repaired(Parts),
}

impl Rack {
    /// A connection without a round-trip sample.
    pub fn new() -> Self {
        Self {
            smallest: None,
            newest: None,
            rtt: 0,
            forward: 0,
            is_reordered: false,
            multiplier: 1,
            persistence: 0,
            twice_until: None,
            reduced_at: 0,
            reorder_at: NEVER,
            probe_at: NEVER,
            probed: None,
            probes: 0,
        }
    }

    /// Takes the round trip of the handshake as a sample.
    pub fn open(&mut self, rtt: Ticks) {
        self.smallest = Some(rtt);
    }

    /// The next deadline.
    pub fn due(&self) -> Ticks {
        self.reorder_at.min(self.probe_at)
    }

    /// Handles a segment that has arrived (§6.2, steps 1 to 3).
    pub fn deliver(&mut self, segment: u32, sent: &Sent, now: Ticks) {
        let rtt = now - sent.at;
        if segment >= self.forward {
            self.forward = segment + 1;
        } else if sent.copies == 1 {
            self.is_reordered = true;
        }
        if sent.copies > 1 {
            if self.smallest.is_some_and(|smallest| rtt < smallest) {
                return;
            }
        } else {
            self.smallest = Some(self.smallest.map_or(rtt, |it| it.min(rtt)));
            self.probes = 0;
        }
        self.rtt = rtt;
        self.newest = self.newest.max(Some((sent.at, segment)));
    }

    /// Widens the reordering window for duplicates (§6.2, step 4). `widens` says whether the ACK
    /// reports a duplicate that may widen the window.
    fn adapt(&mut self, una: u32, max: u32, widens: bool, leaves: bool) {
        self.twice_until.take_if(|round| una >= *round);
        if widens && self.twice_until.is_none() {
            self.twice_until = Some(max);
            self.multiplier += 1;
            self.persistence = PERSISTENCE;
        } else if leaves {
            self.persistence = self.persistence.saturating_sub(1);
            if self.persistence == 0 {
                self.multiplier = 1;
            }
        }
    }

    /// The reordering window.
    fn patience(&self, sacked: u32, is_repairing: bool, srtt: Ticks) -> Ticks {
        if !self.is_reordered && (is_repairing || sacked >= ENOUGH) {
            return 0;
        }
        (self.smallest.unwrap_or_default() / DIVISOR * self.multiplier).min(srtt)
    }

    /// Clears both timers and forgets the probe, after a timeout.
    fn reset(&mut self) {
        (self.reorder_at, self.probe_at, self.probed) = (NEVER, NEVER, None);
    }

    /// If the ACK shows that the probe has repaired a loss, returns the flight at the probe (§7.4).
    /// `is_dup` says whether the ACK reports only a duplicate.
    fn settle_probe(&mut self, una: u32, twice: Option<u32>, is_dup: bool) -> Option<Parts> {
        let (end, is_copy, flight) = self.probed.filter(|it| una >= it.0)?;
        let arrived_twice = twice.is_some_and(|it| it + 1 == end) || una == end && is_dup;
        let is_repaired = is_copy && !arrived_twice && una > end;
        if !is_copy || arrived_twice || is_repaired {
            self.probed = None;
        }
        is_repaired.then_some(flight)
    }
}

impl Sender {
    /// Handles an ACK after the scoreboard has recorded it. `twice` is a segment that arrived
    /// again. `is_new` says whether the cumulative ACK covers new segments, and `is_news` whether
    /// the ACK reports a new segment out of order.
    pub(crate) fn on_rack_ack(
        &mut self,
        now: Ticks,
        twice: Option<u32>,
        (is_new, is_news): (bool, bool),
        rules: &Rules,
    ) -> Option<Verdict> {
        let (una, max, recover) = (self.una, self.max, self.recover);
        let it = self.selective.as_deref_mut()?;
        let rack = it.rack.as_mut()?;
        let is_repairing = self.in_recovery || it.repairs_timeout;
        let leaves = is_repairing && una >= recover;
        let may_widen = rack.is_reordered || !rules.flavour.rack.needs_reordering;
        rack.adapt(una, max, twice.is_some() && may_widen, leaves);
        let repaired = rack.settle_probe(una, twice, twice.is_some() && !is_new);
        if leaves {
            it.repairs_timeout = false;
            if self.in_recovery {
                return None;
            }
        }
        if is_news && !self.in_recovery && !it.repairs_timeout {
            self.dupacks += 1;
        }
        if it.board.sacked() > 0 {
            rack.probe_at = NEVER;
        }
        let verdict = self.detect(now, rules);
        if let (Verdict::Nothing, Some(flight)) = (verdict, repaired)
            && !self.is_repairing()
        {
            return Some(Verdict::Repaired(flight));
        }
        Some(verdict)
    }

    fn is_repairing(&self) -> bool {
        self.in_recovery || self.selective.as_ref().is_some_and(|it| it.repairs_timeout)
    }

    /// Detects losses (§6.2, step 5).
    pub(crate) fn detect(&mut self, now: Ticks, rules: &Rules) -> Verdict {
        let is_repairing = self.is_repairing();
        let (srtt, phase) = (self.rto.smoothed(), self.phase);
        let Some(it) = self.selective.as_deref_mut() else { return Verdict::Nothing };
        let Some(rack) = it.rack.as_mut() else { return Verdict::Nothing };
        rack.reorder_at = NEVER;
        let Some(newest) = rack.newest else { return Verdict::Nothing };
        let found = if it.board.is_settled(newest) {
            Found::default()
        } else {
            let patience = rack.rtt + rack.patience(it.board.sacked(), is_repairing, srtt);
            it.board.detect(now, &Horizon { newest, patience })
        };
        if let Some(next) = found.next {
            let wait = next - now + rules.rack.margin;
            rack.reorder_at = wheel::after(now, wait, rules.tick, phase);
        }
        if !is_repairing && it.board.is_due() {
            rack.reduced_at = now;
            return Verdict::Loss;
        }
        let again = rules.flavour.rack.reduces_again && self.in_recovery;
        if again && found.copy_at.is_some_and(|at| at >= rack.reduced_at) {
            rack.reduced_at = now;
            return Verdict::Again;
        }
        Verdict::Nothing
    }

    /// Stops the probe timer when a recovery begins.
    pub(crate) fn cancel_probe(&mut self) {
        if let Some(rack) = self.rack_mut() {
            rack.probe_at = NEVER;
        }
    }

    fn rack_mut(&mut self) -> Option<&mut Rack> {
        self.selective.as_deref_mut().and_then(|it| it.rack.as_mut())
    }

    /// Sets the probe timer after new data were sent or acknowledged. The retransmission timer must
    /// be set before (§7.2).
    pub(crate) fn schedule_probe(&mut self, now: Ticks, rules: &Rules) {
        if self.is_repairing() {
            return;
        }
        let (flight, deadline, srtt) = (self.max - self.una, self.deadline, self.rto.smoothed());
        let phase = self.phase;
        let Some(it) = self.selective.as_deref_mut() else { return };
        let Some(rack) = it.rack.as_mut() else { return };
        rack.probe_at = NEVER;
        let may = flight > 0 && it.board.sacked() == 0 && rack.probes < rules.flavour.rack.probes;
        if may {
            let wait = match (srtt, flight) {
                (0, _) => rules.rack.first,
                (_, 1) => 2 * srtt + rules.rack.ack_delay,
                _ => 2 * srtt + rules.rack.margin,
            };
            rack.probe_at = wheel::after(now, wait, rules.tick, phase).min(deadline);
        }
    }

    /// Marks old segments as lost after a timeout (§6.3).
    pub(crate) fn time_out_rack(&mut self, now: Ticks) {
        let srtt = self.rto.smoothed();
        let Some(it) = self.selective.as_deref_mut() else { return };
        let Some(rack) = it.rack.as_mut() else { return };
        rack.reset();
        let patience = rack.rtt + rack.patience(it.board.sacked(), true, srtt);
        it.board.lose_old(now, patience);
    }

    /// Handles an expired deadline of loss detection.
    pub(crate) fn expire_rack(&mut self, now: Ticks, rules: &Rules) {
        let is_out = self.una < self.max;
        let Some(rack) = self.rack_mut() else { return };
        if rack.reorder_at <= now {
            let verdict = self.detect(now, rules);
            return self.act(now, verdict, rules);
        }
        if rack.probe_at <= now {
            rack.probe_at = NEVER;
            let most = rules.flavour.rack.probes;
            let may = rack.probes < most && (rack.probed.is_none() || most > 1);
            self.owes_probe = may && is_out;
        }
    }

    /// Acts on the result of loss detection.
    pub(crate) fn act(&mut self, now: Ticks, verdict: Verdict, rules: &Rules) {
        match verdict {
            Verdict::Nothing => {}
            Verdict::Loss => self.begin_selectively(now, rules),
            Verdict::Again => {
                let flight = self.outstanding(self.max, rules).min(self.window);
                self.reduce(flight, rules);
            }
            Verdict::Repaired(flight) => {
                self.reduce(flight, rules);
                self.window = self.threshold;
            }
        }
    }

    /// Records a sent probe, which is a copy or new data.
    pub(crate) fn note_probe(&mut self, is_copy: bool, rules: &Rules) {
        let flight = self.outstanding(self.max, rules);
        let max = self.max;
        if let Some(rack) = self.rack_mut() {
            rack.probes += 1;
            rack.probed = Some((max, is_copy, flight));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::parts;

    /// The results of ACKs after a probe that retransmitted segment 4, with a flight of two
    /// segments.
    fn results(acks: &[(u32, Option<u32>)]) -> Vec<Option<Parts>> {
        let mut rack = Rack { probed: Some((5, true, parts(2.0))), ..Rack::new() };
        acks.iter().map(|&(una, twice)| rack.settle_probe(una, twice, twice.is_some())).collect()
    }

    #[test]
    fn rfc8985_7_4_a_probe_repairs_a_loss_once() {
        let acks = [(4, None), (5, None), (6, None), (7, None)];
        assert_eq!(results(&acks), [None, None, Some(parts(2.0)), None]);
    }

    #[test]
    fn rfc8985_7_4_a_probe_that_arrived_twice_has_repaired_nothing() {
        assert_eq!(results(&[(5, Some(4)), (6, None)]), [None, None]);
    }
}
