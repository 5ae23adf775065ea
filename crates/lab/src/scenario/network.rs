//! The `[network]` table.

use incast_engine::{Limit, Rate, Size, Span};
use incast_net::buffer::{Accounting, PoolConfig};
use incast_net::port::Ties;
use incast_net::queue::{QueueConfig, Site};
use incast_tcp::Config;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ScenarioError;
use super::buffer::{self, AccountingDocument, BufferDocument};
use super::named::{Name, OrName};
use super::reorder::{Reorder, ReorderDocument};
use super::schema::name_or_table;
use super::transport::Transport;

/// The network between the servers and the client.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// Who is connected to whom.
    pub topology: Topology,
    /// Rate of a server's link, both ways.
    pub server_rate: Rate,
    /// Rate of the client's link, both ways.
    pub client_rate: Rate,
    /// Propagation delay of a server's link, one way.
    pub server_delay: Span,
    /// Propagation delay of the client's link, one way.
    pub client_delay: Span,
    /// The most that an output port of the switch may hold.
    pub buffer: Limit,
    /// What the switch's output ports share; none leaves each its own buffer.
    pub pool: Option<PoolConfig>,
    /// What a packet occupies in buffers.
    pub accounting: Accounting,
    /// Whether the packet that is being sent occupies the buffer.
    pub buffer_counts_in_service: bool,
    /// Bytes that layer 2 adds to every packet on the line.
    pub layer2_overhead: u32,
    /// Every packet takes up to this much longer or shorter on the line, at random.
    pub clock_noise: Span,
    /// What a packet finds that arrives in the very instant of a departure.
    pub ties: Ties,
    /// Queue discipline of the switch's output ports.
    pub queue: QueueConfig,
    /// Packets that others overtake.
    pub reorder: Option<Reorder>,
    /// Gives every port departure events although it may do without. No key of a document: both
    /// ways agree, and this is how tests compare them.
    pub departure_events: bool,
}

/// Who is connected to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Topology {
    /// Every host on a link of its own to one switch.
    Star,
}

/// A layer-2 framing whose overhead has a name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Framing {
    Ethernet,
}

impl Name for Framing {
    const NAMES: &'static [(&'static str, Self, &'static str)] = &[(
        "ethernet",
        Self::Ethernet,
        "38 bytes (IEEE 802.3): preamble 8, header 14, frame check sequence 4, gap 12.",
    )];
}

impl Framing {
    const fn bytes(self) -> u64 {
        match self {
            Self::Ethernet => 38,
        }
    }
}

/// The network: links, delays, and the buffers of the switch's output ports.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
#[schemars(rename = "Network")]
pub(super) struct NetworkDocument {
    /// Who is connected to whom: the name of a topology.
    topology: Topology,
    /// Rate of every link, bits per second.
    rate: Rate,
    /// Propagation delay of every link, one link, one way, seconds. Excludes `base_rtt`.
    #[serde(skip_serializing_if = "Option::is_none")]
    delay: Option<Span>,
    /// Instead of `delay`: round trip of one full packet and its ACK on an idle network,
    /// serialisation included, seconds. No default.
    #[serde(skip_serializing_if = "Option::is_none")]
    base_rtt: Option<Span>,
    /// Rate of the servers' links, bits per second. Default: `rate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    server_rate: Option<Rate>,
    /// Rate of the client's link, bits per second. Default: `rate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    client_rate: Option<Rate>,
    /// Propagation delay of the servers' links, one way, seconds. Default: `delay`, or half of
    /// what `base_rtt` leaves to one way.
    #[serde(skip_serializing_if = "Option::is_none")]
    server_delay: Option<Span>,
    /// Buffer of each output port of the switch, bytes or packets, or a table that says how the
    /// ports share one.
    buffer: BufferDocument,
    /// Cells in which memory is handed out, bytes: a packet that ends within a cell occupies
    /// all of it. 1 counts bytes as they are.
    buffer_cell: Size,
    /// What every packet occupies in the buffer beside its own size, bytes.
    buffer_packet_overhead: Size,
    /// Whether the packet that is being sent occupies the buffer.
    buffer_counts_in_service: bool,
    /// What layer 2 adds to every packet on the line, bytes, or the name of a framing.
    layer2_overhead: OrName<Framing, Size>,
    /// x: every packet takes U(-x, x) longer on the line, seconds: clocks never agree to the
    /// picosecond, and exact ties lock flows into phase effects.
    clock_noise: Span,
    /// What a packet finds that arrives in the very instant of a departure.
    ties: Ties,
    /// Queue discipline of the switch's output ports: a name, or a table with its parameters.
    #[schemars(schema_with = "name_or_table::<QueueConfig>")]
    queue: QueueConfig,
    /// Packets that others overtake: a table. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    reorder: Option<ReorderDocument>,
}

impl NetworkDocument {
    /// The network on which `transport` runs: `base_rtt` depends on its packets.
    pub(super) fn build(self, transport: &Transport) -> Result<Network, ScenarioError> {
        let fail =
            |key: &str, message: String| Err(ScenarioError::new(format!("network.{key}"), message));
        let server_rate = self.server_rate.unwrap_or(self.rate);
        let client_rate = self.client_rate.unwrap_or(self.rate);
        for (key, rate) in [("server_rate", server_rate), ("client_rate", client_rate)] {
            if rate.0 == 0 {
                let key = if rate == self.rate { "rate" } else { key };
                return fail(key, "a link needs a rate above 0, e.g. \"1Gbps\"".to_owned());
            }
        }
        let overhead = match self.layer2_overhead {
            OrName::Name(framing) => framing.bytes(),
            OrName::Quantity(size) => size.0,
        };
        let Ok(layer2_overhead) = u32::try_from(overhead) else {
            return fail(
                "layer2_overhead",
                format!("{overhead} bytes are too many; write less than 4GiB"),
            );
        };
        let packet = transport.tcp.mss + u32::from(transport.tcp.header);
        let (buffer, pool) = self.buffer.build()?;
        let accounting = AccountingDocument {
            cell: self.buffer_cell,
            packet_overhead: self.buffer_packet_overhead,
        };
        let limits: Vec<Limit> = [buffer].into_iter().chain(pool.map(|pool| pool.total)).collect();
        let accounting = accounting.build(&limits)?;
        let space = accounting.space(packet);
        if let Some(limit) = limits.iter().find(|limit| space.exceeds(**limit)) {
            let message = if accounting == Accounting::EXACT {
                format!(
                    "{limit} do not hold one full packet of {packet} bytes; \
                     write at least that, or \"1pkt\""
                )
            } else {
                format!(
                    "{limit} do not hold one full packet, which occupies {} bytes; \
                     write at least that",
                    space.bytes
                )
            };
            return fail("buffer", message);
        }
        let site = Site {
            rate: client_rate,
            layer2_overhead,
            buffer: Some(buffer).filter(|_| pool.is_none_or(|pool| pool.alpha.is_none())),
            counts_in_service: self.buffer_counts_in_service,
        };
        if let Err(fault) = self.queue.check(&site) {
            return fail(&format!("queue.{}", fault.key), fault.message);
        }
        let sending = sending(&transport.tcp, [server_rate, client_rate], overhead);
        let (server_delay, client_delay) = self.delays(sending)?;
        Ok(Network {
            topology: self.topology,
            server_rate,
            client_rate,
            server_delay,
            client_delay,
            buffer,
            pool,
            accounting,
            buffer_counts_in_service: self.buffer_counts_in_service,
            layer2_overhead,
            clock_noise: self.clock_noise,
            ties: self.ties,
            queue: self.queue,
            reorder: self.reorder.map(ReorderDocument::build).transpose()?,
            departure_events: false,
        })
    }

    /// Delays of a server's link and of the client's, where sending a full packet and its ACK over
    /// both takes `sending`.
    fn delays(&self, sending: Span) -> Result<(Span, Span), ScenarioError> {
        match (self.delay, self.base_rtt) {
            (Some(_), Some(_)) => Err(ScenarioError::new(
                "network.base_rtt",
                "excludes network.delay; give one of the two",
            )),
            (None, None) => {
                Err(ScenarioError::new("network.delay", "missing; give it or network.base_rtt"))
            }
            (Some(delay), None) => Ok((self.server_delay.unwrap_or(delay), delay)),
            (None, Some(base_rtt)) => {
                let one_way = base_rtt.saturating_sub(sending) / 2;
                let server_delay = self.server_delay.unwrap_or(one_way / 2);
                if base_rtt < sending || server_delay > one_way {
                    let given = self.server_delay.map_or("", |_| " and network.server_delay");
                    let message = format!(
                        "{}us leave nothing for the links: a full packet and its ACK{given} \
                         already take {}us",
                        micros(base_rtt),
                        micros(sending) + 2.0 * micros(self.server_delay.unwrap_or_default()),
                    );
                    return Err(ScenarioError::new("network.base_rtt", message));
                }
                Ok((server_delay, one_way.saturating_sub(server_delay)))
            }
        }
    }
}

impl Network {
    /// Round trip of one full packet and its ACK on the idle network, serialisation included.
    pub fn base_rtt(&self, tcp: &Config) -> Span {
        let rates = [self.server_rate, self.client_rate];
        let delay = (self.server_delay + self.client_delay) * 2;
        delay + sending(tcp, rates, self.layer2_overhead.into())
    }
}

/// How long a full packet and its ACK occupy links of these rates.
fn sending(tcp: &Config, rates: [Rate; 2], overhead: u64) -> Span {
    [tcp.mss + u32::from(tcp.header), tcp.ack_size.into()]
        .into_iter()
        .flat_map(|size| rates.map(|rate| (size, rate)))
        .map(|(size, rate)| rate.transmission_time(u64::from(size) + overhead))
        .fold(Span::ZERO, Span::saturating_add)
}

fn micros(span: Span) -> f64 {
    span.as_picos() as f64 / 1e6
}

impl From<&Network> for NetworkDocument {
    fn from(network: &Network) -> Self {
        Self {
            topology: network.topology,
            rate: network.client_rate,
            delay: Some(network.client_delay),
            base_rtt: None,
            server_rate: Some(network.server_rate),
            client_rate: Some(network.client_rate),
            server_delay: Some(network.server_delay),
            buffer: buffer::document(network.buffer, network.pool),
            buffer_cell: Size(network.accounting.cell.into()),
            buffer_packet_overhead: Size(network.accounting.packet_overhead.into()),
            buffer_counts_in_service: network.buffer_counts_in_service,
            layer2_overhead: OrName::Quantity(Size(network.layer2_overhead.into())),
            clock_noise: network.clock_noise,
            ties: network.ties,
            queue: network.queue.clone(),
            reorder: network.reorder.as_ref().map(Into::into),
        }
    }
}
