//! The JSON Schema of a document, and the lists of the names that it accepts.
//!
//! The schema is derived from types and their doc comments. Its defaults come from the default
//! profile.

use std::sync::OnceLock;

use incast_host::transport::TCP;
use incast_remedies::RemedyConfig;
use incast_tcp::congestion::CongestionControlConfig;
use incast_tcp::recovery::RecoveryConfig;
use incast_transports::TransportConfig;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema, schema_for};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::profile::{self, Profile, presets};
use super::{ScenarioDocument, ranges};

/// An entry that a scenario can name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry {
    /// The name of the entry in scenarios.
    pub name: String,
    /// A description in one line.
    pub summary: String,
    /// The family of a transport; `None` for entries that are not transports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<&'static str>,
    /// JSON Schemas of the entry's parameters, without the name.
    pub parameters: Map<String, Value>,
}

/// Kinds of entries, and where the schema lists them.
const KINDS: &[(&str, &[&str])] = &[
    ("buffers", &["/$defs/Buffer"]),
    ("congestion-controls", &["/$defs/CongestionControlConfig"]),
    ("credits", &["/$defs/Credits"]),
    ("nics", &["/$defs/NicConfig"]),
    ("paths", &["/$defs/Paths"]),
    ("profiles", &["/$defs/Profile"]),
    ("queues", &["/$defs/QueueConfig"]),
    ("rates", &["/$defs/RateLaws"]),
    ("recoveries", &["/$defs/RecoveryConfig"]),
    ("remedies", &["/$defs/RemedyConfig"]),
    ("repairs", &["/$defs/Repairs"]),
    ("topologies", &["/$defs/Topology"]),
    ("transports", &["/$defs/Transport/properties/name/anyOf/0", "/$defs/TransportConfig"]),
    ("workloads", &["/$defs/Workload"]),
];

/// The entries of a registry. `kind` is one of buffers, congestion-controls, credits, nics, paths,
/// profiles, queues, rates, recoveries, remedies, repairs, topologies, transports and workloads;
/// `None` for any other kind.
pub fn entries(kind: &str) -> Option<Vec<Entry>> {
    let (_, places) = KINDS.iter().find(|(known, _)| *known == kind)?;
    let schema = schema();
    let variants = places.iter().filter_map(|place| schema.pointer(place)?["oneOf"].as_array());
    let entry = |variant: &Value| {
        let mut properties = variant["properties"].clone();
        inline(&mut properties, &schema["$defs"]);
        let mut parameters = properties.as_object().cloned().unwrap_or_default();
        let name = parameters.shift_remove("name");
        let name = name.as_ref().unwrap_or(variant)["const"].as_str()?.to_owned();
        let other = || TransportConfig::named(&name).map(|other| other.kind().family());
        let family = (kind == "transports").then(|| other().unwrap_or(TCP));
        let summary = variant["description"].as_str()?.to_owned();
        Some(Entry { name, summary, family, parameters })
    };
    variants.flatten().map(entry).collect()
}

/// The schema, built once.
pub(super) fn kept() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(schema)
}

/// The JSON Schema of a document, `[sweep]` included.
pub fn schema() -> Value {
    let mut schema = schema_for!(ScenarioDocument).to_value();
    tidy(&mut schema);
    let defaults = Profile::Lab.document();
    describe(&mut schema, &defaults);
    let definitions = &mut schema["$defs"];
    for (definition, table) in [("Network", "network"), ("Transport", "transport"), ("Run", "run")]
    {
        describe(&mut definitions[definition], &defaults[table]);
    }
    let registries = definitions.clone();
    name_entries(&mut definitions["TransportConfig"], &registries);
    for variant in variants(&mut definitions["Workload"]) {
        // A sweep may give keys that the table omits.
        let is_default = variant["properties"]["name"]["const"] == profile::WORKLOAD;
        variant["required"] = if is_default { json!([]) } else { json!(["name"]) };
    }
    schema["properties"]["sweep"] = json!({
        "type": "object",
        "description": "The values to try: dotted keys with lists. The plan is the cross product of \
            the lists, and the first key changes slowest; no default.",
        "properties": {
            "zip": {
                "type": "array",
                "items": { "type": "object", "additionalProperties": { "$ref": "#/$defs/Axis" } },
                "description": "Paired axes: a list of tables. The lists of a table have equal \
                    lengths, and the plan combines their first values, their second values, and \
                    so on; no default.",
            },
        },
        "additionalProperties": { "$ref": "#/$defs/Axis" },
    });
    schema["$defs"]["Axis"] = json!({
        "description": "A list of values for a dotted key, or a table of such lists.",
        "anyOf": [
            { "type": "array", "minItems": 1 },
            { "type": "object", "additionalProperties": { "$ref": "#/$defs/Axis" } },
        ],
    });
    schema
}

/// The schema of a registry entry: its name, or a table with its parameters.
pub(super) fn name_or_table<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    let table = generator.subschema_for::<T>();
    let mut full = T::json_schema(generator).to_value();
    let names: Vec<_> =
        variants(&mut full).map(|variant| variant["properties"]["name"]["const"].take()).collect();
    json_schema!({ "anyOf": [{ "enum": names }, table] })
}

/// The schema of a list of registry entries.
pub(super) fn names_or_tables<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    let items = name_or_table::<T>(generator);
    json_schema!({ "type": "array", "items": items })
}

/// The schema of `transport.name`: the name of a preset, or a table. The table has the preset's
/// name and the parameters of the part with this name.
pub(super) fn preset_name(generator: &mut SchemaGenerator) -> Schema {
    let names = presets().map(|(name, summary)| json!({ "const": name, "description": summary }));
    let name = json!({ "oneOf": names.collect::<Vec<_>>() });
    let parts = [
        generator.subschema_for::<RemedyConfig>(),
        generator.subschema_for::<RecoveryConfig>(),
        generator.subschema_for::<CongestionControlConfig>(),
    ];
    let alternatives: Vec<_> = std::iter::once(name).chain(parts.map(Schema::to_value)).collect();
    json_schema!({ "anyOf": alternatives })
}

/// Lets the keys of tables that take an entry of a registry also take only its name.
fn name_entries(tables: &mut Value, definitions: &Value) {
    let properties = variants(tables).filter_map(|table| table["properties"].as_object_mut());
    for property in properties.flat_map(Map::values_mut) {
        let entry = property.as_object_mut().and_then(|it| it.shift_remove("$ref"));
        let Some(place) = entry.as_ref().and_then(Value::as_str) else { continue };
        let mut full = definitions[place.rsplit('/').next().unwrap_or_default()].clone();
        let names: Vec<_> = variants(&mut full)
            .filter_map(|one| one.pointer_mut("/properties/name/const").map(Value::take))
            .collect();
        let table = json!({ "$ref": entry });
        let both = json!({ "anyOf": [{ "enum": names }, table] });
        let whole = if names.is_empty() { table } else { both };
        property.as_object_mut().into_iter().for_each(|it| {
            it.extend(whole.as_object().cloned().unwrap_or_default());
        });
    }
}

fn variants(schema: &mut Value) -> impl Iterator<Item = &mut Value> {
    schema["oneOf"].as_array_mut().into_iter().flatten()
}

/// Writes the defaults into the properties of a table.
fn describe(table: &mut Value, defaults: &Value) {
    let properties = table["properties"].as_object_mut().into_iter().flatten();
    for (key, property) in properties {
        let default = &defaults[key];
        // Tables are described key by key at their definition.
        let parts = property["anyOf"].as_array().map_or(std::slice::from_ref(&*property), |it| it);
        let elsewhere = default.is_object() && parts.iter().all(|it| it.get("$ref").is_some());
        if !default.is_null() && !elsewhere {
            property["default"] = default.clone();
        }
    }
    // A sweep may give keys that the table omits. In variants other than the default, only the name
    // is required.
    if let Some(required) = table["required"].as_array_mut() {
        required.retain(|key| key == "name" && defaults["name"].is_null());
    }
}

/// Writes ranges. Removes number formats, line breaks, and `null` for missing values, because only
/// Rust needs them.
fn tidy(schema: &mut Value) {
    match schema {
        Value::Array(list) => list.iter_mut().for_each(tidy),
        Value::Object(table) => {
            ranges::settle(table);
            table.values_mut().for_each(tidy);
            ranges::complete(table);
            table.shift_remove("format");
            // schemars writes `unevaluatedProperties` for flat tables.
            if table.shift_remove("unevaluatedProperties").is_some() {
                table.insert("additionalProperties".to_owned(), json!(false));
            }
            if let Some(Value::String(text)) = table.get_mut("description") {
                *text = text.replace('\n', " ");
            }
            if let Some(Value::Array(types)) = table.get_mut("type") {
                types.retain(|name| name != "null");
                let only = types.remove(0);
                table["type"] = only;
            }
            if let Some(Value::Array(alternatives)) = table.get_mut("anyOf")
                && alternatives.last() == Some(&json!({ "type": "null" }))
            {
                let only = alternatives[0].take();
                table.shift_remove("anyOf");
                table.extend(only.as_object().cloned().unwrap_or_default());
            }
        }
        _ => {}
    }
}

/// Replaces references by their targets; keys next to a reference take precedence.
fn inline(schema: &mut Value, definitions: &Value) {
    match schema {
        Value::Array(list) => list.iter_mut().for_each(|item| inline(item, definitions)),
        Value::Object(table) => {
            let target = table.shift_remove("$ref");
            let name =
                target.as_ref().and_then(Value::as_str).and_then(|path| path.rsplit('/').next());
            if let Some(definition) = name.and_then(|name| definitions[name].as_object()) {
                for (key, value) in definition {
                    table.entry(key).or_insert_with(|| value.clone());
                }
            }
            table.values_mut().for_each(|value| inline(value, definitions));
        }
        _ => {}
    }
}
