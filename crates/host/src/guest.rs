//! A transport that is no TCP, at one end of a flow.

use incast_engine::Time;
use incast_net::Packet;
use incast_tcp::Event;
use incast_tcp::connection::Counters;

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
