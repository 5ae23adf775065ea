//! The scenarios in the project's `scenarios` folder.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::super::{from_toml, schema};
use super::plan;

fn scenario(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(name);
    from_toml(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn every_scenario_file_plans_and_fits_the_schema() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut files = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let document = from_toml(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        let plan = plan(&document).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        assert!(!plan.points[0].scenario.title.is_empty(), "{path:?} has no title");
        let schema = schema();
        assert!(super::schema::accepts(&schema, &schema, &document), "{path:?}: not in the schema");
        files += 1;
    }
    assert!(files >= 4, "{files}");
}

#[test]
fn the_scenario_that_ranks_transports_knows_all_of_tcp_but_remedies() {
    let document = scenario("which-transport.toml");
    let ranked = document["sweep"]["transport.name"].as_array().unwrap();
    let remedies = schema::entries("remedies").unwrap();
    for entry in schema::entries("transports").unwrap() {
        if entry.family != Some("tcp") || remedies.iter().any(|remedy| remedy.name == entry.name) {
            continue;
        }
        assert!(ranked.contains(&entry.name.clone().into()), "{}", entry.name);
    }
}

#[test]
fn the_scenario_that_ranks_remedies_knows_all_of_them() {
    let points = plan(&scenario("remedies.toml")).unwrap().points;
    let used: Vec<_> = points
        .iter()
        .flat_map(|point| point.scenario.transport.remedies())
        .map(incast_remedies::RemedyConfig::name)
        .collect();
    for entry in schema::entries("remedies").unwrap() {
        assert!(used.contains(&entry.name.as_str()), "{}", entry.name);
    }
}
