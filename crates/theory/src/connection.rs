//! Both ends of a connection, and their timers.

use crate::packet::{NEVER, Ticks};
use crate::parts::parts;
use crate::read::Read;
use crate::receiver::Receiver;
use crate::rto::Rto;
use crate::sender::{Rules, Sender};

/// Both ends of a connection.
#[derive(Clone, Debug)]
pub struct Connection {
    /// The server's end.
    pub sender: Sender,
    /// The client's end.
    pub receiver: Receiver,
    /// Its earliest valid entry among the timers. Others are stale.
    pub alarm: Ticks,
    /// When the host releases waiting data.
    pub gate: Ticks,
    /// When the segment was sent whose ACK is delayed.
    pub held: Ticks,
    /// The entry of its delayed ACK; an earlier ACK does not remove it.
    pub ack_alarm: Ticks,
    /// How long before time 0 the clock of the client's timers began.
    pub phase: Ticks,
    /// Number of SYN-ACKs sent.
    pub tries: u32,
    /// Whether the handshake is not complete.
    pub opens: bool,
}

impl Connection {
    /// A connection that is not used yet.
    pub fn new(read: &Read, rules: &Rules) -> Self {
        Self {
            sender: Sender::new(1, parts(read.initial_threshold), Rto::new(0), rules),
            receiver: Receiver::new(read.segments, read.flavour.quick)
                .counting_acks(read.flavour.counts_acks),
            alarm: NEVER,
            gate: NEVER,
            held: NEVER,
            ack_alarm: NEVER,
            phase: 0,
            tries: 0,
            opens: false,
        }
    }
}
