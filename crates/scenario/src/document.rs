//! Documents: merges two documents, and reads a document as a type, with errors that name the key.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use serde_path_to_error::{Path, Segment};

use super::ScenarioError;

/// Groups of alternative keys. A document that gives one key of a group removes the defaults of the
/// other keys.
const ALTERNATIVES: &[&[&str]] =
    &[&["delay", "base_rtt"], &["sru", "block"], &["blocks", "duration"]];

/// Merges `over` into `base`. Tables merge key by key. Other values of `over` replace the values of
/// `base`.
///
/// A registry name means a table with only `name`. If `over` changes the name, the parameters in
/// `base` are dropped, because they belong to another entry. `null` means "not given", and `true`
/// keeps and enables a table of `base`. A key of `over` removes its [`ALTERNATIVES`] from `base`.
pub(super) fn lay(base: &mut Value, over: &Value) {
    match (base, over) {
        (_, Value::Null) | (Value::Object(_), Value::Bool(true)) => {}
        (Value::Object(base), Value::String(name)) if base.contains_key("name") => {
            lay_table(base, &Map::from_iter([("name".to_owned(), json!(name))]));
        }
        (Value::Object(base), Value::Object(over)) => lay_table(base, over),
        (base, over) => *base = over.clone(),
    }
}

fn lay_table(base: &mut Map<String, Value>, over: &Map<String, Value>) {
    if let (Some(old), Some(new)) = (base.get("name"), over.get("name"))
        && old != new
        && !new.is_null()
    {
        base.clear();
    }
    for (key, value) in over.iter().filter(|(_, value)| !value.is_null()) {
        for group in ALTERNATIVES.iter().filter(|group| group.contains(&key.as_str())) {
            base.retain(|other, _| !group.contains(&other.as_str()) || over.contains_key(other));
        }
        match base.get_mut(key) {
            Some(old) => lay(old, value),
            None => drop(base.insert(key.clone(), value.clone())),
        }
    }
}

/// Sets a dotted key to `value` and creates missing tables; a number is an index into a list.
pub(super) fn set(document: &mut Value, dotted: &str, value: &Value) -> Result<(), ScenarioError> {
    let mut place = document;
    for part in dotted.split('.') {
        if let Value::String(name) = place {
            *place = json!({ "name": name });
        }
        let index = part.parse::<usize>().ok().filter(|_| !place.is_object());
        if let Some(index) = index {
            let entries = place.as_array().map_or(0, Vec::len);
            place = place.get_mut(index).ok_or_else(|| {
                let message =
                    format!("there is no entry {index} (0 is the first) in a list of {entries}");
                ScenarioError::new(dotted, message)
            })?;
        } else {
            if !place.is_object() {
                *place = json!({});
            }
            place = &mut place[part];
        }
    }
    place.clone_from(value);
    Ok(())
}

/// The largest number of traffic tables in a list. Each table is a group.
const MOST_TABLES: usize = 1000;

/// Refuses a value where a table is expected, because the merge needs tables there.
pub(super) fn check_tables(document: &Map<String, Value>) -> Result<(), ScenarioError> {
    let named = |value: &Value| value.is_string() || value.is_object() || value.is_null();
    let refuse = |key: String, value: &Value, what: &str| {
        Err(ScenarioError::new(key, format!("{value} is not {what}")))
    };
    for key in ["network", "run"] {
        let value = document.get(key).unwrap_or(&Value::Null);
        if !value.is_object() && !value.is_null() {
            return refuse(key.to_owned(), value, &format!("a table; write e.g. {}", example(key)));
        }
    }
    let workload = document.get("workload").unwrap_or(&Value::Null);
    if !workload.is_array() && !named(workload) {
        let what =
            format!("a name, a table or a list of tables; write e.g. {}", example("workload"));
        return refuse("workload".to_owned(), workload, &what);
    }
    let transport = document.get("transport").unwrap_or(&Value::Null);
    if !named(transport) {
        let what = format!("a name or a table; write e.g. {}", example("transport"));
        return refuse("transport".to_owned(), transport, &what);
    }
    let background = document.get("background").unwrap_or(&Value::Null);
    if !background.is_array() && !background.is_null() {
        let what = format!("a list of tables; write e.g. {}", example("background"));
        return refuse("background".to_owned(), background, &what);
    }
    for (key, list) in [("workload", workload), ("background", background)] {
        let tables = list.as_array().map_or(&[][..], Vec::as_slice);
        if tables.len() > MOST_TABLES {
            let message =
                format!("{} tables are more than {MOST_TABLES}; write fewer", tables.len());
            return Err(ScenarioError::new(key, message));
        }
        if tables.is_empty() && key == "workload" && list.is_array() {
            return Err(ScenarioError::new(key, "must have at least one table"));
        }
        for (index, table) in tables.iter().enumerate() {
            let key = format!("{key}.{index}");
            if !table.is_object() {
                let what = format!("a table; write e.g. {}", example(&key));
                return refuse(key, table, &what);
            }
            if !named(&table["transport"]) {
                let what = format!("a name or a table; write e.g. {}", example("transport"));
                return refuse(format!("{key}.transport"), &table["transport"], &what);
            }
        }
    }
    let transport = &workload["transport"];
    if !named(transport) {
        let what = format!("a name or a table; write e.g. {}", example("transport"));
        return refuse("workload.transport".to_owned(), transport, &what);
    }
    Ok(())
}

/// Examples of the accepted types, for an error.
fn example(table: &str) -> &'static str {
    match table {
        "network" => "{ rate = \"1Gbps\" }",
        "run" => "{ seeds = 20 }",
        table if table.starts_with("workload") => "{ servers = 8, sru = \"64KiB\" }",
        "background" => "[{ name = \"cbr\", rate = \"1Mbps\" }]",
        table if table.starts_with("background") => "{ name = \"cbr\", rate = \"1Mbps\" }",
        _ => "\"newreno\" or { rto_min = \"1ms\" }",
    }
}

/// Reads `document` as a `T`.
pub(super) fn read<T: DeserializeOwned>(document: &Value) -> Result<T, ScenarioError> {
    read_raw(document).map_err(|error| {
        let mut path = keys(error.path());
        let raw = error.inner().to_string();
        if raw.starts_with(UNKNOWN_KEY) && path.last().is_some_and(|key| names(&raw)[0] == key) {
            path.pop();
        }
        if !raw.starts_with(MISSING_KEY) {
            blame::<T>(document, &mut path, &raw);
        }
        explain(document, path, &raw)
    })
}

fn read_raw<T: DeserializeOwned>(
    document: &Value,
) -> Result<T, serde_path_to_error::Error<serde_json::Error>> {
    serde_path_to_error::deserialize(document)
}

/// The keys of a path, without names of enum variants.
fn keys(path: &Path) -> Vec<String> {
    path.iter()
        .filter(|segment| matches!(segment, Segment::Seq { .. } | Segment::Map { .. }))
        .map(ToString::to_string)
        .map(|key| key.trim_matches(['[', ']']).to_owned())
        .collect()
}

/// Extends `path` to the wrong key.
///
/// serde buffers a table that is tagged by its `name`, so the path of its error ends at this table.
/// The wrong key is the key that causes the same error when the table has only this key and the
/// name. In a list, the wrong entry is the entry that causes the error when the list has no other
/// entry.
fn blame<T: DeserializeOwned>(document: &Value, path: &mut Vec<String>, raw: &str) {
    let fails = |path: &[String], alone: Value| {
        let mut trial = document.clone();
        if let Some(place) = trial.pointer_mut(&pointer(path)) {
            *place = alone;
        }
        read_raw::<T>(&trial).is_err_and(|error| error.inner().to_string() == raw)
    };
    loop {
        let table = match document.pointer(&pointer(path)) {
            Some(Value::Object(table)) => table,
            Some(Value::Array(list)) => {
                let culprit = list.iter().position(|entry| fails(path, json!([entry])));
                let Some(index) = culprit.filter(|_| !fails(path, json!([]))) else { return };
                path.push(index.to_string());
                continue;
            }
            _ => return,
        };
        let name = table.get_key_value("name");
        // Try the name first, because with a wrong name all other keys seem wrong, too.
        let culprit = name.into_iter().chain(table).find(|suspect| {
            let pair = name.into_iter().chain([*suspect]);
            fails(path, pair.map(|(key, value)| (key.clone(), value.clone())).collect())
        });
        match culprit {
            // For an unknown key, `explain` appends the key to the path.
            Some((key, _)) if !raw.starts_with(&format!("{UNKNOWN_KEY} `{key}`")) => {
                path.push(key.clone());
            }
            _ => return,
        }
    }
}

fn pointer(path: &[String]) -> String {
    path.iter().flat_map(|key| ["/", key]).collect()
}

const UNKNOWN_KEY: &str = "unknown field";
const UNKNOWN_NAME: &str = "unknown variant";
pub(super) const MISSING_KEY: &str = "missing field";

/// The names in serde's message: first the given name, then the accepted names.
fn names(raw: &str) -> Vec<&str> {
    raw.split('`').skip(1).step_by(2).collect()
}

/// The expected values as serde's messages name them, each with its name in plain words.
const EXPECTATIONS: &[(&str, &str)] = &[
    ("u32", "a whole number from 0 to 1000000000"),
    ("u64", "a whole number of at least 0"),
    ("f64", "a number"),
    ("a boolean", "true or false"),
    ("a string", "a string in quotes"),
    ("a sequence", "a list"),
    ("string or map", "a name in quotes"),
    ("variant identifier", "a name in quotes"),
];

/// Rewrites serde's message: the given value, and the accepted values.
fn explain(document: &Value, mut path: Vec<String>, raw: &str) -> ScenarioError {
    let names = names(raw);
    let given = document.pointer(&pointer(&path)).map(Value::to_string).unwrap_or_default();
    let message = if raw.starts_with(UNKNOWN_KEY) {
        let (key, valid) = (names[0], &names[1..]);
        let elsewhere = document.as_object().into_iter().flatten().find(|(table, keys)| {
            key != "name" && path.first() != Some(table) && keys.get(key).is_some()
        });
        let part = document.pointer(&format!("{}/name", pointer(&path)));
        let known = match part {
            Some(name) if valid.is_empty() => format!("{name} takes no parameters"),
            _ => suggest_among(key, valid, true),
        };
        path.push(key.to_owned());
        match elsewhere {
            // In a nested table, the key is more likely a misspelt parameter than a misplaced key.
            Some((table, _)) if path.len() > 2 && !valid.is_empty() => {
                format!(
                    "unknown key; accepted: {}; [{table}] has a key of that name",
                    valid.join(", ")
                )
            }
            Some((table, _)) => format!("unknown key here; it belongs in [{table}]"),
            None => format!("unknown key; {known}"),
        }
    } else if raw.starts_with(UNKNOWN_NAME) {
        format!("{:?} is unknown; {}", names[0], suggest(names[0], &names[1..]))
    } else if raw.starts_with(MISSING_KEY) {
        path.push(names[0].to_owned());
        "missing; it has no default".to_owned()
    } else if let Some((_, expected)) = raw.split_once(", expected ") {
        let plain = EXPECTATIONS.iter().find(|(serde, _)| *serde == expected);
        let expected = plain.map_or(expected, |(_, plain)| plain);
        // Lists of values belong in a sweep.
        let several = match (expected, given.starts_with('[')) {
            ("a list", false) => ", or, in a sweep, a list of lists: [[…], […]]",
            (_, true) if expected != "a list" => {
                "; several values belong under [sweep], or in --set sweep.KEY=[…]"
            }
            _ => "",
        };
        format!("{given} is not accepted; write {expected}{several}")
    } else {
        raw.to_owned()
    };
    ScenarioError::new(path.join("."), message)
}

/// The valid name most similar to `given`, or all of them if none is similar.
pub(super) fn suggest(given: &str, valid: &[&str]) -> String {
    suggest_among(given, valid, false)
}

/// Similarity of two names, 0 to 1. Names with the same letters are similar, such as `minrto` and
/// `rto_min`.
fn likeness(given: &str, name: &str) -> f64 {
    const SAME_LETTERS: f64 = 0.95;
    let letters = |text: &str| {
        let mut found: Vec<char> = text.to_lowercase().chars().collect();
        found.retain(|letter| letter.is_alphanumeric());
        found.sort_unstable();
        found
    };
    let same = letters(given) == letters(name);
    strsim::jaro_winkler(given, name).max(if same { SAME_LETTERS } else { 0.0 })
}

fn suggest_among(given: &str, valid: &[&str], are_keys: bool) -> String {
    let nearest = valid
        .iter()
        .map(|name| (likeness(given, name), name))
        .max_by(|(one, _), (other, _)| one.total_cmp(other));
    match nearest {
        // A table may have too many keys to list them all. A registry has few names.
        Some((likeness, name)) if likeness > 0.8 && valid.len() > 8 && are_keys => {
            format!("did you mean {name:?}?")
        }
        Some((likeness, name)) if likeness > 0.8 => {
            format!("did you mean {name:?}? accepted: {}", valid.join(", "))
        }
        _ if valid.is_empty() => "no key is accepted here".to_owned(),
        _ => format!("accepted: {}", valid.join(", ")),
    }
}
