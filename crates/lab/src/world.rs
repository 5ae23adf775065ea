//! A world built from a scenario, and its event loop.

use incast_engine::Time;
use incast_host::milestone::{EventKind, EventRow};
use incast_host::{Blueprint, BlueprintId, EndId, Event as EndEvent, NicSite, Transport};
use incast_net::port::PortCounters;
use incast_net::topology::HostId;
use incast_net::{Flags, PacketId, PortId, Trigger};
use incast_remedies::{Outcome, Situation};
use incast_scenario::{Group, Network, Scenario};
use incast_traffic::{Application, Draws, Load, Report, Scope, Senders};

use crate::control::{Cancelled, Control};
use crate::core::{Core, Event};
use crate::oracle::diagnose;
use crate::probe::{Probe, Setting};
use crate::results::{NetworkReport, Row, TimeoutCounts, WaitReport, row};
use crate::stopwatch::Stopwatch;
use crate::wiring;

/// Number of events between two checks of the control. These events take a few milliseconds of
/// wall-clock time.
const WATCH_INTERVAL: u32 = 1 << 10;
/// The same, after a timeout.
const WATCHED_TIMEOUTS: u32 = 1 << 5;

/// A group of traffic in a run: its application, its timeouts and its name in the results.
struct TrafficGroup {
    name: String,
    application: Box<dyn Application>,
    timeouts: TimeoutCounts,
    mss: u32,
    /// The blueprint of the group's connections; `None` if it has no connections.
    blueprint: Option<BlueprintId>,
    /// Whether the group is a workload. The run ends when all workloads are complete.
    is_workload: bool,
}

/// A run in progress.
pub struct World<P> {
    core: Core<P>,
    /// The switch's port towards the workload's first client.
    own_port: PortId,
    groups: Vec<TrafficGroup>,
    /// Whether there are several workloads. If so, the rows begin with the sum, followed by one row
    /// for each workload.
    several: bool,
    /// The group of each flow.
    owners: Vec<u16>,
    seed: u64,
    time_limit: Time,
    /// Number of events until the next check of the control.
    until_watch: u32,
}

impl<P: Probe> World<P> {
    /// Builds the world of a scenario; `probe` creates its listener.
    pub fn new(scenario: &Scenario, seed: u64, probe: impl FnOnce(&Setting) -> P) -> Self {
        let groups = scenario.groups();
        let connected = groups.iter().filter(|group| group.transport.is_some());
        let setting = Setting {
            flows: connected.map(Group::flows).sum(),
            workloads: wiring::workloads(&groups),
            base_rtt: scenario.network.delay(scenario.trunks()) * 2,
            own_port: wiring::own_port(&groups),
            // A fabric may have very many ports.
            ports: if P::ON { wiring::ports(scenario, &groups) } else { Vec::new() },
        };
        let mut world = Self {
            core: Core::new(
                wiring::build(scenario, &groups, seed),
                scenario.network.arrival_order,
                seed,
                probe(&setting),
            ),
            own_port: setting.own_port,
            groups: Vec::new(),
            several: scenario.traffic.several,
            owners: Vec::new(),
            seed,
            time_limit: Time::ZERO + scenario.run.time_limit,
            until_watch: WATCH_INTERVAL,
        };
        let senders = wiring::senders(scenario, &groups);
        for (group, senders) in groups.iter().zip(&senders) {
            world.add_group(group, senders, scenario);
        }
        world
    }

    /// Adds the flows of a group and the application that runs on its hosts.
    fn add_group(&mut self, group: &Group<'_>, senders: &[HostId], scenario: &Scenario) {
        let network = &scenario.network;
        let number = self.groups.len() as u16;
        let first_flow = self.owners.len() as u32;
        let flows = group.config.workload().flows(senders);
        let blueprint = group.load().map(|(load, transport)| {
            let situation = situation(&scenario.network, group, &load, transport);
            let blueprint = Blueprint::new(transport, &situation, first_flow);
            let count = flows.len() as u32;
            let blueprint = self.core.hosts.add_blueprint(blueprint, count);
            self.core.hosts.waits.add(number, count, load.is_shared, situation.base_rtt);
            blueprint
        });
        let chooses = group.transport.is_some_and(|transport| transport.needs().paths);
        for (sender, client) in flows {
            if let Some(transport) = group.transport {
                for host in [sender, client] {
                    let is_client = host.0 < network.clients;
                    let rate = if is_client { network.client_rate } else { network.server_rate };
                    self.core.give_card(host, || transport.nic(NicSite { rate }));
                }
            }
            if chooses {
                self.core.wires.network.add_flow_with_paths(sender, client);
            } else {
                self.core.wires.network.add_flow(sender, client);
            }
            self.owners.push(number);
        }
        let setting = incast_traffic::Setting {
            number,
            first_flow,
            senders: senders.len() as u32,
            blueprint,
            mss: group.transport.map_or(1, |transport| transport.full_packet().payload),
            receive_window: group.transport.map_or(0, Transport::window),
            client_rate: scenario.network.client_rate,
            draws: Draws { seed: self.seed, scope: group.scope },
        };
        let mss = setting.mss;
        let workload = group.config.workload();
        let is_workload = matches!(group.scope, Scope::Workload(_));
        if is_workload && workload.ends() {
            self.core.await_end_of(number);
        }
        self.groups.push(TrafficGroup {
            name: group.row.clone(),
            application: workload.application(setting, &mut self.core.hosts),
            timeouts: TimeoutCounts::default(),
            mss,
            blueprint,
            is_workload,
        });
    }

    /// The clock, the network and the connections. An experiment can change them before the run.
    pub fn core_mut(&mut self) -> &mut Core<P> {
        &mut self.core
    }

    /// Runs to the end. Returns the rows and the final state. The first row is that of the
    /// workload, or the sum of several workloads.
    ///
    /// # Errors
    /// [`Cancelled`] if `control` was cancelled.
    pub fn run(mut self, control: &Control) -> Result<(Vec<Row>, Core<P>), Cancelled> {
        let stopwatch = Stopwatch::start();
        // With a probe, no hop of a packet is skipped. Tests of traces show that this does not
        // change the results.
        if P::ON {
            self.core.wires.network.connect();
        } else {
            self.core.wires.network.seal();
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
        self.core.hosts.set_now(self.core.wires.queue.now());
        let wall_s = stopwatch.seconds();
        Ok((self.rows(status, wall_s), self.core))
    }

    fn run_events(&mut self, control: &Control) -> Result<&'static str, Cancelled> {
        // Of all events at the time limit, the limit itself comes last, and the run ends with it.
        self.core.wires.queue.push(self.time_limit, u64::MAX, Event::TimeLimit);
        while let Some((now, event)) = self.core.wires.queue.pop() {
            // Nearly all events are arrivals.
            if let Event::Arrival(port) = event {
                if let Some(packet) = self.core.arrive(port) {
                    self.receive(packet);
                }
            } else if matches!(event, Event::TimeLimit) {
                break;
            } else {
                self.handle(event);
            }
            if self.core.finished {
                return Ok("ok");
            }
            self.until_watch -= 1;
            if self.until_watch == 0 {
                self.until_watch = WATCH_INTERVAL;
                if control.is_cancelled() {
                    return Err(Cancelled);
                }
                control.set_progress(self.progress(now));
                self.core.free_idle();
                self.core.wires.probe.spill(&self.core.wires.network);
            }
        }
        Ok(if self.core.wires.queue.is_empty() { "stalled" } else { "time-limit" })
    }

    /// The finished share of the workload that has progressed least.
    fn progress(&self, now: Time) -> f64 {
        let workloads = self.groups.iter().filter(|group| group.is_workload);
        let progress = workloads.filter_map(|group| group.application.progress(now));
        progress.reduce(f64::min).unwrap_or(0.0)
    }

    /// Handles an event that is not an arrival.
    fn handle(&mut self, event: Event) {
        match event {
            Event::Wake(end) => {
                if self.core.wake(end) {
                    self.serve(end);
                    self.serve_dirty();
                }
            }
            Event::Entry(port) => self.core.enter(port),
            Event::Departure(port) => self.core.depart(port),
            _ => self.handle_rare(event),
        }
    }

    /// Handles an event of a rare kind.
    #[inline(never)]
    fn handle_rare(&mut self, event: Event) {
        match event {
            Event::Card(host) => self.core.wake_card(host),
            Event::Leave => self.core.leave(),
            Event::Signal(port, signal) => self.core.heed(port, signal),
            Event::Timer { application, index } => {
                let group = &mut self.groups[usize::from(application)];
                let hosts = &mut self.core.hosts;
                hosts.set_now(self.core.wires.queue.now());
                hosts.trigger = Trigger::Application;
                group.application.on_timer(hosts, index);
                self.core.meet_demands();
                self.serve_dirty();
            }
            Event::TimeLimit
            | Event::Arrival(_)
            | Event::Wake(_)
            | Event::Entry(_)
            | Event::Departure(_) => {}
        }
    }

    #[inline]
    fn receive(&mut self, id: PacketId) {
        let packet = self.core.wires.network.packet(id);
        if packet.flags.contains(Flags::DATAGRAM) {
            let owner = self.owners[packet.route.flow() as usize];
            self.groups[usize::from(owner)].application.on_datagram(packet.size());
            self.core.wires.network.packets().release(id);
            return;
        }
        // With a probe, header prediction is off, so that the probe sees every packet. The rows do
        // not depend on this.
        if !P::ON && self.core.predict(id) {
            return;
        }
        let end = self.core.deliver(id);
        self.serve(end);
        self.serve_dirty();
    }

    /// Handles the events of an end and sends its packets.
    #[inline]
    fn serve(&mut self, end: EndId) {
        while let Some(event) = self.core.hosts.poll_event(end) {
            self.dispatch(end, event);
        }
        self.core.flush(end);
    }

    /// Serves the ends that applications have changed.
    #[inline]
    fn serve_dirty(&mut self) {
        while let Some(end) = self.core.hosts.pop_dirty() {
            self.serve(end);
        }
    }

    fn dispatch(&mut self, id: EndId, event: EndEvent) {
        let now = self.core.now();
        let owner = usize::from(self.owners[id.flow() as usize]);
        let group = &mut self.groups[owner];
        match event {
            EndEvent::Timeout(None) => {
                group.timeouts.add_unexplained();
                self.core.note(EventKind::Timeout, id);
            }
            EndEvent::Timeout(Some(report)) => {
                // A diagnosis takes longer than other events.
                self.until_watch = self.until_watch.min(WATCHED_TIMEOUTS);
                self.core.settle();
                let Core { hosts, wires, .. } = &self.core;
                let Some(diagnosis) = diagnose(hosts, &wires.network, id, &report, group.mss)
                else {
                    return;
                };
                group.timeouts.add(diagnosis.cause, report.block_head);
                if P::ON
                    && let Some(end) = self.core.hosts.get(id)
                {
                    let row = EventRow::timeout(now, id.flow(), &report, diagnosis, end);
                    self.core.wires.probe.on_event(row);
                }
            }
            EndEvent::FastRetransmit if P::ON => self.core.note(EventKind::FastRetransmit, id),
            EndEvent::RecoveryExit if P::ON => self.core.note(EventKind::RecoveryExit, id),
            _ => {
                // The packets that the application now sends have the same trigger as the packets
                // of this end.
                let hosts = &mut self.core.hosts;
                hosts.set_now(now);
                hosts.trigger = hosts.trigger_of(id);
                group.application.on_event(hosts, id, event);
                self.core.meet_demands();
            }
        }
    }

    fn rows(&self, status: &'static str, wall_s: f64) -> Vec<Row> {
        let core = &self.core;
        let now = core.now();
        let ports = core.wires.network.ports();
        let port =
            core.wires.network.port(wiring::busiest(&core.wires.network, self.own_port, now));
        let network = NetworkReport {
            drops: ports.iter().map(|port| port.counters().dropped).sum(),
            marks: ports.iter().map(|port| port.counters().marked).sum(),
            hops: core.wires.network.packet_hops(now),
            port: PortCounters { byte_time: port.byte_time_until(now), ..*port.counters() },
            sending: port.sending_until(now),
            length: now - Time::ZERO,
        };
        let outcomes: Vec<_> = (0..)
            .zip(&self.groups)
            .map(|(number, group)| {
                let waits =
                    WaitReport { timeouts: group.timeouts, stalls: core.hosts.waits.of(number) };
                (group.application.report(&core.hosts), waits)
            })
            .collect();
        let row = |name: &str, report: &Report, waits: &WaitReport| {
            let status = if report.finished { "ok" } else { status };
            row(self.seed, name.to_owned(), status, report, waits, &network, wall_s)
        };
        let own = self.groups.iter().zip(&outcomes).map(|(group, (report, waits))| {
            let mut row = row(&group.name, report, waits);
            let outcome = Outcome { timeouts_lack_of_dupacks: row.timeouts_lack_of_dupacks };
            if let Some(blueprint) = group.blueprint {
                row.measures = core.hosts.blueprint(blueprint).measure(&outcome);
            }
            row
        });
        let total = self.several.then(|| {
            let outcomes = self.groups.iter().zip(outcomes.iter().cloned());
            let of_workloads = outcomes.filter(|(group, _)| group.is_workload);
            let (reports, waits): (Vec<_>, Vec<_>) =
                of_workloads.map(|(_, outcome)| outcome).unzip();
            row("all", &Report::total(&reports), &WaitReport::total(&waits))
        });
        total.into_iter().chain(own).collect()
    }
}

/// The properties of a group's connections that remedies use.
fn situation(
    network: &Network,
    group: &Group<'_>,
    load: &Load,
    transport: &Transport,
) -> Situation {
    let trunks = network.trunks_between(&group.at, &group.config.workload().clients());
    let (sender_rate, base_rtt) = match group.senders {
        Senders::Clients => {
            (network.client_rate, network.base_rtt_among_clients(transport, trunks))
        }
        Senders::Own(..) | Senders::Servers => {
            (network.server_rate, network.base_rtt(transport, trunks))
        }
    };
    Situation {
        servers: load.fan_in,
        sru: load.most,
        sender_rate,
        client_rate: network.client_rate,
        buffer: network.buffer,
        base_rtt,
    }
}
