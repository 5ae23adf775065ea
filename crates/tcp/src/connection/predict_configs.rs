//! Random configurations of a connection, in which most packets are predicted.

use incast_engine::Span;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde::de::DeserializeOwned;

use crate::config::{
    Config, DelayedAck, EarlyRetransmit, EcnPackets, Handshake, IdleRestart, Pacing, PrrBound,
    ReceiveOffload, RttSampling, Sack, UndoKind, WindowUnit,
};
use crate::congestion::{self, EcnUse};
use crate::recovery;
use crate::send::rtt::{BackoffEnd, IdleTimer, RtoFloor, RtoPolicy, RttClock};
use crate::wheel::TimerTicks;

pub(super) fn named<T: DeserializeOwned>(name: &str) -> T {
    serde_json::from_value(serde_json::json!({ "name": name })).expect("a registered name")
}

fn names(entries: &'static [incast_engine::Entry]) -> Vec<&'static str> {
    entries.iter().map(|entry| entry.name).collect()
}

/// A strategy that mostly returns the default, so that many packets are predicted.
fn seldom<T: Clone + std::fmt::Debug + 'static>(
    values: Vec<T>,
) -> impl Strategy<Value = Option<T>> {
    prop::option::weighted(0.15, select(values))
}

fn mostly<T: Clone + std::fmt::Debug + 'static>(
    usual: T,
    others: Vec<T>,
) -> impl Strategy<Value = T> {
    prop_oneof![8 => Just(usual), 1 => select(others)]
}

fn rto() -> impl Strategy<Value = RtoPolicy> {
    let rules = (
        select(vec![RtoFloor::Timeout, RtoFloor::Variance]),
        select(vec![RttClock::Exact, RttClock::Ticks]),
        select(vec![BackoffEnd::Sample, BackoffEnd::NewData]),
        select(vec![IdleTimer::Stops, IdleTimer::Runs]),
    );
    (rules, mostly(0.0, vec![0.5]), any::<bool>()).prop_map(
        |((floor, clock, backoff_ends, idle), jitter, backs_off_in_recovery)| RtoPolicy {
            min: Span::from_micros(300),
            max: Span::from_millis(50),
            initial: Span::from_millis(1),
            granularity: Span::from_micros(10),
            max_doublings: 6,
            jitter,
            floor,
            clock,
            backoff_ends,
            idle,
            backs_off_in_recovery,
        },
    )
}

/// Options of the receiver and of packets.
fn receivers() -> impl Strategy<Value = Config> {
    let delayed = |quickack| DelayedAck {
        segments: 2,
        timeout: Span::from_micros(400),
        quickack,
        pingpong: quickack > 0,
        below_rto_min: quickack > 0,
    };
    let sack = |dsack| Sack { dsack, takes_room: dsack };
    let packets = vec![EcnPackets::NewData, EcnPackets::Data, EcnPackets::All];
    let offload = ReceiveOffload { size: 2500, timeout: Span::from_micros(20) };
    let handshakes = mostly(Handshake::None, vec![Handshake::ThreeWay, Handshake::SynOnly]);
    let acks = (seldom(vec![delayed(0), delayed(3)]), seldom(vec![offload]));
    let options = (
        seldom(vec![Span::from_micros(1), Span::from_millis(1)]),
        prop::option::of(select(vec![sack(false), sack(true)])),
        prop::option::of(select(packets)),
    );
    let windows = select(vec![2500_u64, 200_000]);
    let ticks = mostly(Span::ZERO, vec![Span::from_micros(100)]);
    let others = (rto(), handshakes, any::<bool>(), windows, ticks);
    (acks, options, others).prop_map(|((delayed_ack, receive_offload), options, others)| Config {
        mss: 1000,
        header: 40,
        ack_size: 40,
        window_unit: WindowUnit::Bytes,
        initial_window: 3000,
        initial_ssthresh: 1 << 30,
        receive_window: others.3,
        handshake: others.1,
        request_on_wire: true,
        fin: others.2,
        rto: others.0,
        syn_rto: Span::from_millis(1),
        rto_after_syn_loss: Span::from_millis(3),
        syn_loss_is_timeout: false,
        timer_ticks: TimerTicks { tick: others.4, ..TimerTicks::default() },
        rtt_sampling: RttSampling::PerAck,
        timestamps: options.0,
        sack: options.1,
        early_retransmit: EarlyRetransmit::Off,
        prr: PrrBound::Off,
        undo: UndoKind::None,
        limited_transmit: false,
        limited_transmit_resends: false,
        dupack_threshold: 3,
        dupack_requires_same_window: false,
        delayed_ack,
        ecn: options.2,
        idle_restart: IdleRestart::None,
        send_jitter: Span::ZERO,
        recovery_burst: None,
        pacing: None,
        segmentation_offload: None,
        tso_deferral: false,
        receive_offload,
        recovery: named("newreno"),
        congestion_control: named("reno"),
    })
}

/// A configuration in which the receiver acknowledges each segment at once.
pub(super) fn plain() -> Config {
    let mut runner = TestRunner::deterministic();
    let config = receivers().new_tree(&mut runner).expect("a configuration").current();
    Config {
        handshake: Handshake::None,
        receive_window: 200_000,
        delayed_ack: None,
        receive_offload: None,
        ..config
    }
}

pub(super) fn configs() -> impl Strategy<Value = Config> {
    let restarts = vec![IdleRestart::Rfc5681, IdleRestart::Rfc2861, IdleRestart::Rfc7661];
    let extras = (
        mostly(WindowUnit::Bytes, vec![WindowUnit::Packets]),
        mostly(EarlyRetransmit::Off, vec![EarlyRetransmit::Bytes, EarlyRetransmit::Segments]),
        mostly(PrrBound::Off, vec![PrrBound::Crb, PrrBound::Ssrb, PrrBound::Rfc9937]),
        mostly(UndoKind::None, vec![UndoKind::FRto, UndoKind::Eifel, UndoKind::Linux]),
        mostly(IdleRestart::None, restarts),
        mostly(Span::ZERO, vec![Span::from_micros(5)]),
        seldom(vec![Pacing::default()]),
        seldom(vec![4000_u32]),
        mostly(false, vec![true]),
        seldom(vec![2_u32]),
    );
    let windows = (
        select(vec![4000_u64, 1 << 30]),
        select(vec![RttSampling::PerAck, RttSampling::PerWindow]),
        (any::<bool>(), any::<bool>(), any::<bool>()),
    );
    let parts = (
        prop_oneof![2 => select(vec!["newreno", "sack"]), 1 => select(names(recovery::ENTRIES))],
        prop_oneof![2 => select(vec!["reno", "dctcp"]), 1 => select(names(congestion::ENTRIES))],
    );
    (receivers(), extras, windows, parts).prop_map(|(config, extras, windows, parts)| {
        let mut config = Config {
            window_unit: extras.0,
            early_retransmit: extras.1,
            prr: extras.2,
            undo: extras.3,
            idle_restart: extras.4,
            send_jitter: extras.5,
            pacing: extras.6,
            segmentation_offload: extras.7,
            tso_deferral: extras.8,
            recovery_burst: extras.9,
            initial_ssthresh: windows.0,
            rtt_sampling: windows.1,
            limited_transmit: windows.2.0,
            limited_transmit_resends: windows.2.1,
            dupack_requires_same_window: windows.2.2,
            recovery: named(parts.0),
            congestion_control: named(parts.1),
            ..config
        };
        config.congestion_control.know_distance(&|| Span::from_micros(20));
        if config.recovery.traits().selective {
            config.sack = config.sack.or(Some(Sack { dsack: true, takes_room: false }));
        }
        if config.congestion_control.needs().ecn != EcnUse::Classic {
            config.ecn = config.ecn.or(Some(EcnPackets::Data));
        }
        if config.undo == UndoKind::Eifel {
            config.timestamps = config.timestamps.or(Some(Span::from_micros(1)));
        }
        config
    })
}
