//! Laws that every registered loss recovery obeys, with all options that affect loss recovery. Two
//! ends communicate over a channel with random loss.

use std::collections::BinaryHeap;
use std::sync::Arc;

use incast_engine::{Span, Stream, Time};
use incast_net::{Packet, RouteId};
use proptest::prelude::*;
use serde_json::json;

use super::{ENTRIES, RecoveryConfig, RecoveryView};
use crate::config::{
    DelayedAck, EarlyRetransmit, Handshake, IdleRestart, PrrBound, RttSampling, Sack, UndoKind,
    WindowUnit,
};
use crate::congestion::CongestionControlConfig;
use crate::send::rtt::RtoPolicy;
use crate::wheel::{TimerTicks, Wheel};
use crate::{Config, Connection, Role};

const MSS: u32 = 1000;
pub(super) const SEGMENT: u64 = MSS as u64;
const DELAY: Span = Span::from_micros(50);

/// A recovery's view with these sequence numbers and a window of five segments.
pub(super) fn view(una: u64, max: u64) -> RecoveryView {
    RecoveryView {
        una,
        max,
        segment: SEGMENT,
        window: 5 * SEGMENT,
        dupack_threshold: 3,
        now: Time::ZERO,
        wheel: Wheel::default(),
        srtt: None,
        rto_at: Time::NEVER,
        ack_delay: Span::ZERO,
    }
}

#[derive(Clone, Copy, Debug)]
struct Case {
    bytes: u64,
    /// Lost packets per 1000, in each direction.
    loss: u64,
    /// Packets per 1000 that are overtaken by later packets.
    late: u64,
    seed: u64,
    dsack: bool,
    delayed_ack: bool,
    early_retransmit: EarlyRetransmit,
    prr: PrrBound,
    undo: UndoKind,
    window_unit: WindowUnit,
}

fn case() -> impl Strategy<Value = Case> {
    use EarlyRetransmit::{Bytes, Segments};
    let options = (
        prop::sample::select(vec![EarlyRetransmit::Off, Bytes, Segments]),
        prop::sample::select(vec![PrrBound::Off, PrrBound::Crb, PrrBound::Ssrb, PrrBound::Rfc9937]),
        prop::sample::select(vec![
            UndoKind::None,
            UndoKind::FRto,
            UndoKind::Eifel,
            UndoKind::Linux,
        ]),
        prop::sample::select(vec![WindowUnit::Bytes, WindowUnit::Packets]),
    );
    let channel = (1_u64..100_000, 0_u64..300, 0_u64..200, any::<u64>());
    (channel, any::<(bool, bool)>(), options).prop_map(|(channel, acks, options)| Case {
        bytes: channel.0,
        loss: channel.1,
        late: channel.2,
        seed: channel.3,
        dsack: acks.0,
        delayed_ack: acks.1,
        early_retransmit: options.0,
        prr: options.1,
        undo: options.2,
        window_unit: options.3,
    })
}

fn config(name: &str, case: &Case) -> Config {
    let recovery: RecoveryConfig = serde_json::from_value(json!({ "name": name })).unwrap();
    let congestion_control: CongestionControlConfig =
        serde_json::from_value(json!({ "name": "reno" })).unwrap();
    let timeout = Span::from_micros(500);
    Config {
        mss: MSS,
        header: 40,
        ack_size: 40,
        initial_ssthresh: 1 << 30,
        syn_rto: Span::from_millis(5),
        rto_after_syn_loss: Span::from_millis(5),
        syn_loss_is_timeout: false,
        timer_ticks: TimerTicks::default(),
        limited_transmit: true,
        limited_transmit_resends: false,
        window_unit: case.window_unit,
        dupack_threshold: 3,
        dupack_requires_same_window: false,
        ecn: None,
        send_jitter: Span::ZERO,
        recovery_burst: None,
        pacing: None,
        segmentation_offload: None,
        tso_deferral: false,
        receive_offload: None,
        initial_window: 4 * u64::from(MSS),
        receive_window: 64 * u64::from(MSS),
        handshake: Handshake::None,
        request_on_wire: true,
        fin: true,
        rto: RtoPolicy {
            min: Span::from_millis(1),
            max: Span::from_millis(20),
            initial: Span::from_millis(5),
            max_doublings: 8,
            ..RtoPolicy::RFC_6298
        },
        rtt_sampling: RttSampling::PerAck,
        timestamps: matches!(case.undo, UndoKind::Eifel | UndoKind::Linux)
            .then_some(Span::from_micros(1)),
        sack: Some(Sack { dsack: case.dsack, takes_room: false }),
        early_retransmit: case.early_retransmit,
        prr: case.prr,
        undo: case.undo,
        delayed_ack: case.delayed_ack.then_some(DelayedAck {
            segments: 2,
            timeout,
            quickack: 0,
            pingpong: false,
            below_rto_min: false,
        }),
        idle_restart: IdleRestart::None,
        recovery,
        congestion_control,
    }
}

/// A packet in flight: its arrival time, its position in the order of sending, and its destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Flying {
    at: Time,
    order: u64,
    to: usize,
    packet: Packet,
}

impl Ord for Flying {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (other.at, other.order).cmp(&(self.at, self.order))
    }
}

impl PartialOrd for Flying {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Sends `case.bytes` from one end to the other; returns the completion time and the number of
/// packets.
fn deliver(name: &str, case: &Case) -> Result<(Time, u64), TestCaseError> {
    let config = Arc::new(config(name, case));
    let mut ends = [(Role::Acceptor, true), (Role::Opener, false)].map(|(role, forward)| {
        let random = Stream::named(case.seed, "end", forward.into());
        Connection::new(Arc::clone(&config), role, RouteId::new(0, forward), 0, random)
    });
    ends[0].write(case.bytes);
    ends[0].close();
    let mut channel = Stream::named(case.seed, "channel", 0);
    let mut flying = BinaryHeap::new();
    let (mut now, mut order) = (Time::ZERO, 0);
    while !ends[0].is_drained() {
        for (from, end) in ends.iter_mut().enumerate() {
            while let Some(packet) = end.poll_transmit(now) {
                order += 1;
                let is_lost = channel.below(1000) < case.loss;
                let lag = if channel.below(1000) < case.late { DELAY } else { Span::ZERO };
                if !is_lost {
                    let at = now + DELAY + lag;
                    flying.push(Flying { at, order, to: 1 - from, packet });
                }
            }
            prop_assert!(end.cwnd() >= u64::from(MSS), "{name}: cwnd below a segment");
        }
        prop_assert!(order < 100_000, "{name}: the transfer does not end");
        let arrival = flying.peek().map_or(Time::NEVER, |next| next.at);
        let deadline = ends[0].poll_timeout().min(ends[1].poll_timeout());
        prop_assert!(arrival.min(deadline) < Time::NEVER, "{name}: the transfer stalls");
        if arrival <= deadline {
            let Flying { at, to, packet, .. } = flying.pop().unwrap();
            now = at;
            ends[to].handle_segment(now, &packet);
        } else {
            now = now.max(deadline);
            ends.iter_mut().filter(|end| end.poll_timeout() <= now).for_each(|end| {
                end.handle_timeout(now);
            });
        }
    }
    prop_assert_eq!(ends[1].received().next(), 1 + case.bytes + 1, "{}", name);
    Ok((now, order))
}

#[test]
fn the_defaults_of_every_recovery_make_sense() {
    for entry in ENTRIES {
        let recovery: RecoveryConfig =
            serde_json::from_value(json!({ "name": entry.name })).unwrap();
        assert_eq!(recovery.check(), Ok(()), "{}", entry.name);
    }
}

proptest! {
    #[test]
    fn everything_arrives_in_a_reproducible_way(case in case()) {
        for entry in ENTRIES {
            let once = deliver(entry.name, &case)?;
            prop_assert_eq!(once, deliver(entry.name, &case)?, "{} is not deterministic", entry.name);
        }
    }
}

#[test]
fn without_losses_nothing_is_sent_twice() {
    let case = Case {
        bytes: 200_000,
        loss: 0,
        late: 0,
        seed: 1,
        dsack: true,
        delayed_ack: false,
        early_retransmit: EarlyRetransmit::Off,
        prr: PrrBound::Off,
        undo: UndoKind::None,
        window_unit: WindowUnit::Bytes,
    };
    let packets = |name| deliver(name, &case).unwrap().1;
    for entry in ENTRIES {
        assert_eq!(packets(entry.name), packets("newreno"), "{}", entry.name);
    }
}
