//! The ranges of numbers: documents are checked against those of the schema.

use serde_json::{Map, Value, json};

use super::ScenarioError;

/// The default upper bound of counts: a billion.
pub(super) const MOST: u64 = 1_000_000_000;

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
    schema.entry("minimum").or_insert(least);
    schema.entry("maximum").or_insert(most);
}

/// Refuses numbers beyond the ranges that the schema, `root`, states, in a document that has been
/// read.
pub(super) fn check(document: &Value, root: &Value) -> Result<(), ScenarioError> {
    Walk { root }.check(document, root, &mut Vec::new())
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
            Value::Number(number) => {
                let (least, most) = (&schema["minimum"], &schema["maximum"]);
                let beyond = |end: &Value, by: fn(&f64, &f64) -> bool| {
                    end.as_f64().zip(number.as_f64()).is_some_and(|(end, it)| by(&it, &end))
                };
                if beyond(least, f64::lt) || beyond(most, f64::gt) {
                    let [number, least, most] = [value, least, most].map(plain);
                    let message = format!("{number} is out of range; must be {least} to {most}");
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
