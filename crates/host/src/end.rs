//! One end of a flow, whatever its transport.

use incast_engine::Time;
use incast_net::{Packet, Trigger};
use incast_tcp::Connection;
use incast_tcp::connection::{FIRST_BYTE, Polled, Predicted};

use crate::event::Event;
use crate::guest::{Call, Guest};
use crate::state::{Counters, State};

/// The transport at one end of a flow. The kind is stored first, in a cache line that every packet
/// needs.
#[repr(u8)]
#[expect(clippy::large_enum_variant, reason = "guests are rare; an end contains its connection")]
enum Endpoint {
    Tcp(Connection),
    Guest {
        guest: Box<dyn Guest>,
        /// Packets of an earlier incarnation of the flow are ignored.
        epoch: u8,
    },
}

/// An end of a flow, and its deadlines.
#[repr(C, align(64))]
pub struct End {
    /// The end's next deadline in the event queue. All other entries of the queue for this end are
    /// stale, except the entry for `backstop`.
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
            Endpoint::Guest { guest: $guest, .. } => $other,
        }
    };
}

impl End {
    /// Makes an end of a TCP connection.
    pub fn new(connection: Connection) -> Self {
        Self::of(Endpoint::Tcp(connection))
    }

    /// Makes an end of a flow whose transport is not TCP. Each connection of a flow has another
    /// epoch.
    pub fn guest(guest: Box<dyn Guest>, epoch: u8) -> Self {
        Self::of(Endpoint::Guest { guest, epoch })
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
        match &mut self.endpoint {
            Endpoint::Tcp(connection) => connection.handle_segment(now, packet),
            Endpoint::Guest { guest, epoch } if *epoch == packet.epoch => {
                guest.handle_segment(now, packet);
            }
            Endpoint::Guest { .. } => {}
        }
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
        match &mut self.endpoint {
            Endpoint::Tcp(connection) => connection.poll_transmit_into(now, draft),
            Endpoint::Guest { guest, epoch } => {
                *draft = Packet { epoch: *epoch, ..Packet::default() };
                if guest.poll_transmit(now, draft) { Polled::Packet } else { Polled::Nothing }
            }
        }
    }

    /// Departure time of the last polled packet.
    pub fn departs_at(&self) -> Time {
        either!(&self.endpoint, connection => connection.departs_at(), _guest => Time::NEVER)
    }

    /// Whether it is certain that the end has no packet to send.
    #[inline]
    pub fn is_quiet(&self) -> bool {
        either!(&self.endpoint, connection => connection.is_quiet(), guest => guest.is_quiet())
    }

    /// The next event for the application, if there is one.
    #[inline]
    pub fn poll_event(&mut self) -> Option<Event> {
        either!(&mut self.endpoint,
            connection => connection.poll_event().map(Event::from),
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

    /// Whether the connection is open.
    pub fn is_established(&self) -> bool {
        either!(&self.endpoint,
            connection => connection.is_established(), guest => guest.is_established())
    }

    /// Unacknowledged bytes that the application wrote. 0 if a new write has an effect even while
    /// such bytes exist.
    pub fn backlog(&self) -> u64 {
        self.connection()
            .filter(|connection| !connection.heeds_writes())
            .map_or(0, Connection::unacknowledged)
    }

    /// The counters of the end.
    pub fn counters(&self) -> Counters {
        either!(&self.endpoint,
            connection => connection.counters().into(), guest => guest.counters())
    }

    /// The state of the end as a sender, for traces.
    pub fn state(&self) -> State {
        either!(&self.endpoint, connection => connection.into(), guest => guest.state())
    }
}
