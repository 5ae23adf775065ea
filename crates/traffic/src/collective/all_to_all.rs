//! All to all: in every round each client fetches a message from every other client. The next round
//! begins when the last message has arrived, as in the shuffle of a map-reduce job.

use incast_engine::{Fault, Size};

use super::operation::{check_size, collective};
use super::{Algorithm, Collective, Message, Peak};

collective! {
    /// Rounds of messages among clients.
    pub struct Keys {
        /// The size of each message, in bytes. No default.
        message: Size,
    }
}

impl Collective for Keys {
    fn check(&self) -> Result<(), Fault> {
        check_size("message", self.message.0)
    }

    fn peak(&self, ranks: u32) -> Peak {
        Peak { most: self.message.0, least: self.message.0, fan_in: ranks - 1 }
    }

    fn algorithm(&self, ranks: u32) -> Box<dyn Algorithm> {
        Box::new(AllToAll { ranks, message: self.message.0 })
    }
}

/// Every rank sends a message to every other rank, all at once.
struct AllToAll {
    ranks: u32,
    message: u64,
}

impl Algorithm for AllToAll {
    fn steps(&self) -> u32 {
        1
    }

    fn sends(&self, _: u32) -> Vec<Message> {
        let of = |to| (0..self.ranks).filter(move |from| *from != to).map(move |from| (from, to));
        let message = |(from, to)| Message { from, to, bytes: self.message };
        (0..self.ranks).flat_map(of).map(message).collect()
    }
}
