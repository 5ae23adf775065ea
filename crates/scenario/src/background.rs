//! The `[[background]]` tables.

use incast_engine::{Rate, Size, Span};
use incast_net::topology::SwitchId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bursts::Bursts;
use super::flow_size::{FlowSize, FlowSizeDocument};
use super::network::Layout;
use super::numbers::Numbers;
use super::transport::TransportDocument;
use super::{Network, ScenarioError, Transport, remedies};

/// Traffic beside the workload, all of it towards clients.
#[derive(Clone, Debug)]
pub enum Background {
    /// Datagrams at equal intervals.
    Cbr(Datagrams),
    /// Datagrams at exponentially distributed intervals.
    Poisson(Datagrams),
    /// Datagrams at equal intervals, in bursts.
    OnOff(OnOff),
    /// TCP connections that always have data to send.
    LongFlow(Box<LongFlow>),
    /// TCP connections that come at random and have something to send.
    PoissonFlows(Box<PoissonFlows>),
}

/// A stream of datagrams that nobody answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Datagrams {
    /// What its row is called, if it has a name.
    pub group: Option<String>,
    /// Rate of each source, layer 2 excluded.
    pub rate: Rate,
    /// Size of a datagram on the wire, header included, layer 2 excluded, bytes.
    pub packet_size: u32,
    /// Who sends.
    pub from: Source,
    /// The switch that a host of its own is put on, the first of these.
    pub at: Vec<SwitchId>,
    /// The clients that the sources send to, in turn.
    pub to: Vec<u32>,
    /// When the first datagram is due.
    pub start: Span,
}

/// Datagrams in bursts.
#[derive(Clone, Debug, PartialEq)]
pub struct OnOff {
    /// What is sent, at the rate of a burst.
    pub datagrams: Datagrams,
    /// Mean length of a burst.
    pub burst: Span,
    /// Mean length of a pause.
    pub idle: Span,
}

/// Who sends background traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// A host of its own, on a link like a server's.
    Host,
    /// Every server, each at the full rate.
    Servers,
}

/// TCP connections that always have data to send, or bursts of them, from hosts of their own on
/// links like a server's.
#[derive(Clone, Debug)]
pub struct LongFlow {
    /// What its row is called, if it has a name.
    pub group: Option<String>,
    /// Number of hosts.
    pub count: u32,
    /// Connections of each host.
    pub flows: u32,
    /// The switches that the hosts are put on, in turn.
    pub at: Vec<SwitchId>,
    /// The clients that the hosts send to, in turn.
    pub to: Vec<u32>,
    /// When they open.
    pub start: Span,
    /// What the application writes; none if it always has data.
    pub bursts: Option<Bursts>,
    /// Their transport.
    pub transport: Transport,
}

/// Flows that arrive at random, each from one of the sources to one of the clients.
#[derive(Clone, Debug)]
pub struct PoissonFlows {
    /// What its row is called, if it has a name.
    pub group: Option<String>,
    /// Mean time between two flows, of all sources together.
    pub interval: Span,
    /// How many bytes a flow has.
    pub size: FlowSize,
    /// Who sends.
    pub from: Source,
    /// The switch that a host of its own is put on, the first of these.
    pub at: Vec<SwitchId>,
    /// The clients among which a flow's is drawn.
    pub to: Vec<u32>,
    /// When the first flow may come.
    pub start: Span,
    /// Their transport.
    pub transport: Transport,
}

impl Background {
    /// How many hosts it adds, and the switches that they are put on, in turn.
    pub fn added_hosts(&self) -> (u32, &[SwitchId]) {
        let own = |from: Source| u32::from(from == Source::Host);
        match self {
            Self::Cbr(datagrams)
            | Self::Poisson(datagrams)
            | Self::OnOff(OnOff { datagrams, .. }) => (own(datagrams.from), &datagrams.at),
            Self::LongFlow(flow) => (flow.count, &flow.at),
            Self::PoissonFlows(flows) => (own(flows.from), &flows.at),
        }
    }

    /// The clients that it is sent to.
    pub fn to(&self) -> &[u32] {
        match self {
            Self::Cbr(datagrams)
            | Self::Poisson(datagrams)
            | Self::OnOff(OnOff { datagrams, .. }) => &datagrams.to,
            Self::LongFlow(flow) => &flow.to,
            Self::PoissonFlows(flows) => &flows.to,
        }
    }

    /// Name of its row; `index` is the table's number.
    pub fn row(&self, index: usize) -> String {
        let (name, group) = match self {
            Self::Cbr(datagrams) => ("cbr", &datagrams.group),
            Self::Poisson(datagrams) => ("poisson", &datagrams.group),
            Self::OnOff(OnOff { datagrams, .. }) => ("on-off", &datagrams.group),
            Self::LongFlow(flow) => ("long-flow", &flow.group),
            Self::PoissonFlows(flows) => ("poisson-flows", &flows.group),
        };
        group.clone().unwrap_or_else(|| format!("background.{index}.{name}"))
    }

    /// The transport of its connections, if it has any.
    pub fn transport(&self) -> Option<&Transport> {
        match self {
            Self::Cbr(_) | Self::Poisson(_) | Self::OnOff(_) => None,
            Self::LongFlow(flow) => Some(&flow.transport),
            Self::PoissonFlows(flows) => Some(&flows.transport),
        }
    }

    /// The same, to complete it.
    pub(super) fn transport_mut(&mut self) -> Option<&mut Transport> {
        match self {
            Self::Cbr(_) | Self::Poisson(_) | Self::OnOff(_) => None,
            Self::LongFlow(flow) => Some(&mut flow.transport),
            Self::PoissonFlows(flows) => Some(&mut flows.transport),
        }
    }

    /// Number of its connections, beside so many servers.
    pub fn connections(&self, servers: u32) -> u32 {
        match self {
            Self::Cbr(_) | Self::Poisson(_) | Self::OnOff(_) => 0,
            Self::LongFlow(flow) => flow.count.saturating_mul(flow.flows),
            Self::PoissonFlows(flows) => {
                let sources = if flows.from == Source::Host { 1 } else { servers };
                sources.saturating_mul(flows.to.len() as u32)
            }
        }
    }
}

/// Traffic beside the workload, all of it towards clients.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case", expecting = "a table")]
#[schemars(rename = "Background")]
pub(super) enum BackgroundDocument {
    /// Datagrams at equal intervals.
    Cbr(DatagramsDocument),
    /// Datagrams at exponentially distributed intervals.
    Poisson(DatagramsDocument),
    /// Datagrams at equal intervals in bursts, with pauses between them: both of exponentially
    /// distributed lengths, as ns-2's exponential traffic.
    OnOff(OnOffDocument),
    /// TCP connections that always have data to send, or bursts of them, from hosts of their own on
    /// links like a server's.
    LongFlow(Box<LongFlowDocument>),
    /// TCP connections that come at random times between a random source and a random client, with
    /// something to send; their row has their completion times.
    PoissonFlows(Box<PoissonFlowsDocument>),
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct DatagramsDocument {
    /// What its result row is called. Default: `background.`, its number from 0 and its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<String>,
    /// Rate of each source, layer 2 excluded, bits per second; 0 sends nothing. No default.
    rate: Rate,
    /// Size of a datagram, header included, layer 2 excluded, bytes, 1 to 65535. Default: a full
    /// packet of the transport.
    packet_size: Option<Size>,
    /// Who sends.
    from: Source,
    /// The switch that a host of its own is put on, a number from 0. Default: what the topology
    /// has for the first server.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<Numbers>,
    /// The clients that the sources send to, in turn: a number from 0, or a list. Default: the
    /// first.
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<Numbers>,
    /// When the first datagram is due, seconds.
    start: Span,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct OnOffDocument {
    /// What its result row is called. Default: `background.`, its number from 0 and its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<String>,
    /// Rate of each source within a burst, layer 2 excluded, bits per second; 0 sends nothing. No
    /// default.
    rate: Rate,
    /// Mean length of a burst, seconds.
    burst: Span,
    /// Mean length of a pause, seconds.
    idle: Span,
    /// Size of a datagram, header included, layer 2 excluded, bytes, 1 to 65535. Default: a full
    /// packet of the transport.
    packet_size: Option<Size>,
    /// Who sends.
    from: Source,
    /// The switch that a host of its own is put on, a number from 0. Default: what the topology
    /// has for the first server.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<Numbers>,
    /// The clients that the sources send to, in turn: a number from 0, or a list. Default: the
    /// first.
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<Numbers>,
    /// When the first burst may begin, seconds.
    start: Span,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct LongFlowDocument {
    /// What its result row is called. Default: `background.`, its number from 0 and its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<String>,
    /// Number of hosts, at least 1.
    #[schemars(range(min = 1, max = 1_000_000))]
    count: u32,
    /// Connections of each host, at least 1.
    #[schemars(range(min = 1, max = 1_000_000))]
    flows: u32,
    /// The switches that the hosts are put on, in turn: a number from 0, or a list. Default:
    /// what the topology has for servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<Numbers>,
    /// The clients that the hosts send to, in turn: a number from 0, or a list. Default: the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<Numbers>,
    /// When they open, seconds.
    start: Span,
    /// Data come in bursts, a full segment at a time: a table. Default: there are always data.
    #[serde(skip_serializing_if = "Option::is_none")]
    bursts: Option<Bursts>,
    /// Their transport, with the profile's defaults and not those of `[transport]`.
    transport: TransportDocument,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct PoissonFlowsDocument {
    /// What its result row is called. Default: `background.`, its number from 0 and its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<String>,
    /// Mean time between two flows, of all sources together, exponentially distributed, seconds.
    /// No default.
    interval: Span,
    /// How much a flow sends, bytes, or the table of a distribution. No default.
    size: FlowSizeDocument,
    /// Who sends: each flow's source is drawn.
    from: Source,
    /// The switch that a host of its own is put on, a number from 0. Default: what the topology
    /// has for the first server.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<Numbers>,
    /// The clients among which each flow's is drawn: a number from 0, or a list. Default: the
    /// first.
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<Numbers>,
    /// When the first flow may come, seconds.
    start: Span,
    /// Their transport, with the profile's defaults and not those of `[transport]`.
    transport: TransportDocument,
}

impl BackgroundDocument {
    /// The transport of its connections, if it has any.
    pub(super) fn transport_mut(&mut self) -> Option<&mut TransportDocument> {
        match self {
            Self::Cbr(_) | Self::Poisson(_) | Self::OnOff(_) => None,
            Self::LongFlow(flow) => Some(&mut flow.transport),
            Self::PoissonFlows(flows) => Some(&mut flows.transport),
        }
    }
}

/// The table that is being read: its number, and where hosts can be.
#[derive(Clone, Copy)]
struct Table<'a> {
    index: usize,
    layout: &'a Layout,
}

impl Table<'_> {
    fn key(self, key: &str) -> String {
        format!("background.{}.{key}", self.index)
    }

    fn fail<T>(self, key: &str, message: impl Into<String>) -> Result<T, ScenarioError> {
        Err(ScenarioError::new(self.key(key), message))
    }

    /// The switches of hosts of its own.
    fn at(self, at: Option<Numbers>, from: Source) -> Result<Vec<SwitchId>, ScenarioError> {
        if from == Source::Servers && at.is_some() {
            let message = "the servers are where they are; leave it out, or write from = \"host\"";
            return self.fail("at", message);
        }
        let fabric = &self.layout.fabric;
        Numbers::switches(at, fabric, &fabric.servers, &self.key("at"))
    }

    fn to(self, to: Option<Numbers>) -> Result<Vec<u32>, ScenarioError> {
        Numbers::clients(to, self.layout.clients, &self.key("to"))
    }

    /// A transport of connections that nobody asks anything, towards these clients.
    fn transport(
        self,
        document: TransportDocument,
        to: &[u32],
    ) -> Result<Transport, ScenarioError> {
        let key = self.key("transport");
        let transport = document.build(&key)?;
        remedies::check_endless(&transport.remedies, &key)?;
        remedies::check_clients(&transport.remedies, to, &key)?;
        Ok(transport)
    }
}

impl BackgroundDocument {
    /// The traffic of the table number `index`, beside connections with full packets of `packet`
    /// bytes.
    pub(super) fn build(
        self,
        index: usize,
        packet: u32,
        layout: &Layout,
    ) -> Result<Background, ScenarioError> {
        let table = Table { index, layout };
        match self {
            Self::Cbr(document) => document.build(table, packet).map(Background::Cbr),
            Self::Poisson(document) => document.build(table, packet).map(Background::Poisson),
            Self::OnOff(document) => document.build(table, packet).map(Background::OnOff),
            Self::LongFlow(document) => {
                document.build(table).map(Box::new).map(Background::LongFlow)
            }
            Self::PoissonFlows(document) => {
                document.build(table).map(Box::new).map(Background::PoissonFlows)
            }
        }
    }

    pub(super) fn of(background: &Background, network: &Network) -> Self {
        match background {
            Background::Cbr(datagrams) => Self::Cbr(DatagramsDocument::of(datagrams, network)),
            Background::Poisson(datagrams) => {
                Self::Poisson(DatagramsDocument::of(datagrams, network))
            }
            Background::OnOff(on_off) => Self::OnOff(OnOffDocument::of(on_off, network)),
            Background::LongFlow(flow) => Self::LongFlow(Box::new(LongFlowDocument {
                group: flow.group.clone(),
                count: flow.count,
                flows: flow.flows,
                at: Numbers::of_switches(&flow.at, &network.fabric()),
                to: Numbers::of_clients(&flow.to, network.clients),
                start: flow.start,
                bursts: flow.bursts,
                transport: (&flow.transport).into(),
            })),
            Background::PoissonFlows(flows) => {
                Self::PoissonFlows(Box::new(PoissonFlowsDocument::of(flows, network)))
            }
        }
    }
}

impl DatagramsDocument {
    fn build(self, table: Table<'_>, packet: u32) -> Result<Datagrams, ScenarioError> {
        let Self { group, rate, packet_size, from, at, to, start } = self;
        let size = packet_size.map_or(packet.into(), |Size(size)| size);
        if size == 0 || size > 65_535 {
            let message = format!("{size} is out of range; write 1 to 65535 bytes");
            return table.fail("packet_size", message);
        }
        let (at, to) = (table.at(at, from)?, table.to(to)?);
        Ok(Datagrams { group, rate, packet_size: size as u32, from, at, to, start })
    }

    fn of(datagrams: &Datagrams, network: &Network) -> Self {
        let at = Numbers::of_switches(&datagrams.at, &network.fabric());
        Self {
            group: datagrams.group.clone(),
            rate: datagrams.rate,
            packet_size: Some(Size(datagrams.packet_size.into())),
            from: datagrams.from,
            at: at.filter(|_| datagrams.from == Source::Host),
            to: Numbers::of_clients(&datagrams.to, network.clients),
            start: datagrams.start,
        }
    }
}

impl OnOffDocument {
    fn build(self, table: Table<'_>, packet: u32) -> Result<OnOff, ScenarioError> {
        let Self { group, rate, burst, idle, packet_size, from, at, to, start } = self;
        if burst.is_zero() {
            return table.fail("burst", "0 is no time to send in; write e.g. \"500ms\"");
        }
        let datagrams = DatagramsDocument { group, rate, packet_size, from, at, to, start };
        Ok(OnOff { datagrams: datagrams.build(table, packet)?, burst, idle })
    }

    fn of(on_off: &OnOff, network: &Network) -> Self {
        let DatagramsDocument { group, rate, packet_size, from, at, to, start } =
            DatagramsDocument::of(&on_off.datagrams, network);
        let OnOff { burst, idle, .. } = *on_off;
        Self { group, rate, burst, idle, packet_size, from, at, to, start }
    }
}

impl LongFlowDocument {
    fn build(self, table: Table<'_>) -> Result<LongFlow, ScenarioError> {
        let Self { group, count, flows, at, to, start, bursts, transport } = self;
        if count == 0 {
            return table.fail("count", "0 is not a number of hosts; write 1 or more");
        }
        if flows == 0 {
            return table.fail("flows", "0 is not a number of connections; write 1 or more");
        }
        let (at, to) = (table.at(at, Source::Host)?, table.to(to)?);
        let bursts = bursts.map(|bursts| bursts.check(&table.key("bursts"))).transpose()?;
        let transport = table.transport(transport, &to)?;
        Ok(LongFlow { group, count, flows, at, to, start, bursts, transport })
    }
}

impl PoissonFlowsDocument {
    fn build(self, table: Table<'_>) -> Result<PoissonFlows, ScenarioError> {
        let Self { group, interval, size, from, at, to, start, transport } = self;
        if interval.is_zero() {
            return table.fail("interval", "0 lets all flows come at once; write e.g. \"1ms\"");
        }
        let size = size.build(&table.key("size"))?;
        let (at, to) = (table.at(at, from)?, table.to(to)?);
        let transport = table.transport(transport, &to)?;
        Ok(PoissonFlows { group, interval, size, from, at, to, start, transport })
    }

    fn of(flows: &PoissonFlows, network: &Network) -> Self {
        let at = Numbers::of_switches(&flows.at, &network.fabric());
        Self {
            group: flows.group.clone(),
            interval: flows.interval,
            size: FlowSizeDocument::of(flows.size),
            from: flows.from,
            at: at.filter(|_| flows.from == Source::Host),
            to: Numbers::of_clients(&flows.to, network.clients),
            start: flows.start,
            transport: (&flows.transport).into(),
        }
    }
}
