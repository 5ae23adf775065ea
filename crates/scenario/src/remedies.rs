//! `transport.remedies`: the active remedies, and whether they can be combined.

use incast_remedies::{RemedyConfig, Slot};
use serde_json::{Value, json};

use super::ScenarioError;

/// Converts names in a list of remedies to tables.
pub(super) fn write_out(transport: &mut Value) {
    let list = transport.get_mut("remedies").and_then(Value::as_array_mut);
    for entry in list.into_iter().flatten() {
        if entry.is_string() {
            *entry = json!({ "name": entry });
        }
    }
}

/// Adds the remedies of the named preset (`own`) at the beginning of the transport's list, unless
/// the list has them.
pub(super) fn keep(own: &Value, transport: &mut Value) {
    let list = transport.get_mut("remedies").and_then(Value::as_array_mut);
    let Some(list) = list else { return };
    for remedy in own.as_array().into_iter().flatten() {
        if list.iter().all(|entry| entry["name"] != remedy["name"]) {
            list.insert(0, remedy.clone());
        }
    }
}

/// Refuses a remedy with invalid parameters, and two remedies with the same slot, in the table
/// called `table`.
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
                let why = shared.map_or("the remedy is given twice".to_owned(), |slot| {
                    format!("both control {slot}")
                });
                let message =
                    format!("{:?} and {:?} do not combine: {why}", other.name(), remedy.name());
                return Err(ScenarioError::new(format!("{table}.remedies"), message));
            }
        }
    }
    Ok(())
}

/// The remedy that orders requests, if there is one.
pub(super) fn scheduling(remedies: &[RemedyConfig]) -> Option<&'static str> {
    let orders = |it: &&RemedyConfig| it.remedy().slots().contains(&Slot::Schedule);
    remedies.iter().find(orders).map(RemedyConfig::name)
}

/// Refuses remedies that order requests if the traffic, called `name`, has no requests.
pub(super) fn check_unasked(
    remedies: &[RemedyConfig],
    name: &str,
    table: &str,
) -> Result<(), ScenarioError> {
    let Some(remedy) = scheduling(remedies) else { return Ok(()) };
    let message = format!("{remedy:?} controls {}, and {name:?} has no requests", Slot::Schedule);
    Err(ScenarioError::new(format!("{table}.remedies"), message))
}

/// Refuses remedies for the connections of one client, if there are several clients.
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
    let message =
        format!("{:?} works at one client, but these flows have several clients", remedy.name());
    Err(ScenarioError::new(format!("{table}.remedies"), message))
}
