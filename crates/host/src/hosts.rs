//! The hosts of a run: the ends of all flows, and the calls of applications to them.

use std::collections::VecDeque;

use incast_engine::Time;
use incast_net::{Packet, Trigger};
use incast_remedies::schedule::RequestScheduler;
use incast_tcp::connection::{Counters, FIRST_BYTE, Polled, Predicted};
use incast_tcp::{Connection, Event};

use crate::blueprint::Blueprint;
use crate::demand::Demand;
use crate::guest::{Call, Guest};
use crate::ids::{BlueprintId, EndId};
use crate::milestone::{EventKind, EventRow};
use crate::stalls::{Stall, Waits};

/// The transport at one end of a flow.
#[expect(clippy::large_enum_variant, reason = "guests are rare, and a connection lies in its end")]
enum Endpoint {
    Tcp(Connection),
    Guest(Box<dyn Guest>),
}

/// An end of a flow, and its deadlines.
#[repr(C, align(64))]
pub struct End {
    /// The deadline in the event queue. Other entries of the queue for this end are stale.
    pub armed: Time,
    /// A later deadline that is also in the queue. A pacer has many deadlines before that of the
    /// retransmission timer, which then need not be scheduled again after each of them.
    pub backstop: Time,
    endpoint: Endpoint,
}

/// Calls either kind of endpoint.
macro_rules! either {
    ($end:expr, $connection:ident => $tcp:expr, $guest:ident => $other:expr) => {
        match $end {
            Endpoint::Tcp($connection) => $tcp,
            Endpoint::Guest($guest) => $other,
        }
    };
}

impl End {
    /// An end of a TCP connection.
    pub fn new(connection: Connection) -> Self {
        Self::of(Endpoint::Tcp(connection))
    }

    /// An end of another transport.
    pub fn guest(guest: Box<dyn Guest>) -> Self {
        Self::of(Endpoint::Guest(guest))
    }

    fn of(endpoint: Endpoint) -> Self {
        Self { armed: Time::NEVER, backstop: Time::NEVER, endpoint }
    }

    /// The connection, if it is TCP.
    #[inline]
    pub fn connection(&self) -> Option<&Connection> {
        either!(&self.endpoint, connection => Some(connection), _guest => None)
    }

    /// The connection, if it is TCP, so that an experiment can change it before the run.
    pub fn connection_mut(&mut self) -> Option<&mut Connection> {
        either!(&mut self.endpoint, connection => Some(connection), _guest => None)
    }

    /// A packet of its flow has arrived.
    #[inline]
    pub fn handle_segment(&mut self, now: Time, packet: &Packet) {
        either!(&mut self.endpoint,
            connection => connection.handle_segment(now, packet),
            guest => guest.handle_segment(now, packet));
    }

    /// Header prediction; see [`Connection::predict`].
    #[inline]
    pub(crate) fn predict(
        &mut self,
        now: Time,
        packet: &mut Packet,
        trigger: Trigger,
    ) -> Predicted {
        either!(&mut self.endpoint,
            connection => connection.predict(now, packet, trigger),
            _guest => Predicted::Nothing)
    }

    /// Its deadline has passed.
    pub fn handle_timeout(&mut self, now: Time) {
        either!(&mut self.endpoint,
            connection => connection.handle_timeout(now),
            guest => guest.handle_timeout(now));
    }

    /// Its next deadline.
    #[inline]
    pub fn poll_timeout(&self) -> Time {
        either!(&self.endpoint,
            connection => connection.poll_timeout(),
            guest => guest.poll_timeout())
    }

    /// Writes the next packet to send into `draft`, if there is one.
    #[inline]
    pub fn poll_transmit_into(&mut self, now: Time, draft: &mut Packet) -> Polled {
        either!(&mut self.endpoint,
            connection => connection.poll_transmit_into(now, draft),
            guest => if guest.poll_transmit(now, draft) { Polled::Packet } else { Polled::Nothing })
    }

    /// Departure time of the last polled packet.
    pub fn departs_at(&self) -> Time {
        either!(&self.endpoint, connection => connection.departs_at(), _guest => Time::NEVER)
    }

    /// Whether it has certainly no packet to send.
    #[inline]
    pub fn is_quiet(&self) -> bool {
        either!(&self.endpoint, connection => connection.is_quiet(), _guest => false)
    }

    /// The next event for its application, if any.
    #[inline]
    pub fn poll_event(&mut self) -> Option<Event> {
        either!(&mut self.endpoint,
            connection => connection.poll_event(),
            guest => guest.poll_event())
    }

    /// The trigger of the packets that it sends.
    #[inline]
    pub fn trigger(&self) -> Trigger {
        either!(&self.endpoint, connection => connection.trigger(), _guest => Trigger::Arrival)
    }

    /// Sets the trigger of the packets that it sends.
    #[inline]
    pub fn set_trigger(&mut self, trigger: Trigger) {
        if let Endpoint::Tcp(connection) = &mut self.endpoint {
            connection.set_trigger(trigger);
        }
    }

    /// If it is TCP, its host keeps segments until their departure times.
    pub(crate) fn keep_segments(&mut self) {
        if let Endpoint::Tcp(connection) = &mut self.endpoint {
            connection.allow_departure_times();
        }
    }

    /// Whether its host keeps segments until their departure times.
    pub(crate) fn keeps(&self) -> bool {
        self.connection().is_some_and(Connection::has_departure_times)
    }

    /// Removes segments that its host keeps, at the end of the run.
    pub(crate) fn withdraw_timed(&mut self, now: Time) {
        if let Endpoint::Tcp(connection) = &mut self.endpoint {
            connection.withdraw_timed(now);
        }
    }

    /// Opens the connection, if this end opens connections.
    pub fn open(&mut self) {
        either!(&mut self.endpoint,
            connection => connection.open(), guest => guest.handle_call(Call::Open));
    }

    /// Appends this many bytes to the stream.
    pub fn write(&mut self, bytes: u64) {
        either!(&mut self.endpoint,
            connection => connection.write(bytes), guest => guest.handle_call(Call::Write(bytes)));
    }

    /// No more data will be written.
    pub fn close(&mut self) {
        either!(&mut self.endpoint,
            connection => connection.close(), guest => guest.handle_call(Call::Close));
    }

    /// Sends a request of `size` bytes; with 0 another packet carries it.
    pub fn request(&mut self, size: u16) {
        either!(&mut self.endpoint,
            connection => connection.request(size),
            guest => guest.handle_call(Call::Request(size)));
    }

    /// Reports [`Event::Received`] when this many bytes have been delivered.
    pub fn notify_at(&mut self, bytes: u64) {
        either!(&mut self.endpoint,
            connection => connection.notify_at(bytes),
            guest => guest.handle_call(Call::NotifyAt(bytes)));
    }

    /// Advertises at most this window, bytes.
    pub fn set_receive_buffer(&mut self, bytes: u64) {
        either!(&mut self.endpoint,
            connection => connection.set_receive_buffer(bytes),
            guest => guest.handle_call(Call::ReceiveBuffer(bytes)));
    }

    /// Bytes delivered in order to its application.
    pub fn delivered(&self) -> u64 {
        either!(&self.endpoint,
            connection => connection.received().next() - FIRST_BYTE,
            guest => guest.delivered())
    }

    /// Its counters.
    pub fn counters(&self) -> Counters {
        either!(&self.endpoint, connection => *connection.counters(), guest => guest.counters())
    }
}

/// The ends of all flows.
pub struct Hosts {
    ends: Vec<End>,
    blueprints: Vec<Blueprint>,
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
    /// Hosts without flows. `seed` is the run's; `watched` enables event rows.
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

    /// Sets the time for applications.
    #[inline]
    pub fn set_now(&mut self, now: Time) {
        self.now = now;
    }

    /// The current time, for applications.
    pub fn now(&self) -> Time {
        self.now
    }

    /// An end.
    #[inline]
    pub fn end(&self, EndId(end): EndId) -> &End {
        &self.ends[end as usize]
    }

    /// An end, to be served.
    #[inline]
    pub fn end_mut(&mut self, EndId(end): EndId) -> &mut End {
        &mut self.ends[end as usize]
    }

    /// The connection at an end, if it is TCP.
    #[inline]
    pub fn connection(&self, end: EndId) -> Option<&Connection> {
        self.end(end).connection()
    }

    /// An end, to be changed by an application. It is served before the next event.
    pub fn act_on(&mut self, id: EndId) -> &mut End {
        self.dirty.push_back(id);
        let is_brief = self.trigger == Trigger::Application && self.waits.is_brief(self.now, id);
        let trigger = if is_brief { Trigger::Arrival } else { self.trigger };
        let end = self.end_mut(id);
        end.set_trigger(trigger);
        end
    }

    /// The next end that an application has changed.
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

    /// The scheduler of this blueprint's remedies, if any.
    pub fn scheduler(&mut self, BlueprintId(id): BlueprintId) -> Option<Box<dyn RequestScheduler>> {
        self.blueprints[usize::from(id)].scheduler(self.seed)
    }

    /// Reserves memory for the ends of this many further flows. A vector that grows step by step is
    /// copied, and briefly needs twice its memory.
    pub fn reserve(&mut self, flows: usize) {
        self.ends.reserve_exact(2 * flows);
    }

    /// Adds the two ends of the next flow.
    pub fn add_connection(&mut self, blueprint: BlueprintId, flow: u32) {
        for end in [EndId::server(flow), EndId::client(flow)] {
            debug_assert_eq!(self.ends.len(), end.0 as usize, "flows with connections come first");
            let connection = self.incarnate(blueprint, end, 0);
            self.ends.push(End::new(connection));
        }
    }

    /// Replaces the transport at an end.
    pub fn install(&mut self, end: EndId, guest: Box<dyn Guest>) {
        *self.end_mut(end) = End::guest(guest);
    }

    /// Replaces both ends of a flow by a new connection, whose packets have a new epoch. Returns
    /// the counters of the old server's end. `incarnation` counts the connections of the flow.
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

    /// Removes the segments that hosts keep, at the end of the run.
    pub fn withdraw_timed(&mut self, now: Time) {
        for end in &mut self.ends {
            end.withdraw_timed(now);
        }
    }

    /// Passes a packet to the receiving end. Returns the end, and the stall that the packet ends.
    #[inline]
    pub fn deliver(&mut self, now: Time, packet: &Packet) -> (EndId, Option<Stall>) {
        let id = EndId(packet.route.reverse().0);
        let end = &mut self.ends[id.0 as usize];
        end.handle_segment(now, packet);
        if id.is_server() {
            return (id, None);
        }
        // What the client sends now was not delayed by a timer.
        end.set_trigger(Trigger::Arrival);
        (id, self.waits.note(now, id, packet.flags.trigger()))
    }

    /// Passes a packet to the receiving end, if it is predicted there. Such a packet causes no
    /// event. A stall that it ends is counted but not reported.
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

    /// Handles a deadline. Returns whether another one is pending.
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

    /// The next event for an end's application, if any.
    #[inline]
    pub fn poll_event(&mut self, id: EndId) -> Option<Event> {
        self.end_mut(id).poll_event()
    }

    /// A block begins that includes `flow`. Packets sent now were not delayed.
    pub fn begin_wait(&mut self, flow: u32) {
        self.trigger = Trigger::Arrival;
        self.waits.begin(self.now, flow);
    }

    /// The block that includes `flow` is complete.
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

    /// An application is complete.
    pub fn finish(&mut self, application: u16) {
        self.outbox.push(Demand::Finished { application });
    }

    /// Records an event of a block; `block` is its number, if known.
    pub fn record(&mut self, kind: EventKind, block: u32, flow: Option<u32>) {
        if self.watched {
            let row = EventRow { block, ..EventRow::new(self.now, kind, flow) };
            self.outbox.push(Demand::Milestone(row));
        }
    }

    /// Records an event of a flow, with the state of its server's end.
    pub fn record_flow(&mut self, kind: EventKind, flow: u32) {
        if self.watched
            && let Some(connection) = self.connection(EndId::server(flow))
        {
            let row = EventRow::of(self.now, kind, flow, connection);
            self.outbox.push(Demand::Milestone(row));
        }
    }

    /// Removes all requests of applications. Return the vector to [`Hosts::recycle`].
    #[inline]
    pub fn take_demands(&mut self) -> Vec<Demand> {
        std::mem::take(&mut self.outbox)
    }

    /// Keeps the emptied vector of [`Hosts::take_demands`] for reuse.
    #[inline]
    pub fn recycle(&mut self, mut demands: Vec<Demand>) {
        debug_assert!(self.outbox.is_empty(), "nobody acts while demands are met");
        demands.clear();
        self.outbox = demands;
    }
}
