//! The parameters of a read, their checks, the switches of the read's hosts, and the offered load.

use incast_engine::{Fault, Size, Span};
use incast_host::Hosts;
use incast_net::topology::HostId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::BarrierReader;
use crate::application::Application;
use crate::layout::Layout;
use crate::numbers::Numbers;
use crate::seam::{Load, Role, Senders, Setting, Workload};

/// Synchronised reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Params {
    /// Number of servers, at least 1. No default.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub servers: u32,
    /// The switches to which the servers are connected: a number from 0, or a list of numbers that
    /// are assigned to the servers in turn. Default: the switches where the topology places
    /// servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub servers_at: Option<Numbers>,
    /// Whether this traffic uses the servers of the first workload, from its first server on,
    /// instead of servers of its own. Several clients then read from the same servers.
    #[serde(default, skip_serializing_if = "is_false")]
    #[schemars(extend("default" = false))]
    pub share_servers: bool,
    /// Number of servers that send a part of a block, at least 1. These servers are drawn at random
    /// for every block. Default: all servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub active: Option<u32>,
    /// The client that reads, a number from 0. Default: the first client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<u32>,
    /// The server request unit: the data that each server sends per block, in bytes. No default.
    /// Cannot be combined with `block`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sru: Option<Size>,
    /// Instead of `sru`: the size of a block, in bytes. The block is divided among the active
    /// servers. No default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<Size>,
    /// Number of blocks to read. Cannot be combined with `duration`. Background traffic without
    /// `blocks` and `duration` never ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1), extend("default" = 1))]
    pub blocks: Option<u32>,
    /// Instead of `blocks`: simulated time after which no block starts, in seconds. No default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Span>,
    /// Whether a connection is kept for the next block.
    #[serde(default)]
    pub connections: Connections,
    /// x: the time between two requests of a block is U(0, x) seconds.
    #[serde(default)]
    pub request_jitter: Span,
    /// x: every request of a block is delayed by U(0, x) seconds, independently of the others.
    #[serde(default)]
    pub start_spread: Span,
    /// x: every request is delayed by an additional U(0, x) seconds, independently of the others.
    /// The handshake of the request's connection is not delayed. If the handshake ends after the
    /// delay of the request, the request is sent when the handshake ends.
    #[serde(default)]
    pub request_spread: Span,
    /// The time of the handshakes of a block.
    #[serde(default)]
    pub handshakes: Handshakes,
    /// Mean time between the requests of two blocks, in seconds; these times are exponentially
    /// distributed. A block that is requested while another block is being read waits. With 0, the
    /// next block begins when the previous block is complete.
    #[serde(default)]
    pub interval: Span,
    /// Size of a request on the wire, in bytes. With 0, the request is part of the handshake's last
    /// ACK or, without a handshake, a packet of `transport.ack_size`.
    #[serde(default)]
    pub request_size: Size,
}

/// Whether a connection is kept for the next block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Connections {
    /// A new connection per server and block.
    #[default]
    Fresh,
    /// One connection per server for the whole run, which keeps its cwnd from block to block.
    Persistent,
}

/// The time of the handshakes of a block's connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Handshakes {
    /// A connection is opened when the request to its server is due.
    #[default]
    WithRequest,
    /// All connections of a block are opened when the block begins. The times of the block's
    /// requests count from the end of the last handshake, as in programs that connect first.
    Before,
}

/// The largest packet, bytes; payloads are counted in 16 bits.
const MAX_PACKET: u64 = 65_535;
/// The largest block, bytes.
const LARGEST_BLOCK: u64 = 1_000_000_000_000_000;

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
const fn is_false(value: &bool) -> bool {
    !*value
}

impl Params {
    /// Number of servers that have a part of a block.
    pub fn active(&self) -> u32 {
        self.active.unwrap_or(self.servers)
    }

    /// The client that reads.
    pub fn client(&self) -> u32 {
        self.client.unwrap_or(0)
    }

    /// Bytes of a part of a block. Parts are numbered from 0. If the bytes cannot be divided
    /// equally, each of the first parts has one byte more. If all servers are active, a part has
    /// the number of its server.
    pub fn sru_of(&self, part: u32) -> u64 {
        match (self.sru, self.block) {
            (Some(Size(bytes)), _) => bytes,
            (None, block) => {
                let (bytes, parts) = (block.unwrap_or_default().0, u64::from(self.active()));
                bytes / parts + u64::from(u64::from(part) < bytes % parts)
            }
        }
    }

    /// Bytes of a block.
    pub fn block(&self) -> u64 {
        match (self.sru, self.block) {
            (Some(Size(bytes)), _) => bytes * u64::from(self.active()),
            (None, block) => block.unwrap_or_default().0,
        }
    }

    fn check_size(&self) -> Result<(), Fault> {
        let active = self.active();
        if !(1..=self.servers).contains(&active) {
            let message = format!("{active} is out of range; must be 1 to {}", self.servers);
            return Err(Fault::new("active", message));
        }
        let most = LARGEST_BLOCK / u64::from(active);
        match (self.sru, self.block) {
            (Some(_), Some(_)) => Err(Fault::new("block", "excludes sru; give one of the two")),
            (None, None) => Err(Fault::new("sru", "missing; give it or block, e.g. \"64KiB\"")),
            (Some(Size(0)), None) => Err(Fault::new("sru", "must be at least 1 byte")),
            (Some(Size(bytes)), None) if bytes > most => Err(Fault::new(
                "sru",
                format!("{bytes} bytes of each server are too many; must be at most {most}"),
            )),
            (None, Some(Size(bytes))) if bytes < u64::from(active) => Err(Fault::new(
                "block",
                format!(
                    "{bytes} bytes leave less than 1 byte to each of {active} servers; must be at \
                     least {active}"
                ),
            )),
            (None, Some(Size(bytes))) if bytes > LARGEST_BLOCK => Err(Fault::new(
                "block",
                format!("{bytes} bytes are too many; must be at most {LARGEST_BLOCK}"),
            )),
            _ => Ok(()),
        }
    }

    fn check_end(&self) -> Result<(), Fault> {
        match (self.blocks, self.duration) {
            (Some(_), Some(_)) => {
                Err(Fault::new("duration", "excludes blocks; give one of the two"))
            }
            (_, Some(Span::ZERO)) => {
                Err(Fault::new("duration", "must be longer than 0; write e.g. \"20s\""))
            }
            _ => Ok(()),
        }
    }
}

impl Workload for Params {
    fn opens_early(&self) -> Option<&'static str> {
        if self.handshakes == Handshakes::Before {
            Some("handshakes")
        } else {
            (!self.request_spread.is_zero()).then_some("request_spread")
        }
    }

    fn settle(&mut self, layout: &Layout, role: Role) -> Result<(), Fault> {
        self.check_size()?;
        self.check_end()?;
        if self.request_size.0 > MAX_PACKET {
            let message = format!("a request is one packet; must be 0 to {MAX_PACKET} bytes");
            return Err(Fault::new("request_size", message));
        }
        let client = self.client();
        if client >= layout.clients {
            let message = format!(
                "there is no client {client}; write 0 to {}, or raise network.clients",
                layout.clients - 1
            );
            return Err(Fault::new("client", message));
        }
        if self.share_servers && self.servers_at.is_some() {
            let message = "must not be given: shared servers already have switches";
            return Err(Fault::new("servers_at", message));
        }
        if role == Role::Workload && self.duration.is_none() {
            self.blocks.get_or_insert(1);
        }
        self.active = self.active.filter(|active| *active < self.servers);
        self.client = (layout.clients > 1).then_some(client);
        if !self.share_servers {
            self.servers_at = layout.settled_switches(self.servers_at.as_ref(), "servers_at")?;
        }
        Ok(())
    }

    fn senders(&self, layout: &Layout) -> Senders {
        if self.share_servers {
            Senders::Servers
        } else {
            Senders::Own(self.servers, layout.switches_of(self.servers_at.as_ref()))
        }
    }

    fn clients(&self) -> Vec<u32> {
        vec![self.client()]
    }

    fn flows(&self, senders: &[HostId]) -> Vec<(HostId, HostId)> {
        let senders = senders.iter().take(self.servers as usize);
        senders.map(|server| (*server, HostId(self.client()))).collect()
    }

    fn count(&self, _: u32) -> u32 {
        self.servers
    }

    fn load(&self, _: u32) -> Option<Load> {
        let is_endless = self.connections == Connections::Persistent;
        Some(Load {
            most: self.sru_of(0),
            least: self.sru_of(self.active() - 1),
            at_once: self.active(),
            fan_in: self.active(),
            is_asked_for: true,
            is_shared: true,
            endless: is_endless.then_some("connections are \"persistent\""),
        })
    }

    fn ends(&self) -> bool {
        self.blocks.is_some() || self.duration.is_some()
    }

    fn application(&self, setting: Setting, hosts: &mut Hosts) -> Box<dyn Application> {
        let blueprint = setting.blueprint.expect("a read has connections");
        let scheduler = hosts.scheduler(blueprint);
        Box::new(BarrierReader::new(self, blueprint, &setting, scheduler))
    }
}
