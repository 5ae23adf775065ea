//! Laws of all remedies.

use crate::{ENTRIES, Outcome, RemedyConfig, Situation, Slot};

fn all() -> impl Iterator<Item = RemedyConfig> {
    ENTRIES.iter().map(|entry| {
        serde_json::from_value(serde_json::json!({ "name": entry.name })).expect(entry.name)
    })
}

#[test]
fn every_entry_is_found_by_its_name_and_its_defaults_make_sense() {
    for (remedy, entry) in all().zip(ENTRIES) {
        assert_eq!(remedy.name(), entry.name);
        assert_eq!(remedy.remedy().check(), Ok(()), "{}", entry.name);
        let queue = remedy.remedy().queue();
        let owns_queue = remedy.remedy().slots().contains(&Slot::Queue);
        assert_eq!(queue.is_some(), owns_queue, "{} brings the switch that it owns", entry.name);
        if let Some(queue) = queue {
            assert!(queue.ability.is_met_by(&queue.default), "{}", entry.name);
        }
    }
}

#[test]
fn a_remedy_requires_one_value_of_a_parameter() {
    for remedy in all() {
        let mut keys: Vec<_> =
            remedy.remedy().requires().iter().map(crate::Requirement::key).collect();
        let all = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), all, "{}", remedy.name());
    }
}

#[test]
fn a_remedy_measures_what_it_says_under_its_own_name() {
    let situation = Situation {
        servers: 2,
        sru: 65_536,
        sender_rate: incast_engine::Rate(1_000_000_000),
        client_rate: incast_engine::Rate(1_000_000_000),
        buffer: incast_engine::Limit::Packets(68),
        base_rtt: incast_engine::Span::from_micros(100),
    };
    for remedy in all() {
        let measures = remedy.remedy().measures();
        let prefix = format!("{}.", remedy.name());
        for measure in measures {
            assert!(measure.name.starts_with(&prefix), "{}", measure.name);
            assert!(measure.description.ends_with('.'), "{}", measure.name);
        }
        let values = remedy.remedy().install(&situation).measure(&Outcome::default());
        assert_eq!(values.len(), measures.len(), "{}", remedy.name());
    }
}
