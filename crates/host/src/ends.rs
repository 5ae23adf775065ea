//! The ends of flows, and the effects of packets and deadlines on them.
//!
//! Both ends of a flow are built when one of them is first used. Both ends are freed when
//! the application has left the flow and the flow has no packets under way.

use incast_engine::Time;
use incast_net::{Packet, Trigger};
use incast_tcp::connection::{Counters, FIRST_BYTE, Polled, Predicted};
use incast_tcp::{Connection, Event};

use crate::guest::{Call, Guest};
use crate::hosts::Hosts;
use crate::ids::EndId;
use crate::stalls::Stall;

/// The transport at one end of a flow.
#[expect(clippy::large_enum_variant, reason = "guests are rare; an end contains its connection")]
enum Endpoint {
    Tcp(Connection),
    Guest(Box<dyn Guest>),
}

/// An end of a flow, and its deadlines.
#[repr(C, align(64))]
pub struct End {
    /// The deadline in the event queue. Other entries of the queue for this end are stale.
    pub armed: Time,
    /// A later deadline that is also in the queue. A pacer has many deadlines before the
    /// retransmission timer expires. With this entry, the timer need not be scheduled again after
    /// each deadline of the pacer.
    pub backstop: Time,
    /// Whether the application has left the flow; used only in the server's end.
    pub(crate) is_left: bool,
    endpoint: Endpoint,
}

/// Calls a method of the endpoint, which may be of either kind.
macro_rules! either {
    ($end:expr, $connection:ident => $tcp:expr, $guest:ident => $other:expr) => {
        match $end {
            Endpoint::Tcp($connection) => $tcp,
            Endpoint::Guest($guest) => $other,
        }
    };
}

impl End {
    /// Makes an end of a TCP connection.
    pub fn new(connection: Connection) -> Self {
        Self::of(Endpoint::Tcp(connection))
    }

    /// Makes an end of another transport.
    pub fn guest(guest: Box<dyn Guest>) -> Self {
        Self::of(Endpoint::Guest(guest))
    }

    fn of(endpoint: Endpoint) -> Self {
        Self { armed: Time::NEVER, backstop: Time::NEVER, is_left: false, endpoint }
    }

    /// The connection, if the end uses TCP.
    #[inline]
    pub fn connection(&self) -> Option<&Connection> {
        either!(&self.endpoint, connection => Some(connection), _guest => None)
    }

    /// The connection, if the end uses TCP, so that an experiment can change it before the run.
    pub fn connection_mut(&mut self) -> Option<&mut Connection> {
        either!(&mut self.endpoint, connection => Some(connection), _guest => None)
    }

    /// Handles the arrival of a packet of the flow.
    #[inline]
    pub fn handle_segment(&mut self, now: Time, packet: &Packet) {
        either!(&mut self.endpoint,
            connection => connection.handle_segment(now, packet),
            guest => guest.handle_segment(now, packet));
    }

    /// Tries header prediction; see [`Connection::predict`].
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

    /// Handles the passing of the end's deadline.
    pub fn handle_timeout(&mut self, now: Time) {
        either!(&mut self.endpoint,
            connection => connection.handle_timeout(now),
            guest => guest.handle_timeout(now));
    }

    /// The end's next deadline.
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

    /// Whether it is certain that the end has no packet to send.
    #[inline]
    pub fn is_quiet(&self) -> bool {
        either!(&self.endpoint, connection => connection.is_quiet(), _guest => false)
    }

    /// The next event for the application, if there is one.
    #[inline]
    pub fn poll_event(&mut self) -> Option<Event> {
        either!(&mut self.endpoint,
            connection => connection.poll_event(),
            guest => guest.poll_event())
    }

    /// The trigger of the packets that the end sends.
    #[inline]
    pub fn trigger(&self) -> Trigger {
        either!(&self.endpoint, connection => connection.trigger(), _guest => Trigger::Arrival)
    }

    /// Sets the trigger of the packets that the end sends.
    #[inline]
    pub fn set_trigger(&mut self, trigger: Trigger) {
        if let Endpoint::Tcp(connection) = &mut self.endpoint {
            connection.set_trigger(trigger);
        }
    }

    /// Lets the host of a TCP end keep segments until their departure times.
    pub(crate) fn keep_segments(&mut self) {
        if let Endpoint::Tcp(connection) = &mut self.endpoint {
            connection.allow_departure_times();
        }
    }

    /// Removes the segments that the host keeps, at the end of the run.
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

    /// Closes the stream: no more data will be written.
    pub fn close(&mut self) {
        either!(&mut self.endpoint,
            connection => connection.close(), guest => guest.handle_call(Call::Close));
    }

    /// Sends a request of `size` bytes; with 0, another packet carries the request.
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

    /// In-order bytes that the application has received, and one for a FIN.
    pub fn delivered(&self) -> u64 {
        either!(&self.endpoint,
            connection => connection.received().next() - FIRST_BYTE,
            guest => guest.delivered())
    }

    /// The counters of the end.
    pub fn counters(&self) -> Counters {
        either!(&self.endpoint, connection => *connection.counters(), guest => guest.counters())
    }
}

/// The ends of all flows.
#[derive(Default)]
pub(crate) struct Ends {
    /// The index of each end in `built`; [`NOWHERE`] if its flow is not open.
    places: Vec<u32>,
    /// The ends of open flows, the server's first. Room for all flows is reserved, but the list
    /// grows only to the largest number of flows that were open at a time.
    built: Vec<End>,
    /// Indices of servers' ends whose flow is not open any more.
    free: Vec<u32>,
    /// Open flows that their applications have left.
    left: Vec<u32>,
    /// Once `left` has this number of flows, some of these flows are freed.
    enough: usize,
}

/// The index of an end that is not open.
const NOWHERE: u32 = u32::MAX;
/// At most 1/`SHARE` of the open flows are idle flows that applications have left.
const SHARE: usize = 8;
/// Number of flows in `left` that is always tolerated.
const FEW: usize = 64;

impl Ends {
    /// Adds flows, which are not open.
    pub(crate) fn add(&mut self, flows: u32) {
        let all = self.places.len() + 2 * flows as usize;
        self.places.resize(all, NOWHERE);
        self.built.reserve_exact(all - self.built.len());
    }

    /// Number of flows.
    pub(crate) fn flows(&self) -> u32 {
        self.places.len() as u32 / 2
    }

    /// The largest number of flows that were open at a time.
    pub(crate) fn most_open(&self) -> usize {
        self.built.len() / 2
    }

    /// Whether an end is open.
    #[inline]
    pub(crate) fn is_open(&self, id: EndId) -> bool {
        self.places[id.0 as usize] != NOWHERE
    }

    /// Opens a flow, or replaces its ends.
    #[inline]
    pub(crate) fn open(&mut self, flow: u32, mut build: impl FnMut(EndId) -> End) {
        let pair = [EndId::server(flow), EndId::client(flow)];
        if !self.is_open(pair[0]) {
            let place = self.free.pop().unwrap_or(self.built.len() as u32);
            self.set_places(flow, [place, place + 1]);
        }
        for id in pair {
            match self.get_mut(id) {
                Some(place) => *place = build(id),
                None => self.built.push(build(id)),
            }
        }
    }

    fn set_places(&mut self, flow: u32, [server, client]: [u32; 2]) {
        self.places[EndId::server(flow).0 as usize] = server;
        self.places[EndId::client(flow).0 as usize] = client;
    }

    /// An end, if its flow is open.
    #[inline]
    pub(crate) fn get(&self, id: EndId) -> Option<&End> {
        self.built.get(self.places[id.0 as usize] as usize)
    }

    /// An end, if its flow is open.
    #[inline]
    pub(crate) fn get_mut(&mut self, id: EndId) -> Option<&mut End> {
        self.built.get_mut(self.places[id.0 as usize] as usize)
    }

    /// An end of an open flow.
    ///
    /// # Panics
    /// If the flow is not open.
    #[inline]
    pub(crate) fn end_mut(&mut self, id: EndId) -> &mut End {
        &mut self.built[self.places[id.0 as usize] as usize]
    }

    /// The ends of all open flows, and of some flows that were open.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut End> {
        self.built.iter_mut()
    }

    /// Notes that an application has left an open flow.
    pub(crate) fn leave(&mut self, flow: u32) {
        if let Some(server) = self.get_mut(EndId::server(flow)) {
            server.is_left = true;
            self.left.push(flow);
        }
    }

    /// Frees flows that applications have left, once there are many of these flows. A flow is freed
    /// only if it is idle and has no packets under way. `retire` is called with the server's end of
    /// each freed flow.
    #[inline]
    pub(crate) fn free(
        &mut self,
        has_packets: impl Fn(u32) -> bool,
        retire: impl FnMut(u32, &End),
    ) {
        if self.left.len() >= self.enough.max(FEW) {
            self.sweep(has_packets, retire);
        }
    }

    #[cold]
    fn sweep(&mut self, has_packets: impl Fn(u32) -> bool, mut retire: impl FnMut(u32, &End)) {
        let mut left = std::mem::take(&mut self.left);
        left.retain(|&flow| {
            let [server, client] =
                [EndId::server(flow), EndId::client(flow)].map(|id| self.get(id));
            let (Some(server), Some(client)) = (server, client) else { return false };
            // A flow that is in use again does not count as left.
            if !server.is_left || has_packets(flow) || !is_idle(server) || !is_idle(client) {
                return server.is_left;
            }
            retire(flow, server);
            self.free.push(self.places[EndId::server(flow).0 as usize]);
            self.set_places(flow, [NOWHERE; 2]);
            false
        });
        let open = self.built.len() / 2 - self.free.len();
        self.enough = (2 * left.len()).max(open / SHARE);
        self.left = left;
    }
}

/// Whether an end does nothing until a packet arrives or its application acts.
fn is_idle(end: &End) -> bool {
    end.is_quiet() && end.poll_timeout() == Time::NEVER
}

impl Hosts {
    /// Passes a packet to the receiving end. Returns the end, and the stall that the packet ends.
    #[inline]
    pub fn deliver(&mut self, now: Time, packet: &Packet) -> (EndId, Option<Stall>) {
        let id = EndId(packet.route.reverse().0);
        let end = self.end_mut(id);
        end.handle_segment(now, packet);
        if id.is_server() {
            return (id, None);
        }
        // No timer has delayed the packets that the client sends now.
        end.set_trigger(Trigger::Arrival);
        (id, self.waits.note(now, id, packet.flags.trigger()))
    }

    /// Passes a packet to the receiving end, if this end predicts the packet. A predicted packet
    /// causes no event. If a predicted packet ends a stall, the stall is counted but not reported.
    #[inline]
    pub fn predict(&mut self, now: Time, packet: &mut Packet) -> (EndId, Predicted) {
        let id = EndId(packet.route.reverse().0);
        let trigger = packet.flags.trigger();
        let answers_for = if id.is_server() { trigger } else { Trigger::Arrival };
        let predicted = self.end_mut(id).predict(now, packet, answers_for);
        if predicted != Predicted::Nothing && !id.is_server() {
            self.waits.note(now, id, trigger);
        }
        (id, predicted)
    }

    /// Handles a deadline. Returns whether another deadline is pending.
    pub fn expire(&mut self, now: Time, id: EndId) -> bool {
        let end = self.end_mut(id);
        let due = end.poll_timeout() <= now;
        if due {
            end.handle_timeout(now);
            if end.trigger() == Trigger::DelayedAck && self.waits.is_brief(now, id) {
                self.end_mut(id).set_trigger(Trigger::Arrival);
            }
        }
        due
    }
}
