//! Laws that every card obeys.

use incast_engine::Entry;
use serde_json::{from_value, json};

use super::*;

#[test]
fn every_card_serves_each_end_that_asks_and_no_other() {
    for Entry { name, .. } in ENTRIES {
        let config: NicConfig = from_value(json!(name)).expect("it has defaults");
        config.check().expect("they are valid");
        assert_eq!(from_value::<NicConfig>(json!(config)).expect("it is a table"), config);
        let mut card = config.build(&NicSite { rate: Rate(1_000_000_000) });
        let mut now = Time::ZERO;
        assert_eq!(card.next(now, 0), None, "{name}: no end waits");
        for end in [3, 5, 3, 4] {
            card.wants(EndId(end));
        }
        assert_eq!(card.next(now, u8::MAX), None, "{name}: all classes are stopped");
        let mut served = Vec::new();
        loop {
            if let Some(EndId(end)) = card.next(now, 0) {
                served.push(end);
                continue;
            }
            let due = card.poll_timeout();
            if due == Time::NEVER {
                break;
            }
            assert!(due > now, "{name}");
            now = due;
        }
        served.sort_unstable();
        assert_eq!(served, [3, 4, 5], "{name}");
    }
}
