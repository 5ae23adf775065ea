//! Tables of traffic: `[workload]` or `[[workload]]`, and `[[background]]`.

use std::borrow::Cow;

use incast_net::topology::SwitchId;
use incast_traffic::{Layout, Load, Role, Scope, Senders, WorkloadConfig, connects};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::transport::TransportTable;
use super::{ScenarioError, Transport};

/// A table of traffic.
#[derive(Clone, Debug)]
pub struct Table {
    /// The name of the table's result row, if one is given.
    pub group: Option<String>,
    /// The kind of traffic and its parameters.
    pub config: WorkloadConfig,
    /// The transport of this table; a workload without a transport uses `[transport]`.
    pub transport: Option<Transport>,
}

/// The dotted key of a table: `workload`, or `workload.1` in a list, or `background.0`.
pub(super) fn key(scope: Scope, several: bool) -> String {
    match scope {
        Scope::Workload(_) if !several => "workload".to_owned(),
        Scope::Workload(index) => format!("workload.{index}"),
        Scope::Background(index) => format!("background.{index}"),
    }
}

/// A table of traffic with its dotted key.
pub struct Group<'a> {
    /// The dotted key of the table: `workload`, `workload.1`, `background.0`.
    pub key: String,
    /// The kind and index of the table, for its random streams.
    pub scope: Scope,
    /// The name of the table's result row.
    pub row: String,
    /// The kind of traffic and its parameters.
    pub config: &'a WorkloadConfig,
    /// The transport of its connections; `None` for datagrams.
    pub transport: Option<&'a Transport>,
    /// The dotted key of the transport: `background.0.transport`, or `transport` if the table has
    /// no transport of its own.
    pub transport_key: String,
    /// The sending hosts: hosts of this table, shared servers, or clients.
    pub senders: Senders,
    /// The number of sending hosts.
    pub count: u32,
    /// The switches to which the sending hosts are connected; the hosts take them in turn.
    pub at: Vec<SwitchId>,
}

impl Group<'_> {
    /// Number of flows of this table.
    pub fn flows(&self) -> u32 {
        self.config.workload().count(self.count)
    }

    /// The load and the transport of the table's connections; `None` for datagrams.
    pub fn load(&self) -> Option<(Load, &Transport)> {
        Some((self.config.workload().load(self.count)?, self.transport?))
    }
}

/// All tables of traffic.
#[derive(Clone, Debug)]
pub struct Traffic {
    /// The workloads. The run ends when all of them are complete.
    pub workloads: Vec<Table>,
    /// Whether the workloads are a list, `[[workload]]`, so that each workload has a row of its
    /// own.
    pub several: bool,
    /// Background traffic.
    pub background: Vec<Table>,
}

impl Traffic {
    /// All tables of traffic, in the order of their flows. Tables with connections come first,
    /// because each end of a connection has the number of the route on which this end sends.
    /// Workloads come before background traffic.
    pub fn groups<'a>(&'a self, transport: &'a Transport, layout: &Layout) -> Vec<Group<'a>> {
        let mut groups: Vec<_> = self
            .tables()
            .map(|(scope, table)| self.group(scope, table, transport, layout))
            .collect();
        groups.sort_by_key(|group| group.transport.is_none());
        groups
    }

    /// All tables, workloads first.
    pub(super) fn tables(&self) -> impl Iterator<Item = (Scope, &Table)> {
        let workloads = (0..).map(Scope::Workload).zip(&self.workloads);
        workloads.chain((0..).map(Scope::Background).zip(&self.background))
    }

    fn group<'a>(
        &'a self,
        scope: Scope,
        table: &'a Table,
        transport: &'a Transport,
        layout: &Layout,
    ) -> Group<'a> {
        let key = key(scope, self.several);
        let own =
            || table.group.clone().unwrap_or_else(|| format!("{key}.{}", table.config.name()));
        let row = if key == "workload" { "all".to_owned() } else { own() };
        let transport_key = match &table.transport {
            Some(_) => format!("{key}.transport"),
            None => "transport".to_owned(),
        };
        let senders = table.config.workload().senders(layout);
        let (count, at) = self.hosts_of(table, &senders, layout);
        let transport =
            connects(table.config.name()).then(|| table.transport.as_ref().unwrap_or(transport));
        let config = &table.config;
        Group { key, scope, row, config, transport, transport_key, senders, count, at }
    }

    /// The number of sending hosts, and the switches to which these hosts are connected in turn.
    fn hosts_of(&self, table: &Table, senders: &Senders, layout: &Layout) -> (u32, Vec<SwitchId>) {
        match senders {
            Senders::Own(count, at) => (*count, at.clone()),
            Senders::Servers => match self.workloads[0].config.workload().senders(layout) {
                Senders::Own(count, at) => (count, at),
                Senders::Servers | Senders::Clients => (0, Vec::new()),
            },
            Senders::Clients => {
                let clients = table.config.workload().clients();
                let at = clients.iter().map(|client| layout.client_switch(*client)).collect();
                (clients.len() as u32, at)
            }
        }
    }

    /// The transports of all tables that have a transport of their own, mutably.
    pub(super) fn transports_mut(&mut self) -> impl Iterator<Item = &mut Transport> {
        let tables = self.workloads.iter_mut().chain(&mut self.background);
        tables.filter_map(|table| table.transport.as_mut())
    }
}

/// A table in the form of the document.
pub(super) struct TableDocument {
    group: Option<String>,
    config: WorkloadConfig,
    pub(super) transport: Option<TransportTable>,
}

impl TableDocument {
    /// Builds the traffic of this table. `scope` is the kind and index of the table, and `several`
    /// says whether workloads are a list.
    pub(super) fn build(
        self,
        scope: Scope,
        several: bool,
        layout: &Layout,
    ) -> Result<Table, ScenarioError> {
        let (key, role) = (key(scope, several), Role::of(scope));
        let Self { group, mut config, transport } = self;
        config
            .workload_mut()
            .settle(layout, role)
            .map_err(|fault| ScenarioError::new(format!("{key}.{}", fault.key), fault.message))?;
        let transport =
            transport.map(|transport| transport.build(&format!("{key}.transport"))).transpose()?;
        Ok(Table { group, config, transport })
    }

    /// A table in base units.
    pub(super) fn of(table: &Table) -> Self {
        Self {
            group: table.group.clone(),
            config: table.config.clone(),
            transport: table.transport.as_ref().map(Into::into),
        }
    }
}

impl Serialize for TableDocument {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut table = Map::new();
        for (key, value) in json!(self.config).as_object().into_iter().flatten() {
            table.insert(key.clone(), value.clone());
            if let (Some(group), "name") = (&self.group, key.as_str()) {
                table.insert("group".to_owned(), json!(group));
            }
        }
        if let Some(transport) = &self.transport {
            table.insert("transport".to_owned(), json!(transport));
        }
        table.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for TableDocument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut table = Map::deserialize(deserializer)?;
        let connects = table.get("name").and_then(Value::as_str).is_some_and(connects);
        let mut take = |key: &str| table.shift_remove(key).filter(|value| !value.is_null());
        let group = take("group").map(serde_json::from_value).transpose();
        let transport = if connects { take("transport") } else { None };
        let config = serde_json::from_value(Value::Object(table))
            .map_err(|error| D::Error::custom(with_common_keys(error.to_string(), connects)))?;
        let transport = transport.map(serde_json::from_value).transpose();
        Ok(Self {
            group: group.map_err(D::Error::custom)?,
            config,
            transport: transport.map_err(D::Error::custom)?,
        })
    }
}

/// Adds the keys that all kinds of traffic have to the list of keys in serde's message.
fn with_common_keys(error: String, connects: bool) -> String {
    const LIST: &str = ", expected one of `";
    if !error.starts_with("unknown field") || !error.contains(LIST) {
        return error;
    }
    let own = error.replacen(LIST, &format!("{LIST}group`, `"), 1);
    if connects { format!("{own}, `transport`") } else { own }
}

impl JsonSchema for TableDocument {
    fn schema_name() -> Cow<'static, str> {
        "Workload".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let transport = generator.subschema_for::<TransportTable>();
        let mut schema = WorkloadConfig::json_schema(generator).to_value();
        for variant in schema["oneOf"].as_array_mut().into_iter().flatten() {
            let Some(properties) = variant["properties"].as_object_mut() else { continue };
            let name = properties.shift_remove("name");
            let own = std::mem::take(properties);
            properties.extend(name.map(|name| ("name".to_owned(), name)));
            properties.insert(
                "group".to_owned(),
                json!({
                    "type": "string",
                    "description": "Name of the result row. Default: three parts with \
                                    dots between them: `workload` or `background`; the index of \
                                    the table (from 0); the table's `name`. Example: \
                                    `background.0.cbr`. The row of a single workload is `all`.",
                }),
            );
            properties.extend(own);
            let name = properties["name"]["const"].clone();
            if name.as_str().is_some_and(connects) {
                let mut transport = transport.clone().to_value();
                transport["description"] = json!(
                    "Transport of this traffic; keys that are not given have the profile's \
                     defaults, not the values of `[transport]`. Default: `[transport]` for a \
                     workload, the profile's transport for background traffic."
                );
                properties.insert("transport".to_owned(), transport);
            }
        }
        Schema::try_from(schema).unwrap_or_else(|_| json_schema!(true))
    }
}

/// The table `[workload]`, or the tables of the list `[[workload]]`.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub(super) enum WorkloadsDocument {
    /// One table.
    One(Box<TableDocument>),
    /// A list of tables.
    Several(Vec<TableDocument>),
}

impl WorkloadsDocument {
    /// Whether the tables are a list.
    pub(super) fn is_list(&self) -> bool {
        matches!(self, Self::Several(_))
    }

    /// All tables, and whether they are a list.
    pub(super) fn tables(self) -> (Vec<TableDocument>, bool) {
        match self {
            Self::One(table) => (vec![*table], false),
            Self::Several(tables) => (tables, true),
        }
    }

    /// [`Self::tables`], mutably.
    pub(super) fn tables_mut(&mut self) -> &mut [TableDocument] {
        match self {
            Self::One(table) => std::slice::from_mut(table),
            Self::Several(tables) => tables,
        }
    }
}

impl<'de> Deserialize<'de> for WorkloadsDocument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        if value.is_array() {
            serde_json::from_value(value).map(Self::Several).map_err(D::Error::custom)
        } else {
            serde_json::from_value(value).map(Self::One).map_err(D::Error::custom)
        }
    }
}
