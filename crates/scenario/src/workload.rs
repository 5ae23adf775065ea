//! The `[workload]` table.

use incast_engine::{Size, Span};
use incast_net::topology::SwitchId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::long_flows::{LongFlows, LongFlowsDocument};
use super::network::Layout;
use super::numbers::Numbers;
use super::{Network, ScenarioError};

/// What the client asks of the servers.
#[derive(Clone, Debug, PartialEq)]
pub enum Workload {
    /// See [`BarrierRead`].
    BarrierRead(BarrierRead),
    /// See [`LongFlows`].
    LongFlows(LongFlows),
}

impl Workload {
    /// Number of servers.
    pub fn servers(&self) -> u32 {
        match self {
            Self::BarrierRead(read) => read.servers,
            Self::LongFlows(flows) => flows.servers,
        }
    }

    /// The switches that they are put on, in turn.
    pub fn servers_at(&self) -> &[SwitchId] {
        match self {
            Self::BarrierRead(read) => &read.servers_at,
            Self::LongFlows(flows) => &flows.servers_at,
        }
    }

    /// The clients that they send to.
    pub fn to(&self) -> &[u32] {
        match self {
            Self::BarrierRead(read) => std::slice::from_ref(&read.client),
            Self::LongFlows(flows) => &flows.to,
        }
    }

    /// Number of connections.
    pub fn flows(&self) -> u32 {
        match self {
            Self::BarrierRead(read) => read.servers,
            Self::LongFlows(flows) => flows.servers.saturating_mul(flows.flows),
        }
    }
}

/// Synchronised reads: the client asks every server for its part of a block, and for the next
/// block when the last part has arrived.
#[derive(Clone, Debug, PartialEq)]
pub struct BarrierRead {
    /// Number of servers, at least 1.
    pub servers: u32,
    /// The switches that they are put on, in turn.
    pub servers_at: Vec<SwitchId>,
    /// How many of them have a part of a block, drawn anew for every block; at least 1.
    pub active: u32,
    /// The client that reads.
    pub client: u32,
    /// How much a server sends per block.
    pub sru: Sru,
    /// Blocks to read; exactly one of `blocks` and `duration` is given.
    pub blocks: Option<u32>,
    /// No block starts later than this.
    pub duration: Option<Span>,
    /// Whether a connection outlives its block.
    pub connections: Connections,
    /// Consecutive requests of a block are uniformly random in `[0, x)` apart, cumulatively.
    pub request_jitter: Span,
    /// Each request of a block is delayed by an independent uniform draw from `[0, x)`.
    pub start_spread: Span,
    /// Mean of the exponentially distributed times between two blocks that are wanted; zero if the
    /// next one is wanted when one is complete.
    pub interval: Span,
    /// Size of a request on the wire, bytes; 0 if it rides on the handshake's last ACK.
    pub request_size: u32,
}

/// The server request unit: how much a server sends per block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sru {
    /// So many bytes from each server.
    PerServer(u64),
    /// A block of so many bytes, divided by the number of servers.
    Block(u64),
}

/// Whether a connection outlives its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Connections {
    /// A new connection per server and block.
    Fresh,
    /// One connection per server for the whole run: its cwnd survives from block to block.
    Persistent,
}

impl BarrierRead {
    /// Bytes of a block's part (from 0); the first ones take a block's remainder. Where all servers
    /// are active, a part's number is its server's.
    pub fn sru_of(&self, part: u32) -> u64 {
        match self.sru {
            Sru::PerServer(bytes) => bytes,
            Sru::Block(bytes) => {
                let parts = u64::from(self.active);
                bytes / parts + u64::from(u64::from(part) < bytes % parts)
            }
        }
    }

    /// Bytes of a block.
    pub fn block(&self) -> u64 {
        match self.sru {
            Sru::PerServer(bytes) => bytes * u64::from(self.active),
            Sru::Block(bytes) => bytes,
        }
    }
}

/// The workload: what the client asks of the servers.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case", expecting = "a table")]
#[schemars(rename = "Workload")]
pub(super) enum WorkloadDocument {
    /// Synchronised reads: every server sends its part of a block, and the client asks for the
    /// next block when the last part has arrived.
    BarrierRead(BarrierReadDocument),
    /// TCP connections that always have data to send, or bursts of them, for a given time.
    LongFlows(LongFlowsDocument),
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct BarrierReadDocument {
    /// Number of servers, at least 1. No default.
    #[schemars(range(min = 1, max = 1_000_000))]
    servers: u32,
    /// The switches that the servers are put on, in turn: a number from 0, or a list. Default:
    /// what the topology has for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    servers_at: Option<Numbers>,
    /// How many servers have a part of a block, drawn at random for every block, at least 1.
    /// Default: all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    active: Option<u32>,
    /// Which client reads, a number from 0. Default: the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<u32>,
    /// The server request unit: what each server sends per block, bytes. No default; excludes
    /// `block`.
    #[serde(skip_serializing_if = "Option::is_none")]
    sru: Option<Size>,
    /// Instead of `sru`: the size of a block, bytes, which is divided by the number of active
    /// servers. No default.
    #[serde(skip_serializing_if = "Option::is_none")]
    block: Option<Size>,
    /// Number of blocks to read. Excludes `duration`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    blocks: Option<u32>,
    /// Instead of `blocks`: simulated time after which no block starts, seconds. No default.
    #[serde(skip_serializing_if = "Option::is_none")]
    duration: Option<Span>,
    /// Whether a connection outlives its block.
    connections: Connections,
    /// x: consecutive requests of a block are U(0, x) apart, cumulatively, seconds.
    request_jitter: Span,
    /// x: every request of a block is delayed by U(0, x), independently, seconds.
    start_spread: Span,
    /// Mean time between two blocks that are wanted, exponentially distributed, seconds; those that
    /// are wanted while one is read wait. 0: the next one is wanted when one is complete.
    interval: Span,
    /// Size of a request on the wire, bytes; 0: it rides on the handshake's last ACK, or travels
    /// as a packet of `transport.ack_size` where there is no handshake to ride on.
    request_size: Size,
}

/// A packet is at most this long (its payload is counted in 16 bits).
const MAX_PACKET: u64 = 65_535;

impl WorkloadDocument {
    /// The workload on this network.
    pub(super) fn build(self, layout: &Layout) -> Result<Workload, ScenarioError> {
        match self {
            Self::BarrierRead(document) => document.build(layout).map(Workload::BarrierRead),
            Self::LongFlows(document) => document.build(layout).map(Workload::LongFlows),
        }
    }
}

impl BarrierReadDocument {
    fn build(self, layout: &Layout) -> Result<BarrierRead, ScenarioError> {
        let fail =
            |key: &str, message: &str| Err(ScenarioError::new(format!("workload.{key}"), message));
        let servers = self.servers;
        if servers == 0 {
            return fail("servers", "0 is not a number of servers; write 1 or more");
        }
        let active = self.active.unwrap_or(servers);
        if !(1..=servers).contains(&active) {
            let message =
                format!("{active} is out of range; write 1 to {servers}, workload.servers");
            return fail("active", &message);
        }
        let sru = match (self.sru, self.block) {
            (Some(_), Some(_)) => {
                return fail("block", "excludes workload.sru; give one of the two");
            }
            (None, None) => {
                return fail("sru", "missing; give it or workload.block, e.g. \"64KiB\"");
            }
            (Some(Size(0)), None) => {
                return fail("sru", "0 bytes are nothing to read; write 1 or more");
            }
            (Some(Size(bytes)), None) => Sru::PerServer(bytes),
            (None, Some(Size(bytes))) if bytes < u64::from(active) => {
                let message = format!(
                    "{bytes} bytes leave less than 1 byte to each of {active} servers; write {active} or more"
                );
                return fail("block", &message);
            }
            (None, Some(Size(bytes))) => Sru::Block(bytes),
        };
        match (self.blocks, self.duration) {
            (Some(_), Some(_)) => {
                return fail("duration", "excludes workload.blocks; give one of the two");
            }
            (Some(0), _) => return fail("blocks", "0 blocks are nothing to read; write 1 or more"),
            (_, Some(Span::ZERO)) => {
                return fail("duration", "0 is no time to read; write e.g. \"20s\"");
            }
            _ => {}
        }
        if self.request_size.0 > MAX_PACKET {
            return fail("request_size", "a request is one packet; write 0 to 65535 bytes");
        }
        let client = self.client.unwrap_or(0);
        if client >= layout.clients {
            let message = format!(
                "there is no client {client}; write 0 to {}, or raise network.clients",
                layout.clients - 1
            );
            return fail("client", &message);
        }
        Ok(BarrierRead {
            servers,
            servers_at: layout.servers_at(self.servers_at)?,
            active,
            client,
            sru,
            blocks: self.blocks,
            duration: self.duration,
            connections: self.connections,
            request_jitter: self.request_jitter,
            start_spread: self.start_spread,
            interval: self.interval,
            request_size: self.request_size.0 as u32,
        })
    }

    fn of(read: &BarrierRead, network: &Network) -> Self {
        let (sru, block) = match read.sru {
            Sru::PerServer(bytes) => (Some(Size(bytes)), None),
            Sru::Block(bytes) => (None, Some(Size(bytes))),
        };
        Self {
            servers: read.servers,
            servers_at: Numbers::of_switches(&read.servers_at, &network.fabric()),
            active: (read.active < read.servers).then_some(read.active),
            client: (network.clients > 1).then_some(read.client),
            sru,
            block,
            blocks: read.blocks,
            duration: read.duration,
            connections: read.connections,
            request_jitter: read.request_jitter,
            start_spread: read.start_spread,
            interval: read.interval,
            request_size: Size(read.request_size.into()),
        }
    }
}

impl WorkloadDocument {
    pub(super) fn of(workload: &Workload, network: &Network) -> Self {
        match workload {
            Workload::BarrierRead(read) => {
                Self::BarrierRead(BarrierReadDocument::of(read, network))
            }
            Workload::LongFlows(flows) => Self::LongFlows(LongFlowsDocument::of(flows, network)),
        }
    }
}
