//! A transport other than TCP, at one end of a flow.

use incast_engine::Time;
use incast_net::Packet;
use incast_tcp::Event;
use incast_tcp::connection::Counters;

/// A transport other than TCP, polled like a connection.
pub trait Guest: Send {
    /// A packet of its flow has arrived.
    fn handle_segment(&mut self, now: Time, packet: &Packet);
    /// Its deadline has passed.
    fn handle_timeout(&mut self, now: Time);
    /// Its next deadline; [`Time::NEVER`] if it waits only for packets.
    fn poll_timeout(&self) -> Time;
    /// Writes the next packet to send into `draft`. Returns whether there is one.
    fn poll_transmit(&mut self, now: Time, draft: &mut Packet) -> bool;
    /// The next event for its application, if any.
    fn poll_event(&mut self) -> Option<Event>;
    /// Executes a call of its application.
    fn handle_call(&mut self, call: Call);
    /// Bytes delivered in order to its application.
    fn delivered(&self) -> u64;
    /// Its counters.
    fn counters(&self) -> Counters;
}

/// A call of an application to an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Open the connection, if this end opens connections.
    Open,
    /// Append this many bytes to the stream.
    Write(u64),
    /// No more data will be written.
    Close,
    /// Send a request of this size; with 0 another packet carries it.
    Request(u16),
    /// Report [`Event::Received`] when this many bytes have been delivered.
    NotifyAt(u64),
    /// Advertise at most this window, bytes.
    ReceiveBuffer(u64),
}
