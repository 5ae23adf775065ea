//! Sending by the scoreboard: ACKs in and data out for recoveries by SACK.

use incast_engine::Time;
use incast_net::{Flags, Packet, Trigger};

use super::demand::Demand;
use super::extras::Extras;
use super::gate::Gate;
use super::undo::Evidence;
use super::{Connection, TimerKind};
use crate::config::RttSampling;
use crate::congestion::{Congestion, CongestionControl, RecoveryExit};
use crate::hooks::{Advice, TxPlan};
use crate::recovery::{Episode, LossRecovery, SackNews, SackView, Spare};
use crate::send::scoreboard::Acked;
use crate::send::{Marks, Sent};

/// What lets no more go than the pipe has room for, outside recovery.
const PIPE_FULL: Extras = Extras::SACK_RECOVERY
    .or(Extras::TIMED_RECOVERY)
    .or(Extras::PACKETS)
    .or(Extras::TIMESTAMPS)
    .or(Extras::SACK_OPTION)
    .or(Extras::PACER)
    .or(Extras::OFFLOAD)
    .or(Extras::PRR)
    .or(Extras::JITTER)
    .or(Extras::ECN)
    .or(Extras::SENT)
    .or(Extras::IDLE_TIMER)
    .or(Extras::RECEIVER_HOOKS);

impl Connection {
    /// Whether recovery works by SACK.
    #[inline]
    pub(super) fn is_selective(&self) -> bool {
        self.extras.has(Extras::SACK_RECOVERY)
    }

    #[expect(
        clippy::inline_always,
        reason = "written and copied in halves of another size, its fields stall every ACK"
    )]
    #[inline(always)]
    pub(super) fn sack_view(&self, now: Time) -> SackView {
        SackView {
            base: self.recovery_view(),
            now,
            srtt: self.rtt.srtt(),
            rto_at: if self.timer.kind == TimerKind::Data {
                self.timer.deadline
            } else {
                Time::NEVER
            },
            ack_delay: self.config.delayed_ack.map(|delayed| delayed.timeout).unwrap_or_default(),
        }
    }

    /// Whether an ACK means no more than it would to a recovery by duplicate ACKs.
    #[inline]
    pub(super) fn is_plain_ack(&self, packet: &Packet) -> bool {
        packet.ack > self.board.una()
            && packet.sack.is_empty()
            && self.board.is_unmarked()
            && self.recovery.is_calm()
            && !self.extras.has(Extras::UNDO)
    }

    /// Handles an acknowledgement, cumulative and selective, that covers nothing unsent.
    pub(super) fn acknowledge_selectively(
        &mut self,
        now: Time,
        packet: &Packet,
        same_window: bool,
    ) {
        let una = self.board.una();
        let held = self.held();
        let losses = self.board.losses();
        let is_duplicate = packet.ack == una && self.is_duplicate(packet, same_window);
        // Unlike a duplicate ACK it may come when nothing is outstanding.
        let repeats = packet.ack == una
            && packet.payload == 0
            && !packet.flags.intersects(Flags::SYN.with(Flags::FIN).with(Flags::REQUEST));
        let echo = self.echo(packet);
        let mut original = false;
        let Self { board, undo, recovery, delivery, .. } = self;
        let acked = if packet.ack > una {
            board.acknowledge_each(packet.ack, |segment| {
                recovery.on_delivered(segment, now, echo);
                original |= undo.as_ref().is_some_and(|undo| undo.is_original(segment));
            })
        } else {
            Acked::default()
        };
        let mut news = SackNews { acked: acked.bytes, repeats, ..SackNews::default() };
        if !packet.sack.is_empty() && recovery.reads_blocks() {
            news.has_blocks = true;
            news.duplicate = duplicate(packet);
            let skipped = usize::from(news.duplicate.is_some());
            let blocks = || packet.sack.ranges(packet.ack).skip(skipped);
            for (start, end) in blocks() {
                news.sacked += board.sack(start, end, |segment| {
                    recovery.on_delivered(segment, now, echo);
                    original |= undo.as_ref().is_some_and(|undo| undo.is_original(segment));
                    if let Some(delivery) = delivery.as_deref_mut() {
                        delivery.on_selective(now, segment.seq);
                    }
                });
            }
            board.note_blocks(blocks());
        }
        if news.acked > 0 {
            self.note_progress(now, packet, &acked);
        }
        let evidence = Evidence { acked: acked.bytes, original };
        let delivered =
            (self.room_of(acked.bytes, acked.segments) + self.held()).saturating_sub(held);
        self.conclude_selectively(now, packet, &acked, &news, held);
        if self.prr.is_some() {
            let safe = news.acked > 0 && self.board.losses() == losses;
            self.reduce(
                delivered,
                self.room_of(self.board.pipe(), self.board.pipe_segments()),
                safe,
            );
        }
        if self.undo.as_ref().is_some_and(|undo| undo.is_examining())
            && (news.acked > 0 || news.sacked > 0 || is_duplicate)
        {
            self.examine(now, packet, evidence);
        }
        if self.needs.duplicates && is_duplicate && self.declares_loss(now) {
            let episode = self.recovery.enter(&self.recovery_view());
            self.begin_episode(now, episode);
        }
    }

    fn conclude_selectively(
        &mut self,
        now: Time,
        packet: &Packet,
        acked: &Acked,
        news: &SackNews,
        held: u64,
    ) {
        let view = self.sack_view(now);
        let mut episode = self.recovery.on_sack(news, &mut self.board, &view);
        if let Episode::Exit(exit) = episode {
            self.leave_episode(now, packet, acked, exit);
            // The rest of the scoreboard may hold the next loss.
            let news = SackNews { acked: 0, duplicate: None, ..*news };
            episode = self.recovery.on_sack(&news, &mut self.board, &view);
        } else if news.acked > 0 && (!self.recovery.in_recovery() || self.needs.every_ack) {
            let may_grow = !self.recovery.in_recovery();
            self.grow(now, packet, acked, may_grow);
        } else if self.needs.delivery_rate && news.sacked > 0 {
            self.grow(now, packet, acked, false);
        }
        let mut restart_timer = true;
        if let Episode::Partial { restart_timer: restart } = episode {
            restart_timer = restart;
            let is_repaired = self.board.head().is_none_or(|head| head.marks.has(Marks::RESENT));
            if !is_repaired {
                self.owe(Demand::PartialAck);
            }
        }
        if news.acked > 0 {
            if self.board.is_empty() {
                self.rest(now);
            } else if restart_timer {
                self.arm(now, TimerKind::Data);
            }
        }
        if episode != Episode::None {
            self.begin_episode_after(now, episode, held);
        }
        if self.recovery.in_recovery() {
            self.limit_burst();
        } else if self.needs.duplicates && news.acked > 0 && self.doubts_head(now) {
            self.owe(Demand::Head);
        }
        if news.acked > 0 {
            self.note_timer(now);
        }
    }

    /// Tells the recovery that the retransmission timer was set anew.
    pub(super) fn note_timer(&mut self, now: Time) {
        let view = self.sack_view(now);
        self.recovery.on_progress(&self.board, &view);
    }

    /// The recovery's own deadline has come.
    pub(super) fn run_recovery_deadline(&mut self, now: Time) {
        self.set_trigger(Trigger::TailProbe);
        let view = self.sack_view(now);
        let episode = self.recovery.on_deadline(&mut self.board, &view);
        self.begin_episode(now, episode);
    }

    /// Reduces the window for a loss within recovery, or for one of so large a flight that is
    /// repaired already.
    pub(super) fn reduce_again(&mut self, now: Time, repaired: Option<u64>) {
        let window = self.congestion.window();
        // What the receiver holds is part of the flight and says nothing about the path.
        let flight = repaired.unwrap_or_else(|| self.in_flight().min(window));
        let path = self.path(now, flight);
        self.congestion.on_congestion(Congestion::FastRetransmit, &path);
        self.ecn.on_reduction(self.board.max());
        self.cap_after_loss(now, flight, window);
        if repaired.is_some() {
            let path = self.path(now, self.in_flight());
            self.congestion.on_recovery_exit(RecoveryExit::Ssthresh, &path);
        }
    }

    /// What the scoreboard and the window let go: what is lost, new data, then what is spare
    /// (RFC 6675 §4, `NextSeg`).
    pub(super) fn poll_selective(&mut self, now: Time, out: &mut Packet) -> bool {
        if self.extras.has(Extras::IDLE_RESTART) && !self.board.is_due() {
            self.validate_window(now);
        }
        let forward = self.undo.as_ref().and_then(|undo| undo.forward_end());
        if let Some(end) = forward {
            // RFC 5682 §3.1, step 2: new data instead of retransmissions, to tell what is true.
            let next = self.board.next();
            return next < end && next < self.stream_end() && self.poll_fresh(now, true, out);
        }
        if self.board.is_due()
            && let Some(lost) = self.board.due()
        {
            let first = lost.seq == self.board.una();
            let fits = first || lost.end() <= self.board.una() + self.peer_window;
            return fits
                && self.pipe_has_room(lost.len.into())
                && self.send_again(now, &lost, Again::DUE, out);
        }
        if self.board.next() < self.stream_end() && self.poll_fresh(now, false, out) {
            return true;
        }
        if !self.recovery.in_recovery() {
            return false;
        }
        let Some(Spare { seq, rescue }) = self.recovery.spare(&self.board) else {
            return false;
        };
        let Some(segment) = self.board.at(seq).filter(|it| self.pipe_has_room(it.len.into()))
        else {
            return false;
        };
        self.send_again(now, &segment, Again { rescue, owed: false }, out)
    }

    /// Whether what has just been sent is certain to be the last for now: the pipe has no room for
    /// another segment, and nothing else is to be sent.
    #[inline]
    pub(super) fn is_pipe_full(&self) -> bool {
        let next = self.board.next();
        self.extras.only(PIPE_FULL)
            && self.owed.is_empty()
            && self.host.gate == Gate::Closed
            && self.recovery.dupacks() == 0
            && !self.recovery.in_recovery()
            && self.board.is_unmarked()
            && next + u64::from(self.segment_size) <= self.written
            && self.board.flight() + u64::from(self.segment_size) > self.congestion.window()
    }

    /// RFC 6675 §5, step C: in recovery a segment leaves if cwnd has room for a full one.
    pub(super) fn pipe_has_room(&self, len: u64) -> bool {
        let (pipe, len) = (self.pipe(), self.room_of(len, 1));
        if let Some(allowance) = self.reduced_allowance() {
            return pipe == 0 || len <= allowance;
        }
        let len = if self.recovery.in_recovery() { u64::from(self.segment_size) } else { len };
        pipe == 0 || pipe + len <= self.congestion.window()
    }

    /// The next new segment; a probe does not mind cwnd (RFC 8985 §7.3).
    fn poll_fresh(&mut self, now: Time, probe: bool, out: &mut Packet) -> bool {
        let (una, next) = (self.board.una(), self.board.next());
        let plan = TxPlan { seq: next, retransmission: false, requested: false };
        let shaped;
        let advice = if self.has_sender_hooks() {
            shaped = self.shape(now, &plan);
            &shaped
        } else {
            &Advice::NONE
        };
        self.segment_size = advice.segment_size.min(self.config.mss).max(1);
        let data = (next + u64::from(self.segment_size)).min(self.written);
        let whole = if data == self.written { self.stream_end() } else { data };
        let usable = una + self.peer_window.min(advice.window_ceiling);
        let end = if whole <= usable {
            whole
        } else if usable > next && (next == una || usable == self.written) {
            usable
        } else {
            if self.peer_window == 0 {
                self.wait_for_window(now);
            }
            return false;
        };
        let len = end - next;
        // RFC 6675 §5, step 3: limited transmit is what the pipe, but not the flight, has room for.
        let limited = self.recovery.dupacks() > 0
            && !self.recovery.in_recovery()
            && self.in_flight() + self.room_of(len, 1) > self.congestion.window();
        if !probe {
            let allowed = self.pipe_has_room(len) && (!limited || self.config.limited_transmit);
            let free = self.congestion.window().saturating_sub(self.pipe());
            let free = free.max(len).min(usable - next);
            let held = !allowed
                || self.burst == 0
                || (self.pacer.is_some() && self.is_paced_out(now, next, free, true));
            if held || !self.may_leave(now, advice.hold_until, limited) {
                return false;
            }
        }
        self.burst -= u32::from(self.burst != u32::MAX);
        if self.config.rtt_sampling == RttSampling::PerWindow && self.timed.is_none() {
            self.timed = Some((end, now));
        }
        self.board.send_new(len as u32, now);
        if limited {
            self.limited_bytes += self.room_of(len, 1);
        }
        self.send_data(now, next..end, plan, advice, out);
        if !probe {
            self.note_timer(now);
        }
        true
    }

    /// Sends an outstanding segment again; what recovery owes does not wait for the host.
    fn send_again(&mut self, now: Time, segment: &Sent, again: Again, out: &mut Packet) -> bool {
        let plan = TxPlan { seq: segment.seq, retransmission: true, requested: false };
        let advice = self.shape(now, &plan);
        if !again.owed {
            let held = self.burst == 0
                || (self.pacer.is_some() && self.is_paced_out(now, segment.seq, 0, false));
            if held || !self.may_leave(now, advice.hold_until, false) {
                return false;
            }
        }
        self.burst -= u32::from(!again.owed && self.burst != u32::MAX);
        self.timed.take_if(|timed| timed.0 == segment.end());
        if again.rescue {
            self.board.rescue_at(segment.seq, now);
        } else {
            self.board.resend_at(segment.seq, now);
        }
        self.recovery.on_resent(segment.end(), again.rescue);
        self.send_data(now, segment.seq..segment.end(), plan, &advice, out);
        true
    }

    /// The retransmission that recovery or a timeout owes: the first lost segment, or else the
    /// first unacknowledged one.
    pub(super) fn send_owed_segment(&mut self, now: Time, out: &mut Packet) -> bool {
        let segment = self.board.due().or_else(|| self.board.head().copied());
        segment.is_some_and(|segment| self.send_again(now, &segment, Again::OWED, out))
    }

    /// Answers a partial ACK although the pipe may be full: what is lost, else new data, else the
    /// first unacknowledged segment.
    pub(super) fn answer_partial_ack(&mut self, now: Time, out: &mut Packet) -> bool {
        let is_fresh = self.board.due().is_none()
            && self.board.next() < self.stream_end()
            && self.poll_fresh(now, true, out);
        is_fresh || self.send_owed_segment(now, out)
    }

    /// A probe for a loss at the tail: new data if the receiver lets them, else the last segment
    /// (RFC 8985 §7.3).
    pub(super) fn send_tail_probe(&mut self, now: Time, out: &mut Packet) -> bool {
        let is_fresh = self.board.next() < self.stream_end() && self.poll_fresh(now, true, out);
        if !is_fresh {
            let Some(last) = self.board.last().copied() else {
                return false;
            };
            if !self.send_again(now, &last, Again::OWED, out) {
                return false;
            }
        }
        self.counters.tail_probes += 1;
        self.recovery.on_probe_sent(!is_fresh, &self.board);
        self.arm(now, TimerKind::Data);
        true
    }
}

/// Why a segment is sent again.
#[derive(Clone, Copy)]
struct Again {
    /// As the rescue retransmission (RFC 6675 §4).
    rescue: bool,
    /// Recovery or a timeout owes it: it waits for nothing.
    owed: bool,
}

impl Again {
    const DUE: Self = Self { rescue: false, owed: false };
    const OWED: Self = Self { rescue: false, owed: true };
}

/// The duplicate that the first block reports, if it does: below the acknowledgement, or within
/// the second block (RFC 2883 §4).
fn duplicate(packet: &Packet) -> Option<(u64, u64)> {
    let mut blocks = packet.sack.ranges(packet.ack);
    let first = blocks.next()?;
    let is_within = blocks.next().is_some_and(|second| second.0 <= first.0 && first.1 <= second.1);
    (first.0 < packet.ack || is_within).then_some(first)
}
