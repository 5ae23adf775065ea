//! One end of a flow: a TCP connection, or a transport of another kind.

use incast_engine::Time;
use incast_net::{Packet, Trigger};
use incast_tcp::connection::{Counters, FIRST_BYTE, Polled, Predicted};
use incast_tcp::{Connection, Event};

/// A transport that is no TCP, polled like a connection.
pub trait Guest: Send {
    /// A packet of its flow has arrived.
    fn handle_segment(&mut self, now: Time, packet: &Packet);
    /// Its deadline has come.
    fn handle_timeout(&mut self, now: Time);
    /// When it wants to be woken; [`Time::NEVER`] if it waits for packets only.
    fn poll_timeout(&self) -> Time;
    /// Writes the next packet that it wants to send, if there is one.
    fn poll_transmit(&mut self, now: Time, draft: &mut Packet) -> bool;
    /// What its application has to hear, one by one.
    fn poll_event(&mut self) -> Option<Event>;
    /// What its application asks of it.
    fn handle_call(&mut self, call: Call);
    /// Bytes that it has delivered to its application, in order.
    fn delivered(&self) -> u64;
    /// What it counted.
    fn counters(&self) -> Counters;
}

/// What an application asks of an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Open the connection, if that is this end's part.
    Open,
    /// Send so many bytes more.
    Write(u64),
    /// Nothing more is to be sent.
    Close,
    /// Ask the other end, with a packet of this size; 0 if the request rides on another packet.
    Request(u16),
    /// Report [`Event::Received`] when so many bytes have been delivered.
    NotifyAt(u64),
    /// Advertise at most this window, bytes.
    ReceiveBuffer(u64),
}

/// What stands at one end of a flow.
#[expect(clippy::large_enum_variant, reason = "guests are rare, and a connection lies in its end")]
enum Endpoint {
    Tcp(Connection),
    Guest(Box<dyn Guest>),
}

/// An end, and when it wants to be woken.
#[repr(C, align(64))]
pub struct End {
    /// When the event queue will wake it; other wake-ups are stale.
    pub armed: Time,
    /// A later wake-up that is pending as well. A pacer's deadlines come and go before that of the
    /// retransmission timer, which need not be scheduled anew after each of them.
    pub backstop: Time,
    endpoint: Endpoint,
    /// Its host keeps segments until their departure times.
    keeps: bool,
}

/// Does the same at either kind of endpoint.
macro_rules! either {
    ($end:expr, $connection:ident => $tcp:expr, $guest:ident => $other:expr) => {
        match $end {
            Endpoint::Tcp($connection) => $tcp,
            Endpoint::Guest($guest) => $other,
        }
    };
}

impl End {
    /// An end of TCP.
    pub fn new(connection: Connection) -> Self {
        Self::of(Endpoint::Tcp(connection))
    }

    /// An end of another transport.
    pub fn guest(guest: Box<dyn Guest>) -> Self {
        Self::of(Endpoint::Guest(guest))
    }

    fn of(endpoint: Endpoint) -> Self {
        Self { armed: Time::NEVER, backstop: Time::NEVER, endpoint, keeps: false }
    }

    /// The connection, if it is TCP.
    #[inline]
    pub fn connection(&self) -> Option<&Connection> {
        either!(&self.endpoint, connection => Some(connection), _guest => None)
    }

    /// The connection, if it is TCP, for an experiment to change before the run.
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

    /// Its deadline has come.
    pub fn handle_timeout(&mut self, now: Time) {
        either!(&mut self.endpoint,
            connection => connection.handle_timeout(now),
            guest => guest.handle_timeout(now));
    }

    /// When it wants to be woken.
    #[inline]
    pub fn poll_timeout(&self) -> Time {
        either!(&self.endpoint,
            connection => connection.poll_timeout(),
            guest => guest.poll_timeout())
    }

    /// Writes the next packet that it wants to send, if there is one.
    #[inline]
    pub fn poll_transmit_into(&mut self, now: Time, draft: &mut Packet) -> Polled {
        either!(&mut self.endpoint,
            connection => connection.poll_transmit_into(now, draft),
            guest => if guest.poll_transmit(now, draft) { Polled::Packet } else { Polled::Nothing })
    }

    /// When the packet leaves that was polled last.
    pub fn departs_at(&self) -> Time {
        either!(&self.endpoint, connection => connection.departs_at(), _guest => Time::NEVER)
    }

    /// Whether polling it for a packet is in vain.
    #[inline]
    pub fn is_quiet(&self) -> bool {
        either!(&self.endpoint, connection => connection.is_quiet(), _guest => false)
    }

    /// What its application has to hear, one by one.
    #[inline]
    pub fn poll_event(&mut self) -> Option<Event> {
        either!(&mut self.endpoint,
            connection => connection.poll_event(),
            guest => guest.poll_event())
    }

    /// Why it sends what it sends.
    #[inline]
    pub fn trigger(&self) -> Trigger {
        either!(&self.endpoint, connection => connection.trigger(), _guest => Trigger::Arrival)
    }

    /// What it sends from now on, it sends for this reason.
    #[inline]
    pub fn set_trigger(&mut self, trigger: Trigger) {
        if let Endpoint::Tcp(connection) = &mut self.endpoint {
            connection.set_trigger(trigger);
        }
    }

    /// Its host keeps segments until their departure times, if it is TCP.
    pub(crate) fn keep_segments(&mut self) {
        if let Endpoint::Tcp(connection) = &mut self.endpoint {
            self.keeps = true;
            connection.allow_departure_times();
        }
    }

    /// Whether its host keeps segments until their departure times.
    pub(crate) fn keeps(&self) -> bool {
        self.keeps
    }

    /// Takes back what its host keeps, at the end of the run.
    pub(crate) fn withdraw_timed(&mut self, now: Time) {
        if let Endpoint::Tcp(connection) = &mut self.endpoint
            && self.keeps
        {
            connection.withdraw_timed(now);
        }
    }

    /// Opens the connection, if that is this end's part.
    pub fn open(&mut self) {
        either!(&mut self.endpoint,
            connection => connection.open(), guest => guest.handle_call(Call::Open));
    }

    /// Sends so many bytes more.
    pub fn write(&mut self, bytes: u64) {
        either!(&mut self.endpoint,
            connection => connection.write(bytes), guest => guest.handle_call(Call::Write(bytes)));
    }

    /// Nothing more is to be sent.
    pub fn close(&mut self) {
        either!(&mut self.endpoint,
            connection => connection.close(), guest => guest.handle_call(Call::Close));
    }

    /// Asks the other end, with a packet of `size` bytes; 0 if the request rides on another one.
    pub fn request(&mut self, size: u16) {
        either!(&mut self.endpoint,
            connection => connection.request(size),
            guest => guest.handle_call(Call::Request(size)));
    }

    /// Reports [`Event::Received`] when so many bytes have been delivered.
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

    /// Bytes that it has delivered to its application, in order.
    pub fn delivered(&self) -> u64 {
        either!(&self.endpoint,
            connection => connection.received().next() - FIRST_BYTE,
            guest => guest.delivered())
    }

    /// What it counted.
    pub fn counters(&self) -> Counters {
        either!(&self.endpoint, connection => *connection.counters(), guest => guest.counters())
    }
}
