//! The barrier-synchronised read: the client requests the next block when all parts of the current
//! block have arrived.

mod calls;
mod orders;
mod params;

use incast_engine::{Span, Stream, Time};
use incast_host::milestone::EventKind;
use incast_host::{BlueprintId, EndId, Event, Hosts};
use incast_remedies::schedule::{Note, RequestScheduler};

use self::calls::{Calls, Step};
use self::orders::Orders;
pub use self::params::{Connections, Handshakes, Params};
use crate::application::{Application, Report};
use crate::fairness::Jain;
use crate::seam::Setting;

/// The reading client.
struct BarrierReader {
    read: Params,
    /// Number of servers that send a part of a block.
    active: u32,
    blueprint: BlueprintId,
    /// Number of this application, for its timers.
    number: u16,
    /// Flow of the first server; server `s` has flow `first_flow + s`.
    first_flow: u32,
    /// Identifies this read in the events of its blocks.
    mark: Option<u32>,
    streams: Streams,
    /// The server of each part of the current block.
    chosen: Vec<u32>,
    /// The part of each server that has one.
    parts: Vec<u32>,
    /// Bytes that each server's connection has delivered for earlier blocks.
    before: Vec<u64>,
    /// Times of handshakes and requests.
    calls: Calls,
    block: u32,
    missing: u32,
    /// Time from which the duration of the current block counts.
    block_start: Time,
    started: Time,
    finished_at: Time,
    completions: Vec<Span>,
    /// The servers' goodputs in the current block, in bytes per second.
    shares: Jain,
    /// Sum of Jain's index over complete blocks.
    fairness: f64,
    done: bool,
    /// The scheduler of requests.
    orders: Orders,
}

/// Random streams of a reader.
struct Streams {
    /// Choice of servers.
    active: Stream,
    /// Arrivals of blocks.
    interval: Stream,
}

/// The timer for requests that are due.
const DUE: u32 = 0;
/// The timer of the scheduler.
const ALARM: u32 = 1;
/// The timer for the arrival of the next block.
const WANTED: u32 = 2;

impl BarrierReader {
    fn new(
        read: &Params,
        blueprint: BlueprintId,
        setting: &Setting,
        scheduler: Option<Box<dyn RequestScheduler>>,
    ) -> Self {
        let Setting { number, first_flow, draws, receive_window, .. } = *setting;
        let streams = Streams {
            active: draws.stream("active servers"),
            interval: draws.stream("wanted blocks"),
        };
        let active = read.active();
        Self {
            read: read.clone(),
            active,
            blueprint,
            number,
            first_flow,
            mark: draws.mark(first_flow),
            streams,
            chosen: (0..read.servers).collect(),
            parts: (0..read.servers).collect(),
            before: vec![0; read.servers as usize],
            calls: Calls::new(draws.stream("request jitter"), read.servers, active),
            block: 0,
            missing: 0,
            block_start: Time::ZERO,
            started: Time::ZERO,
            finished_at: Time::ZERO,
            completions: Vec::new(),
            shares: Jain::default(),
            fairness: 0.0,
            done: false,
            orders: Orders::new(scheduler, active, receive_window),
        }
    }

    /// The flow of a part's server.
    fn flow_of(&self, part: u32) -> u32 {
        self.first_flow + self.chosen[part as usize]
    }

    /// The part of a connection's server.
    fn part_of(&self, end: EndId) -> u32 {
        self.parts[(end.flow() - self.first_flow) as usize]
    }

    /// Selects the servers of the next block, if some servers have no part.
    fn choose(&mut self) {
        let (servers, active) = (self.read.servers, self.active);
        if active == servers {
            return;
        }
        for part in 0..active {
            let other = part + self.streams.active.below((servers - part).into()) as u32;
            self.chosen.swap(part as usize, other as usize);
        }
        // Requests are sent in the order of the server numbers, as they are if all servers are
        // active.
        self.chosen[..active as usize].sort_unstable();
        for part in 0..active {
            self.parts[self.chosen[part as usize] as usize] = part;
        }
    }

    /// Begins the block that has been due since `wanted`.
    fn begin_block(&mut self, hosts: &mut Hosts, wanted: Time) {
        self.block_start = wanted;
        hosts.begin_wait(self.first_flow);
        self.missing = self.active;
        self.shares = Jain::default();
        self.choose();
        self.calls.clear(!self.is_fresh());
        hosts.record(EventKind::BlockStart, self.block, self.mark);
        if self.read.handshakes == Handshakes::Before {
            for part in 0..self.active {
                if self.connect(hosts, part) {
                    self.calls.wait_for_one();
                }
            }
        }
        if !self.calls.waits() {
            self.call(hosts);
        }
    }

    /// Draws the times of the block's requests, the first of which is now or later.
    fn call(&mut self, hosts: &mut Hosts) {
        self.calls.draw(&self.read, hosts.now());
        self.ask(hosts);
    }

    /// Draws the time until the next block is due.
    fn want(&mut self, hosts: &mut Hosts, since: Time) {
        if self.read.interval.is_zero() {
            self.begin_block(hosts, hosts.now());
            return;
        }
        let wanted = since + self.streams.interval.exponential(self.read.interval);
        let is_late = self.read.duration.is_some_and(|limit| wanted - self.started > limit);
        if is_late && self.block > 0 {
            self.end(hosts);
        } else if wanted > hosts.now() {
            self.block_start = wanted;
            hosts.set_timer(wanted, self.number, WANTED);
        } else {
            self.begin_block(hosts, wanted);
        }
    }

    fn end(&mut self, hosts: &mut Hosts) {
        self.done = true;
        hosts.finish(self.number);
    }

    /// Executes the steps that are due, and sets a timer for the next step.
    fn ask(&mut self, hosts: &mut Hosts) {
        let now = hosts.now();
        loop {
            match self.calls.next(now) {
                Ok((part, Step::Open)) => {
                    self.connect(hosts, part);
                }
                Ok((part, Step::Ask)) => self.note(hosts, Note::Wanted(part)),
                Err(later) => {
                    if let Some(at) = later {
                        hosts.set_timer(at, self.number, DUE);
                    }
                    return;
                }
            }
        }
    }

    /// Whether every block has its own connections.
    fn is_fresh(&self) -> bool {
        self.read.connections == Connections::Fresh
    }

    /// Begins the handshake of a part's connection, and returns true if it had not begun before.
    fn connect(&mut self, hosts: &mut Hosts, part: u32) -> bool {
        let begins = self.begin(hosts, part);
        if begins {
            hosts.act_on(EndId::client(self.flow_of(part))).open();
        }
        begins
    }

    /// Prepares a connection for a part, if the part has none.
    fn begin(&mut self, hosts: &mut Hosts, part: u32) -> bool {
        let flow = self.flow_of(part);
        let begins = self.calls.begin(self.chosen[part as usize]);
        if begins && self.is_fresh() && self.block > 0 {
            hosts.renew_connection(flow, self.block);
        }
        begins
    }

    /// Sends the request for a part to its server, and sets the receive window if one is given.
    fn request(&mut self, hosts: &mut Hosts, part: u32, window: Option<u64>) {
        let flow = self.flow_of(part);
        self.begin(hosts, part);
        let end = self.delivered_before(part) + self.read.sru_of(part);
        let client = hosts.act_on(EndId::client(flow));
        if let Some(window) = window {
            client.set_receive_buffer(window);
        }
        client.notify_at(end);
        client.request(self.read.request_size.0 as u16);
        hosts.record(EventKind::Request, self.block, Some(flow));
    }

    /// Bytes that the connection of a part's server has delivered for earlier blocks.
    fn delivered_before(&self, part: u32) -> u64 {
        self.before[self.chosen[part as usize] as usize]
    }

    /// Handles the arrival of the client's request at a server.
    fn serve(&mut self, hosts: &mut Hosts, end: EndId) {
        let bytes = self.read.sru_of(self.part_of(end));
        let server = hosts.act_on(end);
        server.open();
        server.write(bytes);
        if self.is_fresh() {
            server.close();
        }
    }

    /// Whether a connection is not needed after its part, because the next block has other servers.
    fn is_left_after_block(&self) -> bool {
        self.is_fresh() && self.active < self.read.servers && self.orders.are_plain()
    }

    /// Completes a server's part, all of which has arrived.
    fn complete(&mut self, hosts: &mut Hosts, end: EndId) {
        let now = hosts.now();
        let took = (now - self.block_start).as_secs_f64();
        self.missing -= 1;
        self.shares.add(self.read.sru_of(self.part_of(end)) as f64 / took);
        hosts.record_flow(EventKind::FlowDone, end.flow());
        if self.is_left_after_block() {
            hosts.leave(end.flow());
        }
        if self.missing > 0 {
            self.note(hosts, Note::Complete(self.part_of(end)));
            return;
        }
        self.end_orders(hosts, self.part_of(end));
        hosts.end_wait(self.first_flow);
        hosts.record(EventKind::BlockDone, self.block, self.mark);
        self.completions.push(now - self.block_start);
        self.fairness += self.shares.index().unwrap_or(1.0);
        self.finished_at = now;
        if !self.is_fresh() {
            for part in 0..self.active {
                self.before[self.chosen[part as usize] as usize] += self.read.sru_of(part);
            }
        }
        self.block += 1;
        let time_is_up = self.read.duration.is_some_and(|limit| now - self.started > limit);
        if self.read.blocks.is_some_and(|blocks| self.block >= blocks) || time_is_up {
            self.end(hosts);
        } else {
            self.want(hosts, self.block_start);
        }
    }
}

impl Application for BarrierReader {
    fn start(&mut self, hosts: &mut Hosts) {
        self.started = hosts.now();
        self.want(hosts, self.started);
    }

    fn on_timer(&mut self, hosts: &mut Hosts, index: u32) {
        match index {
            ALARM => self.note(hosts, Note::Alarm),
            WANTED => self.begin_block(hosts, self.block_start),
            _ => self.ask(hosts),
        }
    }

    fn on_event(&mut self, hosts: &mut Hosts, end: EndId, event: Event) {
        match event {
            Event::Request if end.is_server() => self.serve(hosts, end),
            Event::Received if !end.is_server() => self.receive(hosts, end),
            Event::Established if !end.is_server() && self.calls.ended_one() => self.call(hosts),
            Event::Established if !end.is_server() => self.establish(hosts, end),
            _ => {}
        }
    }

    fn progress(&self, now: Time) -> Option<f64> {
        if self.done {
            return Some(1.0);
        }
        let blocks = self.read.blocks.map(|blocks| f64::from(self.block) / f64::from(blocks));
        let time = self
            .read
            .duration
            .map(|limit| (now - self.started).as_secs_f64() / limit.as_secs_f64());
        // After `duration`, the last block is still being read, so the read is not complete.
        Some(blocks.or(time).unwrap_or(0.0).min(0.99))
    }

    fn report(&self, hosts: &Hosts) -> Report {
        Report {
            bytes: self.read.block() * self.completions.len() as u64,
            elapsed: self.finished_at - self.started,
            completions: self.completions.clone(),
            fairness: (!self.completions.is_empty())
                .then(|| self.fairness / self.completions.len() as f64),
            finished: self.done || (self.read.duration.is_some() && !self.completions.is_empty()),
            counters: hosts.counters(self.blueprint),
        }
    }
}
