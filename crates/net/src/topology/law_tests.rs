//! Laws of all topologies.

use incast_engine::Stream;
use serde_json::json;

use super::*;

fn every_entry() -> impl Iterator<Item = (&'static str, TopologyConfig)> {
    ENTRIES.iter().map(|entry| {
        let config = serde_json::from_value(json!({ "name": entry.name }));
        (entry.name, config.expect("an entry is found by its name"))
    })
}

#[test]
fn every_topology_has_a_name_sensible_defaults_and_few_enough_switches() {
    for (name, config) in every_entry() {
        assert_eq!(config.name(), name);
        let fabric = config.shape().fabric();
        assert!(fabric.switches <= 256, "{name}: pools are counted in eight bits");
    }
}

#[test]
fn every_host_has_a_place_and_a_shortest_path_to_every_other() {
    for (name, config) in every_entry() {
        let fabric = config.shape().fabric();
        let exists = |switch: &SwitchId| switch.0 < fabric.switches;
        assert!(fabric.trunks.iter().flatten().all(exists), "{name}");
        for places in [&fabric.clients, &fabric.servers] {
            assert!(!places.is_empty() && places.iter().all(exists), "{name}");
        }
        let router = Router::new(&fabric);
        let mut random = Stream::named(1, "law", 0);
        for from in (0..fabric.switches).map(SwitchId) {
            for to in (0..fabric.switches).map(SwitchId) {
                let path = router.path(from, to, |paths| random.below(paths));
                assert_eq!(path.len() as u32, router.distance(from, to), "{name}");
                let end = path.iter().fold(from, |at, crossing| {
                    let [one, other] = fabric.trunks[crossing.trunk as usize];
                    let (begin, end) = if crossing.onward { (one, other) } else { (other, one) };
                    assert_eq!(at, begin, "{name}: a path has no gaps");
                    end
                });
                assert_eq!(end, to, "{name}");
                assert!(path.len() as u32 <= router.diameter(), "{name}");
                let paths = router.paths(from, to);
                assert!(paths.contains(&path), "{name}");
                let shortest = |path: &Vec<_>| path.len() as u32 == router.distance(from, to);
                assert!(paths.iter().all(shortest), "{name}");
            }
        }
    }
}
