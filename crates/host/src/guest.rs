//! A transport of another family than TCP, at one end of a flow.

use incast_engine::Time;
use incast_net::Packet;

use crate::event::Event;
use crate::state::{Counters, State};

/// A transport of another family than TCP, polled like a connection.
pub trait Guest: Send {
    /// Handles the arrival of a packet of the flow. Packets of the flow's earlier connections are
    /// not passed to this method.
    fn handle_segment(&mut self, now: Time, packet: &Packet);
    /// Handles the passing of the deadline.
    fn handle_timeout(&mut self, now: Time);
    /// The next deadline; [`Time::NEVER`] if this end waits only for packets.
    fn poll_timeout(&self) -> Time;
    /// Writes the next packet to send into `draft`, which has the connection's epoch and no other
    /// field set. Returns whether there is such a packet.
    fn poll_transmit(&mut self, now: Time, draft: &mut Packet) -> bool;
    /// The next event for the application, if there is one.
    fn poll_event(&mut self) -> Option<Event>;
    /// Executes a call of the application.
    fn handle_call(&mut self, call: Call);
    /// Whether the connection is open. A family without handshakes is always open.
    fn is_established(&self) -> bool {
        true
    }
    /// In-order bytes that the application has received.
    fn delivered(&self) -> u64;
    /// Whether it is certain that this end has no packet to send.
    fn is_quiet(&self) -> bool;
    /// The counters of this end.
    fn counters(&self) -> Counters;
    /// The state of this end as a sender, for traces.
    fn state(&self) -> State {
        State::default()
    }
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
    /// Send a request of this size; with 0, another packet carries the request.
    Request(u16),
    /// Report [`Event::Received`] when this many bytes have been delivered.
    NotifyAt(u64),
    /// Advertise at most this window, bytes.
    ReceiveBuffer(u64),
}
