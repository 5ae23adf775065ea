//! `transport.remedies`: which remedies are at work, what they set, and whether they agree.

use incast_remedies::{ENTRIES, RemedyConfig, Slot};
use serde_json::{Value, json};

use super::document::{lay, read};
use super::{Network, Scenario, ScenarioError};

/// The parts of a transport that is named after a remedy: those of its profile, and the remedy.
pub(super) fn preset(name: &str) -> Option<Value> {
    let entry = ENTRIES.iter().find(|entry| entry.name == name)?;
    Some(json!({ "remedies": [{ "name": entry.name }] }))
}

/// Writes names in a list of remedies as tables.
pub(super) fn write_out(transport: &mut Value) {
    for entry in transport["remedies"].as_array_mut().into_iter().flatten() {
        if entry.is_string() {
            *entry = json!({ "name": entry });
        }
    }
}

/// Lays what the remedies of a document set between the defaults and what was `given`, and the
/// queue that they need where none is given.
pub(super) fn lay_settings(document: &mut Value, given: &Value) {
    for remedy in as_written(&document["transport"]) {
        lay(document, &remedy.remedy().sets());
        if given["network"]["queue"].is_null()
            && let Some(queue) = remedy.remedy().queue()
        {
            lay(document, &json!({ "network": { "queue": queue } }));
        }
    }
    for table in ["network", "transport"] {
        let Some(keys) = given[table].as_object() else { continue };
        let explicit = keys.iter().filter(|(key, _)| !matches!(key.as_str(), "name" | "remedies"));
        let layer: Value = explicit.map(|(key, value)| (key.clone(), value.clone())).collect();
        lay(document, &json!({ table: layer }));
    }
}

/// What cannot be read is refused later, with its key.
fn as_written(transport: &Value) -> Vec<RemedyConfig> {
    let list = transport["remedies"].as_array().into_iter().flatten();
    list.filter_map(|entry| serde_json::from_value(entry.clone()).ok()).collect()
}

/// Refuses remedies whose parameters make no sense or which own the same part, in the table called
/// `table`.
pub(super) fn check(remedies: &[RemedyConfig], table: &str) -> Result<(), ScenarioError> {
    for (index, remedy) in remedies.iter().enumerate() {
        if let Err(fault) = remedy.remedy().check() {
            let key = format!("{table}.remedies.{index}.{}", fault.key);
            return Err(ScenarioError::new(key, fault.message));
        }
        for other in &remedies[..index] {
            let shared =
                remedy.remedy().slots().iter().find(|slot| other.remedy().slots().contains(slot));
            let twice = remedy.name() == other.name();
            if shared.is_some() || twice {
                let why =
                    shared.map_or("is there twice".to_owned(), |slot| format!("both own {slot}"));
                let message =
                    format!("{:?} and {:?} do not combine: {why}", other.name(), remedy.name());
                return Err(ScenarioError::new(format!("{table}.remedies"), message));
            }
        }
    }
    Ok(())
}

/// Refuses remedies that order requests, for connections that nobody asks anything.
pub(super) fn check_endless(remedies: &[RemedyConfig], table: &str) -> Result<(), ScenarioError> {
    let Some(remedy) = remedies.iter().find(|it| it.remedy().slots().contains(&Slot::Schedule))
    else {
        return Ok(());
    };
    let message = format!("{:?} owns {}, and a long flow has none", remedy.name(), Slot::Schedule);
    Err(ScenarioError::new(format!("{table}.remedies"), message))
}

/// Refuses a queue or a buffer that a remedy cannot use.
pub(super) fn check_switch(
    remedies: &[RemedyConfig],
    network: &Network,
) -> Result<(), ScenarioError> {
    for remedy in remedies {
        if let Err(needs) = remedy.remedy().accepts(&network.queue) {
            let queue = json!(network.queue)["name"].clone();
            let message =
                format!("{queue} does not do for the remedy {:?}: {needs}", remedy.name());
            return Err(ScenarioError::new("network.queue", message));
        }
        let limits = [network.buffer].into_iter().chain(network.pool.map(|pool| pool.total));
        for limit in limits {
            if let Err(needs) = remedy.remedy().accepts_buffer(limit) {
                let message =
                    format!("{limit} do not do for the remedy {:?}: {needs}", remedy.name());
                return Err(ScenarioError::new("network.buffer", message));
            }
        }
    }
    Ok(())
}

/// Refuses a key that a remedy sets and the scenario gives another value.
pub(super) fn check_settings(scenario: &Scenario) -> Result<(), ScenarioError> {
    for remedy in &scenario.transport.remedies {
        let sets = remedy.remedy().sets();
        let mine = scenario.resolved();
        let mut theirs = mine.clone();
        lay(&mut theirs, &sets);
        let theirs = read::<super::ScenarioDocument>(&theirs)?;
        let theirs = json!(theirs);
        for (table, keys) in sets.as_object().into_iter().flatten() {
            for key in keys.as_object().into_iter().flatten().map(|(key, _)| key) {
                let (given, set) = (&mine[table][key], &theirs[table][key]);
                if given != set {
                    let message = format!(
                        "{given} is given, and the remedy {:?} sets {set}; leave it out, or change \
                         the remedy's parameters",
                        remedy.name()
                    );
                    return Err(ScenarioError::new(format!("{table}.{key}"), message));
                }
            }
        }
    }
    Ok(())
}
