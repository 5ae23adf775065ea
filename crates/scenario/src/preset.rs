//! `transport.name` as a table: parameters beside the name of a preset belong to the part of it that
//! bears this name.

use incast_engine::Fault;
use incast_remedies::RemedyConfig;
use incast_tcp::congestion::CongestionControlConfig;
use incast_tcp::recovery::RecoveryConfig;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::ScenarioError;
use super::document::{lay, read};

/// Takes the parameters out of the name in `transport`, which is left as a text; without one they
/// are those of the default.
pub(super) fn take_parameters(transport: &mut Value) -> Option<Map<String, Value>> {
    let name = transport.get_mut("name")?;
    let mut table = name.as_object()?.clone();
    *name = table.shift_remove("name").unwrap_or_default();
    Some(table)
}

/// Lays `parameters` on the part of `transport`, a preset written out, that bears its name: a
/// remedy, a loss recovery or a congestion control, in this order. `key` is where they stand.
pub(super) fn lay_parameters(
    transport: &mut Value,
    parameters: Map<String, Value>,
    key: &str,
) -> Result<(), ScenarioError> {
    let Some(name) = transport["name"].as_str().map(str::to_owned) else {
        // What cannot be read is refused later, with its key.
        return Ok(());
    };
    let mut layer = parameters;
    layer.insert("name".to_owned(), json!(name));
    let layer = Value::Object(layer);
    let remedy = transport["remedies"].as_array().into_iter().flatten();
    if let Some(index) = remedy.map(|entry| &entry["name"]).position(|it| *it == name) {
        check(&layer, key, |remedy: &RemedyConfig| remedy.remedy().check())?;
        lay(&mut transport["remedies"][index], &layer);
    } else if transport["recovery"]["name"] == name {
        check(&layer, key, RecoveryConfig::check)?;
        lay(&mut transport["recovery"], &layer);
    } else if transport["congestion_control"]["name"] == name {
        check(&layer, key, CongestionControlConfig::check)?;
        lay(&mut transport["congestion_control"], &layer);
    } else {
        let message = format!(
            "no part of {name:?} has that name here, so that nothing takes its parameters; \
             write them in recovery or congestion_control"
        );
        return Err(ScenarioError::new(key, message));
    }
    Ok(())
}

/// Reads the part with these parameters, so that an error names them where they stand.
fn check<T: DeserializeOwned>(
    layer: &Value,
    key: &str,
    check: impl FnOnce(&T) -> Result<(), Fault>,
) -> Result<(), ScenarioError> {
    let part = read(layer).map_err(|error: ScenarioError| {
        ScenarioError::new(format!("{key}.{}", error.key), error.message)
    })?;
    check(&part).map_err(|fault| ScenarioError::new(format!("{key}.{}", fault.key), fault.message))
}
