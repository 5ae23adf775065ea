//! Incoming ACKs: acknowledged data, losses, and changes of the window.

use incast_engine::Time;
use incast_net::{Flags, Packet};

use super::demand::Demand;
use super::extras::Extras;
use super::undo::Evidence;
use super::{Connection, TimerKind};
use crate::config::RttSampling;
use crate::congestion::{AckSample, CongestionControl};
use crate::hooks::{ANSWER, SendEvent};
use crate::recovery::{Echo, Episode, LossRecovery, News};
use crate::send::Sent;
use crate::send::idle::IdleView;
use crate::send::rtt::timestamp;
use crate::send::scoreboard::Acked;

/// The information in an ACK about the outstanding data.
#[derive(Default)]
struct Read {
    acked: Acked,
    /// Whether the receiver has data that was outstanding at a timeout and has not been
    /// retransmitted since.
    original: bool,
    /// The earliest sending time among the newly reported segments that were sent once. `None` if
    /// round trips of reported segments do not count.
    first_arrived: Option<Time>,
}

impl Connection {
    /// Handles the acknowledgement field of a packet.
    #[inline]
    pub(super) fn acknowledge(&mut self, now: Time, packet: &Packet) {
        self.reconsider();
        let una = self.board.una();
        if !self.board.accepts(packet.ack) || packet.ack < una {
            // RFC 9293 §3.10.7.4: an ACK of unsent data is answered with an ACK.
            if packet.ack > una {
                self.owe(Demand::Ack);
            }
            return;
        }
        let window = u64::from(packet.window);
        let same_window = window == self.peer_window;
        self.peer_window = window;
        let flight = self.in_flight();
        if packet.ack > una && self.is_plain_ack(packet) {
            self.acknowledge_plainly(now, packet);
        } else if packet.ack > una
            || packet.payload == 0
            || !packet.sack.is_empty()
            || !self.board.is_empty()
        {
            // If nothing is outstanding, a packet with data can only report duplicates (D-SACK).
            self.acknowledge_with_news(now, packet, same_window);
        }
        if self.ecn.is_on() && packet.flags.contains(Flags::ECE) {
            self.handle_echo(now, packet.ack, flight);
        }
        if window == 0 {
            self.wait_for_window(now);
        }
        if self.has_sender_hooks() {
            let may_send = self.may_send();
            self.consult(now, SendEvent::Ack { packet, may_send });
        }
    }

    /// RFC 5681 §2. Condition (e) is optional, because receive-window schemes change the window in
    /// every ACK.
    fn is_duplicate(&self, packet: &Packet, same_window: bool) -> bool {
        packet.payload == 0
            && !packet.flags.intersects(Flags::SYN.with(Flags::FIN).with(Flags::REQUEST))
            && packet.label & ANSWER == 0
            && !self.board.is_empty()
            && (same_window || !self.config.dupack_requires_same_window)
    }

    /// Whether an ACK of new data contains no other information.
    #[inline]
    fn is_plain_ack(&self, packet: &Packet) -> bool {
        packet.sack.is_empty()
            && self.board.is_unmarked()
            && self.recovery.is_calm()
            && !self.extras.has(Extras::UNDO)
    }

    fn acknowledge_plainly(&mut self, now: Time, packet: &Packet) {
        let acked = if self.extras.has(Extras::TIMED_RECOVERY) {
            let echo = self.echo(packet);
            let Self { board, recovery, .. } = self;
            let deliver = |segment: &Sent| recovery.on_delivered(segment, now, echo);
            board.acknowledge_each(packet.ack, deliver)
        } else {
            self.board.acknowledge(packet.ack)
        };
        self.note_progress(now, packet, &acked);
        if let Some(delivery) = &mut self.delivery {
            delivery.on_ack(self.board.losses());
        }
        self.grow(now, packet, &acked, true);
        self.note_emptied(now, true);
        self.note_new_head(now);
    }

    /// Handles an ACK that may affect loss recovery.
    fn acknowledge_with_news(&mut self, now: Time, packet: &Packet, same_window: bool) {
        let has_prr = self.extras.has(Extras::PRR);
        let held = if has_prr { self.held() } else { 0 };
        let losses = self.board.losses();
        if let Some(delivery) = &mut self.delivery {
            delivery.on_ack(losses);
        }
        let is_duplicate = packet.ack == self.board.una() && self.is_duplicate(packet, same_window);
        // `repeats` is also set when nothing is outstanding, unlike `is_duplicate`.
        let repeats = packet.ack == self.board.una()
            && packet.payload == 0
            && !packet.flags.intersects(Flags::SYN.with(Flags::FIN).with(Flags::REQUEST));
        let ece = packet.flags.contains(Flags::ECE);
        let mut news = News { is_duplicate, ece, repeats, ..News::default() };
        let Read { acked, original, first_arrived } = self.read_ack(now, packet, &mut news);
        if news.acked > 0 {
            self.note_progress(now, packet, &acked);
        } else if let Some(sent_at) = first_arrived {
            let window = (self.board.una(), self.board.next());
            self.rtt.sample(now, now - sent_at, window);
        }
        let delivered = if has_prr {
            (self.room_of(acked.bytes, acked.segments) + self.held()).saturating_sub(held)
        } else {
            0
        };
        let found = self.conclude(now, packet, &acked, &news, held);
        if news.acked == 0
            && let Some(sent_at) = first_arrived
        {
            self.extend_for_blocks(now, sent_at);
        }
        if has_prr {
            let is_safe = news.acked > 0 && self.board.losses() == losses;
            self.note_delivery(&news, delivered, is_safe);
        }
        let is_news = news.acked > 0 || news.sacked > 0 || is_duplicate;
        if is_news && self.undo.as_ref().is_some_and(|undo| undo.is_examining()) {
            self.examine(now, packet, Evidence { acked: news.acked, original });
        }
        // Recovery handles the ACK first, the congestion control last.
        let asks = self.needs.head && news.is_duplicate && found == Episode::None;
        if asks && self.declares_loss(now, false) {
            let episode = self.recovery.enter(&self.recovery_view(now));
            self.begin_episode(now, episode, 0);
        }
    }

    /// Restarts the timer after a duplicate ACK that reports data for the first time, unless
    /// recovery waits for reordered data. `sent_at` is the earliest time at which data reported for
    /// the first time was sent (Linux's `tcp_clean_rtx_queue()`).
    fn extend_for_blocks(&mut self, now: Time, sent_at: Time) {
        // Only data that was sent before the last copy of the first unacknowledged segment counts.
        // Otherwise the timer would never expire while ACKs arrive.
        let is_older = self.board.head().is_some_and(|head| sent_at < head.sent_at);
        let waits = self.recovery.deadline() != Time::NEVER;
        if is_older && !waits && self.timer.kind == TimerKind::Data {
            self.arm(now, TimerKind::Data);
        }
    }

    /// Updates the scoreboard.
    #[inline]
    fn read_ack(&mut self, now: Time, packet: &Packet, news: &mut News) -> Read {
        let una = self.board.una();
        if packet.ack == una && packet.sack.is_empty() {
            return Read::default();
        }
        let times_blocks = self.config.rtt_sampling == RttSampling::Linux;
        let echo = self.echo(packet);
        let looks = self.extras.has(Extras::TIMED_RECOVERY.or(Extras::UNDO));
        let Self { board, undo, recovery, delivery, .. } = self;
        let mut original = false;
        let mut first_arrived: Option<Time> = None;
        let mut acked = Acked::default();
        if packet.ack > una && !looks {
            acked = board.acknowledge(packet.ack);
        } else if packet.ack > una {
            acked = board.acknowledge_each(packet.ack, |segment| {
                recovery.on_delivered(segment, now, echo);
                original |= undo.as_ref().is_some_and(|undo| undo.is_original(segment));
            });
        }
        news.acked = acked.bytes;
        if !packet.sack.is_empty() && recovery.reads_blocks() {
            news.has_blocks = true;
            news.twice = reported_twice(packet);
            let skipped = usize::from(news.twice.is_some());
            let blocks = || packet.sack.ranges(packet.ack).skip(skipped);
            for (start, end) in blocks() {
                news.sacked += board.sack(start, end, |segment| {
                    recovery.on_delivered(segment, now, echo);
                    original |= undo.as_ref().is_some_and(|undo| undo.is_original(segment));
                    if times_blocks && segment.transmissions == 1 {
                        let sent_at = segment.sent_at;
                        first_arrived = Some(first_arrived.map_or(sent_at, |it| it.min(sent_at)));
                    }
                    if let Some(delivery) = delivery.as_deref_mut() {
                        delivery.on_selective(now, segment.seq);
                    }
                });
            }
            board.note_blocks(blocks());
        }
        Read { acked, original, first_arrived }
    }

    /// The timestamp that the ACK echoes, if timestamps are on.
    #[inline]
    fn echo(&self, packet: &Packet) -> Option<Echo> {
        self.config.timestamps.map(|tick| (packet.ts_echo, tick))
    }

    /// Applies the effects that every ACK of new data has, before recovery handles the ACK.
    #[inline]
    pub(super) fn note_progress(&mut self, now: Time, packet: &Packet, acked: &Acked) {
        self.sample_rtt(now, packet, acked);
        self.rtt.on_progress();
        if self.block.first_window_end == u64::MAX && packet.ack > self.block.start {
            self.block.first_window_end = self.board.max();
        }
        self.limited_bytes = 0;
        self.burst = u32::MAX;
        if let Some(delivery) = &mut self.delivery {
            let reported = self.recovery.reported().unwrap_or(0) * u64::from(self.segment_size);
            delivery.on_cumulative(now, packet.ack, reported);
        }
    }

    #[inline]
    pub(super) fn grow(&mut self, now: Time, packet: &Packet, acked: &Acked, may_grow: bool) {
        if may_grow && self.idle.is_some() {
            let view = self.idle_view(now);
            if let Some(idle) = &mut self.idle {
                idle.on_ack(acked.bytes, &view);
            }
        }
        let window = self.congestion.window();
        let ece = packet.flags.contains(Flags::ECE);
        let is_free = self.idle.as_ref().is_none_or(|idle| idle.may_grow(window));
        let may_grow = may_grow && is_free && self.ecn.lets_grow(ece);
        if may_grow || self.needs.every_ack {
            let path = self.path(now, self.in_flight());
            let room = self.room_of(acked.bytes, acked.segments);
            let was_deferred = self.extras.has(Extras::DEFERS) && self.was_deferred();
            let delivery = match &mut self.delivery {
                Some(delivery) => {
                    let pipe = match self.recovery.reported() {
                        None => self.board.pipe(),
                        Some(segments) => {
                            let gone = (segments + delivery.shown()) * path.segment;
                            self.board.flight().saturating_sub(gone)
                        }
                    };
                    delivery.sample(path.min_rtt, pipe, self.board.losses())
                }
                None => None,
            };
            let sample = AckSample {
                acked: room,
                padding: room.saturating_sub(acked.bytes),
                rtt: acked.sent_at.map(|sent_at| now - sent_at),
                ece,
                may_grow,
                limited: path.flight + room + path.segment > window || was_deferred,
                delivery,
            };
            self.congestion.on_ack(&sample, &path);
            if self.ecn.is_on() && self.congestion.window() < window {
                self.ecn.on_reduction(path.max);
            }
        }
    }

    #[inline]
    fn sample_rtt(&mut self, now: Time, packet: &Packet, acked: &Acked) {
        let window = (self.board.una(), self.board.next());
        if let Some(tick) = self.config.timestamps {
            // RFC 7323 §4.1; the clock has 32 bits and wraps.
            let ticks = timestamp(now, tick).wrapping_sub(packet.ts_echo);
            self.rtt.sample(now, tick * u64::from(ticks), window);
            return;
        }
        match self.config.rtt_sampling {
            RttSampling::PerAck | RttSampling::Linux => {
                if let Some(sent_at) = acked.sent_at {
                    self.rtt.sample(now, now - sent_at, window);
                }
            }
            RttSampling::PerWindow => {
                if let Some((_, sent_at)) = self.timed.take_if(|timed| packet.ack >= timed.0) {
                    self.rtt.sample(now, now - sent_at, window);
                }
            }
        }
    }

    /// Sets the timer for a probe of the closed window if data wait to be sent and no data are in
    /// flight (RFC 9293 §3.8.6.1).
    pub(super) fn wait_for_window(&mut self, now: Time) {
        if self.board.is_empty() && self.board.next() < self.stream_end() {
            if self.timer.kind != TimerKind::Persist {
                self.window_probes = 0;
                self.arm(now, TimerKind::Persist);
            }
        } else if self.board.is_empty() {
            self.rest(now);
        }
    }

    pub(super) fn idle_view(&self, now: Time) -> IdleView {
        IdleView {
            now,
            window: self.congestion.window(),
            initial_window: self.config.initial_window,
            rto: self.rtt.rto(),
            srtt: self.rtt.srtt(),
        }
    }
}

/// The duplicate that the first block reports, if any. The first block reports a duplicate if it is
/// below the cumulative ACK or within the second block (RFC 2883 §4).
fn reported_twice(packet: &Packet) -> Option<(u64, u64)> {
    let mut blocks = packet.sack.ranges(packet.ack);
    let first = blocks.next()?;
    let is_within = blocks.next().is_some_and(|second| second.0 <= first.0 && first.1 <= second.1);
    (first.0 < packet.ack || is_within).then_some(first)
}
