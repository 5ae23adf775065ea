//! Network cards: which of a host's ends sends the next packet. Each card has a file, and a line in
//! the list below.
//!
//! A host without a card passes all packets to its port immediately, and they wait there in the
//! order in which they were sent. A card asks an end for one packet when the line is free. Packets
//! that may not be sent yet therefore wait in their ends, where they do not delay packets of other
//! ends.

use incast_engine::{Rate, Time};
use incast_net::Packet;

use crate::ids::EndId;

mod round_robin;

/// The network card of a host.
pub trait Nic: Send {
    /// Notes that an end may have a packet to send.
    fn wants(&mut self, end: EndId);
    /// The end that sends the next packet, now that the line is free; `None` if no end may send now.
    /// The classes in `stopped`, one bit each, are stopped by flow control.
    fn next(&mut self, now: Time, stopped: u8) -> Option<EndId>;
    /// Looks at a packet that arrives at the host, before its end handles the packet.
    fn handle(&mut self, now: Time, packet: &Packet) {
        let _ = (now, packet);
    }
    /// The time at which [`Nic::next`] may return an end although nothing else has happened.
    fn poll_timeout(&self) -> Time {
        Time::NEVER
    }
}

/// The properties of a host that a card may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NicSite {
    /// The rate of the host's line.
    pub rate: Rate,
}

incast_engine::parts! {
    /// One of the list, with its parameters.
    NicConfig of Nic at NicSite:
    "round-robin" => RoundRobin(round_robin): "The ends send one packet each in turn.";
}

#[cfg(test)]
mod law_tests;
