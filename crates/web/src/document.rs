//! Documents for JavaScript. All numbers of JavaScript are floats, so JavaScript cannot distinguish
//! 16 from 16.0, but a scenario distinguishes them. Whole numbers are therefore passed as strings
//! of digits, and strings get a quote in front.

use serde_json::Value;

/// Writes whole numbers as strings, and strings with a quote in front: `16` becomes `"16"`, and
/// `"a"` becomes `"'a"`.
pub fn pack(value: Value) -> Value {
    match value {
        Value::Number(number) if !number.is_f64() => number.to_string().into(),
        Value::String(text) => format!("'{text}").into(),
        Value::Array(list) => list.into_iter().map(pack).collect(),
        Value::Object(table) => table.into_iter().map(|(key, value)| (key, pack(value))).collect(),
        other => other,
    }
}
