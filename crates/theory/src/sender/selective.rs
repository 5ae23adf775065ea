//! How a sender with a scoreboard handles ACKs (RFC 6675 §5; ns-2's `Sack1`; RFC 8985).

use super::rack::Verdict;
use super::{AckInfo, DUPLICATES, Rules, Sender};
use crate::bbr;
use crate::flavour::{Examine, Repair};
use crate::packet::{NEVER, Ticks};
use crate::parts::{BITS, Parts};
use crate::proportion::Proportion;

/// A hole counts as lost when this number of segments above it have arrived (RFC 6675 §4).
const ENOUGH: u32 = DUPLICATES;

/// The effect of an ACK on loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Episode {
    Nothing,
    /// The recovery ends.
    Exit,
    /// The ACK reveals a loss or a repair.
    Found(Verdict),
}

/// The information in an ACK.
#[derive(Clone, Copy, Debug, Default)]
struct News {
    /// Segments newly covered by the cumulative ACK.
    acked: u32,
    /// Whether a segment has arrived out of order.
    is_sacked: bool,
    /// A segment that has arrived again.
    twice: Option<u32>,
    /// Whether the ACK reports a segment that was outstanding at a timeout and was not sent again.
    is_original: bool,
    /// The round trip of the youngest segment that the ACK covers, if all covered segments were
    /// sent once.
    rtt: Option<Ticks>,
    /// If a duplicate ACK reports a segment, the time at which this segment was sent; `None` if it
    /// was sent more than once, or if such segments are not timed.
    reported: Option<Ticks>,
}

impl Sender {
    /// Handles an ACK with selective acknowledgements.
    #[inline(never)]
    pub(crate) fn on_selective_ack(&mut self, now: Ticks, ack: &AckInfo, rules: &Rules) {
        let is_empty = ack.next == self.una && self.una == self.max;
        if ack.next < self.una || is_empty && !ack.twice {
            return;
        }
        let before = self.una;
        let Some(it) = self.selective.as_deref() else { return };
        let (held, losses) = (it.board.sacked(), it.board.losses());
        let news = self.read(now, ack, rules);
        if news.acked > 0 {
            self.time(now, ack.next, ack.sent, rules);
            self.burst = u32::MAX;
            self.limited = 0;
            self.dupacks = 0;
        } else if let Some(at) = news.reported {
            self.rto.sample(now - at, (self.una, self.next), &rules.rto);
        }
        self.una = ack.next;
        self.next = self.next.max(self.una);
        self.max = self.max.max(self.una);
        self.conclude(now, before, &news, rules);
        if self.is_plain {
            return;
        }
        if let Some(at) = news.reported {
            self.extend_for_blocks(now, at, rules);
        }
        self.note_delivery(&news, held, losses);
        // As in the simulator, an ACK that reports a duplicate is also examined.
        let is_twice = ack.twice && self.una < self.max && rules.flavour.examine == Examine::Linux;
        if self.undo.is_some() && (news.acked > 0 || news.is_sacked || is_twice) {
            self.examine(news.acked, ack.sent, news.is_original, rules);
        }
    }

    /// Updates the scoreboard.
    fn read(&mut self, now: Ticks, ack: &AckInfo, rules: &Rules) -> News {
        let undo = self.undo.as_deref().filter(|it| it.is_examining());
        let mut news = News {
            acked: ack.next - self.una,
            twice: ack.twice.then_some(ack.segment),
            ..News::default()
        };
        // After a timeout, ns-2 does not read blocks.
        let is_blind = rules.flavour.repair == Repair::Sack1;
        let Some(it) = self.selective.as_deref_mut() else { return news };
        let (rack, board, bbr) = (&mut it.rack, &mut it.board, &mut self.bbr);
        let mut is_single = true;
        board.acknowledge(ack.next, |segment, sent| {
            if let Some(rack) = rack {
                rack.deliver(segment, sent, now);
            }
            if let Some(bbr) = bbr {
                bbr.rates.deliver(now, segment);
            }
            news.is_original |= undo.is_some_and(|it| it.is_original(segment, sent.copies));
            is_single &= sent.copies == 1;
            news.rtt = Some(now - sent.at);
        });
        news.rtt.take_if(|_| !is_single);
        if let Some(bbr) = bbr {
            bbr.rates.forget(ack.next);
            if let Some(rtt) = news.rtt {
                bbr.rates.time(rtt);
            }
        }
        if ack.segment >= ack.next
            && !(is_blind && it.repairs_timeout)
            && let Some(sent) = board.sack(ack.segment)
        {
            news.is_sacked = true;
            let is_timed = rules.flavour.times_blocks && news.acked == 0 && sent.copies == 1;
            news.reported = is_timed.then_some(sent.at);
            if let Some(rack) = rack {
                rack.deliver(ack.segment, &sent, now);
            }
            if let Some(bbr) = bbr {
                bbr.rates.deliver(now, ack.segment);
            }
            news.is_original |= undo.is_some_and(|it| it.is_original(ack.segment, sent.copies));
        }
        news
    }

    /// Handles a duplicate ACK that reports a segment sent at `at` (Linux's
    /// `tcp_clean_rtx_queue()`). The timer restarts if the first segment was sent again after `at`,
    /// unless recovery waits for reordered data.
    fn extend_for_blocks(&mut self, now: Ticks, at: Ticks, rules: &Rules) {
        let Some(it) = self.selective.as_deref() else { return };
        let is_older = it.board.first_at().is_some_and(|first| at < first);
        let waits = it.rack.as_ref().is_some_and(|rack| rack.due() != NEVER);
        if is_older && !waits && self.deadline != NEVER {
            self.arm(now, rules);
        }
    }

    /// Acts on the information in an ACK. `before` was the first unacknowledged segment.
    fn conclude(&mut self, now: Ticks, before: u32, news: &News, rules: &Rules) {
        let mut restarts = true;
        let mut episode = self.judge(now, news, &mut restarts, rules);
        if episode == Episode::Exit {
            self.in_recovery = false;
            self.owes_first = false;
            self.proportion = None;
            self.counted = 0;
            if let Some(bbr) = &mut self.bbr {
                bbr.end_repair();
            } else if rules.flavour.repair != Repair::Sack1 {
                self.window = self.threshold;
            }
            // The rest of the scoreboard may show the next loss.
            let rest = News { acked: 0, twice: None, ..*news };
            episode = self.judge(now, &rest, &mut restarts, rules);
        } else if news.acked > 0 && !self.in_recovery && episode != Episode::Found(Verdict::Loss) {
            // Growth needs the previous `una`.
            self.una = before;
            if self.is_plain || self.observe(before + news.acked, rules) {
                self.grow(now, before + news.acked, news.rtt, rules);
            }
            self.una = before + news.acked;
        } else if news.acked > 0 && self.marks.is_some() {
            self.una = before;
            self.observe(before + news.acked, rules);
            self.una = before + news.acked;
        }
        if !self.is_plain {
            self.follow_model(now, news);
        }
        if news.acked > 0 {
            self.retime(now, restarts, rules);
        }
        if let Episode::Found(verdict) = episode {
            self.act(now, verdict, rules);
        }
        if self.in_recovery {
            self.burst = rules.flavour.burst;
        }
        if news.acked > 0 && !self.is_plain {
            self.schedule_probe(now, rules);
        }
    }

    /// Updates BBR's model with an ACK.
    fn follow_model(&mut self, now: Ticks, news: &News) {
        let srtt = self.rto.smoothed();
        if let Some(bbr) = &mut self.bbr {
            bbr.on_ack(&bbr::Ack { now, una: self.una, rtt: news.rtt, srtt });
            self.window = bbr.window();
        }
    }

    /// The effect of an ACK on loss recovery. Clears `restarts` if the timer must not restart.
    fn judge(&mut self, now: Ticks, news: &News, restarts: &mut bool, rules: &Rules) -> Episode {
        match rules.flavour.repair {
            Repair::Rack => {
                let kind = (news.acked > 0, news.is_sacked);
                match self.on_rack_ack(now, news.twice, kind, rules) {
                    None => Episode::Exit,
                    Some(Verdict::Nothing) => Episode::Nothing,
                    Some(verdict) => Episode::Found(verdict),
                }
            }
            Repair::Sack1 => self.judge_early(news),
            _ => self.judge_by_board(news, restarts, rules),
        }
    }

    /// The effect of an ACK by RFC 6675.
    fn judge_by_board(&mut self, news: &News, restarts: &mut bool, rules: &Rules) -> Episode {
        let Some(it) = self.selective.as_deref_mut() else { return Episode::Nothing };
        if self.una >= self.recover && (self.in_recovery || it.repairs_timeout) {
            it.repairs_timeout = false;
            it.owes_partial = false;
            if self.in_recovery {
                return Episode::Exit;
            }
        }
        if it.repairs_timeout {
            return Episode::Nothing;
        }
        let first_is_lost = it.board.judge(ENOUGH);
        if self.in_recovery {
            if news.acked > 0 && rules.flavour.answers {
                *restarts = !std::mem::replace(&mut self.was_restarted, true);
                it.owes_partial = !it.board.first_is_resent();
            }
            return Episode::Nothing;
        }
        if !news.is_sacked {
            return Episode::Nothing;
        }
        self.dupacks += 1;
        let is_lost = self.dupacks >= DUPLICATES || first_is_lost;
        if is_lost { Episode::Found(Verdict::Loss) } else { Episode::Nothing }
    }

    /// The effect of an ACK in ns-2's `Sack1`, in which all missing segments below the highest
    /// arrived segment count as lost.
    fn judge_early(&mut self, news: &News) -> Episode {
        let Some(it) = self.selective.as_deref_mut() else { return Episode::Nothing };
        if it.repairs_timeout {
            if self.una <= self.recover {
                return Episode::Nothing;
            }
            it.repairs_timeout = false;
        }
        if self.in_recovery {
            if self.una >= self.recover {
                return Episode::Exit;
            }
            // An ACK removes a segment from the pipe. An ACK of new data also removes the copy of
            // that segment.
            it.freed += if news.acked > 0 { 2 } else { 1 };
            it.board.judge(1);
            return Episode::Nothing;
        }
        if !news.is_sacked {
            return Episode::Nothing;
        }
        self.dupacks += 1;
        if self.dupacks < DUPLICATES {
            return Episode::Nothing;
        }
        it.board.judge(1);
        Episode::Found(Verdict::Loss)
    }

    /// Begins a recovery.
    pub(crate) fn begin_selectively(&mut self, now: Ticks, rules: &Rules) {
        self.in_recovery = true;
        self.recover = self.max;
        self.was_restarted = false;
        self.owes_first = true;
        self.timed = None;
        let window = self.window;
        let limited = Parts::from(self.limited) << BITS;
        let flight = self.outstanding(self.max, rules).saturating_sub(limited);
        self.reduce(flight, rules);
        self.proportion = rules.flavour.proportional.then(|| Proportion::new(window, 0));
        self.cancel_probe();
        if let Some(it) = self.selective.as_deref_mut() {
            (it.high_resent, it.rescued) = (self.una, false);
            (it.began, it.resent, it.freed) = (self.una, 0, DUPLICATES);
            it.is_first_copy = true;
        }
        if rules.flavour.restarts_timer {
            self.arm(now, rules);
        }
    }

    /// Marks lost segments after an expiry of the timer.
    pub(crate) fn lose_selectively(&mut self, now: Ticks, rules: &Rules) {
        let Some(it) = self.selective.as_deref_mut() else { return };
        (it.repairs_timeout, it.owes_partial) = (true, false);
        match rules.flavour.repair {
            Repair::Rack => return self.time_out_rack(now),
            Repair::Sack1 => it.board.forget_arrived(),
            _ => {}
        }
        it.board.lose_all();
    }

    /// Passes the segments that an ACK reports to rate reduction. Before the ACK, `held` segments
    /// had arrived out of order, and `losses` losses had been found.
    fn note_delivery(&mut self, news: &News, held: u32, losses: u32) {
        let window = self.window;
        let Some(it) = self.selective.as_deref() else { return };
        if let Some(proportion) = &mut self.proportion {
            let delivered = (news.acked + it.board.sacked()).saturating_sub(held);
            let is_safe = news.acked > 0 && it.board.losses() == losses;
            proportion.on_ack(delivered, it.board.pipe(), window, is_safe);
        }
    }
}
