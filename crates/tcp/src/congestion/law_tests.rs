//! Laws that every registered congestion control obeys.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Copy, Debug)]
enum Step {
    Ack(u64),
    Congestion(Congestion),
    Exit(RecoveryExit),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (1_u64..5000).prop_map(Step::Ack),
        1 => Just(Step::Congestion(Congestion::FastRetransmit)),
        1 => any::<bool>().prop_map(|repeated| Step::Congestion(Congestion::Timeout { repeated })),
        1 => prop_oneof![
            Just(RecoveryExit::Ssthresh),
            Just(RecoveryExit::Flight),
            (0_u64..100_000).prop_map(|deficit| RecoveryExit::Keep { deficit }),
        ]
        .prop_map(Step::Exit),
    ]
}

fn build(name: &str) -> Controller {
    let config: CongestionControlConfig =
        serde_json::from_value(serde_json::json!({ "name": name })).unwrap();
    config.build(2000, 1 << 20)
}

proptest! {
    #[test]
    fn the_window_stays_above_its_floor_and_never_grows_on_a_loss(
        steps in prop::collection::vec((step(), 0_u64..200_000), 1..200),
    ) {
        for entry in ENTRIES {
            let (mut one, mut two) = (build(entry.name), build(entry.name));
            for &(step, flight) in &steps {
                let path = PathView {
                    segment: 1000, flight, receive_window: 1 << 30, initial_window: 2000,
                };
                let before = one.window();
                for it in [&mut one, &mut two] {
                    match step {
                        Step::Ack(acked) => it.on_ack(acked, &path),
                        Step::Congestion(why) => it.on_congestion(why, &path),
                        Step::Exit(exit) => it.on_recovery_exit(exit, &path),
                    }
                }
                prop_assert!(one.window() >= path.segment, "{}: below a segment", entry.name);
                prop_assert!(one.ssthresh() >= 2 * path.segment, "{}: ssthresh", entry.name);
                match step {
                    Step::Ack(_) => prop_assert!(one.window() >= before),
                    // Two segments are the floor of ssthresh (RFC 5681, equation 4).
                    Step::Congestion(_) => prop_assert!(
                        one.window() <= before.max(flight / 2).max(2 * path.segment)
                    ),
                    Step::Exit(_) => {}
                }
                prop_assert_eq!(one.window(), two.window(), "{} is not deterministic", entry.name);
            }
        }
    }
}

#[test]
fn every_entry_grows_from_the_initial_window_without_losses() {
    let path =
        PathView { segment: 1000, flight: 2000, receive_window: 1 << 30, initial_window: 2000 };
    for entry in ENTRIES {
        let mut controller = build(entry.name);
        (0..100).for_each(|_| controller.on_ack(1000, &path));
        assert!(controller.window() > 2000, "{} starves", entry.name);
    }
}
