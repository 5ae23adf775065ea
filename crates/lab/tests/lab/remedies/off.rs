//! Hooks that return no advice do not change the results.

use incast_host::EndId;
use incast_lab::Control;
use incast_lab::probe::Silent;
use incast_lab::world::World;
use incast_scenario::Scenario;
use incast_tcp::hooks::{ReceiverHook, SenderHook};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::harness::lay;
use crate::laws;

/// A hook that returns no advice.
struct Mute;

impl SenderHook for Mute {}
impl ReceiverHook for Mute {}

/// The rows of a world with hooks that return no advice, at both ends of every persistent
/// connection.
fn with_mute_hooks(scenario: &Scenario) -> Vec<String> {
    let mut world = World::new(scenario, laws::SEED, |_| Silent);
    for flow in 0..scenario.groups()[0].flows() {
        let core = world.core_mut();
        for end in [EndId::server(flow), EndId::client(flow)] {
            let connection = core.hosts.opened(end).connection_mut().expect("TCP");
            connection.add_sender_hook(Box::new(Mute));
            connection.add_receiver_hook(Box::new(Mute));
        }
    }
    let (rows, _) = world.run(&Control::default()).expect("nobody cancels");
    laws::timeless(&rows)
}

fn with(document: &Value, over: &Value) -> Scenario {
    let mut document = document.clone();
    lay(&mut document, over);
    Scenario::from_document(&document).unwrap_or_else(|error| panic!("{error}"))
}

proptest! {
    #![proptest_config(laws::config())]

    #[test]
    fn no_remedies_and_hooks_that_say_nothing_give_the_same_rows(document in laws::scenarios()) {
        // The hooks need persistent connections. The connections of long flows are always
        // persistent.
        let lasting = match document["workload"]["name"].as_str() {
            Some("barrier-read") => json!({ "workload": { "connections": "persistent" } }),
            _ => json!({}),
        };
        let plain = with(&document, &lasting);
        let mut none = lasting.clone();
        none["transport"]["remedies"] = json!([]);
        let none = with(&document, &none);
        prop_assert_eq!(plain.resolved(), none.resolved());
        let rows = laws::rows(&plain);
        prop_assert_eq!(&rows, &laws::rows(&none));
        prop_assert_eq!(&rows, &with_mute_hooks(&plain));
    }
}
