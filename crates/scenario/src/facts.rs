//! Numbers derived from a scenario, for models, tables and pictures. These numbers are computed
//! only here.

use incast_engine::{Cell, Limit, Span, table};
use incast_host::{Family, Opener, Transport};
use incast_net::buffer::{Alpha, PoolConfig};
use incast_net::queue::Level;
use incast_tcp::config::Handshake;

use incast_traffic::barrier_read::Params as BarrierRead;
use incast_traffic::{Scope, WorkloadConfig};

use super::{Group, Network, Scenario};

/// Numbers derived from a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// Links and switches.
    pub network: NetworkFacts,
    /// The switch's port to the client.
    pub buffer: BufferFacts,
    /// The workload and background traffic.
    pub traffic: TrafficFacts,
    /// The workload's transport.
    pub transport: TransportFacts,
}

table! {
    /// Links, and the path of a full packet over them.
    #[derive(Clone, Debug, PartialEq)]
    pub struct NetworkFacts {
        /// Rate of a client's link, bit/s.
        pub client_rate_bps: f64,
        /// Rate of a server's link, bit/s.
        pub server_rate_bps: f64,
        /// Number of links between switches on the workload's longest path.
        pub trunks: u32,
        /// Propagation delay of the workload's longest path in both directions, seconds.
        pub propagation_s: f64,
        /// Round trip of one full packet and its ACK on the idle network, serialisation included,
        /// seconds.
        pub base_rtt_s: f64,
        /// Round trip of two packets without data on the idle network, seconds.
        pub bare_rtt_s: f64,
        /// A full packet, headers included and layer 2 excluded, bytes.
        pub packet_bytes: u32,
        /// Data in a full packet, bytes.
        pub payload_bytes: u32,
        /// A full packet on the line, layer 2 included, bytes.
        pub wire_bytes: u32,
    }
}

table! {
    /// The buffer of the switch's port to the client.
    #[derive(Clone, Debug, PartialEq)]
    pub struct BufferFacts {
        /// Whether the buffer is counted in packets, not in bytes.
        pub buffer_counts_packets: bool,
        /// Capacity of the port while all other ports are idle, in packets or bytes.
        pub buffer_limit: u64,
        /// `buffer_limit` in bytes. If the buffer counts packets, this is the size of that many
        /// full packets.
        pub buffer_bytes: u64,
        /// Number of full packets that fit into the port's buffer.
        pub buffer_packets: u64,
        /// Buffer space of a full packet, bytes.
        pub packet_space_bytes: u64,
        /// Shared buffer, in packets or bytes; none if each port has its own buffer.
        pub buffer_total: Option<u64>,
        /// Whether `buffer_total` is counted in packets.
        pub buffer_total_counts_packets: bool,
        /// Multiple of the free space up to which a queue may grow; none if limits are fixed.
        pub buffer_alpha: Option<f64>,
        /// Keys of the queue discipline that are thresholds of the queue's length.
        pub thresholds: Vec<String>,
        /// Values of these thresholds, in packets if the buffer counts packets, else in bytes.
        pub threshold_lengths: Vec<f64>,
    }
}

table! {
    /// Servers, clients and amounts of data.
    #[derive(Clone, Debug, PartialEq)]
    pub struct TrafficFacts {
        /// Number of servers that answer one request.
        pub servers: u32,
        /// Number of connections that carry data.
        pub flows: u32,
        /// Number of clients to which the servers send.
        pub clients: u32,
        /// Names of the rows of a run.
        pub groups: Vec<String>,
        /// Bytes that the first server sends for a block; 0 without blocks.
        pub sru_bytes: u64,
        /// Bytes that the last server sends for a block.
        pub last_sru_bytes: u64,
        /// Number of segments that the first server sends for a block.
        pub sru_segments: u64,
        /// Bytes of the last of these segments.
        pub last_segment_bytes: u64,
        /// `tcp` if all transports are TCP; otherwise the first other family.
        pub family: &'static str,
        /// Longest time between two requests of a block, seconds.
        pub request_jitter_s: f64,
        /// Longest delay that is drawn for each request independently, seconds.
        pub start_spread_s: f64,
        /// Longest additional delay of a request whose connection is being opened, seconds.
        pub request_spread_s: f64,
        /// Mean time between the arrivals of two blocks, seconds; 0 if each block follows the
        /// previous block.
        pub interval_s: f64,
        /// Time during which blocks begin or flows send, seconds; none if the number of blocks is
        /// given.
        pub duration_s: Option<f64>,
        /// Simulated time at which a run ends in any case, seconds.
        pub time_limit_s: f64,
        /// Total rate at which the sources of each background table send, bit/s; none for
        /// connections.
        pub background_rates_bps: Vec<Option<f64>>,
        /// Buffer space of a datagram of each background table, bytes; none for connections.
        pub background_space_bytes: Vec<Option<u64>>,
    }
}

table! {
    /// Windows in segments, and timers in seconds. A value is 0 if the transport's family does not
    /// have it.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct TransportFacts {
        /// Congestion window of a new connection, in segments.
        pub initial_window_segments: u64,
        /// Slow-start threshold of a new connection, in segments.
        pub initial_ssthresh_segments: u64,
        /// Largest window that the client advertises, segments.
        pub receive_window_segments: u64,
        /// Whether the data of a new connection wait for a handshake.
        pub shakes: bool,
        /// Lower bound of the retransmission timeout, in seconds.
        pub rto_min_s: f64,
        /// Upper bound of the retransmission timeout, in seconds.
        pub rto_max_s: f64,
        /// Retransmission timeout before the first round-trip sample, in seconds.
        pub rto_initial_s: f64,
        /// Granularity of the retransmission timer, seconds.
        pub rto_granularity_s: f64,
        /// Timeout of a SYN, seconds.
        pub syn_rto_s: f64,
        /// Retransmission timeout after a handshake that lost a packet, seconds.
        pub rto_after_syn_loss_s: f64,
        /// Longest time for which a host delays a packet that it is about to send, seconds.
        pub send_jitter_s: f64,
        /// Longest delay of an ACK, seconds.
        pub delayed_ack_s: f64,
    }
}

impl Facts {
    /// All facts by name.
    pub fn cells(&self) -> impl Iterator<Item = (&'static str, Cell<'_>)> {
        let Self { network, buffer, traffic, transport } = self;
        network.cells().chain(buffer.cells()).chain(traffic.cells()).chain(transport.cells())
    }

    pub(super) fn of(scenario: &Scenario) -> Self {
        let Scenario { network, transport, .. } = scenario;
        Self {
            network: NetworkFacts::of(scenario),
            buffer: BufferFacts::of(network, transport),
            traffic: TrafficFacts::of(scenario),
            transport: TransportFacts::of(transport),
        }
    }
}

impl NetworkFacts {
    fn of(scenario: &Scenario) -> Self {
        let (Scenario { network, transport, .. }, trunks) = (scenario, scenario.trunks());
        let packet_bytes = transport.packet();
        Self {
            client_rate_bps: network.client_rate.0 as f64,
            server_rate_bps: network.server_rate.0 as f64,
            trunks,
            propagation_s: (network.delay(trunks) * 2).as_secs_f64(),
            base_rtt_s: network.base_rtt(transport, trunks).as_secs_f64(),
            bare_rtt_s: network.bare_rtt(transport, trunks).as_secs_f64(),
            packet_bytes,
            payload_bytes: transport.full_packet().payload,
            wire_bytes: packet_bytes + network.layer2_overhead,
        }
    }
}

impl BufferFacts {
    fn of(network: &Network, transport: &Transport) -> Self {
        let packet = transport.packet();
        let space = network.accounting.space(packet).bytes;
        let (counts_packets, own) = counted(network.buffer);
        let alpha = network.pool.and_then(|pool| pool.alpha);
        let limit = alpha.map_or(own, |alpha| alpha.share_of_one(own));
        let total = network.pool.map(|PoolConfig { total, .. }| counted(total));
        let levels = network.queue.levels();
        let length = |level: Level| match (counted(level.of(Some(network.buffer))), counts_packets)
        {
            ((true, packets), false) => packets as f64 * f64::from(packet),
            ((false, bytes), true) => bytes as f64 / f64::from(packet),
            ((_, length), _) => length as f64,
        };
        Self {
            buffer_counts_packets: counts_packets,
            buffer_limit: limit,
            buffer_bytes: if counts_packets { limit * u64::from(packet) } else { limit },
            buffer_packets: if counts_packets { limit } else { limit / space },
            packet_space_bytes: space,
            buffer_total: total.map(|(_, total)| total),
            buffer_total_counts_packets: total.is_some_and(|(packets, _)| packets),
            buffer_alpha: alpha.map(Alpha::as_f64),
            thresholds: levels.iter().map(|(key, _)| (*key).to_owned()).collect(),
            threshold_lengths: levels.iter().map(|(_, level)| length(*level)).collect(),
        }
    }
}

impl TrafficFacts {
    fn of(scenario: &Scenario) -> Self {
        let Scenario { network, transport, traffic, .. } = scenario;
        let groups = scenario.groups();
        let workload = &traffic.workloads[0].config;
        let read = match workload {
            WorkloadConfig::BarrierRead(read) => Some(read),
            _ => None,
        };
        let mss = u64::from(transport.full_packet().payload);
        let sru_bytes = read.map_or(0, |read| read.sru_of(0));
        let seconds =
            |of: fn(&BarrierRead) -> Span| read.map_or(0.0, |read| of(read).as_secs_f64());
        let duration = read.map_or_else(|| workload.workload().duration(), |read| read.duration);
        let mut clients = workload.workload().clients();
        clients.sort_unstable();
        clients.dedup();
        let mut tables: Vec<&Group<'_>> = groups.iter().collect();
        tables.sort_by_key(|group| group.scope);
        let rows = tables.iter().map(|group| group.row.clone()).filter(|row| row != "all");
        let is_background = |group: &&&Group<'_>| matches!(group.scope, Scope::Background(_));
        let background: Vec<_> = tables.iter().filter(is_background).collect();
        let datagrams = || background.iter().map(|it| (it.count, it.config.workload().offered()));
        let first = groups[0].load().map(|(load, _)| load);
        Self {
            servers: first.map_or(0, |load| load.fan_in),
            flows: first.map_or(0, |load| load.at_once),
            clients: clients.len() as u32,
            groups: std::iter::once("all".to_owned()).chain(rows).collect(),
            sru_bytes,
            last_sru_bytes: read.map_or(0, |read| read.sru_of(read.active() - 1)),
            sru_segments: sru_bytes.div_ceil(mss),
            last_segment_bytes: sru_bytes - sru_bytes.saturating_sub(1) / mss * mss,
            family: scenario.family(),
            request_jitter_s: seconds(|read| read.request_jitter),
            start_spread_s: seconds(|read| read.start_spread),
            request_spread_s: seconds(|read| read.request_spread),
            interval_s: seconds(|read| read.interval),
            duration_s: duration.map(Span::as_secs_f64),
            time_limit_s: scenario.run.time_limit.as_secs_f64(),
            background_rates_bps: datagrams()
                .map(|(sources, offered)| Some(offered?.rate.0 as f64 * f64::from(sources)))
                .collect(),
            background_space_bytes: datagrams()
                .map(|(_, offered)| Some(network.accounting.space(offered?.packet).bytes))
                .collect(),
        }
    }
}

impl TransportFacts {
    fn of(transport: &Transport) -> Self {
        let payload = u64::from(transport.full_packet().payload);
        let segments = |bytes: u64| (bytes / payload).max(1);
        let tcp = match &transport.family {
            Family::Tcp(tcp) => tcp,
            Family::Other(kind) => {
                let window = segments(kind.window());
                return Self {
                    initial_window_segments: window,
                    receive_window_segments: window,
                    rto_min_s: kind.rto().as_secs_f64(),
                    ..Self::default()
                };
            }
        };
        let (opener, tcp) = (tcp.opener, &tcp.config);
        Self {
            initial_window_segments: segments(tcp.initial_window),
            initial_ssthresh_segments: segments(tcp.initial_ssthresh),
            receive_window_segments: segments(tcp.receive_window),
            shakes: match tcp.handshake {
                Handshake::ThreeWay => true,
                Handshake::SynOnly => opener == Opener::Server,
                Handshake::None => false,
            },
            rto_min_s: tcp.rto.min.as_secs_f64(),
            rto_max_s: tcp.rto.max.as_secs_f64(),
            rto_initial_s: tcp.rto.initial.as_secs_f64(),
            rto_granularity_s: tcp.rto.granularity.as_secs_f64(),
            syn_rto_s: tcp.syn_rto.as_secs_f64(),
            rto_after_syn_loss_s: tcp.rto_after_syn_loss.as_secs_f64(),
            send_jitter_s: tcp.send_jitter.as_secs_f64(),
            delayed_ack_s: tcp.longest_ack_delay().as_secs_f64(),
        }
    }
}

/// Whether a limit counts packets, and its value.
fn counted(limit: Limit) -> (bool, u64) {
    match limit {
        Limit::Packets(packets) => (true, packets),
        Limit::Bytes(bytes) => (false, bytes),
    }
}
