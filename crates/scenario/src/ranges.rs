//! The ranges of numbers. Documents are checked against the ranges of the schema.

use serde_json::{Map, Value, json};

use super::ScenarioError;

/// The default upper bound of counts: a billion.
pub(super) const MOST: u64 = 1_000_000_000;

/// The bounds of a range in a schema.
const ENDS: [&str; 4] = ["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"];

/// If a key accepts a number or a name, moves its range into the schema of the number.
pub(super) fn settle(schema: &mut Map<String, Value>) {
    if !schema.contains_key("anyOf") {
        return;
    }
    for end in ENDS {
        let Some(value) = schema.shift_remove(end) else { continue };
        for variant in schema["anyOf"].as_array_mut().into_iter().flatten() {
            if variant["type"] == "integer" || variant["type"] == "number" {
                variant[end] = value.clone();
            }
        }
    }
}

/// Writes the range of a number into its schema, if it has none.
pub(super) fn complete(schema: &mut Map<String, Value>) {
    let most = match schema.get("format").and_then(Value::as_str) {
        Some("uint8") => json!(u8::MAX),
        Some("uint16") => json!(u16::MAX),
        Some("uint32" | "uint64" | "uint") => json!(MOST),
        Some("double") => json!(MOST as f64),
        _ => return,
    };
    let least = if most.is_f64() { json!(0.0) } else { json!(0) };
    for (end, open, value) in
        [("minimum", "exclusiveMinimum", least), ("maximum", "exclusiveMaximum", most)]
    {
        if !schema.contains_key(open) {
            schema.entry(end).or_insert(value);
        }
    }
}

/// Refuses numbers outside the ranges of the schema `root`, in a document that has been read.
pub(super) fn check(document: &Value, root: &Value) -> Result<(), ScenarioError> {
    Walk { root }.check(document, root, &mut Vec::new())
}

/// Refuses numbers outside the ranges of a registry entry, called `definition` in the schema
/// `root`. Errors have keys below `key`.
pub(super) fn check_entry(
    entry: &Value,
    definition: &str,
    key: &str,
    root: &Value,
) -> Result<(), ScenarioError> {
    Walk { root }.check(entry, &root["$defs"][definition], &mut vec![key.to_owned()])
}

/// The error for a number outside the range of its schema.
fn refusal(number: &Value, schema: &Value) -> Option<String> {
    let [least, above, most, below] = ENDS.map(|end| &schema[end]);
    let beyond = |end: &Value, by: fn(&f64, &f64) -> bool| {
        end.as_f64().zip(number.as_f64()).is_some_and(|(end, it)| by(&it, &end))
    };
    let within = !(beyond(least, f64::lt)
        || beyond(above, f64::le)
        || beyond(most, f64::gt)
        || beyond(below, f64::ge));
    if within {
        return None;
    }
    let range = match [least, above, most, below].map(|end| end.is_number().then(|| plain(end))) {
        [Some(least), _, Some(most), _] => format!("{least} to {most}"),
        [least, above, most, below] => {
            let told = |word: &str, end: Option<String>| end.map(|end| format!("{word} {end}"));
            let low = told("above", above).or(told("at least", least));
            let high = told("below", below).or(told("at most", most));
            [low, high].into_iter().flatten().collect::<Vec<_>>().join(" and ")
        }
    };
    Some(format!("{} is out of range; must be {range}", plain(number)))
}

/// A number without a redundant fraction.
fn plain(number: &Value) -> String {
    let text = number.to_string();
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

struct Walk<'a> {
    root: &'a Value,
}

impl<'a> Walk<'a> {
    fn check(
        &self,
        value: &Value,
        schema: &'a Value,
        path: &mut Vec<String>,
    ) -> Result<(), ScenarioError> {
        let schema = self.resolve(schema);
        for kind in ["anyOf", "oneOf"] {
            for variant in schema[kind].as_array().into_iter().flatten() {
                let variant = self.resolve(variant);
                let name = &variant["properties"]["name"]["const"];
                if name.is_null() || *name == value["name"] {
                    self.check(value, variant, path)?;
                }
            }
        }
        match value {
            Value::Object(table) => {
                for (key, value) in table {
                    if let Some(property) = schema["properties"].get(key) {
                        path.push(key.clone());
                        self.check(value, property, path)?;
                        path.pop();
                    }
                }
            }
            Value::Array(list) if schema["items"].is_object() => {
                for (index, value) in list.iter().enumerate() {
                    path.push(index.to_string());
                    self.check(value, &schema["items"], path)?;
                    path.pop();
                }
            }
            Value::Number(_) => {
                if let Some(message) = refusal(value, schema) {
                    return Err(ScenarioError::new(path.join("."), message));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn resolve(&self, schema: &'a Value) -> &'a Value {
        let target = schema["$ref"].as_str().and_then(|place| place.strip_prefix('#'));
        target.and_then(|place| self.root.pointer(place)).unwrap_or(schema)
    }
}
