//! Calling the hooks and following their advice.

use incast_engine::{Span, Time};
use incast_net::{Packet, Trigger};

use super::Connection;
use super::demand::Demand;
use super::hold::Held;
use crate::congestion::{CongestionControl, Limit};
use crate::hooks::{Advice, Copies, ReceiverHook, SendEvent, SendView, SenderHook, TxPlan};
use crate::recovery::LossRecovery;

/// The remedies' hooks of a connection. Most connections have no hooks, and then this is a null
/// pointer.
#[derive(Default)]
pub(super) struct Hooks(Option<Box<Parts>>);

#[derive(Default)]
pub(super) struct Parts {
    pub senders: Vec<Box<dyn SenderHook>>,
    pub receivers: Vec<Box<dyn ReceiverHook>>,
    /// ACKs and requests that hooks delay.
    pub held: Held,
    /// The label of the empty probe that is due.
    pub probe_label: u16,
}

impl Hooks {
    pub fn parts_mut(&mut self) -> &mut Parts {
        self.0.get_or_insert_default()
    }

    pub fn senders(&self) -> &[Box<dyn SenderHook>] {
        self.0.as_ref().map_or(&[], |parts| &parts.senders)
    }

    pub fn receivers(&self) -> &[Box<dyn ReceiverHook>] {
        self.0.as_ref().map_or(&[], |parts| &parts.receivers)
    }

    pub fn held(&self) -> Option<&Held> {
        self.0.as_ref().map(|parts| &parts.held)
    }
}

impl Connection {
    /// Notifies the sender hooks of an event and follows their advice.
    pub(super) fn consult(&mut self, now: Time, event: SendEvent<'_>) {
        let view = self.send_view(now);
        let advice = self
            .hooks
            .parts_mut()
            .senders
            .iter_mut()
            .fold(Advice::NONE, |sum, hook| sum.merge(hook.on_event(event, &view)));
        self.follow(now, advice);
    }

    pub(super) fn run_hook_deadlines(&mut self, now: Time) {
        if self.hook_deadline() > now {
            return;
        }
        self.set_trigger(Trigger::TailProbe);
        let view = self.send_view(now);
        let advice = self
            .hooks
            .parts_mut()
            .senders
            .iter_mut()
            .filter(|hook| hook.deadline() <= now)
            .fold(Advice::NONE, |sum, hook| sum.merge(hook.on_deadline(&view)));
        self.follow(now, advice);
    }

    pub(super) fn hook_deadline(&self) -> Time {
        self.hooks.senders().iter().map(|hook| hook.deadline()).min().unwrap_or(Time::NEVER)
    }

    /// Advice on the data segment that `plan` describes.
    #[inline]
    pub(super) fn shape(&self, now: Time, plan: &TxPlan) -> Advice {
        if !self.has_sender_hooks() {
            return Advice::NONE;
        }
        let view = self.send_view(now);
        self.hooks
            .senders()
            .iter()
            .fold(Advice::NONE, |sum, hook| sum.merge(hook.shape(&view, plan)))
    }

    /// Applies the segment size that the hooks advise. Returns whether the windows have changed.
    /// The first size does not change the windows, because the initial window is given in segments
    /// of this size.
    #[inline]
    pub(super) fn resize(&mut self, now: Time, advice: &Advice) -> bool {
        let size = advice.segment_size.min(self.config.mss).max(1);
        let from = std::mem::replace(&mut self.segment_size, size);
        let changes = advice.counts_segments && from != size && self.counters.data_packets > 0;
        if changes {
            self.limit(now, Limit::Resized { from });
        }
        changes
    }

    /// The largest window to advertise, if the receiver's hooks set one, and the largest header.
    #[inline]
    pub(super) fn receiver_limits(&self, now: Time) -> (Option<u64>, u8) {
        let advice = self
            .hooks
            .receivers()
            .iter()
            .fold(Advice::NONE, |sum, hook| sum.merge(hook.shape(now)));
        let cap = (advice.receive_window_cap != u64::MAX).then_some(advice.receive_window_cap);
        (cap, advice.header_bytes)
    }

    /// The label of a SYN or SYN-ACK.
    pub(super) fn handshake_label(&self) -> u16 {
        let sender = self.hooks.senders().iter().map(|hook| hook.handshake());
        let receiver = self.hooks.receivers().iter().map(|hook| hook.handshake());
        sender.chain(receiver).fold(Advice::NONE, Advice::merge).label
    }

    /// The minimum retransmission timeout that the hooks advise.
    #[inline]
    pub(super) fn rto_floor(&self, now: Time) -> Span {
        if !self.has_sender_hooks() {
            return Span::ZERO;
        }
        let view = self.send_view(now);
        let advice = self.hooks.senders().iter().map(|hook| hook.timer(&view));
        advice.fold(Advice::NONE, Advice::merge).rto_floor
    }

    /// Whether every receiver hook admits the segment.
    pub(super) fn is_admitted(&mut self, packet: &Packet) -> bool {
        let mut admitted = true;
        for hook in &mut self.hooks.parts_mut().receivers {
            admitted &= hook.admits(packet);
        }
        admitted
    }

    fn follow(&mut self, now: Time, advice: Advice) {
        let copies = [(Copies::HEAD, Demand::CopyHead), (Copies::HIGHEST, Demand::CopyHighest)];
        for (copy, demand) in copies {
            if advice.copies.contains(copy) && !self.board.is_empty() {
                self.owe(demand);
            }
        }
        if advice.enter_recovery && !self.board.is_empty() {
            let episode = self.recovery.enter(&self.recovery_view(now));
            self.begin_episode(now, episode, 0);
        }
        if advice.restart_window {
            self.limit(now, Limit::Restart);
        }
        if advice.expire_timer {
            self.expire(now, Some(advice));
        }
        let has_fin = self.closing && self.board.max() == self.stream_end();
        let probe = if has_fin { 0 } else { advice.end_again }.max(advice.empty_probe);
        if advice.end_again != 0 && has_fin && !self.board.is_empty() {
            self.owe(Demand::FinAgain);
        }
        if probe != 0 {
            let parts = self.hooks.parts_mut();
            parts.probe_label = parts.probe_label.max(probe);
            self.owe(Demand::EmptyProbe);
        }
    }

    fn send_view(&self, now: Time) -> SendView {
        let head = self.board.head();
        SendView {
            now,
            una: self.board.una(),
            next: self.board.next(),
            max: self.board.max(),
            written: self.written,
            cwnd: self.congestion.window(),
            ssthresh: self.congestion.ssthresh(),
            receive_window: self.peer_window,
            mss: self.config.mss,
            in_recovery: self.recovery.in_recovery(),
            dupacks: self.recovery.dupacks(),
            head_transmissions: head.map_or(0, |head| head.transmissions),
            head_sent_at: head.map_or(Time::ZERO, |head| head.sent_at),
            srtt: self.rtt.srtt(),
            rto: self.rtt.rto(),
            doublings: self.rtt.doublings(),
        }
    }
}
