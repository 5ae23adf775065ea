//! The hosts of a run, and the calls of applications to them.

mod serve;

use std::collections::VecDeque;

use incast_engine::Time;
use incast_net::Trigger;
use incast_remedies::schedule::RequestScheduler;
use incast_tcp::Connection;

use crate::blueprint::Blueprint;
use crate::demand::Demand;
use crate::end::End;
use crate::ends::Ends;
use crate::event::Event;
use crate::ids::{BlueprintId, EndId};
use crate::milestone::{EventKind, EventRow};
use crate::state::Counters;

pub use serve::Waits;

/// The ends of all flows.
pub struct Hosts {
    pub(crate) ends: Ends,
    /// The blueprints, ordered by their first flow.
    blueprints: Vec<Blueprint>,
    /// The ends whose hosts keep segments until their departure times.
    keeping: Vec<bool>,
    /// Ends that an application has changed, and that must be served.
    dirty: VecDeque<EndId>,
    /// The trigger of the applications' current actions.
    pub trigger: Trigger,
    /// The waits of blocks.
    pub waits: Waits,
    outbox: Vec<Demand>,
    /// Whether event rows are recorded.
    watched: bool,
    now: Time,
    seed: u64,
}

impl Hosts {
    /// Makes hosts without flows. `seed` is the seed of the run; `watched` enables event rows.
    pub fn new(seed: u64, watched: bool) -> Self {
        Self {
            ends: Ends::default(),
            blueprints: Vec::new(),
            keeping: Vec::new(),
            dirty: VecDeque::new(),
            trigger: Trigger::Arrival,
            waits: Waits::default(),
            outbox: Vec::new(),
            watched,
            now: Time::ZERO,
            seed,
        }
    }

    /// Sets the time for applications.
    #[inline]
    pub fn set_now(&mut self, now: Time) {
        self.now = now;
    }

    /// The current time, for applications.
    pub fn now(&self) -> Time {
        self.now
    }

    /// An end of an open flow, which the caller serves.
    ///
    /// # Panics
    /// If the flow is not open.
    #[inline]
    pub fn end_mut(&mut self, id: EndId) -> &mut End {
        self.ends.end_mut(id)
    }

    /// An end, if its flow is open, mutably.
    #[inline]
    pub fn get_mut(&mut self, id: EndId) -> Option<&mut End> {
        self.ends.get_mut(id)
    }

    /// An end, if its flow is open.
    #[inline]
    pub fn get(&self, id: EndId) -> Option<&End> {
        self.ends.get(id)
    }

    /// The connection at an end, if the flow is open and uses TCP.
    #[inline]
    pub fn connection(&self, id: EndId) -> Option<&Connection> {
        self.ends.get(id)?.connection()
    }

    /// In-order bytes that the application of an end has received, and one for a FIN; 0 if the flow
    /// is not open.
    pub fn delivered(&self, id: EndId) -> u64 {
        self.ends.get(id).map_or(0, End::delivered)
    }

    /// The trigger of the packets that an end sends.
    pub fn trigger_of(&self, id: EndId) -> Trigger {
        self.ends.get(id).map_or(Trigger::Arrival, End::trigger)
    }

    /// An end that an application changes. This end is served before the next event.
    pub fn act_on(&mut self, id: EndId) -> &mut End {
        self.dirty.push_back(id);
        let is_brief = self.trigger == Trigger::Application && self.waits.is_brief(self.now, id);
        let trigger = if is_brief { Trigger::Arrival } else { self.trigger };
        let end = self.opened(id);
        end.set_trigger(trigger);
        end
    }

    /// The next end that an application has changed.
    #[inline]
    pub fn pop_dirty(&mut self) -> Option<EndId> {
        self.dirty.pop_front()
    }

    /// Adds a blueprint and the flows of its connections.
    pub fn add_blueprint(&mut self, blueprint: Blueprint, flows: u32) -> BlueprintId {
        debug_assert_eq!(blueprint.first_flow(), self.ends.flows(), "they are in order");
        self.ends.add(flows);
        self.blueprints.push(blueprint);
        BlueprintId(self.blueprints.len() as u16 - 1)
    }

    /// A blueprint.
    pub fn blueprint(&self, BlueprintId(id): BlueprintId) -> &Blueprint {
        &self.blueprints[usize::from(id)]
    }

    /// The scheduler of this blueprint's remedies, if there is one.
    pub fn scheduler(&mut self, BlueprintId(id): BlueprintId) -> Option<Box<dyn RequestScheduler>> {
        self.blueprints[usize::from(id)].scheduler(self.seed)
    }

    /// An end; its flow is opened if it is not open.
    pub fn opened(&mut self, id: EndId) -> &mut End {
        if !self.ends.is_open(id) {
            self.build(id.flow(), 0);
        }
        self.end_mut(id)
    }

    /// Replaces both ends of a flow with a new connection, whose packets have a new epoch.
    /// `incarnation` counts the connections of the flow.
    pub fn renew_connection(&mut self, flow: u32, incarnation: u32) {
        self.build(flow, incarnation);
    }

    /// Notes that the application does not use this connection of the flow any more. The connection
    /// can be freed as soon as it has no packets under way.
    pub fn leave(&mut self, flow: u32) {
        self.ends.leave(flow);
    }

    /// Frees connections that applications have left. `has_packets` tells whether packets of a flow
    /// are under way.
    #[inline]
    pub fn free_idle(&mut self, has_packets: impl Fn(u32) -> bool) {
        let Self { ends, blueprints, .. } = self;
        ends.free(has_packets, |flow, server| blueprint_of(blueprints, flow).retire(server));
    }

    /// The largest number of flows that had a connection at the same time.
    pub fn most_open(&self) -> usize {
        self.ends.most_open()
    }

    /// Counters of the servers' ends of all connections of a blueprint.
    pub fn counters(&self, BlueprintId(id): BlueprintId) -> Counters {
        let blueprint = &self.blueprints[usize::from(id)];
        let next = self.blueprints.get(usize::from(id) + 1);
        let end = next.map_or(self.ends.flows(), Blueprint::first_flow);
        let servers = (blueprint.first_flow()..end).map(EndId::server);
        let open = servers.filter_map(|server| self.ends.get(server));
        open.fold(blueprint.retired(), |sum, end| sum.and(&end.counters()))
    }

    fn build(&mut self, flow: u32, incarnation: u32) {
        let Self { ends, blueprints, keeping, seed, .. } = self;
        let blueprint = blueprint_of(blueprints, flow);
        if let Some(old) = ends.get(EndId::server(flow)) {
            blueprint.retire(old);
        }
        ends.open(flow, |id| {
            let mut end = blueprint.build(id, incarnation, *seed);
            if keeping.get(id.0 as usize) == Some(&true) {
                end.keep_segments();
            }
            end
        });
    }

    /// Lets the host of an end keep segments until their departure times.
    pub fn keep_segments(&mut self, id: EndId) {
        let index = id.0 as usize;
        self.keeping.resize(self.keeping.len().max(index + 1), false);
        self.keeping[index] = true;
        if let Some(end) = self.ends.get_mut(id) {
            end.keep_segments();
        }
    }

    /// Removes the segments that hosts keep, at the end of the run.
    pub fn withdraw_timed(&mut self, now: Time) {
        for end in self.ends.iter_mut() {
            end.withdraw_timed(now);
        }
    }

    /// The next event for an end's application, if there is one.
    #[inline]
    pub fn poll_event(&mut self, id: EndId) -> Option<Event> {
        self.end_mut(id).poll_event()
    }

    /// Begins the wait of the block that includes `flow`. Packets sent now count as not delayed.
    pub fn begin_wait(&mut self, flow: u32) {
        self.trigger = Trigger::Arrival;
        self.waits.begin(self.now, flow);
    }

    /// Ends the wait of the block that includes `flow`, because the block is complete.
    pub fn end_wait(&mut self, flow: u32) {
        self.waits.end(flow);
    }

    /// Sets an application's timer, which cannot be cancelled.
    pub fn set_timer(&mut self, at: Time, application: u16, index: u32) {
        self.outbox.push(Demand::Timer { at, application, index });
    }

    /// Sends a datagram of `size` bytes on `flow`'s forward route.
    pub fn send_datagram(&mut self, flow: u32, size: u32) {
        self.outbox.push(Demand::Datagram { flow, size });
    }

    /// Notes that an application is complete.
    pub fn finish(&mut self, application: u16) {
        self.outbox.push(Demand::Finished { application });
    }

    /// Records an event of a block; `block` is the number of the block, if known.
    pub fn record(&mut self, kind: EventKind, block: u32, flow: Option<u32>) {
        if self.watched {
            let row = EventRow { block, ..EventRow::new(self.now, kind, flow) };
            self.outbox.push(Demand::Milestone(row));
        }
    }

    /// Records an event of a flow, with the state of the server's end.
    pub fn record_flow(&mut self, kind: EventKind, flow: u32) {
        if self.watched
            && let Some(server) = self.ends.get(EndId::server(flow))
        {
            let row = EventRow::of(self.now, kind, flow, server);
            self.outbox.push(Demand::Milestone(row));
        }
    }

    /// Removes and returns all requests of applications. The caller must give the vector back with
    /// [`Hosts::recycle`].
    #[inline]
    pub fn take_demands(&mut self) -> Vec<Demand> {
        std::mem::take(&mut self.outbox)
    }

    /// Keeps the emptied vector of [`Hosts::take_demands`] for reuse.
    #[inline]
    pub fn recycle(&mut self, mut demands: Vec<Demand>) {
        debug_assert!(self.outbox.is_empty(), "no application adds demands while they are handled");
        demands.clear();
        self.outbox = demands;
    }
}

/// The blueprint of a flow.
fn blueprint_of(blueprints: &mut [Blueprint], flow: u32) -> &mut Blueprint {
    let after = blueprints.partition_point(|blueprint| blueprint.first_flow() <= flow);
    &mut blueprints[after - 1]
}
