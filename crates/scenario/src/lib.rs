//! Scenarios: a document in, a plan of typed scenarios out.
//!
//! A document is the tree of a TOML file or of a Python dict. [`plan`] crosses and pairs the axes
//! of its `[sweep]`; every point is laid over the defaults of its profile, read in one go and
//! checked. This is the only validator: Python passes the text down and shows the errors.

mod acknowledgement;
mod background;
mod bounds;
mod buffer;
mod bursts;
mod document;
mod facts;
mod flow_size;
mod long_flows;
mod network;
mod numbers;
mod pacing;
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
mod transport;
mod trunks;
mod void;
mod workload;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub use background::{Background, Datagrams, LongFlow, OnOff, PoissonFlows, Source};
pub use bursts::Bursts;
pub use facts::Facts;
pub use flow_size::FlowSize;
pub use incast_host::{Opener, Transport};
pub use long_flows::LongFlows;
pub use network::Network;
pub use profile::Profile;
pub use reorder::{Links, Reorder};
pub use run::Run;
pub use schema::{Entry, entries, schema};
pub use sweep::{Plan, Point, plan, plan_in_turn};
pub use trunks::CoreLinks;
pub use workload::{BarrierRead, Connections, Sru, Workload};

use background::BackgroundDocument;
use document::{lay, read, suggest};
use network::NetworkDocument;
use run::RunDocument;
use transport::TransportDocument;
use workload::WorkloadDocument;

/// Why a document is not a scenario: one line that names the key, says what was given and what
/// would be accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {message}")]
pub struct ScenarioError {
    /// The dotted key, `workload.servers`; entries of lists by their index, `background.0.rate`.
    pub key: String,
    /// What is wrong and what would be right.
    pub message: String,
}

impl ScenarioError {
    fn new(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self { key: one_line(key.into()), message: one_line(message.into()) }
    }
}

/// The longest part of an error that says something.
const MOST_WORDS: usize = 1000;

/// What was given, as a terminal shows it: without control characters, and without its middle
/// where it is endless.
fn one_line(text: String) -> String {
    let text = if text.contains(char::is_control) {
        let shown =
            |c: char| if c.is_control() { c.escape_default().to_string() } else { c.into() };
        text.chars().map(shown).collect()
    } else {
        text
    };
    if text.chars().count() <= MOST_WORDS {
        return text;
    }
    let begin: String = text.chars().take(MOST_WORDS / 2).collect();
    let end: Vec<char> = text.chars().rev().take(MOST_WORDS / 2).collect();
    format!("{begin} […] {}", end.into_iter().rev().collect::<String>())
}

/// This network, this switch, this traffic, this transport: one point of a plan.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// One line for people.
    pub title: String,
    /// Whose defaults it started from.
    pub profile: Profile,
    /// Links and switch.
    pub network: Network,
    /// What the client asks of the servers.
    pub workload: Workload,
    /// The transport of the workload.
    pub transport: Transport,
    /// Traffic beside the workload.
    pub background: Vec<Background>,
    /// How often and how long it runs.
    pub run: Run,
}

/// A scenario: this network, this switch, this traffic, this transport.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
#[schemars(rename = "Scenario")]
struct ScenarioDocument {
    /// What the scenario is about, one line of text.
    title: String,
    /// Whose defaults hold for `[network]` and `[transport]`: the name of a profile.
    profile: Profile,
    /// The network: links, delays, and the buffers of the switch's output ports.
    network: NetworkDocument,
    /// The workload: what the client asks of the servers.
    workload: WorkloadDocument,
    /// The transport of the workload: a preset by name, and any of its parameters.
    transport: TransportDocument,
    /// Traffic beside the workload, all of it towards the client: a list of tables.
    background: Vec<BackgroundDocument>,
    /// How often and how long the scenario runs.
    run: RunDocument,
}

impl Scenario {
    /// Reads one point: a document without `[sweep]`.
    ///
    /// # Errors
    /// The first thing that is wrong with the document.
    pub fn from_document(document: &Value) -> Result<Self, ScenarioError> {
        let (written, mut document) = settled(document)?;
        let transport = document.transport.build("transport")?;
        let packet = transport.tcp.mss + u32::from(transport.tcp.header);
        let background = document.background.into_iter().enumerate();
        let layout = document.network.layout()?;
        let background: Vec<_> = background
            .map(|(index, traffic)| traffic.build(index, packet, &layout))
            .collect::<Result<_, _>>()?;
        let workload = document.workload.build(&layout)?;
        document.network.resolve(&workload, &transport, &background)?;
        let mut scenario = Self {
            title: document.title,
            profile: document.profile,
            network: document.network.build(&transport)?,
            workload,
            background,
            run: document.run.build()?,
            transport,
        };
        bounds::check(&scenario)?;
        scenario.tell_distance();
        requirement::check_switch(&scenario)?;
        if let Workload::LongFlows(flows) = &scenario.workload {
            let remedies = &scenario.transport.remedies;
            remedies::check_endless(remedies, "transport")?;
            remedies::check_clients(remedies, &flows.to, "transport")?;
        }
        requirement::check_transports(&scenario)?;
        ranges::check(&written, schema::kept())?;
        Ok(scenario)
    }

    /// An operator knows the distance, and configures it where a congestion control goes by it.
    fn tell_distance(&mut self) {
        let Self { network, workload, transport, background, .. } = self;
        let trunks = || network.trunks_between(workload.servers_at(), workload.to());
        let others = background.iter_mut().filter_map(Background::transport_mut);
        for Transport { tcp, .. } in std::iter::once(transport).chain(others) {
            let mut control = tcp.congestion_control.clone();
            control.know_distance(&|| network.base_rtt(tcp, trunks()));
            tcp.congestion_control = control;
        }
    }

    /// What follows from it, in numbers.
    pub fn facts(&self) -> Facts {
        Facts::of(self)
    }

    /// The document with every key in base units; it loads back to an identical scenario.
    pub fn resolved(&self) -> Value {
        let network = &self.network;
        let background = self.background.iter();
        json!(ScenarioDocument {
            title: self.title.clone(),
            profile: self.profile,
            network: (&self.network).into(),
            workload: WorkloadDocument::of(&self.workload, network),
            transport: (&self.transport).into(),
            background: background.map(|it| BackgroundDocument::of(it, network)).collect(),
            run: (&self.run).into(),
        })
    }
}

/// What is `given`, laid over the defaults, and the same with what its transports require.
fn settled(given: &Value) -> Result<(Value, ScenarioDocument), ScenarioError> {
    let written = complete(given)?;
    let mut document: ScenarioDocument = read(&written)?;
    requirement::settle(&mut document, given);
    Ok((written, document))
}

/// Lays `given` over the defaults.
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
        let name = value.as_str().or(value["name"].as_str());
        if let ("workload", Some(name)) = (key.as_str(), name) {
            document[key] = profile::workload(name);
            layer = if value.is_string() { json!({ key: { "name": name } }) } else { layer };
        }
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
                layer[key] = entries
                    .map(|(index, entry)| complete_background(profile, &defaults, entry, index))
                    .collect::<Result<_, _>>()?;
                lay(&mut document, &layer);
            }
            _ => lay(&mut document, &layer),
        }
    }
    trunks::write_out(&mut document);
    Ok(document)
}

/// Lays a transport over its preset over the profile's defaults.
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
        let parts = profile::parts(name).ok_or_else(|| {
            let names: Vec<_> = profile::presets().map(|(name, _)| name).collect();
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
    lay(&mut document, &given);
    remedies::write_out(&mut document);
    remedies::keep(&own, &mut document);
    Ok(document)
}

/// Lays a background table over the defaults of its name.
fn complete_background(
    profile: Profile,
    defaults: &Value,
    given: &Value,
    index: usize,
) -> Result<Value, ScenarioError> {
    let Some(name) = given["name"].as_str() else {
        return Ok(given.clone());
    };
    let mut document = profile::background(name);
    let mut given = given.clone();
    if matches!(name, "long-flow" | "poisson-flows") {
        let table = format!("background.{index}.transport");
        given["transport"] = complete_transport(profile, defaults, &given["transport"], &table)?;
    }
    lay(&mut document, &given);
    Ok(document)
}

#[cfg(test)]
mod tests;
