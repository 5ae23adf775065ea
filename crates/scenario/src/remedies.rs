//! `transport.remedies`: which remedies are at work, what they set, and whether they agree.

use incast_remedies::{RemedyConfig, Slot};
use serde_json::{Value, json};

use super::document::{lay, read};
use super::profile::timestamps as timestamps_headers;
use super::{Network, Scenario, ScenarioError};

/// Writes names in a list of remedies as tables.
pub(super) fn write_out(transport: &mut Value) {
    let list = transport.get_mut("remedies").and_then(Value::as_array_mut);
    for entry in list.into_iter().flatten() {
        if entry.is_string() {
            *entry = json!({ "name": entry });
        }
    }
}

/// Puts the remedies that a transport is named after, its `own`, before those of its list, unless the
/// list has them: a list stands beside the name and does not replace it.
pub(super) fn keep(own: &Value, transport: &mut Value) {
    let list = transport.get_mut("remedies").and_then(Value::as_array_mut);
    let Some(list) = list else { return };
    for remedy in own.as_array().into_iter().flatten() {
        if list.iter().all(|entry| entry["name"] != remedy["name"]) {
            list.insert(0, remedy.clone());
        }
    }
}

/// Lays what the remedies of a document set between the defaults and what was `given`, and the
/// queue that they need where none is given.
pub(super) fn lay_settings(document: &mut Value, given: &Value) {
    for remedy in as_written(&document["transport"]) {
        let sets = remedy.remedy().sets();
        lengthen_headers(&mut document["transport"], &sets);
        lay(document, &sets);
        choose_queue(document, given, &remedy);
    }
    for table in ["network", "transport"] {
        if given[table].is_object() {
            lay(document, &json!({ table: explicit(&given[table]) }));
        }
    }
    let entries = document["background"].as_array().map_or(0, Vec::len);
    for index in 0..entries {
        for remedy in as_written(&document["background"][index]["transport"]) {
            let transport = &mut document["background"][index]["transport"];
            lengthen_headers(transport, &remedy.remedy().sets());
            lay(transport, &remedy.remedy().sets()["transport"]);
            lay(transport, &explicit(&given["background"][index]["transport"]));
            choose_queue(document, given, &remedy);
        }
    }
}

/// Headers with timestamps are longer, whoever asks for them.
fn lengthen_headers(transport: &mut Value, sets: &Value) {
    let timestamps = sets["transport"]["timestamps"].as_bool();
    if let Some(on) = timestamps.filter(|on| transport["timestamps"] != *on) {
        lay(transport, &timestamps_headers(on));
    }
}

fn choose_queue(document: &mut Value, given: &Value, remedy: &RemedyConfig) {
    if given["network"]["queue"].is_null()
        && let Some(queue) = remedy.remedy().queue()
    {
        lay(document, &json!({ "network": { "queue": queue } }));
    }
}

/// The keys of a table that say something beside names.
fn explicit(given: &Value) -> Value {
    let keys = given.as_object().into_iter().flatten();
    keys.filter(|(key, _)| !matches!(key.as_str(), "name" | "remedies"))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
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

/// Refuses remedies that work among the connections of one client, for several.
pub(super) fn check_clients(
    remedies: &[RemedyConfig],
    to: &[u32],
    table: &str,
) -> Result<(), ScenarioError> {
    let one_client = [Slot::ReceiveWindow, Slot::Acks, Slot::Schedule];
    let several = to.iter().any(|client| *client != to[0]);
    let owns = |remedy: &&RemedyConfig| {
        one_client.iter().any(|slot| remedy.remedy().slots().contains(slot))
    };
    let Some(remedy) = remedies.iter().find(owns).filter(|_| several) else { return Ok(()) };
    let message = format!("{:?} works at one client, and these send to several", remedy.name());
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
    let mine = scenario.resolved();
    for remedy in &scenario.transport.remedies {
        let sets = remedy.remedy().sets();
        let mut theirs = mine.clone();
        lay(&mut theirs, &sets);
        let theirs = json!(read::<super::ScenarioDocument>(&theirs)?);
        for (table, keys) in sets.as_object().into_iter().flatten() {
            agree(remedy, keys, &mine[table], &theirs[table], table)?;
        }
    }
    for (index, background) in scenario.background.iter().enumerate() {
        let remedies = background.transport().map(|transport| &transport.remedies);
        for remedy in remedies.into_iter().flatten() {
            let keys = &remedy.remedy().sets()["transport"];
            let mut theirs = mine.clone();
            lay(&mut theirs["background"][index]["transport"], keys);
            let theirs = json!(read::<super::ScenarioDocument>(&theirs)?);
            let [mine, theirs] =
                [&mine, &theirs].map(|document| &document["background"][index]["transport"]);
            agree(remedy, keys, mine, theirs, &format!("background.{index}.transport"))?;
        }
    }
    Ok(())
}

/// Whether a table has the `keys` as the remedy sets them.
fn agree(
    remedy: &RemedyConfig,
    keys: &Value,
    mine: &Value,
    theirs: &Value,
    table: &str,
) -> Result<(), ScenarioError> {
    for key in keys.as_object().into_iter().flatten().map(|(key, _)| key) {
        let (given, set) = (&mine[key], &theirs[key]);
        if given != set {
            let message = format!(
                "{given} is given, and the remedy {:?} sets {set}; leave it out, or change the \
                 remedy's parameters",
                remedy.name()
            );
            return Err(ScenarioError::new(format!("{table}.{key}"), message));
        }
    }
    Ok(())
}
