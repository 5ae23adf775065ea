//! Rounds of messages, with a barrier after each step.

use incast_engine::{Span, Stream, Time};
use incast_host::milestone::EventKind;
use incast_host::{BlueprintId, EndId, Event, Hosts};

use super::{Algorithm, Message, Timing, flow_of};
use crate::application::{Application, Report};
use crate::seam::Setting;

/// The application of the ranks of a collective operation. The receiver of a message requests it.
pub struct Rounds {
    algorithm: Box<dyn Algorithm>,
    ranks: u32,
    timing: Timing,
    number: u16,
    blueprint: BlueprintId,
    first_flow: u32,
    /// Identifies this operation in the events of its rounds.
    mark: Option<u32>,
    random: Stream,
    /// For each flow from `first_flow` on: the size of its message in this step, and the number of
    /// bytes that the flow has delivered when this message has arrived.
    due: Vec<(u64, u64)>,
    /// Request times of the flows of this step, earliest first.
    requests: Vec<(Time, u32)>,
    asked: usize,
    /// Number of messages of this step that have not arrived.
    missing: u32,
    step: u32,
    round: u32,
    began: Time,
    /// Bytes of complete rounds.
    bytes: u64,
    completions: Vec<Span>,
}

impl Rounds {
    /// The rounds of an algorithm among `ranks` ranks, whose flows are those of [`flow_of`].
    ///
    /// # Panics
    /// Panics if the setting has no connections.
    pub fn new(
        algorithm: Box<dyn Algorithm>,
        ranks: u32,
        timing: Timing,
        setting: &Setting,
    ) -> Self {
        let flows = (ranks * (ranks - 1)) as usize;
        Self {
            algorithm,
            ranks,
            timing,
            number: setting.number,
            blueprint: setting.blueprint.expect("flows have connections"),
            first_flow: setting.first_flow,
            mark: setting.draws.mark(setting.first_flow),
            random: setting.draws.stream("requests"),
            due: vec![(0, 0); flows],
            requests: Vec::with_capacity(flows),
            asked: 0,
            missing: 0,
            step: 0,
            round: 0,
            began: Time::ZERO,
            bytes: 0,
            completions: Vec::new(),
        }
    }

    fn begin(&mut self, hosts: &mut Hosts) {
        self.began = hosts.now();
        self.step = 0;
        hosts.begin_wait(self.first_flow);
        hosts.record(EventKind::BlockStart, self.round, self.mark);
        self.begin_step(hosts);
    }

    fn begin_step(&mut self, hosts: &mut Hosts) {
        let now = hosts.now();
        let messages = self.algorithm.sends(self.step);
        (self.missing, self.asked) = (messages.len() as u32, 0);
        self.requests.clear();
        for Message { from, to, bytes } in messages {
            let flow = flow_of(from, to, self.ranks);
            let (size, total) = &mut self.due[flow as usize];
            (*size, *total) = (bytes, *total + bytes);
            let at = now + self.random.uniform(self.timing.spread);
            self.requests.push((at, self.first_flow + flow));
        }
        self.requests.sort_unstable();
        self.ask(hosts);
    }

    fn due(&self, flow: u32) -> (u64, u64) {
        self.due[(flow - self.first_flow) as usize]
    }

    /// Sends the requests that are due and sets a timer for the next request.
    fn ask(&mut self, hosts: &mut Hosts) {
        while let Some(&(at, flow)) = self.requests.get(self.asked) {
            if at > hosts.now() {
                hosts.set_timer(at, self.number, 0);
                return;
            }
            self.asked += 1;
            let client = hosts.act_on(EndId::client(flow));
            client.notify_at(self.due(flow).1);
            client.request(0);
            hosts.record(EventKind::Request, self.round, Some(flow));
        }
    }

    fn is_last_round(&self) -> bool {
        self.timing.rounds.is_some_and(|rounds| self.round + 1 >= rounds)
    }

    fn complete(&mut self, hosts: &mut Hosts, flow: u32) {
        hosts.record_flow(EventKind::FlowDone, flow);
        if self.is_last_round() && self.step + 1 == self.algorithm.steps() {
            hosts.leave(flow);
        }
        self.missing -= 1;
        if self.missing > 0 {
            return;
        }
        self.step += 1;
        if self.step < self.algorithm.steps() {
            return self.begin_step(hosts);
        }
        hosts.end_wait(self.first_flow);
        hosts.record(EventKind::BlockDone, self.round, self.mark);
        self.completions.push(hosts.now() - self.began);
        self.round += 1;
        self.bytes = self.due.iter().map(|(_, total)| total).sum();
        if self.is_done() {
            hosts.finish(self.number);
        } else {
            self.begin(hosts);
        }
    }

    fn is_done(&self) -> bool {
        self.timing.rounds.is_some_and(|rounds| self.round >= rounds)
    }

    /// Finished share of this round.
    fn of_round(&self) -> f64 {
        let of_step = 1.0 - f64::from(self.missing) / self.requests.len().max(1) as f64;
        (f64::from(self.step) + of_step) / f64::from(self.algorithm.steps())
    }
}

impl Application for Rounds {
    fn start(&mut self, hosts: &mut Hosts) {
        self.begin(hosts);
    }

    fn on_timer(&mut self, hosts: &mut Hosts, _: u32) {
        self.ask(hosts);
    }

    fn on_event(&mut self, hosts: &mut Hosts, end: EndId, event: Event) {
        match event {
            Event::Request if end.is_server() => {
                let (size, _) = self.due(end.flow());
                let server = hosts.act_on(end);
                server.open();
                server.write(size);
            }
            Event::Received if !end.is_server() => self.complete(hosts, end.flow()),
            _ => {}
        }
    }

    fn progress(&self, _: Time) -> Option<f64> {
        let rounds = f64::from(self.timing.rounds?);
        Some(((f64::from(self.round) + self.of_round()) / rounds).min(1.0))
    }

    fn report(&self, hosts: &Hosts) -> Report {
        let elapsed = self.completions.iter().fold(Span::ZERO, |sum, round| sum + *round);
        Report {
            bytes: self.bytes,
            elapsed,
            completions: self.completions.clone(),
            // Fairness is not computed, because a round waits for all messages.
            fairness: None,
            finished: self.is_done() || (self.timing.rounds.is_none() && self.round > 0),
            counters: hosts.counters(self.blueprint),
        }
    }
}
