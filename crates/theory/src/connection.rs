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
    /// The connection's earliest valid entry among the timers. The connection's other entries are
    /// stale.
    pub alarm: Ticks,
    /// When the host releases waiting data.
    pub gate: Ticks,
    /// The sending time of the segment whose ACK is delayed.
    pub held: Ticks,
    /// The entry of the connection's delayed ACK. An earlier ACK does not remove this entry.
    pub ack_alarm: Ticks,
    /// Time from the start of the clock of the client's timers to time 0.
    pub phase: Ticks,
    /// Number of SYN-ACKs sent.
    pub tries: u32,
    /// Whether the handshake is not complete.
    pub opens: bool,
}

impl Connection {
    /// A connection before its first use.
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
