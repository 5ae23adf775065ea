//! Scenarios: reads a document, and returns a plan of typed scenarios.
//!
//! A document is the tree of a TOML file or of a Python dict. [`plan`] crosses and pairs the axes
//! of its `[sweep]`. Every point is merged with the defaults of its profile, and is then read and
//! checked. This is the only reader of TOML ([`from_toml`]) and the only validator: Python and the
//! browser pass the text to this reader and show its errors.

mod bounds;
mod buffer;
mod document;
mod facts;
mod flat;
mod network;
mod preset;
mod profile;
mod ranges;
mod remedies;
mod reorder;
mod requirement;
mod run;
mod schema;
mod sweep;
mod switch;
mod table;
mod text;
mod traffic;
mod transport;
mod trunks;
mod void;

use incast_traffic::Scope;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub use facts::Facts;
pub use incast_host::{Family, Opener, Tcp, Transport};
pub use network::Network;
pub use profile::Profile;
pub use reorder::{Links, Reorder};
pub use run::Run;
pub use schema::{Entry, entries, schema};
pub use sweep::{Plan, Point, plan, plan_in_turn};
pub use table::{Group, Table, Traffic};
pub use text::document as from_toml;
pub use trunks::CoreLinks;

use document::{lay, read, suggest};
use network::NetworkDocument;
use run::RunDocument;
use table::{TableDocument, WorkloadsDocument};
use transport::{TransportTable, complete_other};

/// Why a document is not a scenario: one line with the key, the given value and the accepted
/// values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {message}")]
pub struct ScenarioError {
    /// The dotted key, such as `workload.servers`. An entry of a list is named by its index, as in
    /// `background.0.rate`.
    pub key: String,
    /// The problem and the solution.
    pub message: String,
}

impl ScenarioError {
    fn new(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self { key: one_line(key.into()), message: one_line(message.into()) }
    }
}

/// The longest quotation in an error.
const MOST_WORDS: usize = 1000;

/// A given value for display. Invisible characters are escaped, and the middle of a long value is
/// left out.
fn one_line(text: String) -> String {
    let text = if text.chars().all(is_visible) {
        text
    } else {
        let shown = |c: char| if is_visible(c) { c.into() } else { c.escape_default().to_string() };
        text.chars().map(shown).collect()
    };
    if text.chars().count() <= MOST_WORDS {
        return text;
    }
    let begin: String = text.chars().take(MOST_WORDS / 2).collect();
    let end: Vec<char> = text.chars().rev().take(MOST_WORDS / 2).collect();
    format!("{begin} […] {}", end.into_iter().rev().collect::<String>())
}

/// Whether a terminal shows the character where it stands in the text. Control characters, line
/// separators and changes of the writing direction are not visible in this sense.
fn is_visible(c: char) -> bool {
    matches!(c, '\'' | '"' | '\\') || c.escape_debug().len() == 1
}

/// A scenario: one point of a plan.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// A description in one line.
    pub title: String,
    /// The profile whose defaults the scenario uses.
    pub profile: Profile,
    /// Links and switch.
    pub network: Network,
    /// Workloads and background traffic.
    pub traffic: Traffic,
    /// The transport of the workloads.
    pub transport: Transport,
    /// Seeds and time limit.
    pub run: Run,
}

/// A scenario: network, switches, traffic and transport.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
#[schemars(rename = "Scenario")]
struct ScenarioDocument {
    /// Description of the scenario, one line of text.
    title: String,
    /// Defaults of `[network]` and `[transport]`: the name of a profile.
    profile: Profile,
    /// The network: links, delays, and the buffers of the switch's output ports.
    network: NetworkDocument,
    /// The workload: the traffic that a run measures. Several workloads are written as a list of
    /// tables, `[[workload]]`. Each workload then has a row in the results, and the row `all` is
    /// the sum of all workloads.
    workload: WorkloadsDocument,
    /// The transport of the workload: a preset by name, and any of its parameters.
    transport: TransportTable,
    /// Traffic in addition to the workload, of any kind: a list of tables.
    background: Vec<TableDocument>,
    /// Seeds and time limit.
    run: RunDocument,
}

impl Scenario {
    /// Reads one point: a document without `[sweep]`.
    ///
    /// # Errors
    /// The first error in the document.
    pub fn from_document(document: &Value) -> Result<Self, ScenarioError> {
        let mut document = settled(document)?;
        let transport = document.transport.build("transport")?;
        let layout = document.network.layout(transport.packet())?;
        let (workloads, several) = document.workload.tables();
        let build = |tables: Vec<TableDocument>, scope: fn(u32) -> Scope| {
            let tables = (0..).map(scope).zip(tables);
            let tables = tables.map(|(scope, table)| table.build(scope, several, &layout));
            tables.collect::<Result<Vec<_>, _>>()
        };
        let background = build(document.background, Scope::Background)?;
        let workloads = build(workloads, Scope::Workload)?;
        let traffic = Traffic { workloads, several, background };
        document.network.resolve(&traffic.groups(&transport, &layout))?;
        let mut scenario = Self {
            title: document.title,
            profile: document.profile,
            network: document.network.build(&transport)?,
            traffic,
            run: document.run.build()?,
            transport,
        };
        bounds::check(&scenario)?;
        scenario.set_base_rtt();
        requirement::check_switch(&scenario)?;
        traffic::check(&scenario)?;
        requirement::check_transports(&scenario)?;
        Ok(scenario)
    }

    /// Sets the round trip for congestion controls that need it, as an operator would.
    fn set_base_rtt(&mut self) {
        let (trunks, network) = (self.trunks(), &self.network);
        for transport in std::iter::once(&mut self.transport).chain(self.traffic.transports_mut()) {
            let Some(tcp) = transport.tcp() else { continue };
            let mut control = tcp.config.congestion_control.clone();
            control.know_distance(&|| network.base_rtt(transport, trunks));
            if let Family::Tcp(tcp) = &mut transport.family {
                tcp.config.congestion_control = control;
            }
        }
    }

    /// Numbers derived from this scenario.
    pub fn facts(&self) -> Facts {
        Facts::of(self)
    }

    /// The document with every key in base units; it loads back to an identical scenario.
    pub fn resolved(&self) -> Value {
        let Traffic { workloads, several, background } = &self.traffic;
        json!(ScenarioDocument {
            title: self.title.clone(),
            profile: self.profile,
            network: (&self.network).into(),
            workload: match &workloads[..] {
                [table] if !several => WorkloadsDocument::One(Box::new(TableDocument::of(table))),
                tables => {
                    WorkloadsDocument::Several(tables.iter().map(TableDocument::of).collect())
                }
            },
            transport: (&self.transport).into(),
            background: background.iter().map(TableDocument::of).collect(),
            run: (&self.run).into(),
        })
    }
}

/// `given`, merged with the defaults and the requirements of its transports.
fn settled(given: &Value) -> Result<ScenarioDocument, ScenarioError> {
    let written = complete(given)?;
    let mut document: ScenarioDocument = read(&written)?;
    ranges::check(&written, schema::kept())?;
    requirement::settle(&mut document, given);
    Ok(document)
}

/// Merges `given` with the defaults.
fn complete(given: &Value) -> Result<Value, ScenarioError> {
    #[derive(Deserialize)]
    struct Named {
        profile: Profile,
    }
    let Some(table) = given.as_object() else {
        return Err(ScenarioError::new("scenario", format!("{given} is not a table of keys")));
    };
    document::check_tables(table)?;
    let named = table.get("profile").filter(|name| !name.is_null());
    let profile = named.map_or(Ok(Profile::Lab), |name| {
        read(&json!({ "profile": name })).map(|Named { profile }| profile)
    })?;

    let mut document = profile.document();
    let defaults = document["transport"].clone();
    for (key, value) in table {
        let mut layer = json!({ key: value });
        match (key.as_str(), value) {
            ("transport", value) => {
                document[key] = complete_transport(profile, &defaults, value, key)?;
            }
            ("network", value) => {
                let queue = &value["queue"];
                let name = queue.as_str().or(queue["name"].as_str()).unwrap_or_default();
                lay(&mut document, &json!({ key: profile.queue(name) }));
                lay(&mut document, &layer);
            }
            ("background", Value::Array(list)) => {
                let entries = list.iter().enumerate();
                let complete = |(index, entry): (usize, &Value)| {
                    complete_traffic(profile, &defaults, entry, &format!("background.{index}"))
                };
                layer[key] = entries.map(complete).collect::<Result<_, _>>()?;
                lay(&mut document, &layer);
            }
            ("workload", Value::Array(list)) => {
                let entries = list.iter().enumerate();
                let complete = |(index, entry): (usize, &Value)| {
                    complete_workload(profile, &defaults, entry, &format!("workload.{index}"))
                };
                document[key] = entries.map(complete).collect::<Result<_, _>>()?;
            }
            ("workload", value) => {
                document[key] = complete_workload(profile, &defaults, value, key)?;
            }
            _ => lay(&mut document, &layer),
        }
    }
    trunks::write_out(&mut document);
    Ok(document)
}

/// Merges a transport with its preset and the profile's defaults.
fn complete_transport(
    profile: Profile,
    defaults: &Value,
    given: &Value,
    table: &str,
) -> Result<Value, ScenarioError> {
    let mut document = defaults.clone();
    let by_name = json!({ "name": given });
    let mut given = if given.is_string() { by_name } else { given.clone() };
    let parameters = preset::take_parameters(&mut given);
    let chosen = |key: &str| given.get(key).filter(|value| !value.is_null());
    if let Some(name) = chosen("name") {
        document["name"] = name.clone();
    }
    if let Some(name) = document["name"].as_str() {
        if let Some(table) = complete_other(name, &given, parameters.as_ref()) {
            return Ok(table);
        }
        let parts = profile::parts(name).ok_or_else(|| {
            let others = incast_transports::ENTRIES.iter().map(|entry| entry.name);
            let names: Vec<_> = profile::presets().map(|(name, _)| name).chain(others).collect();
            let message = format!("{name:?} is unknown; {}", suggest(name, &names));
            ScenarioError::new(format!("{table}.name"), message)
        })?;
        let own = profile.transport(name);
        lay(&mut document, &parts);
        lay(&mut document, &own);
    }
    if let Some(parameters) = parameters {
        preset::lay_parameters(&mut document, parameters, &format!("{table}.name"))?;
    }
    let timestamps = chosen("timestamps").and_then(Value::as_bool);
    if let Some(on) = timestamps.filter(|on| document["timestamps"] != *on) {
        let size = profile::header(on);
        lay(&mut document, &json!({ "header_size": size, "ack_size": size }));
    }
    let own = document["remedies"].clone();
    for key in ["recovery", "congestion_control"] {
        let part = &given[key];
        if let Some(name) = part.as_str().or(part["name"].as_str()) {
            lay(&mut document, &json!({ key: name }));
            lay(&mut document, &json!({ key: profile.part(key, name) }));
        }
    }
    lay(&mut document, &given);
    remedies::write_out(&mut document);
    remedies::keep(&own, &mut document);
    Ok(document)
}

/// Merges a table of a workload with the default workload.
fn complete_workload(
    profile: Profile,
    defaults: &Value,
    given: &Value,
    key: &str,
) -> Result<Value, ScenarioError> {
    let mut document = json!({ "name": profile::WORKLOAD });
    lay(&mut document, given);
    if document["transport"].is_null() {
        return Ok(document);
    }
    complete_traffic(profile, defaults, &document, key)
}

/// Expands the transport of the table at `key`, if traffic of its kind has connections.
fn complete_traffic(
    profile: Profile,
    defaults: &Value,
    given: &Value,
    key: &str,
) -> Result<Value, ScenarioError> {
    let mut document = json!({});
    lay(&mut document, given);
    if document["name"].as_str().is_some_and(incast_traffic::connects) {
        let table = format!("{key}.transport");
        let transport = complete_transport(profile, defaults, &given["transport"], &table)?;
        document["transport"] = transport;
    }
    Ok(document)
}

#[cfg(test)]
mod tests;
