//! A congestion control and a loss recovery defined outside the crate determine a connection's
//! behaviour.

use std::sync::Arc;

use incast_engine::{Span, Stream, Time};
use incast_net::{Flags, Packet, RouteId};
use incast_tcp::config::{
    EarlyRetransmit, Handshake, IdleRestart, PrrBound, RttSampling, UndoKind, WindowUnit,
};
use incast_tcp::congestion::{
    AckSample, Congestion, CongestionControl, Controller, Limit, PathView, RecoveryExit,
};
use incast_tcp::connection::FIRST_BYTE;
use incast_tcp::recovery::{Episode, LossRecovery, News, Recovery, RecoveryView, Traits};
use incast_tcp::send::Scoreboard;
use incast_tcp::send::rtt::RtoPolicy;
use incast_tcp::wheel::TimerTicks;
use incast_tcp::{Config, Connection, Event, Role};
use serde::de::DeserializeOwned;
use serde_json::{from_value, json};

const MSS: u32 = 1000;
const SEGMENT: u64 = 1000;
const RTO: Span = Span::from_millis(10);

/// A congestion control with a constant window, in segments, that only counts losses.
#[derive(Clone, Debug)]
struct Constant {
    window: u64,
    losses: u32,
}

impl CongestionControl for Constant {
    fn window(&self) -> u64 {
        self.window
    }

    fn ssthresh(&self) -> u64 {
        u64::MAX
    }

    fn on_ack(&mut self, _: &AckSample, _: &PathView) {}

    fn on_congestion(&mut self, _: Congestion, _: &PathView) {
        self.losses += 1;
    }

    fn on_recovery_exit(&mut self, _: RecoveryExit, _: &PathView) {}

    fn on_limit(&mut self, _: Limit, _: &PathView) {}

    fn gauge(&self, name: &str) -> Option<f64> {
        (name == "losses").then_some(self.losses.into())
    }
}

/// A loss recovery for which the first duplicate ACK signals a loss, and any new ACK ends the
/// repair.
#[derive(Debug, Default)]
struct Hasty {
    dupacks: u32,
    in_recovery: bool,
}

impl LossRecovery for Hasty {
    fn enter(&mut self, _: &RecoveryView) -> Episode {
        self.in_recovery = true;
        Episode::Enter { restart_timer: true }
    }

    fn dupacks(&self) -> u32 {
        self.dupacks
    }

    fn in_recovery(&self) -> bool {
        self.in_recovery
    }

    fn on_ack(&mut self, news: &News, _: &mut Scoreboard, view: &RecoveryView) -> Episode {
        if news.acked > 0 {
            self.dupacks = 0;
            return if std::mem::take(&mut self.in_recovery) {
                Episode::exit(RecoveryExit::Ssthresh)
            } else {
                Episode::None
            };
        }
        self.dupacks += u32::from(news.is_duplicate);
        if self.dupacks == 1 { self.enter(view) } else { Episode::None }
    }

    fn on_timeout(&mut self, board: &mut Scoreboard, _: &RecoveryView) {
        board.go_back();
        *self = Self::default();
    }
}

/// The registered part with this name.
fn named<T: DeserializeOwned>(name: &str) -> T {
    from_value(json!({ "name": name })).unwrap_or_else(|error| panic!("{error}"))
}

fn config() -> Config {
    Config {
        mss: MSS,
        header: 40,
        ack_size: 40,
        window_unit: WindowUnit::Bytes,
        initial_window: 2 * SEGMENT,
        initial_ssthresh: 1 << 30,
        receive_window: 1_000_000,
        handshake: Handshake::None,
        request_on_wire: true,
        fin: false,
        rto: RtoPolicy {
            min: RTO,
            max: Span::from_secs(1),
            initial: RTO,
            max_doublings: 6,
            ..RtoPolicy::RFC_6298
        },
        syn_rto: RTO,
        rto_after_syn_loss: RTO,
        syn_loss_is_timeout: false,
        timer_ticks: TimerTicks::default(),
        rtt_sampling: RttSampling::PerAck,
        timestamps: None,
        sack: None,
        early_retransmit: EarlyRetransmit::Off,
        prr: PrrBound::Off,
        undo: UndoKind::None,
        limited_transmit: false,
        limited_transmit_resends: false,
        dupack_threshold: 3,
        dupack_requires_same_window: false,
        delayed_ack: None,
        ecn: None,
        idle_restart: IdleRestart::None,
        send_jitter: Span::ZERO,
        recovery_burst: None,
        pacing: None,
        segmentation_offload: None,
        tso_deferral: false,
        receive_offload: None,
        recovery: named("newreno"),
        congestion_control: named("reno"),
    }
}

/// A connection with a hundred segments to send. Parts that are not given come from the
/// configuration.
fn sender(control: Option<Controller>, recovery: Option<Recovery>) -> Connection {
    let config = Arc::new(config());
    let control = control.unwrap_or_else(|| config.congestion_control.build(7 * SEGMENT, 1 << 30));
    let recovery = recovery.unwrap_or_else(|| config.recovery.build());
    let (route, random) = (RouteId::new(0, true), Stream::named(1, "custom", 0));
    let mut sender =
        Connection::with_parts(config, Role::Acceptor, route, 0, random, control, recovery);
    sender.write(100 * SEGMENT);
    sender
}

fn constant() -> Controller {
    Controller::Custom(Box::new(Constant { window: 7 * SEGMENT, losses: 0 }))
}

/// The numbers of the segments that are sent now, counted from 0.
fn sent(sender: &mut Connection, now: Time) -> Vec<u64> {
    let packets = std::iter::from_fn(|| sender.poll_transmit(now));
    packets.map(|packet| (packet.seq - FIRST_BYTE) / SEGMENT).collect()
}

/// Acknowledges all data before segment `next`.
fn acknowledge(sender: &mut Connection, now: Time, next: u64) {
    let ack = FIRST_BYTE + next * SEGMENT;
    let packet = Packet { ack, window: 1_000_000, flags: Flags::ACK, ..Packet::default() };
    sender.handle_segment(now, &packet);
}

fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

#[test]
fn a_congestion_control_from_outside_owns_the_window() {
    let mut sender = sender(Some(constant()), None);
    assert_eq!(sent(&mut sender, at(0)), [0, 1, 2, 3, 4, 5, 6], "the window of the test");
    acknowledge(&mut sender, at(1), 2);
    assert_eq!(sent(&mut sender, at(1)), [7, 8], "the window does not grow");
    assert_eq!(sender.congestion_gauge("losses"), Some(0.0));
    let expiry = sender.poll_timeout();
    sender.handle_timeout(expiry);
    assert_eq!(sender.congestion_gauge("losses"), Some(1.0));
    assert_eq!(sender.cwnd(), 7 * SEGMENT, "the window does not shrink");
    assert_eq!(sent(&mut sender, expiry), [2, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn a_recovery_from_outside_decides_what_is_lost() {
    let hasty = Recovery::Custom(Box::<Hasty>::default());
    let mut sender = sender(Some(constant()), Some(hasty));
    sent(&mut sender, at(0));
    acknowledge(&mut sender, at(1), 1);
    assert_eq!(sent(&mut sender, at(1)), [7]);
    acknowledge(&mut sender, at(2), 1);
    assert_eq!(sent(&mut sender, at(2)), [1], "the first duplicate is a loss");
    assert_eq!(sender.poll_event(), Some(Event::FastRetransmit));
    assert!(sender.in_recovery());
    acknowledge(&mut sender, at(3), 2);
    assert_eq!(sender.poll_event(), Some(Event::RecoveryExit));
    assert!(!sender.in_recovery());
    assert_eq!(sender.congestion_gauge("losses"), Some(1.0));
}

#[test]
fn the_registered_ones_do_otherwise() {
    let mut sender = sender(None, None);
    assert_eq!(sent(&mut sender, at(0)), [0, 1, 2, 3, 4, 5, 6]);
    acknowledge(&mut sender, at(1), 1);
    assert_eq!(sent(&mut sender, at(1)), [7, 8], "slow start grows");
    acknowledge(&mut sender, at(2), 1);
    assert_eq!(sent(&mut sender, at(2)), [0; 0], "one duplicate is no loss");
    assert!(!sender.in_recovery());
}

/// A loss recovery for which a segment is lost as soon as a later segment has arrived. The repair
/// ends when all data outstanding at that time has arrived.
#[derive(Debug, Default)]
struct Picky {
    recovery_point: Option<u64>,
}

impl LossRecovery for Picky {
    fn traits(&self) -> Traits {
        Traits::SELECTIVE
    }

    fn enter(&mut self, view: &RecoveryView) -> Episode {
        self.recovery_point = Some(view.max);
        Episode::Enter { restart_timer: true }
    }

    fn dupacks(&self) -> u32 {
        0
    }

    fn in_recovery(&self) -> bool {
        self.recovery_point.is_some()
    }

    fn on_ack(&mut self, news: &News, board: &mut Scoreboard, view: &RecoveryView) -> Episode {
        if self.recovery_point.take_if(|point| view.una >= *point).is_some() {
            return Episode::exit(RecoveryExit::Ssthresh);
        }
        let is_lost = news.sacked > 0 && board.judge(1, view.segment);
        if is_lost && !self.in_recovery() { self.enter(view) } else { Episode::None }
    }

    fn on_timeout(&mut self, board: &mut Scoreboard, _: &RecoveryView) {
        board.lose_all();
        self.recovery_point = None;
    }
}

/// A loss recovery that does not count three of the segments in flight against the window.
#[derive(Debug, Default)]
struct Generous;

impl LossRecovery for Generous {
    fn traits(&self) -> Traits {
        Traits { by_pipe: true, ..Traits::DUPLICATES }
    }

    fn enter(&mut self, _: &RecoveryView) -> Episode {
        Episode::None
    }

    fn dupacks(&self) -> u32 {
        0
    }

    fn in_recovery(&self) -> bool {
        false
    }

    fn on_ack(&mut self, _: &News, _: &mut Scoreboard, _: &RecoveryView) -> Episode {
        Episode::None
    }

    fn pipe(&self, board: &Scoreboard) -> u64 {
        board.flight().saturating_sub(3 * SEGMENT)
    }
}

/// Acknowledges all data before segment `next`, and selectively the segments `held`.
fn report(sender: &mut Connection, now: Time, next: u64, held: &[u64]) {
    let ack = FIRST_BYTE + next * SEGMENT;
    let mut packet = Packet { ack, window: 1_000_000, flags: Flags::ACK, ..Packet::default() };
    for segment in held {
        let start = FIRST_BYTE + segment * SEGMENT;
        packet.sack.push(ack, start, start + SEGMENT);
    }
    sender.handle_segment(now, &packet);
}

#[test]
fn a_recovery_from_outside_may_repair_by_selective_acknowledgements() {
    let picky = Recovery::Custom(Box::<Picky>::default());
    let mut sender = sender(Some(constant()), Some(picky));
    assert_eq!(sent(&mut sender, at(0)), [0, 1, 2, 3, 4, 5, 6]);
    report(&mut sender, at(1), 0, &[4, 2]);
    // Segments 5 and 6 are in the pipe, so five more segments may be sent.
    assert_eq!(sent(&mut sender, at(1)), [0, 1, 3, 7, 8], "lost segments, and then new data");
    report(&mut sender, at(2), 7, &[]);
    assert_eq!(sender.poll_event(), Some(Event::FastRetransmit));
    assert_eq!(sender.poll_event(), Some(Event::RecoveryExit));
    let expiry = sender.poll_timeout();
    sent(&mut sender, at(2));
    sender.handle_timeout(expiry);
    assert_eq!(sent(&mut sender, expiry), [7, 8, 9, 10, 11, 12, 13]);
}

#[test]
fn a_recovery_from_outside_may_say_what_the_window_bounds() {
    let generous = Recovery::Custom(Box::new(Generous));
    let mut sender = sender(Some(constant()), Some(generous));
    assert_eq!(sent(&mut sender, at(0)), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    acknowledge(&mut sender, at(1), 1);
    assert_eq!(sent(&mut sender, at(1)), [10]);
}
