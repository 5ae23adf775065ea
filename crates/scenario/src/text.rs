//! Reads scenarios in TOML, and returns the trees of their documents. Invalid TOML is an error with
//! its line and column. The text of every scenario is read here, whether it comes from a file or is
//! pasted into a browser.

use std::ops::Range;

use serde_json::{Map, Number, Value};
use toml::de::{DeInteger, DeTable, DeValue, Error};

use super::ScenarioError;

/// The largest depth of nested tables and lists.
const DEEPEST: usize = 64;

const TOO_DEEP: &str = "tables or lists are nested too deeply";

/// Reads TOML as a document, the argument of [`super::plan`]. Dates become strings.
///
/// # Errors
/// The text is not TOML, or a number in it is not finite or has more than 64 bits.
pub fn document(text: &str) -> Result<Value, ScenarioError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let table = DeTable::parse(text).map_err(|error| not_toml(text, &error))?;
    tree(table.into_inner(), "", 0)
}

fn tree(table: DeTable<'_>, key: &str, depth: usize) -> Result<Value, ScenarioError> {
    let mut map = Map::new();
    for (name, below) in table {
        let name = name.into_inner();
        let below = value(below.into_inner(), &dotted(key, &name), depth + 1)?;
        map.insert(name.into_owned(), below);
    }
    Ok(Value::Object(map))
}

fn value(value: DeValue<'_>, key: &str, depth: usize) -> Result<Value, ScenarioError> {
    if depth > DEEPEST {
        return Err(ScenarioError::new(key, TOO_DEEP));
    }
    match value {
        DeValue::String(text) => Ok(text.into_owned().into()),
        DeValue::Boolean(flag) => Ok(flag.into()),
        DeValue::Datetime(date) => Ok(date.to_string().into()),
        DeValue::Integer(number) => whole(&number, key),
        DeValue::Float(number) => finite(number.as_str(), key),
        DeValue::Table(table) => tree(table, key, depth),
        DeValue::Array(list) => list
            .into_iter()
            .enumerate()
            .map(|(index, entry)| {
                self::value(entry.into_inner(), &dotted(key, &index.to_string()), depth + 1)
            })
            .collect(),
    }
}

fn dotted(key: &str, name: &str) -> String {
    if key.is_empty() { name.to_owned() } else { format!("{key}.{name}") }
}

fn whole(number: &DeInteger<'_>, key: &str) -> Result<Value, ScenarioError> {
    let read = i128::from_str_radix(number.as_str(), number.radix()).ok();
    let number_read = read.and_then(Number::from_i128).filter(|it| it.is_i64() || it.is_u64());
    number_read.map(Value::Number).ok_or_else(|| {
        let digits = number.as_str().chars().filter(char::is_ascii_alphanumeric).count();
        let most = u64::MAX;
        let why = format!("a number of {digits} digits is too large; write at most {most}");
        ScenarioError::new(key, why)
    })
}

fn finite(number: &str, key: &str) -> Result<Value, ScenarioError> {
    let read = number.parse().ok().and_then(Number::from_f64);
    read.map(Value::Number)
        .ok_or_else(|| ScenarioError::new(key, format!("must be a finite number, not {number}")))
}

fn not_toml(text: &str, error: &Error) -> ScenarioError {
    let span = error.span().unwrap_or(text.len()..text.len());
    let (line, column) = place(text, span.start);
    let why = bare(text, &span, error.message()).unwrap_or_else(|| plainer(text, &span, error));
    ScenarioError::new(format!("line {line}, column {column}"), format!("not valid TOML: {why}"))
}

/// The line and the column of the byte `at` in a text, counted from 1 as in editors.
fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

/// Rewrites a message of the parser in plain words.
fn plainer(text: &str, span: &Range<usize>, error: &Error) -> String {
    let there = text.get(span.clone()).unwrap_or_default();
    match error.message() {
        told if told.contains("recurs") => TOO_DEEP.to_owned(),
        "duplicate key" => format!("{there} is given twice"),
        told if told.starts_with("string values must be quoted") => {
            "there is no value; a string must be in quotes".to_owned()
        }
        told if told.starts_with("invalid basic string, expected `\"`")
            || told.starts_with("invalid literal string, expected `'`") =>
        {
            "the closing quote is missing".to_owned()
        }
        "missing comma between array elements, expected `,`" => {
            "a list continues with `,` or ends with `]`".to_owned()
        }
        told if told.starts_with("missing comma between key-value pairs") => {
            "a table in braces continues with `,` or ends with `}`".to_owned()
        }
        told => told.replace(", expected nothing", ""),
    }
}

/// Explains that quotes are missing, if the error is a bare word, such as `1Gbps`, instead of a
/// value.
fn bare(text: &str, span: &Range<usize>, told: &str) -> Option<String> {
    if told == "duplicate key" || told.starts_with("unclosed") {
        return None;
    }
    let part = |c: char| c.is_alphanumeric() || "._^+-/%“”‘’".contains(c);
    let (before, after) = text.split_at_checked(span.start)?;
    let start = before.trim_end_matches(part).len();
    let end = span.start + after.len() - after.trim_start_matches(|c| part(c) || c == ' ').len();
    let word = text[start..end].trim().trim_matches(['“', '”', '‘', '’']);
    let before = text[..start].trim_end_matches([' ', '\t']);
    let is_value = before.ends_with(['=', '[', ',']);
    if !is_value || !word.contains(char::is_alphabetic) || DeValue::parse(word).is_ok() {
        return None;
    }
    if ["true", "false"].iter().any(|flag| word.eq_ignore_ascii_case(flag)) {
        return Some(format!("write {} in small letters", word.to_lowercase()));
    }
    // In a list or an inline table, the message shows only the word.
    let line = before.rsplit('\n').next().unwrap_or_default();
    let key = line.strip_suffix('=').filter(|key| !key.contains('=')).map(str::trim);
    let key = key.map(|key| format!("{key} = ")).unwrap_or_default();
    Some(format!("quantities and names must be in quotes: {key}\"{word}\""))
}
