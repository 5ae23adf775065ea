//! Laws that every registered congestion control obeys.

use incast_engine::{Span, Time};
use proptest::prelude::*;

use super::*;

/// A quiet path, which the tests of the single controls also use.
pub(super) const PATH: PathView = PathView {
    now: Time::ZERO,
    segment: 1000,
    unit: 1,
    flight: 2000,
    receive_window: 1 << 30,
    initial_window: 2000,
    una: 1,
    max: 2001,
    block_start: 1,
    written: 1 << 40,
    srtt: None,
    min_rtt: None,
};

#[derive(Clone, Copy, Debug)]
enum Step {
    Ack(AckSample),
    Duplicate,
    Congestion(Congestion),
    Exit(RecoveryExit),
    Limit(Limit),
}

fn limit() -> impl Strategy<Value = Limit> {
    prop_oneof![
        Just(Limit::Restart),
        (1_u32..64).prop_map(|rtos| Limit::Idle { rtos }),
        (2000_u64..100_000).prop_map(|used| Limit::Unused { used }),
        (0_u64..100_000).prop_map(|used| Limit::Unvalidated { used }),
        Just(Limit::Genuine),
        (1_u32..3000).prop_map(|from| Limit::Resized { from }),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => ack().prop_map(Step::Ack),
        1 => Just(Step::Duplicate),
        1 => Just(Step::Congestion(Congestion::FastRetransmit)),
        1 => Just(Step::Congestion(Congestion::Ecn)),
        1 => any::<bool>().prop_map(|repeated| Step::Congestion(Congestion::Timeout { repeated })),
        1 => prop_oneof![
            Just(RecoveryExit::Ssthresh),
            Just(RecoveryExit::Flight),
            (0_u64..100_000).prop_map(|deficit| RecoveryExit::Reduced { deficit }),
        ]
        .prop_map(Step::Exit),
        1 => limit().prop_map(Step::Limit),
    ]
}

fn ack() -> impl Strategy<Value = AckSample> {
    let rtt = prop::option::of((20_u64..5000).prop_map(Span::from_micros));
    let flags = (any::<bool>(), any::<bool>());
    (1_u64..5000, rtt, flags, prop::option::of((1_u64..1 << 34, any::<bool>()))).prop_map(
        |(acked, rtt, (ece, limited), rate)| AckSample {
            acked,
            padding: 0,
            rtt,
            ece,
            may_grow: true,
            limited,
            delivery: rate.map(|(rate, app_limited)| Delivery {
                delivered: 0,
                newly: acked,
                in_flight: 0,
                losses: 0,
                lost: 0,
                prior_delivered: Some(0),
                rate: Some(Rate(rate)),
                app_limited,
                unnamed: false,
            }),
        },
    )
}

fn build(name: &str) -> Controller {
    let config: CongestionControlConfig =
        serde_json::from_value(serde_json::json!({ "name": name })).unwrap();
    config.build(2000, 1 << 20)
}

/// The state of a path: the time, the next sequence number, and the round trip.
struct Walk {
    path: PathView,
    delivered: u64,
}

impl Walk {
    fn new() -> Self {
        Self { path: PATH, delivered: 0 }
    }

    /// Applies `step` to the path. Returns the step with the path's values filled in.
    fn go(&mut self, step: Step, flight: u64) -> Step {
        let Self { path, delivered } = self;
        path.now += Span::from_micros(10);
        path.flight = flight;
        let Step::Ack(mut ack) = step else { return step };
        path.una += ack.acked;
        path.max = path.max.max(path.una + flight);
        *delivered += ack.acked;
        if let Some(rtt) = ack.rtt {
            path.srtt = Some(path.srtt.map_or(rtt, |srtt| (srtt * 7 + rtt) / 8));
            path.min_rtt = Some(path.min_rtt.map_or(rtt, |min| min.min(rtt)));
        }
        if let Some(delivery) = &mut ack.delivery {
            delivery.delivered = *delivered;
            delivery.in_flight = flight;
            delivery.prior_delivered = Some(delivered.saturating_sub(flight + ack.acked));
        }
        Step::Ack(ack)
    }
}

fn apply(controller: &mut Controller, step: Step, path: &PathView) {
    match step {
        Step::Ack(ack) => controller.on_ack(&ack, path),
        Step::Duplicate => {
            for is_new in [false, true] {
                controller.is_lost(Head { sent_at: path.now, transmissions: 1, is_new }, path);
            }
        }
        Step::Congestion(why) => controller.on_congestion(why, path),
        Step::Exit(exit) => controller.on_recovery_exit(exit, path),
        Step::Limit(limit) => controller.on_limit(limit, path),
    }
}

proptest! {
    #[test]
    fn the_window_stays_above_its_floor_and_never_grows_on_a_loss(
        steps in prop::collection::vec((step(), 0_u64..200_000), 1..200),
    ) {
        for entry in ENTRIES {
            let (mut one, mut two) = (build(entry.name), build(entry.name));
            let fractional = one.needs().fractional_window;
            let mut walk = Walk::new();
            for &(step, flight) in &steps {
                let step = walk.go(step, flight);
                let path = &walk.path;
                let before = one.window();
                apply(&mut one, step, path);
                apply(&mut two, step, path);
                let floor = if fractional { 1 } else { path.segment };
                prop_assert!(one.window() >= floor, "{}: below its floor", entry.name);
                prop_assert!(
                    fractional || one.ssthresh() >= 2 * path.segment,
                    "{}: ssthresh", entry.name
                );
                if let Step::Congestion(_) = step {
                    // Two segments are the minimum of ssthresh (RFC 5681, equation 4).
                    prop_assert!(
                        one.window() <= before.max(flight / 2).max(2 * path.segment),
                        "{} grows on a loss", entry.name
                    );
                }
                if let Step::Limit(_) = step {
                    prop_assert!(one.window() <= before, "{} grows by a limit", entry.name);
                }
                prop_assert_eq!(one.window(), two.window(), "{} is not deterministic", entry.name);
                prop_assert_eq!(one.pacing_rate(), two.pacing_rate(), "{}", entry.name);
            }
        }
    }
}

proptest! {
    #[test]
    fn an_undone_timeout_gives_back_the_flight_and_what_was_acknowledged(
        steps in prop::collection::vec((step(), 0_u64..200_000), 0..50),
        acked in 1_u64..5000,
    ) {
        for entry in ENTRIES {
            let mut controller = build(entry.name);
            let mut walk = Walk::new();
            for &(step, flight) in &steps {
                let step = walk.go(step, flight);
                apply(&mut controller, step, &walk.path);
            }
            let (window, path) = (controller.window(), &walk.path);
            let saved = controller.snapshot(path.flight);
            controller.on_congestion(Congestion::Timeout { repeated: false }, path);
            controller.undo(saved, acked, path);
            let most = (path.flight + acked.min(path.initial_window)).max(path.segment);
            prop_assert_eq!(controller.window(), window.min(most), "{}", entry.name);
        }
    }
}

#[test]
fn an_entry_that_does_not_watch_the_head_never_takes_it_for_lost() {
    let late = PathView { now: Time::ZERO + Span::from_secs(9), ..PATH };
    for entry in ENTRIES {
        let mut controller = build(entry.name);
        for is_new in [false, true] {
            let head = Head { sent_at: Time::ZERO, transmissions: 1, is_new };
            let is_lost = controller.is_lost(head, &late);
            assert!(controller.needs().head || !is_lost, "{}", entry.name);
        }
    }
}

#[test]
fn every_entry_accepts_its_own_defaults() {
    for entry in ENTRIES {
        let config: CongestionControlConfig =
            serde_json::from_value(serde_json::json!({ "name": entry.name })).unwrap();
        assert_eq!(config.check(), Ok(()), "{}", entry.name);
    }
}

#[test]
fn every_entry_grows_from_the_initial_window_without_losses() {
    for entry in ENTRIES {
        let mut controller = build(entry.name);
        let mut walk = Walk::new();
        for _ in 0..100 {
            let ack = AckSample {
                acked: 1000,
                rtt: Some(Span::from_micros(20)),
                may_grow: true,
                limited: true,
                delivery: Some(Delivery {
                    delivered: 0,
                    newly: 1000,
                    in_flight: 0,
                    losses: 0,
                    lost: 0,
                    prior_delivered: Some(0),
                    rate: Some(Rate(1_000_000_000)),
                    app_limited: false,
                    unnamed: false,
                }),
                ..AckSample::default()
            };
            let step = walk.go(Step::Ack(ack), controller.window());
            apply(&mut controller, step, &walk.path);
        }
        assert!(controller.window() > 2000, "{} starves", entry.name);
    }
}
