//! A world built from a scenario, and the loop that runs it.

use incast_engine::{Span, Stream, Time};
use incast_host::milestone::{EventKind, EventRow};
use incast_host::{Blueprint, BlueprintId, EndId};
use incast_net::port::PortCounters;
use incast_net::topology::HostId;
use incast_net::{Flags, PacketId, PortId, Trigger};
use incast_remedies::{Outcome, Situation};
use incast_tcp::Event as ConnectionEvent;

use crate::application::{
    Application, BarrierReader, BurstSource, DatagramSource, Interval, LongFlows, OnOff,
    PoissonFlows, Streams,
};
use crate::control::{Cancelled, Control};
use crate::core::{Core, Event};
use crate::oracle::diagnose;
use crate::probe::{Probe, Setting};
use crate::results::{NetworkReport, Row, TimeoutCounts, WaitReport, row};
use crate::wiring::{self, Hosts};
use incast_scenario::{self as scenario, Background, Datagrams, Scenario, Transport, Workload};

/// Events between two looks at the control: a few milliseconds, whatever they do.
const WATCH_INTERVAL: u32 = 1 << 10;

/// An application, its timeouts and its name in the results.
struct Group {
    name: String,
    application: Box<dyn Application>,
    timeouts: TimeoutCounts,
    mss: u32,
    /// What its connections are built from; none if it has none.
    blueprint: Option<BlueprintId>,
}

/// A run in progress.
pub struct World<P> {
    core: Core<P>,
    hosts: Hosts,
    /// The switch's port towards the workload's first client.
    own_port: PortId,
    groups: Vec<Group>,
    /// Which group a flow belongs to.
    owners: Vec<u16>,
    seed: u64,
    time_limit: Time,
    /// Events until the next look at the control.
    until_watch: u32,
}

impl<P: Probe> World<P> {
    /// Builds the world of a scenario; `probe` makes its listener.
    pub fn new(scenario: &Scenario, seed: u64, probe: impl FnOnce(&Setting) -> P) -> Self {
        let Scenario { network, workload, background, transport, .. } = scenario;
        let trunks = network.trunks_between(workload.servers_at(), workload.to());
        let servers = workload.servers();
        let others = background.iter().map(|background| background.connections(servers));
        let setting = Setting {
            flows: workload.flows() + others.sum::<u32>(),
            base_rtt: network.delay(trunks) * 2,
            ports: wiring::ports(scenario),
        };
        let mut world = Self {
            core: Core::new(wiring::build(scenario, seed), seed, probe(&setting)),
            hosts: Hosts::new(scenario),
            own_port: setting.ports[0].0,
            groups: Vec::new(),
            owners: Vec::new(),
            seed,
            time_limit: Time::ZERO + scenario.run.time_limit,
            until_watch: WATCH_INTERVAL,
        };
        match workload {
            Workload::BarrierRead(read) => world.add_reader(read, network, transport),
            Workload::LongFlows(flows) => world.add_bulk(flows, network, transport),
        }
        let mut taken = 0;
        for (index, background) in wiring::in_order(background) {
            let (own, at) = background.added_hosts();
            let hosts = world.hosts;
            let (at, sources): (_, Vec<HostId>) = match own {
                0 => (workload.servers_at(), (0..servers).map(|it| hosts.server(it)).collect()),
                _ => (at, (taken..taken + own).map(|it| hosts.other(it)).collect()),
            };
            taken += own;
            let trunks = network.trunks_between(at, background.to());
            world.add_background(index, background, network, &sources, trunks);
        }
        world
    }

    /// The stream called `name`, number `index`, of this run.
    fn stream(&self, name: &str, index: u64) -> Stream {
        Stream::named(self.seed, name, index)
    }

    fn add_reader(
        &mut self,
        read: &scenario::BarrierRead,
        network: &scenario::Network,
        transport: &Transport,
    ) {
        let number = self.groups.len() as u16;
        let pairs = (0..read.servers).map(|server| (self.hosts.server(server), read.client));
        let pairs: Vec<_> = pairs.collect();
        let trunks = network.trunks_between(&read.servers_at, &[read.client]);
        let situation = situation(network, transport, read.active, read.sru_of(0), trunks);
        let (blueprint, first_flow) = self.add_connections(pairs, transport, &situation, true);
        let streams = Streams {
            jitter: self.stream("request jitter", 0),
            active: self.stream("active servers", 0),
            interval: self.stream("wanted blocks", 0),
        };
        let mut reader = BarrierReader::new(read, blueprint, number, first_flow, streams);
        if let Some(scheduler) = self.core.hosts.scheduler(blueprint) {
            reader.follow(scheduler, transport.tcp.receive_window);
        }
        self.add_group("all".into(), reader, transport.tcp.mss, Some(blueprint));
    }

    fn add_bulk(
        &mut self,
        flows: &scenario::LongFlows,
        network: &scenario::Network,
        transport: &Transport,
    ) {
        let hosts = self.hosts;
        let servers: Vec<_> = (0..flows.servers).map(|server| hosts.server(server)).collect();
        let trunks = network.trunks_between(&flows.servers_at, &flows.to);
        let situation = situation(network, transport, flows.servers, u64::MAX, trunks);
        let random = self.stream("bursts", 0);
        let bursts = bursts(flows.bursts, transport, random);
        let pairs = pairs(&servers, flows.flows, &flows.to);
        let (number, count) = (self.groups.len() as u16, pairs.len() as u32);
        let (blueprint, first_flow) = self.add_connections(pairs, transport, &situation, false);
        let application = LongFlows::new(Span::ZERO, number, first_flow, count, bursts);
        let application = application.until(flows.duration);
        self.add_group("all".into(), application, transport.tcp.mss, Some(blueprint));
    }

    /// `trunks` links between switches are on the sources' longest way.
    fn add_background(
        &mut self,
        index: usize,
        background: &Background,
        network: &scenario::Network,
        sources: &[HostId],
        trunks: u32,
    ) {
        let name = background.row(index);
        let random = self.stream("background", index as u64);
        match background {
            Background::Cbr(datagrams) => {
                self.add_datagrams(datagrams, Interval::Constant, name, sources, random);
            }
            Background::Poisson(datagrams) => {
                self.add_datagrams(datagrams, Interval::Exponential, name, sources, random);
            }
            Background::OnOff(scenario::OnOff { datagrams, burst, idle }) => {
                let interval = Interval::Bursts(OnOff { burst: *burst, idle: *idle });
                self.add_datagrams(datagrams, interval, name, sources, random);
            }
            Background::LongFlow(flow) => {
                let situation = situation(network, &flow.transport, flow.count, u64::MAX, trunks);
                let pairs = pairs(sources, flow.flows, &flow.to);
                let bursts = bursts(flow.bursts, &flow.transport, random);
                let (number, count) = (self.groups.len() as u16, pairs.len() as u32);
                let (blueprint, first_flow) =
                    self.add_connections(pairs, &flow.transport, &situation, false);
                let application = LongFlows::new(flow.start, number, first_flow, count, bursts);
                self.add_group(name, application, flow.transport.tcp.mss, Some(blueprint));
            }
            Background::PoissonFlows(flows) => {
                let count = sources.len() as u32;
                let most = flows.size.most();
                let situation = situation(network, &flows.transport, count, most, trunks);
                let to = flows.to.iter();
                let pairs = sources.iter().flat_map(|host| to.clone().map(|to| (*host, *to)));
                let number = self.groups.len() as u16;
                let (blueprint, first_flow) =
                    self.add_connections(pairs.collect(), &flows.transport, &situation, false);
                let application =
                    PoissonFlows::new(flows, blueprint, number, first_flow, count, random);
                self.add_group(name, application, flows.transport.tcp.mss, Some(blueprint));
            }
        }
    }

    fn add_datagrams(
        &mut self,
        datagrams: &Datagrams,
        interval: Interval,
        name: String,
        sources: &[HostId],
        random: Stream,
    ) {
        let number = self.groups.len() as u16;
        let first_flow = self.owners.len() as u32;
        for (host, client) in pairs(sources, 1, &datagrams.to) {
            self.core.network.add_flow(host, HostId(client));
            self.owners.push(number);
        }
        let count = sources.len() as u32;
        let application =
            DatagramSource::new(datagrams, interval, number, first_flow, count, random);
        self.add_group(name, application, 1, None);
    }

    /// Adds the connections of a group: a host that sends, and a client. `shared` if they bring the
    /// parts of one block.
    fn add_connections(
        &mut self,
        pairs: Vec<(HostId, u32)>,
        transport: &Transport,
        situation: &Situation,
        shared: bool,
    ) -> (BlueprintId, u32) {
        let first_flow = self.owners.len() as u32;
        let blueprint = Blueprint::new(transport, situation, first_flow);
        let blueprint = self.core.hosts.add_blueprint(blueprint);
        let (group, count) = (self.groups.len() as u16, pairs.len() as u32);
        self.core.hosts.waits.add(group, count, shared, situation.base_rtt);
        for (host, client) in pairs {
            let flow = self.core.network.add_flow(host, HostId(client));
            self.core.hosts.add_connection(blueprint, flow);
            self.owners.push(self.groups.len() as u16);
        }
        (blueprint, first_flow)
    }

    fn add_group(
        &mut self,
        name: String,
        application: impl Application + 'static,
        mss: u32,
        blueprint: Option<BlueprintId>,
    ) {
        let (application, timeouts) = (Box::new(application), TimeoutCounts::default());
        self.groups.push(Group { name, application, timeouts, mss, blueprint });
    }

    /// Clock, network and connections, for an experiment to change before the run.
    pub fn core_mut(&mut self) -> &mut Core<P> {
        &mut self.core
    }

    /// Runs to the end; returns the rows, the workload's first, and what is left of the world.
    ///
    /// # Errors
    /// [`Cancelled`] if `control` says so.
    #[expect(clippy::disallowed_methods, reason = "the stopwatch of the column wall_s")]
    pub fn run(mut self, control: &Control) -> Result<(Vec<Row>, Core<P>), Cancelled> {
        let stopwatch = std::time::Instant::now();
        // A probe sees every hop; both ways agree, which the tests of traces prove.
        if P::ON {
            self.core.network.connect();
        } else {
            self.core.network.seal();
        }
        let blueprint = |flow| self.groups[usize::from(self.owners[flow as usize])].blueprint;
        self.core.let_hosts_keep(blueprint);
        for group in 0..self.groups.len() {
            self.groups[group].application.start(&mut self.core.hosts);
            self.core.meet_demands();
        }
        self.serve_dirty();
        let status = self.run_events(control)?;
        self.core.finish();
        self.core.hosts.set_now(self.core.queue.now());
        let wall_s = stopwatch.elapsed().as_secs_f64();
        Ok((self.rows(status, wall_s), self.core))
    }

    fn run_events(&mut self, control: &Control) -> Result<&'static str, Cancelled> {
        // Last of its instant, so that the clock stops there and not at whatever is next.
        self.core.queue.push(self.time_limit, u64::MAX, Event::TimeLimit);
        while let Some((now, event)) = self.core.queue.pop() {
            if matches!(event, Event::TimeLimit) {
                break;
            }
            self.handle(event);
            if self.core.finished {
                return Ok("ok");
            }
            self.until_watch -= 1;
            if self.until_watch == 0 {
                self.until_watch = WATCH_INTERVAL;
                if control.is_cancelled() {
                    return Err(Cancelled);
                }
                control.set_progress(self.groups[0].application.progress(now).unwrap_or(0.0));
            }
        }
        Ok(if self.core.queue.is_empty() { "stalled" } else { "time-limit" })
    }

    /// Handles one event.
    #[inline]
    fn handle(&mut self, event: Event) {
        match event {
            Event::Arrival(port) => {
                if let Some(packet) = self.core.arrive(port) {
                    self.receive(packet);
                }
            }
            Event::Wake(end) => {
                if self.core.wake(end) {
                    self.serve(end);
                    self.serve_dirty();
                }
            }
            Event::Entry(port) => self.core.enter(port),
            Event::Leave => self.core.leave(),
            Event::Departure(port) => self.core.depart(port),
            Event::Resume(port) => self.core.resume(port),
            Event::TimeLimit => {}
            Event::Timer { application, index } => {
                let group = &mut self.groups[usize::from(application)];
                let hosts = &mut self.core.hosts;
                hosts.set_now(self.core.queue.now());
                hosts.trigger = Trigger::Application;
                group.application.on_timer(hosts, index);
                self.core.meet_demands();
                self.serve_dirty();
            }
        }
    }

    #[inline]
    fn receive(&mut self, id: PacketId) {
        let packet = self.core.network.packet(id);
        if packet.flags.contains(Flags::DATAGRAM) {
            let owner = self.owners[packet.route.flow() as usize];
            self.groups[usize::from(owner)].application.on_datagram(packet.size());
            self.core.network.packets().release(id);
            return;
        }
        let end = self.core.deliver(id);
        self.serve(end);
        self.serve_dirty();
    }

    /// Reports what a connection has to say and sends what it wants to send.
    #[inline]
    fn serve(&mut self, end: EndId) {
        while let Some(event) = self.core.hosts.poll_event(end) {
            self.dispatch(end, event);
        }
        self.core.flush(end);
    }

    /// Serves the connections on which applications acted.
    #[inline]
    fn serve_dirty(&mut self) {
        while let Some(end) = self.core.hosts.pop_dirty() {
            self.serve(end);
        }
    }

    fn dispatch(&mut self, end: EndId, event: ConnectionEvent) {
        let now = self.core.now();
        let owner = usize::from(self.owners[end.flow() as usize]);
        let group = &mut self.groups[owner];
        match event {
            ConnectionEvent::Timeout(report) => {
                // That looks at every port, and there may be millions.
                self.until_watch = 1;
                self.core.settle();
                let Core { hosts, network, .. } = &self.core;
                let Some(diagnosis) = diagnose(hosts, network, end, &report, group.mss) else {
                    return;
                };
                group.timeouts.add(diagnosis.cause, report.block_head);
                if P::ON
                    && let Some(connection) = self.core.hosts.connection(end)
                {
                    let row = EventRow::timeout(now, end.flow(), &report, diagnosis, connection);
                    self.core.probe.on_event(row);
                }
            }
            ConnectionEvent::FastRetransmit | ConnectionEvent::RecoveryExit if P::ON => {
                let kind = if event == ConnectionEvent::FastRetransmit {
                    EventKind::FastRetransmit
                } else {
                    EventKind::RecoveryExit
                };
                if let Some(connection) = self.core.hosts.connection(end) {
                    let row = EventRow::of(now, kind, end.flow(), connection);
                    self.core.probe.on_event(row);
                }
            }
            _ => {
                // What it does, it does for the reason for which the packet was sent.
                let hosts = &mut self.core.hosts;
                hosts.set_now(now);
                hosts.trigger = hosts.end(end).trigger();
                group.application.on_event(hosts, end, event);
                self.core.meet_demands();
            }
        }
    }

    fn rows(&self, status: &'static str, wall_s: f64) -> Vec<Row> {
        let core = &self.core;
        let now = core.now();
        let ports = core.network.ports();
        let port = core.network.port(wiring::busiest(&core.network, self.own_port, now));
        let network = NetworkReport {
            drops: ports.iter().map(|port| port.counters().dropped).sum(),
            marks: ports.iter().map(|port| port.counters().marked).sum(),
            hops: core.network.packet_hops(now),
            port: PortCounters { byte_time: port.byte_time_until(now), ..*port.counters() },
            sending: port.sending_until(now),
            length: now - Time::ZERO,
        };
        self.groups
            .iter()
            .zip(0..)
            .map(|(group, number)| {
                let report = group.application.report(&core.hosts);
                let status = if report.finished { "ok" } else { status };
                let waits =
                    WaitReport { timeouts: group.timeouts, stalls: core.hosts.waits.of(number) };
                let mut row =
                    row(self.seed, group.name.clone(), status, &report, &waits, &network, wall_s);
                let timeouts_lack_of_dupacks = row.timeouts_lack_of_dupacks;
                let outcome = Outcome { timeouts_lack_of_dupacks };
                if let Some(blueprint) = group.blueprint {
                    row.measures = core.hosts.blueprint(blueprint).measure(&outcome);
                }
                row
            })
            .collect()
    }
}

/// Every source with so many connections to a client: the first source to the first, and so on, from
/// the first client again after the last.
fn pairs(sources: &[HostId], each: u32, to: &[u32]) -> Vec<(HostId, u32)> {
    let sources = sources.iter().zip(to.iter().cycle());
    sources.flat_map(|(host, client)| (0..each).map(|_| (*host, *client))).collect()
}

/// What applications write that do not always have data: a full segment at a time.
fn bursts(
    bursts: Option<scenario::Bursts>,
    transport: &Transport,
    random: Stream,
) -> Option<BurstSource> {
    bursts.map(|scenario::Bursts { rate, burst, idle }| BurstSource {
        on_off: OnOff { burst, idle },
        interval: rate.transmission_time(transport.tcp.mss.into()),
        bytes: transport.tcp.mss.into(),
        random,
    })
}

/// What the remedies of a group of connections may know, with so many links between switches on
/// their way.
fn situation(
    network: &scenario::Network,
    transport: &Transport,
    servers: u32,
    sru: u64,
    trunks: u32,
) -> Situation {
    Situation {
        servers,
        sru,
        client_rate: network.client_rate,
        buffer: network.buffer,
        base_rtt: network.base_rtt(&transport.tcp, trunks),
    }
}
