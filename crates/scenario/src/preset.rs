//! `transport.name` as a table. The parameters in this table belong to the part of the transport
//! that has the same name as the preset.

use incast_engine::Fault;
use incast_remedies::RemedyConfig;
use incast_tcp::congestion::CongestionControlConfig;
use incast_tcp::recovery::RecoveryConfig;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::document::{lay, read};
use super::{ScenarioError, ranges, schema};

/// Removes the parameters from `transport.name`, which becomes a string, and returns them. In a
/// table without a name, the parameters belong to the default preset.
pub(super) fn take_parameters(transport: &mut Value) -> Option<Map<String, Value>> {
    let name = transport.get_mut("name")?;
    let mut table = name.as_object()?.clone();
    *name = table.shift_remove("name").unwrap_or_default();
    Some(table)
}

/// Merges `parameters` into the part of the expanded preset `transport` that has the preset's name:
/// a remedy, a loss recovery or a congestion control, in this order. `key` is the dotted key of the
/// parameters.
pub(super) fn lay_parameters(
    transport: &mut Value,
    parameters: Map<String, Value>,
    key: &str,
) -> Result<(), ScenarioError> {
    let Some(name) = transport["name"].as_str().map(str::to_owned) else {
        // Unreadable values are refused later, with their keys.
        return Ok(());
    };
    let mut layer = parameters;
    layer.insert("name".to_owned(), json!(name));
    let layer = Value::Object(layer);
    let remedy = transport["remedies"].as_array().into_iter().flatten();
    if let Some(index) = remedy.map(|entry| &entry["name"]).position(|it| *it == name) {
        check(&layer, "RemedyConfig", key, |it: &RemedyConfig| it.remedy().check())?;
        lay(&mut transport["remedies"][index], &layer);
    } else if transport["recovery"]["name"] == name {
        check(&layer, "RecoveryConfig", key, RecoveryConfig::check)?;
        lay(&mut transport["recovery"], &layer);
    } else if transport["congestion_control"]["name"] == name {
        check(&layer, "CongestionControlConfig", key, CongestionControlConfig::check)?;
        lay(&mut transport["congestion_control"], &layer);
    } else {
        let message = format!(
            "this profile has no part called {name:?}, so these parameters belong to nothing; \
             write them in recovery or congestion_control"
        );
        return Err(ScenarioError::new(key, message));
    }
    Ok(())
}

/// Checks the parameters as an entry of the registry `definition`, so that errors name keys below
/// `key`.
fn check<T: DeserializeOwned>(
    layer: &Value,
    definition: &str,
    key: &str,
    check: impl FnOnce(&T) -> Result<(), Fault>,
) -> Result<(), ScenarioError> {
    let part = read(layer).map_err(|error: ScenarioError| {
        ScenarioError::new(format!("{key}.{}", error.key), error.message)
    })?;
    ranges::check_entry(layer, definition, key, schema::kept())?;
    check(&part).map_err(|fault| ScenarioError::new(format!("{key}.{}", fault.key), fault.message))
}
