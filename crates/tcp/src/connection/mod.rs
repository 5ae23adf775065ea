//! The connection: state, inputs and outputs. The other files of this folder contain its parts.

mod acknowledge;
mod advise;
mod defer;
mod demand;
mod depart;
mod ecn;
mod episode;
mod event;
mod extras;
mod gate;
mod getters;
mod handshake;
mod hold;
mod pace;
mod predict;
mod receive;
mod reduce;
mod reply;
mod resend;
mod room;
mod timer;
mod transmit;
mod undo;
mod window;

use std::sync::Arc;

use incast_engine::{Stream, Time};
use incast_net::{Flags, Packet, RouteId};

use crate::config::{Config, Handshake};
use crate::congestion::{CongestionControl, Controller, Needs, PathView};
use crate::hooks::{ReceiverHook, SenderHook};
use crate::recovery::{LossRecovery, Recovery, RecoveryView};
use crate::send::idle::IdleTracker;
use crate::send::{DeliveryRate, Prr, RttEstimator, Scoreboard};
use crate::wheel::Wheel;

pub use event::{Event, TimeoutKind, TimeoutReport};
pub use predict::Predicted;
pub use transmit::Polled;

use advise::Hooks;
use demand::{Demand, Demands};
use extras::Extras;
use gate::{Gate, Host};
use handshake::{Opening, Request};
use receive::Inbound;
use reply::Acks;
use timer::{Timer, TimerKind};
use transmit::Template;

/// Sequence number of the first data byte; the SYN has number 0.
pub const FIRST_BYTE: u64 = 1;

/// The role in the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Sends the SYN.
    Opener,
    /// Answers the SYN.
    Acceptor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The initial state (an acceptor listens).
    Idle,
    SynSent,
    SynReceived,
    Established,
}

/// Counters of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Number of data segments sent, retransmissions included.
    pub data_packets: u64,
    /// Number of data segments retransmitted.
    pub retransmitted_packets: u64,
    /// Number of loss-recovery episodes.
    pub fast_retransmits: u64,
    /// Number of timeouts that were found to be premature, and were undone.
    pub undone_timeouts: u64,
    /// Number of tail loss probes sent (RFC 8985 §7).
    pub tail_probes: u64,
}

/// One end of a TCP connection.
///
/// With many flows, a connection is not in the first-level cache, and each cache line of the
/// connection that a packet needs costs a memory access. Fields that all packets need are therefore
/// first, then the fields for data and their ACKs, then the rest.
#[repr(C)]
pub struct Connection {
    owed: Demands,
    state: State,
    events: event::Pending,
    /// The optional features of the connection.
    extras: Extras,
    /// Whether `close` was called, so that a FIN follows the last byte.
    closing: bool,
    /// The congestion control's needs.
    needs: Needs,
    /// The segment size that the hooks advised last.
    segment_size: u32,
    /// Number of new segments that may still be sent for the current ACK.
    burst: u32,
    /// Fields common to all packets.
    template: Template,
    /// One past the last byte that the application wrote.
    written: u64,
    /// Window that the other end advertised.
    peer_window: u64,
    config: Arc<Config>,
    timer: Timer,
    wheel: Wheel,
    host: Host,
    inbound: Inbound,
    acks: Acks,
    pacer: Option<Box<pace::Pacer>>,
    undo: Option<Box<undo::Undo>>,
    delivery: Option<Box<DeliveryRate>>,
    prr: Option<Box<Prr>>,
    /// Bytes sent by limited transmit since the last new ACK (RFC 3042: not part of `FlightSize`).
    limited_bytes: u64,
    block: Block,
    ecn: ecn::EcnState,
    board: Scoreboard,
    counters: Counters,
    rtt: RttEstimator,
    congestion: Controller,
    recovery: Recovery,
    idle: Option<Box<IdleTracker>>,
    /// The timed segment: one past its last byte, and the time at which it was sent.
    timed: Option<(u64, Time)>,
    random: Stream,
    hooks: Hooks,
    /// The report of the pending timeout event.
    report: Option<Box<TimeoutReport>>,
    /// Probes sent since the window closed. The backoff of probes is separate from the backoff of
    /// the RTO.
    window_probes: u32,
    /// The first unacknowledged byte at the last timeout.
    timed_out_at: Option<u64>,
    deferral: defer::Deferral,
    opening: Opening,
}

/// The data written while nothing was outstanding.
#[derive(Clone, Copy, Debug)]
struct Block {
    /// The first byte of the block.
    start: u64,
    /// End of the block's first window, once known.
    first_window_end: u64,
}

impl Block {
    const fn new(start: u64) -> Self {
        Self { start, first_window_end: u64::MAX }
    }
}

impl Connection {
    /// A connection whose packets use `route`. `epoch` distinguishes incarnations of a flow.
    pub fn new(config: Arc<Config>, role: Role, route: RouteId, epoch: u8, random: Stream) -> Self {
        let congestion =
            config.congestion_control.build(config.initial_window, config.initial_ssthresh);
        let recovery = config.recovery.build();
        Self::with_parts(config, role, route, epoch, random, congestion, recovery)
    }

    /// A connection with a congestion control and a recovery other than those of `config`.
    pub fn with_parts(
        config: Arc<Config>,
        role: Role,
        route: RouteId,
        epoch: u8,
        mut random: Stream,
        congestion: Controller,
        recovery: Recovery,
    ) -> Self {
        let established = config.handshake == Handshake::None;
        let first = FIRST_BYTE;
        let (needs, traits) = (congestion.needs(), recovery.traits());
        let ecn = ecn::EcnState::new(&config, needs);
        let pacer = pace::Pacer::new(&config, needs);
        let wheel = Wheel::new(config.timer_ticks, &mut random);
        let rtt = RttEstimator::new(&config.rto, wheel, &mut random);
        Self {
            state: if established { State::Established } else { State::Idle },
            owed: Demands::default(),
            events: event::Pending::default(),
            report: None,
            timer: Timer::default(),
            wheel,
            random,
            board: if traits.timed {
                Scoreboard::with_copies(first)
            } else {
                Scoreboard::new(first)
            },
            ecn,
            extras: Extras::of(&config, traits, needs, pacer.is_some()),
            pacer,
            delivery: needs
                .delivery_rate
                .then(|| Box::new(DeliveryRate::new(recovery.reported().is_some()))),
            needs,
            congestion,
            recovery,
            prr: if needs.whole_window { None } else { Prr::new(config.prr) },
            undo: undo::Undo::new(config.undo),
            rtt,
            idle: if needs.whole_window { None } else { IdleTracker::new(config.idle_restart) },
            written: first,
            closing: false,
            peer_window: if established { config.receive_window } else { 0 },
            window_probes: 0,
            timed: None,
            host: Host::default(),
            burst: u32::MAX,
            limited_bytes: 0,
            block: Block::new(first),
            timed_out_at: None,
            deferral: defer::Deferral::new(&config),
            segment_size: config.mss,
            inbound: Inbound::new(&config, first),
            acks: Acks::new(&config, wheel, first),
            opening: Opening::new(role),
            counters: Counters::default(),
            hooks: Hooks::default(),
            template: Template::new(&config, route, epoch, ecn),
            config,
        }
    }

    /// Adds a sender hook.
    pub fn add_sender_hook(&mut self, hook: Box<dyn SenderHook>) {
        self.hooks.parts_mut().senders.push(hook);
        self.extras = self.extras.or(Extras::SENDER_HOOKS);
    }

    /// Adds a receiver hook.
    pub fn add_receiver_hook(&mut self, hook: Box<dyn ReceiverHook>) {
        self.hooks.parts_mut().receivers.push(hook);
        self.extras = self.extras.or(Extras::RECEIVER_HOOKS);
    }

    // Calls of the application.

    /// Starts the handshake, unless it has started already.
    pub fn open(&mut self) {
        if self.opening.role == Role::Opener && self.state == State::Idle {
            self.owe(Demand::Syn);
        }
    }

    /// Appends `bytes` to the stream. A write on an idle connection begins a new block.
    pub fn write(&mut self, bytes: u64) {
        if self.board.is_empty() && self.board.next() == self.written {
            self.block = Block::new(self.written);
        }
        if self.board.next() == self.written
            && self.in_flight() < self.congestion.window()
            && let Some(delivery) = &mut self.delivery
        {
            delivery.note_app_limited();
        }
        self.written += bytes;
        self.reconsider();
    }

    /// Ends the stream; sends a FIN if the configuration has one.
    pub fn close(&mut self) {
        self.closing = self.config.fin;
    }

    /// Requests the next block from the other end. If `size` is 0 and the handshake's last ACK was
    /// not sent yet, that ACK carries the request. Otherwise the request is a packet of `size`
    /// bytes, or of a header if `size` is smaller.
    pub fn request(&mut self, size: u16) {
        self.opening.request = Request {
            ordinal: self.opening.request.ordinal + 1,
            size,
            late: self.state == State::Established,
            outstanding: true,
            tries: 0,
        };
        if self.opening.role == Role::Acceptor || self.state == State::Established {
            self.owe(Demand::Request);
        } else {
            self.open();
        }
    }

    /// Reports [`Event::Received`] when `bytes` bytes of the stream have arrived in order.
    pub fn notify_at(&mut self, bytes: u64) {
        self.inbound.notify_at = FIRST_BYTE + bytes;
    }

    /// Changes the receive buffer. If this opens a closed window, a window update is sent.
    pub fn set_receive_buffer(&mut self, bytes: u64) {
        let next = self.inbound.data.next();
        if self.inbound.window.set_capacity(bytes, next, u64::from(self.config.mss))
            && self.state == State::Established
        {
            self.owe(Demand::Ack);
        }
    }

    // Inputs from the network and the clock.

    /// Handles a packet of this connection that arrived.
    #[inline]
    pub fn handle_segment(&mut self, now: Time, packet: &Packet) {
        if packet.epoch != self.template.epoch {
            return;
        }
        self.set_trigger(packet.flags.trigger());
        if packet.flags.intersects(Flags::SYN.with(Flags::REQUEST))
            || self.state != State::Established
        {
            self.handle_handshake(now, packet);
            if self.state != State::Established || packet.flags.contains(Flags::SYN) {
                return;
            }
        }
        let is_data = packet.seq_end() > packet.seq && !packet.flags.contains(Flags::REQUEST);
        if is_data || packet.label != 0 {
            if self.has_receiver_hooks() && is_data && !self.is_admitted(packet) {
                return;
            }
            self.receive(now, packet);
        }
        if packet.flags.contains(Flags::ACK) {
            self.acknowledge(now, packet);
        }
    }

    // Outputs.

    /// Whether the connection has nothing to send and expects no ACK. `poll_transmit` also shows
    /// that there is nothing to send, but this method is cheaper. It is often called for receivers.
    #[inline]
    pub fn is_quiet(&self) -> bool {
        self.owed.is_empty()
            && self.board.una() == self.stream_end()
            && self.host.gate == Gate::Closed
    }

    /// The next event, if any.
    #[inline]
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop(&mut self.report)
    }

    /// Whether there are sender hooks.
    #[inline]
    fn has_sender_hooks(&self) -> bool {
        self.extras.has(Extras::SENDER_HOOKS)
    }

    /// Whether there are receiver hooks.
    #[inline]
    fn has_receiver_hooks(&self) -> bool {
        self.extras.has(Extras::RECEIVER_HOOKS)
    }

    #[inline]
    fn path(&self, now: Time, flight: u64) -> PathView {
        PathView {
            now,
            segment: u64::from(self.segment_size),
            unit: self.window_unit(),
            flight,
            receive_window: self.peer_window,
            initial_window: self.config.initial_window,
            una: self.board.una(),
            max: self.board.max(),
            block_start: self.block.start,
            written: self.written,
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.min_rtt(),
        }
    }

    #[expect(
        clippy::inline_always,
        reason = "without inlining, a copy of its fields in other sizes stalls every ACK"
    )]
    #[inline(always)]
    fn recovery_view(&self, now: Time) -> RecoveryView {
        let is_timed = self.timer.kind == TimerKind::Data;
        RecoveryView {
            una: self.board.una(),
            max: self.board.max(),
            segment: u64::from(self.segment_size),
            window: self.congestion.window(),
            dupack_threshold: self.dupack_threshold(),
            now,
            wheel: self.wheel,
            srtt: self.rtt.srtt(),
            rto_at: if is_timed { self.timer.deadline } else { Time::NEVER },
            ack_delay: self.config.delayed_ack.map(|delayed| delayed.timeout).unwrap_or_default(),
        }
    }
}
