//! The schema is closed and documented, and agrees with the loader.

use serde_json::{Map, Value, json};

use super::super::{entries, schema};
use super::load;

/// Every table of the schema that lists properties, with its dotted key.
fn tables(schema: &Value) -> Vec<(String, &Map<String, Value>)> {
    fn walk<'a>(place: &str, value: &'a Value, found: &mut Vec<(String, &'a Map<String, Value>)>) {
        match value {
            Value::Object(table) => {
                if table.get("properties").is_some_and(Value::is_object)
                    && table.contains_key("type")
                {
                    found.push((place.to_owned(), table));
                }
                for (key, value) in table {
                    walk(&format!("{place}/{key}"), value, found);
                }
            }
            Value::Array(list) => {
                for (index, value) in list.iter().enumerate() {
                    walk(&format!("{place}/{index}"), value, found);
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    walk("", schema, &mut found);
    found
}

#[test]
fn every_table_is_closed() {
    let schema = schema();
    let tables = tables(&schema);
    assert!(tables.len() >= 10, "{}", tables.len());
    for (place, table) in tables.iter().filter(|(place, _)| place != "/properties/sweep") {
        assert_eq!(table.get("additionalProperties"), Some(&json!(false)), "{place}");
    }
}

#[test]
fn every_key_is_described_on_one_line_with_its_default() {
    // Some defaults depend on other keys or must be chosen by the user. The key's description says
    // so.
    let stated =
        |text: &str| ["No default", "no default", "Default: "].iter().any(|it| text.contains(it));
    for (place, table) in tables(&schema()) {
        for (key, property) in table["properties"].as_object().unwrap() {
            // Skip the name that identifies a variant, and tables that are described key by key.
            if property.get("const").is_some() || is_table(property) {
                continue;
            }
            let text = property["description"].as_str().unwrap_or_default();
            assert!(!text.is_empty() && !text.contains('\n'), "{place}: {key}");
            assert!(
                property.get("default").is_some() || stated(text),
                "{place}: {key}: {property}"
            );
        }
    }
}

fn is_table(property: &Value) -> bool {
    let parts = property["anyOf"].as_array().map_or(std::slice::from_ref(property), |parts| parts);
    parts.iter().all(|part| {
        let target = part["$ref"].as_str().unwrap_or_default();
        ["Network", "Workload", "Transport", "TransportConfig", "Run"]
            .iter()
            .any(|name| target == format!("#/$defs/{name}"))
    })
}

#[test]
fn every_quantity_states_its_unit() {
    for (place, table) in tables(&schema()) {
        for (key, property) in table["properties"].as_object().unwrap() {
            let target = property["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/"));
            let text = property["description"].as_str().unwrap_or_default();
            let unit = match target {
                Some("Time") => "seconds",
                Some("Rate") => "bits per second",
                Some("Size" | "Limit" | "Window") => "bytes",
                _ => continue,
            };
            assert!(text.contains(unit), "{place}: {key}: {text}");
        }
    }
}

#[test]
fn every_resolved_key_is_in_the_schema_and_has_its_type() {
    let scenario = load(&[
        ("transport.timestamps", json!(true)),
        ("transport.delayed_ack", json!(true)),
        ("background", json!([{ "name": "cbr", "rate": "1Mbps" }, { "name": "long-flow" }])),
    ]);
    let schema = schema();
    assert!(accepts(&schema, &schema, &scenario.resolved()));
    assert!(!accepts(&schema, &schema, &json!({ "titel": "x" })));
    assert!(!accepts(&schema, &schema, &json!({ "network": { "rate": 5 } })));
    assert!(!accepts(&schema, &schema, &json!({ "network": { "queue": "droptail" } })));
    assert!(!accepts(&schema, &schema, &json!({ "workload": { "servers": "many" } })));
}

/// Validates with the keywords that the schema uses, without patterns.
pub(super) fn accepts(root: &Value, schema: &Value, value: &Value) -> bool {
    let Some(schema) = schema.as_object() else { return schema != &json!(false) };
    schema.iter().all(|(keyword, given)| {
        let any = |count: fn(usize) -> bool| {
            let matching = given.as_array().unwrap().iter();
            count(matching.filter(|option| accepts(root, option, value)).count())
        };
        match keyword.as_str() {
            "$ref" => accepts(root, root.pointer(&given.as_str().unwrap()[1..]).unwrap(), value),
            "anyOf" => any(|count| count > 0),
            "oneOf" => any(|count| count == 1),
            "const" => value == given,
            "enum" => given.as_array().unwrap().contains(value),
            "type" => match given.as_str().unwrap() {
                "object" => value.is_object(),
                "array" => value.is_array(),
                "string" => value.is_string(),
                "boolean" => value.is_boolean(),
                "integer" => value.is_u64(),
                "number" => value.is_number(),
                other => panic!("unexpected type {other}"),
            },
            "minimum" => value.as_f64() >= given.as_f64(),
            "maximum" => value.as_f64() <= given.as_f64(),
            "exclusiveMinimum" => value.as_f64() > given.as_f64(),
            "exclusiveMaximum" => value.as_f64() < given.as_f64(),
            "minItems" => {
                value.as_array().map(Vec::len) >= given.as_u64().map(|least| least as usize)
            }
            "items" => value.as_array().unwrap().iter().all(|item| accepts(root, given, item)),
            "required" => given
                .as_array()
                .unwrap()
                .iter()
                .all(|key| value.get(key.as_str().unwrap()).is_some()),
            "additionalProperties" => {
                value.as_object().into_iter().flatten().all(|(key, value)| {
                    match schema.get("properties").and_then(|properties| properties.get(key)) {
                        Some(property) => accepts(root, property, value),
                        None => accepts(root, given, value),
                    }
                })
            }
            "maxItems" => {
                value.as_array().map(Vec::len) <= given.as_u64().map(|most| most as usize)
            }
            "properties" | "pattern" | "description" | "default" | "title" | "$schema"
            | "$defs" | "examples" => true,
            other => panic!("unexpected keyword {other}"),
        }
    })
}

#[test]
fn registries_are_listed_with_their_parameters() {
    let names = |kind| -> Vec<String> {
        entries(kind).unwrap().into_iter().map(|entry| entry.name).collect()
    };
    assert!(names("profiles").starts_with(&["lab".to_owned()]));
    assert!(names("workloads").contains(&"barrier-read".to_owned()));
    assert!(names("workloads").contains(&"long-flow".to_owned()));
    assert!(names("transports").contains(&"newreno".to_owned()));
    let listed = |entries: &[incast_engine::Entry]| -> Vec<String> {
        entries.iter().map(|entry| entry.name.to_owned()).collect()
    };
    assert_eq!(names("queues"), listed(incast_net::queue::ENTRIES));
    assert_eq!(names("topologies"), listed(incast_net::topology::ENTRIES));
    assert_eq!(names("recoveries"), listed(incast_tcp::recovery::ENTRIES));
    assert_eq!(names("congestion-controls"), listed(incast_tcp::congestion::ENTRIES));
    assert_eq!(entries("models"), None);

    let mut queues = entries("queues").unwrap().into_iter();
    let bernoulli = queues.find(|entry| entry.name == "bernoulli").unwrap();
    assert!(bernoulli.summary.contains("loses each packet"));
    assert_eq!(bernoulli.parameters["p"]["default"], 0.01);
    let mut workloads = entries("workloads").unwrap().into_iter();
    let read = workloads.find(|entry| entry.name == "barrier-read").unwrap();
    assert_eq!(read.parameters["sru"]["anyOf"][0]["type"], "integer", "references are replaced");
}
