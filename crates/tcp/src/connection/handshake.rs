//! Opening, and the client's request.

use incast_engine::Time;
use incast_net::{Flags, Packet};

use super::demand::Demand;
use super::timer::TimerKind;
use super::{Connection, Event, Role, State};
use crate::config::Handshake;
use crate::congestion::{Congestion, CongestionControl, Limit};
use crate::recovery::LossRecovery;

/// The progress of the handshake and the request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opening {
    pub role: Role,
    pub request: Request,
    /// Ordinal number of the last request received.
    pub requests_seen: u64,
    /// How often the timer of the SYN or SYN-ACK expired.
    pub tries: u32,
    /// How often the SYN or SYN-ACK was sent. The SYN or SYN-ACK is sent again after a timeout, and
    /// when the other end repeats its own SYN or SYN-ACK.
    pub syns_sent: u32,
    pub syn_sent_at: Time,
}

/// The client's request for data.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Request {
    pub ordinal: u64,
    /// Bytes on the wire. A request of 0 bytes is part of the handshake's last ACK, if this ACK has
    /// not been sent yet.
    pub size: u16,
    /// Whether the connection was already open when the request was made.
    pub late: bool,
    /// Whether the request is unanswered.
    pub outstanding: bool,
    pub tries: u32,
}

impl Opening {
    pub fn new(role: Role) -> Self {
        Self {
            role,
            request: Request::default(),
            requests_seen: 0,
            tries: 0,
            syns_sent: 0,
            syn_sent_at: Time::ZERO,
        }
    }
}

impl Connection {
    /// Handles a SYN, an ACK that completes the handshake, or a request.
    pub(super) fn handle_handshake(&mut self, now: Time, packet: &Packet) {
        let syn = packet.flags.contains(Flags::SYN);
        let ack = packet.flags.contains(Flags::ACK);
        match self.state {
            State::Idle if syn && !ack => self.accept(now),
            // Our SYN-ACK or ACK was lost, so send it again. A retransmitted SYN-ACK also means
            // that the server did not receive the request that our ACK carried.
            State::SynReceived if syn && !ack => self.owe(Demand::SynAck),
            State::Established if syn => {
                let repeat = self.opening.request.outstanding && self.request_rides();
                self.owe(if repeat { Demand::Request } else { Demand::Ack });
            }
            State::SynSent if ack && packet.ack > 0 => {
                self.become_established(now, packet);
                if self.opening.request.outstanding {
                    self.owe(Demand::Request);
                } else if syn {
                    self.owe(Demand::Ack);
                }
            }
            State::SynReceived if ack && packet.ack > 0 => self.become_established(now, packet),
            _ => {}
        }
        if packet.flags.contains(Flags::REQUEST) && packet.seq > self.opening.requests_seen {
            self.opening.requests_seen = packet.seq;
            self.events.push(Event::Request);
        }
    }

    fn accept(&mut self, now: Time) {
        self.confirm_request();
        match self.config.handshake {
            Handshake::ThreeWay => {
                self.state = State::SynReceived;
                self.owe(Demand::SynAck);
                self.arm(now, TimerKind::Handshake);
            }
            Handshake::SynOnly | Handshake::None => {
                self.state = State::Established;
                self.peer_window = self.config.receive_window;
                self.owe(Demand::Ack);
                self.events.push(Event::Established);
            }
        }
    }

    fn become_established(&mut self, now: Time, packet: &Packet) {
        self.state = State::Established;
        self.peer_window = u64::from(packet.window);
        self.arm(now, TimerKind::Off);
        if self.opening.syns_sent == 1 {
            let rtt = now - self.opening.syn_sent_at;
            self.rtt.sample(now, rtt, (0, self.board.next()));
            self.recovery.on_handshake(now, rtt);
            if let Some(srtt) = self.rtt.srtt().filter(|_| self.needs.ack_round_trips > 0) {
                self.acks.policy.shorten(srtt * u64::from(self.needs.ack_round_trips));
            }
        } else {
            self.limit(now, Limit::SynLost);
            self.rtt.set_initial(self.config.rto_after_syn_loss);
            if self.config.syn_loss_is_timeout {
                self.time_out_syn(now);
            }
        }
        self.acks.policy.know_timeout(self.rtt.rto());
        self.events.push(Event::Established);
    }

    /// Reduces ssthresh, and doubles the retransmission timeout as often as the SYN's timer
    /// expired.
    fn time_out_syn(&mut self, now: Time) {
        let path = self.path(now, 0);
        self.congestion.on_congestion(Congestion::Timeout { repeated: false }, &path);
        for _ in 0..self.opening.tries {
            self.rtt.back_off();
        }
    }

    /// Whether the handshake's last ACK carries the current request. If that ACK is lost, the
    /// acceptor retransmits the SYN-ACK, and the answer carries the request again.
    pub(super) fn request_rides(&self) -> bool {
        self.opening.request.size == 0
            && self.opening.request.ordinal == 1
            && !self.opening.request.late
            && self.opening.role == Role::Opener
            && self.config.handshake == Handshake::ThreeWay
    }

    /// Handles a packet that shows that the request arrived.
    #[inline]
    pub(super) fn confirm_request(&mut self) {
        if self.opening.request.outstanding {
            self.opening.request.outstanding = false;
            self.waive(Demand::Request);
            if self.timer.kind == TimerKind::Request {
                self.timer = super::Timer::default();
            }
        }
    }

    pub(super) fn send_first_syn(&mut self, now: Time, out: &mut Packet) -> bool {
        self.send_syn(now, Flags::SYN, out)
    }

    pub(super) fn send_syn_ack(&mut self, now: Time, out: &mut Packet) -> bool {
        self.send_syn(now, Flags::SYN.with(Flags::ACK), out)
    }

    fn send_syn(&mut self, now: Time, flags: Flags, out: &mut Packet) -> bool {
        self.opening.syns_sent += 1;
        if self.opening.syns_sent > 1 {
            self.note_copy();
        }
        self.opening.syn_sent_at = now;
        if self.state == State::Idle {
            self.state = State::SynSent;
        }
        self.arm(now, TimerKind::Handshake);
        self.fill_control(now, out);
        out.seq = 0;
        out.flags = out.flags.with_control(flags);
        out.label = self.handshake_label();
        true
    }

    pub(super) fn send_request(&mut self, now: Time, out: &mut Packet) -> bool {
        self.fill_control(now, out);
        out.flags = out.flags.with(Flags::REQUEST);
        out.seq = self.opening.request.ordinal;
        out.payload = self.opening.request.size.saturating_sub(u16::from(out.header));
        let is_sized = self.opening.request.size > 0 || self.request_rides();
        if !is_sized && !self.config.request_on_wire {
            // Ports do not keep the order of packets that have no length.
            out.header = 1;
        }
        if self.state == State::Established {
            self.acks.policy.on_data_sent(now);
            self.on_ack_left();
        }
        if self.holds_back(now, out) {
            return false;
        }
        self.time_request(now);
        true
    }
}
