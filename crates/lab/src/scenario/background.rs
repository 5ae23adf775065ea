//! The `[[background]]` tables.

use incast_engine::{Rate, Size, Span};
use incast_net::topology::{Fabric, SwitchId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::places::Places;
use super::transport::{Transport, TransportDocument};
use super::{ScenarioError, remedies};

/// Traffic beside the workload, all of it towards the client.
#[derive(Clone, Debug)]
pub enum Background {
    /// Datagrams at equal intervals.
    Cbr(Datagrams),
    /// Datagrams at exponentially distributed intervals.
    Poisson(Datagrams),
    /// TCP connections that always have data to send.
    LongFlow(Box<LongFlow>),
}

/// A stream of datagrams that nobody answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Datagrams {
    /// Rate of each source, layer 2 excluded.
    pub rate: Rate,
    /// Size of a datagram on the wire, header included, layer 2 excluded, bytes.
    pub packet_size: u32,
    /// Who sends.
    pub from: Source,
    /// The switch that a host of its own is put on, the first of these.
    pub at: Vec<SwitchId>,
    /// When the first datagram is due.
    pub start: Span,
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

/// TCP connections that always have data to send, each from a host of its own on a link like a
/// server's.
#[derive(Clone, Debug)]
pub struct LongFlow {
    /// Number of connections.
    pub count: u32,
    /// The switches that their hosts are put on, in turn.
    pub at: Vec<SwitchId>,
    /// When they open.
    pub start: Span,
    /// Their transport.
    pub transport: Transport,
}

/// Traffic beside the workload, all of it towards the client.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case", expecting = "a table")]
#[schemars(rename = "Background")]
pub(super) enum BackgroundDocument {
    /// Datagrams at equal intervals.
    Cbr(DatagramsDocument),
    /// Datagrams at exponentially distributed intervals.
    Poisson(DatagramsDocument),
    /// TCP connections that always have data to send, each from a host of its own on a link like
    /// a server's.
    LongFlow(Box<LongFlowDocument>),
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct DatagramsDocument {
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
    at: Option<Places>,
    /// When the first datagram is due, seconds.
    start: Span,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct LongFlowDocument {
    /// Number of connections, at least 1.
    #[schemars(range(min = 1))]
    count: u32,
    /// The switches that their hosts are put on, in turn: a number from 0, or a list. Default:
    /// what the topology has for servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<Places>,
    /// When they open, seconds.
    start: Span,
    /// Their transport, with the profile's defaults and not those of `[transport]`.
    transport: TransportDocument,
}

impl BackgroundDocument {
    /// The traffic of the table number `index`, beside connections with full packets of `packet`
    /// bytes, on the switches of `fabric`.
    pub(super) fn build(
        self,
        index: usize,
        packet: u32,
        fabric: &Fabric,
    ) -> Result<Background, ScenarioError> {
        match self {
            Self::Cbr(document) => document.build(index, packet, fabric).map(Background::Cbr),
            Self::Poisson(document) => {
                document.build(index, packet, fabric).map(Background::Poisson)
            }
            Self::LongFlow(document) => {
                document.build(index, fabric).map(Box::new).map(Background::LongFlow)
            }
        }
    }
}

impl DatagramsDocument {
    fn build(self, index: usize, packet: u32, fabric: &Fabric) -> Result<Datagrams, ScenarioError> {
        let Self { rate, packet_size, from, at, start } = self;
        let key = format!("background.{index}.at");
        if from == Source::Servers && at.is_some() {
            let message = "the servers are where they are; leave it out, or write from = \"host\"";
            return Err(ScenarioError::new(key, message));
        }
        let at = Places::build(at, fabric, &fabric.servers, &key)?;
        let size = packet_size.map_or(packet.into(), |Size(size)| size);
        if size == 0 || size > 65_535 {
            let key = format!("background.{index}.packet_size");
            return Err(ScenarioError::new(
                key,
                format!("{size} is out of range; write 1 to 65535 bytes"),
            ));
        }
        Ok(Datagrams { rate, packet_size: size as u32, from, at, start })
    }
}

impl LongFlowDocument {
    fn build(self, index: usize, fabric: &Fabric) -> Result<LongFlow, ScenarioError> {
        let key = format!("background.{index}");
        if self.count == 0 {
            let message = "0 is not a number of connections; write 1 or more";
            return Err(ScenarioError::new(format!("{key}.count"), message));
        }
        let transport = self.transport.build(&format!("{key}.transport"))?;
        remedies::check_endless(&transport.remedies, &format!("{key}.transport"))?;
        let at = Places::build(self.at, fabric, &fabric.servers, &format!("{key}.at"))?;
        Ok(LongFlow { count: self.count, at, start: self.start, transport })
    }
}

impl BackgroundDocument {
    pub(super) fn of(background: &Background, fabric: &Fabric) -> Self {
        match background {
            Background::Cbr(datagrams) => Self::Cbr(DatagramsDocument::of(datagrams, fabric)),
            Background::Poisson(datagrams) => {
                Self::Poisson(DatagramsDocument::of(datagrams, fabric))
            }
            Background::LongFlow(flow) => Self::LongFlow(Box::new(LongFlowDocument {
                count: flow.count,
                at: Places::document(&flow.at, fabric),
                start: flow.start,
                transport: (&flow.transport).into(),
            })),
        }
    }
}

impl DatagramsDocument {
    fn of(datagrams: &Datagrams, fabric: &Fabric) -> Self {
        let places = Places::document(&datagrams.at, fabric);
        Self {
            rate: datagrams.rate,
            packet_size: Some(Size(datagrams.packet_size.into())),
            from: datagrams.from,
            at: places.filter(|_| datagrams.from == Source::Host),
            start: datagrams.start,
        }
    }
}
