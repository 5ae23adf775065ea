//! Documents for JavaScript, whose numbers are all floats, so that it cannot distinguish 16 from
//! 16.0 as a scenario does. Whole numbers are passed as strings of digits, and strings with a quote
//! in front.

use serde_json::Value;

/// Writes whole numbers as strings: `16` as `"16"`, `"a"` as `"'a"`.
pub fn pack(value: Value) -> Value {
    match value {
        Value::Number(number) if !number.is_f64() => number.to_string().into(),
        Value::String(text) => format!("'{text}").into(),
        Value::Array(list) => list.into_iter().map(pack).collect(),
        Value::Object(table) => table.into_iter().map(|(key, value)| (key, pack(value))).collect(),
        other => other,
    }
}
