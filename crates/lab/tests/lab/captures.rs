//! Places of captures.

use incast_lab::tap::Vantage;
use serde_json::json;

use crate::harness::scenario;

#[test]
fn a_capture_is_made_at_hosts_that_the_scenario_has() {
    let scenario = scenario(&json!({ "workload": { "servers": 3 } }));
    for vantage in [Vantage::Client(0), Vantage::Switch, Vantage::Server(0), Vantage::Server(2)] {
        assert_eq!(vantage.check(&scenario), Ok(()), "{vantage}");
    }
    for (vantage, message) in [
        (Vantage::Client(1), "\"client:1\" does not exist: the scenario has clients 0 to 0"),
        (Vantage::Server(3), "\"server:3\" does not exist: the scenario has servers 0 to 2"),
    ] {
        assert_eq!(vantage.check(&scenario), Err(message.to_owned()));
    }
}
