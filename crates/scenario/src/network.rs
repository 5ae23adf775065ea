//! The `[network]` table.

use incast_engine::{Limit, Name, OrName, Rate, Size, Span};
use incast_net::buffer::{Accounting, PoolConfig};
use incast_net::port::{ArrivalOrder, Ties};
use incast_net::queue::{QueueConfig, Site};
use incast_net::topology::{Fabric, Router, SwitchId, TopologyConfig};
use incast_traffic::{Layout, Numbers};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::buffer::{self, AccountingDocument, BufferDocument};
use super::reorder::{Reorder, ReorderDocument};
use super::schema::name_or_table;
use super::trunks::{CoreDocument, CoreLinks};
use super::{Group, ScenarioError, Transport};

/// The network between the servers and the client.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// The switches.
    pub topology: TopologyConfig,
    /// The links between switches; `None` for a single switch.
    pub core: Option<CoreLinks>,
    /// Number of clients, at least 1.
    pub clients: u32,
    /// The switches to which the clients are connected; the clients take them in turn.
    pub clients_at: Vec<SwitchId>,
    /// Rate of a server's link, both ways.
    pub server_rate: Rate,
    /// Rate of the client's link, both ways.
    pub client_rate: Rate,
    /// Propagation delay of a server's link, one way.
    pub server_delay: Span,
    /// Propagation delay of the client's link, one way.
    pub client_delay: Span,
    /// Capacity of an output port of the switch.
    pub buffer: Limit,
    /// Buffer shared by the switch's output ports; `None` if each has its own.
    pub pool: Option<PoolConfig>,
    /// Buffer space of a packet.
    pub accounting: Accounting,
    /// Whether the packet that is being sent occupies the buffer.
    pub buffer_counts_in_service: bool,
    /// Layer-2 overhead of every packet on the link, in bytes.
    pub layer2_overhead: u32,
    /// Upper bound of the random delay of each departure.
    pub clock_noise: Span,
    /// The order of an arrival and a departure at the same instant.
    pub ties: Ties,
    /// The order of simultaneous arrivals from different hosts.
    pub arrival_order: ArrivalOrder,
    /// Queue discipline of the switch's output ports.
    pub queue: QueueConfig,
    /// Reordering of packets.
    pub reorder: Option<Reorder>,
    /// Gives every port departure events, even if it does not need them. This is not a key of
    /// documents; tests compare both variants.
    pub departure_events: bool,
}

/// A layer-2 framing with a named overhead.
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

/// The largest layer-2 overhead: as much as the longest packet.
const MOST_OVERHEAD: u64 = 65_535;

/// The network: links, delays, and the buffers of the switch's output ports.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
#[schemars(rename = "Network")]
pub(super) struct NetworkDocument {
    /// The switches: the name of a topology, or a table with its parameters.
    #[schemars(schema_with = "name_or_table::<TopologyConfig>")]
    topology: TopologyConfig,
    /// Number of clients (hosts that read), at least 1; each workload selects among them.
    #[schemars(range(min = 1, max = 1_000_000))]
    clients: u32,
    /// The switches to which the clients are connected: a number from 0, or a list of numbers that
    /// are assigned to the clients in turn. Default: the switches where the topology places
    /// clients.
    #[serde(skip_serializing_if = "Option::is_none")]
    client_at: Option<Numbers>,
    /// Rate of every link, in bits per second.
    rate: Rate,
    /// One-way propagation delay of every link, in seconds. Cannot be combined with `base_rtt`.
    #[serde(skip_serializing_if = "Option::is_none")]
    delay: Option<Span>,
    /// Instead of `delay`: round trip of one full packet and its ACK on an idle network, in
    /// seconds, serialisation included. No default.
    #[serde(skip_serializing_if = "Option::is_none")]
    base_rtt: Option<Span>,
    /// Rate of the servers' links, in bits per second. Default: `rate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    server_rate: Option<Rate>,
    /// Rate of the client's link, in bits per second. Default: `rate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    client_rate: Option<Rate>,
    /// One-way propagation delay of the servers' links, in seconds. Default: `delay`, or half the
    /// one-way delay that follows from `base_rtt`.
    #[serde(skip_serializing_if = "Option::is_none")]
    server_delay: Option<Span>,
    /// The links between switches, if there are several switches: a table. Default: like the other
    /// links.
    #[serde(skip_serializing_if = "Option::is_none")]
    core: Option<CoreDocument>,
    /// Buffer of each output port of a switch, in bytes or packets, `auto`, or a table that defines
    /// how the ports share a buffer.
    buffer: BufferDocument,
    /// Size of memory cells, in bytes. A packet occupies whole cells; with 1, it occupies its exact
    /// size.
    buffer_cell: Size,
    /// Additional buffer space of every packet, in bytes.
    buffer_packet_overhead: Size,
    /// Whether the packet that is being sent occupies the buffer.
    buffer_counts_in_service: bool,
    /// Layer-2 overhead of every packet on the link, in bytes, or the name of a framing.
    layer2_overhead: OrName<Framing, Size>,
    /// x: bound of a random delay, U(0, x), of each departure, in seconds. The delay is at most the
    /// packet's transmission time. The delays do not accumulate, so the link keeps its rate.
    /// Without such delays, exact ties cause phase effects, which do not occur with real clocks.
    clock_noise: Span,
    /// The order of an arrival and a departure at the same instant.
    ties: Ties,
    /// The order of packets of different hosts that arrive at a port at the same instant.
    arrival_order: ArrivalOrder,
    /// Queue discipline of the switches' output ports: a name, or a table with its parameters.
    #[schemars(schema_with = "name_or_table::<QueueConfig>")]
    pub(super) queue: QueueConfig,
    /// Reordering of packets: a table. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    reorder: Option<ReorderDocument>,
}

impl NetworkDocument {
    /// The switches to which the hosts are connected, if the topology is valid and there is a
    /// client. `packet` is the size of a full packet of the scenario's transport, bytes.
    pub(super) fn layout(&self, packet: u32) -> Result<Layout, ScenarioError> {
        let fabric = self.topology.shape().fabric();
        let clients_at = Numbers::switches(self.client_at.as_ref(), &fabric, &fabric.clients)
            .map_err(|message| ScenarioError::new("network.client_at", message))?;
        Ok(Layout { fabric, clients: self.clients, clients_at, packet })
    }

    /// Computes sizes that depend on the flows.
    pub(super) fn resolve(&mut self, groups: &[Group<'_>]) -> Result<(), ScenarioError> {
        self.buffer.resolve("network.buffer", groups)?;
        self.core.as_mut().map_or(Ok(()), |core| core.resolve(groups))
    }

    /// Builds the network. `transport` is needed because `base_rtt` depends on the sizes of its
    /// packets.
    pub(super) fn build(self, transport: &Transport) -> Result<Network, ScenarioError> {
        let Layout { fabric, clients_at, .. } = self.layout(transport.packet())?;
        let (server_rate, client_rate) = self.rates()?;
        let layer2_overhead = self.overhead()?;
        let room = self.room(transport)?;
        let site = Site {
            rate: client_rate,
            layer2_overhead,
            buffer: Some(room.buffer).filter(|_| room.pool.is_none_or(|pool| pool.alpha.is_none())),
            counts_in_service: self.buffer_counts_in_service,
        };
        if let Err(fault) = self.queue.check(&site) {
            return fail(&format!("queue.{}", fault.key), fault.message);
        }
        if let (Some(_), None, 2..) = (self.base_rtt, self.delay, fabric.switches) {
            let message = "applies to one switch; with several switches, give network.delay, which \
                           applies to each link";
            return fail("base_rtt", message);
        }
        let sizes = full_and_ack(transport);
        let sending = sending(sizes, &[server_rate, client_rate], layer2_overhead.into());
        let (server_delay, client_delay) =
            delays(self.delay, self.base_rtt, self.server_delay, sending)?;
        let (delay, queue) = (client_delay, self.queue.clone());
        let usual = CoreLinks { rate: self.rate, delay, buffer: room.buffer, queue };
        let shares = room.pool.is_some();
        let core = CoreDocument::build(self.core, &self.topology, usual, shares, &site)?;
        if let Some(message) = core.iter().find_map(|core| room.lacks(core.buffer, transport)) {
            return fail("core.buffer", message);
        }
        Ok(Network {
            clients_at,
            reorder: self.reorder.map(|reorder| reorder.build(core.is_some())).transpose()?,
            topology: self.topology,
            core,
            clients: self.clients,
            server_rate,
            client_rate,
            server_delay,
            client_delay,
            buffer: room.buffer,
            pool: room.pool,
            accounting: room.accounting,
            buffer_counts_in_service: self.buffer_counts_in_service,
            layer2_overhead,
            clock_noise: self.clock_noise,
            ties: self.ties,
            arrival_order: self.arrival_order,
            queue: self.queue,
            departure_events: false,
        })
    }

    /// Rates of the servers' links and of the clients' links.
    fn rates(&self) -> Result<(Rate, Rate), ScenarioError> {
        let server_rate = self.server_rate.unwrap_or(self.rate);
        let client_rate = self.client_rate.unwrap_or(self.rate);
        for (key, rate) in [("server_rate", server_rate), ("client_rate", client_rate)] {
            if rate.0 == 0 {
                let key = if rate == self.rate { "rate" } else { key };
                return fail(key, "a link needs a rate above 0, e.g. \"1Gbps\"");
            }
        }
        Ok((server_rate, client_rate))
    }

    /// Layer-2 overhead of every packet, bytes.
    fn overhead(&self) -> Result<u32, ScenarioError> {
        let overhead = match self.layer2_overhead {
            OrName::Name(framing) => framing.bytes(),
            OrName::Quantity(size) => size.0,
        };
        if overhead > MOST_OVERHEAD {
            let message = format!("{overhead} bytes are too many; write at most {MOST_OVERHEAD}");
            return fail("layer2_overhead", message);
        }
        Ok(overhead as u32)
    }

    /// Buffers of the switches' ports.
    fn room(&self, transport: &Transport) -> Result<Room, ScenarioError> {
        let (buffer, pool) = self.buffer.build()?;
        let limits: Vec<Limit> = [buffer].into_iter().chain(pool.map(|pool| pool.total)).collect();
        let accounting = AccountingDocument {
            cell: self.buffer_cell,
            packet_overhead: self.buffer_packet_overhead,
        };
        let room = Room { buffer, pool, accounting: accounting.build(&limits)? };
        match limits.into_iter().find_map(|limit| room.lacks(limit, transport)) {
            Some(message) => fail("buffer", message),
            None => Ok(room),
        }
    }
}

/// Buffers of the ports of a switch.
struct Room {
    buffer: Limit,
    pool: Option<PoolConfig>,
    accounting: Accounting,
}

impl Room {
    /// Refuses a buffer that cannot hold one full packet.
    fn lacks(&self, limit: Limit, transport: &Transport) -> Option<String> {
        lack_of_room(limit, self.accounting, transport.packet())
    }
}

fn fail<T>(key: &str, message: impl Into<String>) -> Result<T, ScenarioError> {
    Err(ScenarioError::new(format!("network.{key}"), message))
}

impl Network {
    /// The switches and the links between them.
    pub fn fabric(&self) -> Fabric {
        self.topology.shape().fabric()
    }

    /// The switch of a client.
    pub fn client_switch(&self, client: u32) -> SwitchId {
        self.clients_at[client as usize % self.clients_at.len()]
    }

    /// Number of links between switches on the longest of the shortest paths from `places` to
    /// `clients`.
    pub fn trunks_between(&self, places: &[SwitchId], clients: &[u32]) -> u32 {
        let router = Router::new(&self.fabric());
        let ends = clients.iter().map(|client| self.client_switch(*client));
        ends.flat_map(|to| places.iter().map(move |place| (*place, to)))
            .map(|(place, to)| router.distance(place, to))
            .max()
            .unwrap_or(0)
    }

    /// Propagation delay from a server to a client, with `trunks` links between switches.
    pub fn delay(&self, trunks: u32) -> Span {
        let core = self.core.as_ref().map_or(Span::ZERO, |core| core.delay);
        self.server_delay + core * u64::from(trunks) + self.client_delay
    }

    /// Propagation delay between two clients.
    pub fn delay_among_clients(&self, trunks: u32) -> Span {
        let core = self.core.as_ref().map_or(Span::ZERO, |core| core.delay);
        self.client_delay * 2 + core * u64::from(trunks)
    }

    /// Round trip of one full packet and its ACK on the idle network, serialisation included, with
    /// `trunks` links between switches on the path.
    pub fn base_rtt(&self, transport: &Transport, trunks: u32) -> Span {
        self.round_trip(self.server_rate, full_and_ack(transport), trunks, self.delay(trunks))
    }

    /// [`Self::base_rtt`] between two clients.
    pub fn base_rtt_among_clients(&self, transport: &Transport, trunks: u32) -> Span {
        let delay = self.delay_among_clients(trunks);
        self.round_trip(self.client_rate, full_and_ack(transport), trunks, delay)
    }

    /// Round trip of two packets without data, from a server.
    pub fn bare_rtt(&self, transport: &Transport, trunks: u32) -> Span {
        self.round_trip(self.server_rate, [transport.ack_size(); 2], trunks, self.delay(trunks))
    }

    /// Round trip of packets of these sizes from a host with a link of the rate `first`.
    fn round_trip(&self, first: Rate, sizes: [u32; 2], trunks: u32, delay: Span) -> Span {
        let mut rates = vec![first, self.client_rate];
        let core = self.core.iter().map(|core| core.rate);
        rates.extend(core.flat_map(|rate| std::iter::repeat_n(rate, trunks as usize)));
        delay * 2 + sending(sizes, &rates, self.layer2_overhead.into())
    }
}

/// Delays of a server's link and of the client's link. `sending` is the sum of the transmission
/// times of a full packet and its ACK on both links.
fn delays(
    delay: Option<Span>,
    base_rtt: Option<Span>,
    server_delay: Option<Span>,
    sending: Span,
) -> Result<(Span, Span), ScenarioError> {
    match (delay, base_rtt) {
        (Some(_), Some(_)) => Err(ScenarioError::new(
            "network.base_rtt",
            "excludes network.delay; give one of the two",
        )),
        (None, None) => {
            Err(ScenarioError::new("network.delay", "missing; give it or network.base_rtt"))
        }
        (Some(delay), None) => Ok((server_delay.unwrap_or(delay), delay)),
        (None, Some(base_rtt)) => {
            let one_way = base_rtt.saturating_sub(sending) / 2;
            let of_server = server_delay.unwrap_or(one_way / 2);
            if base_rtt < sending || of_server > one_way {
                let given = server_delay.map_or("", |_| " and network.server_delay");
                let message = format!(
                    "{}us leave nothing for the links: a full packet and its ACK{given} \
                     already take {}us",
                    micros(base_rtt),
                    micros(sending) + 2.0 * micros(server_delay.unwrap_or_default()),
                );
                return Err(ScenarioError::new("network.base_rtt", message));
            }
            Ok((of_server, one_way.saturating_sub(of_server)))
        }
    }
}

/// Refuses a buffer that cannot hold one full packet of `packet` bytes.
fn lack_of_room(limit: Limit, accounting: Accounting, packet: u32) -> Option<String> {
    let space = accounting.space(packet);
    let message = if accounting == Accounting::EXACT {
        format!(
            "{limit} cannot hold one full packet of {packet} bytes; write at least that, or \
             \"1pkt\""
        )
    } else {
        format!(
            "{limit} cannot hold one full packet, which occupies {} bytes; write at least that",
            space.bytes
        )
    };
    space.exceeds(limit).then_some(message)
}

/// Sizes of a full packet and its ACK.
fn full_and_ack(transport: &Transport) -> [u32; 2] {
    [transport.packet(), transport.ack_size()]
}

/// Transmission times of packets of these sizes on links of these rates.
fn sending(sizes: [u32; 2], rates: &[Rate], overhead: u64) -> Span {
    sizes
        .into_iter()
        .flat_map(|size| rates.iter().map(move |rate| (size, *rate)))
        .map(|(size, rate)| rate.transmission_time(u64::from(size) + overhead))
        .fold(Span::ZERO, Span::saturating_add)
}

fn micros(span: Span) -> f64 {
    span.as_picos() as f64 / 1e6
}

impl From<&Network> for NetworkDocument {
    fn from(network: &Network) -> Self {
        Self {
            topology: network.topology.clone(),
            clients: network.clients,
            client_at: Numbers::of_switches(&network.clients_at, &network.fabric()),
            core: network.core.as_ref().map(Into::into),
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
            arrival_order: network.arrival_order,
            queue: network.queue.clone(),
            reorder: network.reorder.as_ref().map(Into::into),
        }
    }
}
