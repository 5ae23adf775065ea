//! The hosts of a run: the ends of all flows, and what applications do with them.

use std::collections::VecDeque;

use incast_engine::Time;
use incast_net::{Packet, Trigger};
use incast_remedies::schedule::RequestScheduler;
use incast_tcp::connection::{Counters, Predicted};
use incast_tcp::{Connection, Event};

use crate::blueprint::Blueprint;
use crate::endpoint::{End, Guest};
use crate::ids::{BlueprintId, EndId};
use crate::milestone::{EventKind, EventRow};
use crate::stalls::{Stall, Waits};

/// What an application wants of clock and network, done before anything else happens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Demand {
    /// To be woken; that cannot be taken back.
    Timer {
        /// When.
        at: Time,
        /// Which application.
        application: u16,
        /// The application's own number for it.
        index: u32,
    },
    /// A datagram of `size` bytes on the forward route of `flow`.
    Datagram {
        /// The flow.
        flow: u32,
        /// Its size on the wire, bytes.
        size: u32,
    },
    /// A row for whoever watches the run.
    Milestone(EventRow),
    /// The application has done what it was asked for.
    Finished {
        /// Which application.
        application: u16,
    },
}

/// The ends of all flows.
pub struct Hosts {
    ends: Vec<End>,
    blueprints: Vec<Blueprint>,
    /// Ends on which an application acted and which have to be served.
    dirty: VecDeque<EndId>,
    /// What makes the applications act.
    pub trigger: Trigger,
    /// What the blocks wait for.
    pub waits: Waits,
    outbox: Vec<Demand>,
    /// Somebody watches, so that milestones are told.
    watched: bool,
    now: Time,
    seed: u64,
}

impl Hosts {
    /// No hosts yet; `seed` is the run's, and `watched` says whether milestones are told.
    pub fn new(seed: u64, watched: bool) -> Self {
        Self {
            ends: Vec::new(),
            blueprints: Vec::new(),
            dirty: VecDeque::new(),
            trigger: Trigger::Arrival,
            waits: Waits::default(),
            outbox: Vec::new(),
            watched,
            now: Time::ZERO,
            seed,
        }
    }

    /// Tells the time to applications that are about to act.
    #[inline]
    pub fn set_now(&mut self, now: Time) {
        self.now = now;
    }

    /// Now, while an application acts.
    pub fn now(&self) -> Time {
        self.now
    }

    /// An end.
    #[inline]
    pub fn end(&self, EndId(end): EndId) -> &End {
        &self.ends[end as usize]
    }

    /// An end, for whoever serves it.
    #[inline]
    pub fn end_mut(&mut self, EndId(end): EndId) -> &mut End {
        &mut self.ends[end as usize]
    }

    /// The connection at an end, if it is TCP.
    #[inline]
    pub fn connection(&self, end: EndId) -> Option<&Connection> {
        self.end(end).connection()
    }

    /// An end, for an application to act on; it is served before the clock moves on.
    pub fn act_on(&mut self, id: EndId) -> &mut End {
        self.dirty.push_back(id);
        let is_brief = self.trigger == Trigger::Application && self.waits.is_brief(self.now, id);
        let trigger = if is_brief { Trigger::Arrival } else { self.trigger };
        let end = self.end_mut(id);
        end.set_trigger(trigger);
        end
    }

    /// The next end that an application acted on.
    #[inline]
    pub fn pop_dirty(&mut self) -> Option<EndId> {
        self.dirty.pop_front()
    }

    /// Adds a blueprint.
    pub fn add_blueprint(&mut self, blueprint: Blueprint) -> BlueprintId {
        self.blueprints.push(blueprint);
        BlueprintId(self.blueprints.len() as u16 - 1)
    }

    /// A blueprint.
    pub fn blueprint(&self, BlueprintId(id): BlueprintId) -> &Blueprint {
        &self.blueprints[usize::from(id)]
    }

    /// The scheduler that a remedy of this blueprint brings.
    pub fn scheduler(&mut self, BlueprintId(id): BlueprintId) -> Option<Box<dyn RequestScheduler>> {
        self.blueprints[usize::from(id)].scheduler(self.seed)
    }

    /// Adds the next flow's two ends.
    pub fn add_connection(&mut self, blueprint: BlueprintId, flow: u32) {
        for end in [EndId::server(flow), EndId::client(flow)] {
            debug_assert_eq!(self.ends.len(), end.0 as usize, "flows with connections come first");
            let connection = self.incarnate(blueprint, end, 0);
            self.ends.push(End::new(connection));
        }
    }

    /// Puts another transport at an end.
    pub fn install(&mut self, end: EndId, guest: Box<dyn Guest>) {
        *self.end_mut(end) = End::guest(guest);
    }

    /// Replaces both ends of a flow by a new connection, whose packets are told apart; returns
    /// what the old server's end had counted. `incarnation` counts the connections of the flow.
    pub fn renew_connection(
        &mut self,
        blueprint: BlueprintId,
        flow: u32,
        incarnation: u32,
    ) -> Counters {
        let retired = self.end(EndId::server(flow)).counters();
        for end in [EndId::server(flow), EndId::client(flow)] {
            let connection = self.incarnate(blueprint, end, incarnation);
            let keeps = self.end(end).keeps();
            *self.end_mut(end) = End::new(connection);
            if keeps {
                self.keep_segments(end);
            }
        }
        retired
    }

    fn incarnate(
        &mut self,
        BlueprintId(id): BlueprintId,
        end: EndId,
        incarnation: u32,
    ) -> Connection {
        self.blueprints[usize::from(id)].build(end, incarnation, self.seed)
    }

    /// The host of `end` keeps segments until their departure times.
    pub fn keep_segments(&mut self, end: EndId) {
        self.end_mut(end).keep_segments();
    }

    /// Takes back the segments that hosts keep, at the end of the run.
    pub fn withdraw_timed(&mut self, now: Time) {
        for end in &mut self.ends {
            end.withdraw_timed(now);
        }
    }

    /// Tells the receiving end of a packet; returns which it is, and the stall that it ends.
    #[inline]
    pub fn deliver(&mut self, now: Time, packet: &Packet) -> (EndId, Option<Stall>) {
        let id = EndId(packet.route.reverse().0);
        let end = &mut self.ends[id.0 as usize];
        end.handle_segment(now, packet);
        if id.is_server() {
            return (id, None);
        }
        // Nothing has waited for what the client sends now.
        end.set_trigger(Trigger::Arrival);
        (id, self.waits.note(now, id, packet.flags.trigger()))
    }

    /// Tells the receiving end of a packet, if that is one of those that are predicted: no event comes
    /// of it. Nobody hears of a stall that it ends.
    #[inline]
    pub fn predict(&mut self, now: Time, packet: &mut Packet) -> (EndId, Predicted) {
        let id = EndId(packet.route.reverse().0);
        let trigger = packet.flags.trigger();
        let answers_for = if id.is_server() { trigger } else { Trigger::Arrival };
        let predicted = self.ends[id.0 as usize].predict(now, packet, answers_for);
        if predicted != Predicted::Nothing && !id.is_server() {
            self.waits.note(now, id, trigger);
        }
        (id, predicted)
    }

    /// Handles a deadline; returns whether there is one still.
    pub fn expire(&mut self, now: Time, id: EndId) -> bool {
        let end = &mut self.ends[id.0 as usize];
        let due = end.poll_timeout() <= now;
        if due {
            end.handle_timeout(now);
            if end.trigger() == Trigger::DelayedAck && self.waits.is_brief(now, id) {
                end.set_trigger(Trigger::Arrival);
            }
        }
        due
    }

    /// What an end's application has to hear, one by one.
    #[inline]
    pub fn poll_event(&mut self, id: EndId) -> Option<Event> {
        self.end_mut(id).poll_event()
    }

    /// A block begins in which `flow` has a part: what is sent now has not been waited for.
    pub fn begin_wait(&mut self, flow: u32) {
        self.trigger = Trigger::Arrival;
        self.waits.begin(self.now, flow);
    }

    /// The block in which `flow` has a part is complete.
    pub fn end_wait(&mut self, flow: u32) {
        self.waits.end(flow);
    }

    /// Sets an application's timer; it cannot be cancelled.
    pub fn set_timer(&mut self, at: Time, application: u16, index: u32) {
        self.outbox.push(Demand::Timer { at, application, index });
    }

    /// Sends a datagram of `size` bytes on `flow`'s forward route.
    pub fn send_datagram(&mut self, flow: u32, size: u32) {
        self.outbox.push(Demand::Datagram { flow, size });
    }

    /// An application has done what it was asked for.
    pub fn finish(&mut self, application: u16) {
        self.outbox.push(Demand::Finished { application });
    }

    /// Something happened to a block: number `block`, where that is known.
    pub fn tell(&mut self, kind: EventKind, block: u32, flow: Option<u32>) {
        if self.watched {
            let row = EventRow { block, ..EventRow::new(self.now, kind, flow) };
            self.outbox.push(Demand::Milestone(row));
        }
    }

    /// Something happened to a flow, whose server's end says how it is.
    pub fn tell_of(&mut self, kind: EventKind, flow: u32) {
        if self.watched
            && let Some(connection) = self.connection(EndId::server(flow))
        {
            let row = EventRow::of(self.now, kind, flow, connection);
            self.outbox.push(Demand::Milestone(row));
        }
    }

    /// What applications want; empty afterwards. Give the vector back to [`Hosts::recycle`].
    #[inline]
    pub fn take_demands(&mut self) -> Vec<Demand> {
        std::mem::take(&mut self.outbox)
    }

    /// Takes back the emptied vector of [`Hosts::take_demands`].
    #[inline]
    pub fn recycle(&mut self, mut demands: Vec<Demand>) {
        debug_assert!(self.outbox.is_empty(), "nobody acts while demands are met");
        demands.clear();
        self.outbox = demands;
    }
}
