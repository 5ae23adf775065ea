//! ACKs in: what was acknowledged, what is lost, how the window moves.

use incast_engine::Time;
use incast_net::{Flags, Packet};

use super::demand::Demand;
use super::extras::Extras;
use super::undo::Evidence;
use super::{Connection, Event, TimerKind};
use crate::config::RttSampling;
use crate::congestion::{AckSample, Congestion, CongestionControl, Head, RecoveryExit};
use crate::hooks::{ANSWER, SendEvent};
use crate::recovery::{Echo, Episode, LossRecovery, RecoveryView};
use crate::send::Sent;
use crate::send::idle::IdleView;
use crate::send::rtt::timestamp;
use crate::send::scoreboard::Acked;

impl Connection {
    /// Handles the acknowledgement field of a packet.
    #[inline]
    pub(super) fn acknowledge(&mut self, now: Time, packet: &Packet) {
        let una = self.board.una();
        if !self.board.accepts(packet.ack) || packet.ack < una {
            // RFC 9293 §3.10.7.4: what was never sent cannot be acknowledged; an ACK tells the
            // other end where it stands.
            if packet.ack > una {
                self.owe(Demand::Ack);
            }
            return;
        }
        let window = u64::from(packet.window);
        let same_window = window == self.peer_window;
        self.peer_window = window;
        let flight = self.in_flight();
        if self.is_selective() && !self.is_plain_ack(packet) {
            // With nothing outstanding, data bring no news but of what was sent twice.
            let is_news = packet.payload == 0 || !packet.sack.is_empty();
            if is_news || packet.ack > una || !self.board.is_empty() {
                self.acknowledge_selectively(now, packet, same_window);
            }
        } else if packet.ack > una {
            self.acknowledge_new(now, packet);
        } else if self.is_duplicate(packet, same_window) {
            self.acknowledge_again(now, packet.flags.contains(Flags::ECE));
        }
        if self.undo.as_ref().is_some_and(|undo| undo.is_examining()) && !self.is_selective() {
            let acked = packet.ack - una;
            // Beyond the first segment nothing was sent again.
            let evidence = Evidence { acked, original: acked > 0 };
            if acked > 0 || self.is_duplicate(packet, same_window) {
                self.examine(now, packet, evidence);
            }
        }
        if self.ecn.is_on() && packet.flags.contains(Flags::ECE) {
            self.hear_echo(now, packet.ack, flight);
        }
        if window == 0 {
            self.wait_for_window(now);
        }
        if self.has_sender_hooks() {
            self.consult(now, SendEvent::Ack(packet));
        }
    }

    /// RFC 5681 §2; condition (e) is an option, because receiver-window schemes move the window
    /// with every ACK.
    pub(super) fn is_duplicate(&self, packet: &Packet, same_window: bool) -> bool {
        packet.payload == 0
            && !packet.flags.intersects(Flags::SYN.with(Flags::FIN).with(Flags::REQUEST))
            && packet.label & ANSWER == 0
            && !self.board.is_empty()
            && (same_window || !self.config.dupack_requires_same_window)
    }

    fn acknowledge_new(&mut self, now: Time, packet: &Packet) {
        let acked = if self.recovery.keeps_time() {
            let echo = self.echo(packet);
            let Self { board, recovery, .. } = self;
            let deliver = |segment: &Sent| recovery.on_delivered(segment, now, echo);
            board.acknowledge_each(packet.ack, deliver)
        } else {
            self.board.acknowledge(packet.ack)
        };
        self.note_progress(now, packet, &acked);
        let mut restart_timer = true;
        match self.recovery.on_new_ack(acked.bytes, &self.recovery_view()) {
            Episode::Exit(exit) => self.leave_episode(now, packet, &acked, exit),
            Episode::Partial { restart_timer: restart } => {
                restart_timer = restart;
                if self.prr.is_some() {
                    self.reduce_on_partial(self.room_of(acked.bytes, acked.segments));
                }
                if self.needs.every_ack {
                    self.grow(now, packet, &acked, false);
                }
                self.owe(Demand::Head);
                self.limit_burst();
            }
            _ => self.grow(now, packet, &acked, true),
        }
        if self.needs.duplicates && self.doubts_head(now) {
            self.owe(Demand::Head);
        }
        if self.board.is_empty() {
            self.rest(now);
        } else if restart_timer {
            self.arm(now, TimerKind::Data);
        }
        if self.recovery.keeps_time() {
            self.note_timer(now);
        }
    }

    /// What the ACK echoes of a timestamp, if timestamps are on.
    #[inline]
    pub(super) fn echo(&self, packet: &Packet) -> Option<Echo> {
        self.config.timestamps.map(|tick| (packet.ts_echo, tick))
    }

    /// What every ACK of new data means, before recovery is asked.
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
            delivery.on_cumulative(now, packet.ack);
        }
    }

    pub(super) fn leave_episode(
        &mut self,
        now: Time,
        packet: &Packet,
        acked: &Acked,
        exit: RecoveryExit,
    ) {
        let path = self.path(now, self.in_flight());
        self.congestion.on_recovery_exit(exit, &path);
        let grows = matches!(exit, RecoveryExit::Keep { .. });
        if grows || self.needs.every_ack {
            self.grow(now, packet, acked, grows);
        }
        self.end_reduction();
        self.waive(Demand::Head);
        self.waive(Demand::PartialAck);
        self.events.push(Event::RecoveryExit);
    }

    #[inline]
    pub(super) fn grow(&mut self, now: Time, packet: &Packet, acked: &Acked, may_grow: bool) {
        if may_grow && self.extras.has(Extras::IDLE_RESTART) {
            let view = self.idle_view(now);
            self.idle.on_ack(acked.bytes, &view);
        }
        let window = self.congestion.window();
        let ece = packet.flags.contains(Flags::ECE);
        // Only RFC 7661 has an opinion; to ask the configuration, which all share, is cheaper.
        let is_free = self.config.idle_restart != crate::config::IdleRestart::Rfc7661
            || self.idle.may_grow(window);
        let may_grow = may_grow && is_free && self.ecn.lets_grow(ece);
        if may_grow || self.needs.every_ack {
            let path = self.path(now, self.in_flight());
            let room = self.room_of(acked.bytes, acked.segments);
            let delivery = match &mut self.delivery {
                Some(delivery) => delivery.sample(path.min_rtt),
                None => None,
            };
            let sample = AckSample {
                acked: room,
                padding: room.saturating_sub(acked.bytes),
                rtt: acked.sent_at.map(|sent_at| now - sent_at),
                ece,
                may_grow,
                limited: path.flight + room + path.segment > window,
                delivery,
            };
            self.congestion.on_ack(&sample, &path);
            if self.ecn.is_on() && self.congestion.window() < window {
                self.ecn.on_reduction(path.max);
            }
        }
    }

    fn acknowledge_again(&mut self, now: Time, ece: bool) {
        let view = RecoveryView { ece, ..self.recovery_view() };
        let mut episode = self.recovery.on_duplicate_ack(&view);
        if self.needs.duplicates && episode == Episode::None && self.declares_loss(now) {
            episode = self.recovery.enter(&self.recovery_view());
        }
        self.begin_episode(now, episode);
        if self.prr.is_some() {
            self.reduce_on_duplicate();
        }
        if self.recovery.dupacks() >= self.config.dupack_threshold {
            self.limit_burst();
        }
    }

    /// Acts on what recovery found, unless it is the end of an episode.
    pub(super) fn begin_episode(&mut self, now: Time, episode: Episode) {
        self.begin_episode_after(now, episode, 0);
    }

    /// As [`Self::begin_episode`], when `held` bytes had been reported as received before.
    pub(super) fn begin_episode_after(&mut self, now: Time, episode: Episode, held: u64) {
        let (restart_timer, reduces) = match episode {
            Episode::Enter { restart_timer } => (restart_timer, true),
            Episode::EnterReduced { restart_timer } => (restart_timer, false),
            Episode::Restart { in_turn } => return self.restart(now, in_turn),
            Episode::Again => return self.reduce_again(now, None),
            Episode::Repaired { flight } => return self.reduce_again(now, Some(flight)),
            Episode::Probe => return self.owe(Demand::TailProbe),
            Episode::None | Episode::Partial { .. } | Episode::Exit(_) => return,
        };
        let window = self.congestion.window();
        // RFC 5681 §3.2, step 2: what limited transmit sent is not part of FlightSize.
        let flight = self.in_flight().saturating_sub(self.limited_bytes);
        if reduces {
            let path = self.path(now, self.recovery.flight_size(flight, &self.board));
            self.congestion.on_congestion(Congestion::FastRetransmit, &path);
            self.ecn.on_reduction(self.board.max());
            self.cap_after_loss(now, flight, window);
        }
        if self.prr.is_some() {
            self.begin_reduction(held);
        }
        if self.config.rto.backs_off_in_recovery {
            self.rtt.back_off();
        }
        self.timed = None;
        self.owe(Demand::Head);
        self.counters.fast_retransmits += 1;
        self.events.push(Event::FastRetransmit);
        if restart_timer {
            self.arm(now, TimerKind::Data);
        }
    }

    /// Slow start from the first unacknowledged segment on, without a timeout (Tahoe).
    fn restart(&mut self, now: Time, in_turn: bool) {
        let window = self.congestion.window();
        let flight = self.in_flight().saturating_sub(self.limited_bytes);
        let path = self.path(now, flight);
        self.congestion.on_congestion(Congestion::Timeout { repeated: false }, &path);
        self.ecn.on_reduction(self.board.max());
        self.cap_after_loss(now, flight, window);
        self.timed = None;
        self.limited_bytes = 0;
        self.board.go_back();
        if !in_turn {
            self.owe(Demand::Head);
        }
        self.counters.fast_retransmits += 1;
        self.events.push(Event::FastRetransmit);
        self.arm(now, TimerKind::Data);
    }

    /// Whether the congestion control takes the first unacknowledged segment for lost.
    pub(super) fn declares_loss(&mut self, now: Time) -> bool {
        let path = self.path(now, self.in_flight());
        let head = self.suspect();
        head.is_some_and(|head| self.congestion.on_duplicate_ack(head, &path))
    }

    /// Whether it wants the segment that is now the first to be sent again.
    pub(super) fn doubts_head(&mut self, now: Time) -> bool {
        let path = self.path(now, self.in_flight());
        let head = self.suspect();
        head.is_some_and(|head| self.congestion.on_new_head(head, &path))
    }

    fn suspect(&self) -> Option<Head> {
        let head = self.board.head().filter(|_| !self.recovery.in_recovery())?;
        Some(Head { sent_at: head.sent_at, transmissions: head.transmissions })
    }

    pub(super) fn limit_burst(&mut self) {
        self.burst = self.config.recovery_burst.unwrap_or(u32::MAX);
    }

    #[inline]
    fn sample_rtt(&mut self, now: Time, packet: &Packet, acked: &Acked) {
        if let Some(tick) = self.config.timestamps {
            // RFC 7323 §4.1; the clock has 32 bits and wraps.
            let ticks = timestamp(now, tick).wrapping_sub(packet.ts_echo);
            self.rtt.sample(now, tick * u64::from(ticks));
            return;
        }
        match self.config.rtt_sampling {
            RttSampling::PerAck => {
                if let Some(sent_at) = acked.sent_at {
                    self.rtt.sample(now, now - sent_at);
                }
            }
            RttSampling::PerWindow => {
                if let Some((_, sent_at)) = self.timed.take_if(|timed| packet.ack >= timed.0) {
                    self.rtt.sample(now, now - sent_at);
                }
            }
        }
    }

    /// The window is closed: probe it if there is something to send and nothing in flight
    /// (RFC 9293 §3.8.6.1).
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
