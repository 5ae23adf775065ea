//! The hosts of a vantage point: each has a place in a list, how it numbers its packets, and, if it
//! receives data, what it received.

use incast_capture::read::{Address, Packet, flags};

use crate::burst::Key;
use crate::load::Mark;
use crate::numbering::{Class, Numbering};
use crate::receiver::Receiver;
use crate::time::{Span, Time};

/// All hosts that were seen.
#[derive(Debug, Default)]
pub struct Hosts {
    pub numbering: Numbering,
    addresses: Vec<Address>,
    receivers: Vec<Option<Box<Receiver>>>,
    /// How many of them receive data.
    receiving: usize,
    /// When the first packet of the capture was seen: before data arrives, a link is idle.
    pub began: Time,
}

impl Hosts {
    /// The place of a host.
    pub fn place(&mut self, address: Address) -> usize {
        let place = self.numbering.place(address);
        if place == self.addresses.len() {
            self.addresses.push(address);
            self.receivers.push(None);
        }
        place
    }

    /// Whether a host is known to count the packets of each connection.
    pub fn counts_connections(&mut self, address: Address) -> bool {
        let place = self.place(address);
        self.numbering.host(place).class() == Class::PerConnection
    }

    /// The address of a place.
    pub fn address(&self, place: usize) -> Address {
        self.addresses[place]
    }

    /// What the host at a place received, if it received anything.
    pub fn receiver(&self, place: usize) -> Option<&Receiver> {
        self.receivers.get(place)?.as_deref()
    }

    /// How idle the link to a host was until now.
    fn mark(&self, place: usize, now: Time) -> Mark {
        let began = Mark { idle: now - self.began };
        self.receiver(place).map_or(began, |receiver| receiver.load.mark(now))
    }

    /// A packet goes from one host to another; returns how idle the links to its target and to its
    /// source were until now. `usual` is a round trip, and what is queued behind the point.
    pub fn carry(
        &mut self,
        packet: &Packet,
        (source, target): (usize, usize),
        key: Key,
        usual: (Span, Span),
    ) -> (Mark, Mark) {
        let now = Time::of(packet);
        if packet.payload > 0 {
            let receiver = self.receiving(target);
            receiver.packet((now, packet.size), key, packet.source.address, usual);
            receiver.tallies.marked += u64::from(packet.marked);
        }
        if let Some(receiver) = self.receives(target) {
            receiver.heard = now;
        }
        let marks = (self.mark(target, now), self.mark(source, now));
        if packet.has(flags::ECE) && !packet.has(flags::SYN) && packet.payload == 0 {
            self.receiving(source).tallies.echoed += 1;
        }
        marks
    }

    /// The same, to be changed.
    fn receives(&mut self, place: usize) -> Option<&mut Receiver> {
        self.receivers.get_mut(place)?.as_deref_mut()
    }

    /// The same, to be changed; from now on it receives.
    pub fn receiving(&mut self, place: usize) -> &mut Receiver {
        let receiver = &mut self.receivers[place];
        self.receiving += usize::from(receiver.is_none());
        receiver.get_or_insert_with(|| Box::new(Receiver::idle_since(self.began)))
    }

    /// All that receive, with their places.
    pub fn receivers(&self) -> impl Iterator<Item = (usize, &Receiver)> {
        let all = self.receivers.iter().enumerate();
        all.filter_map(|(place, receiver)| Some((place, receiver.as_deref()?)))
    }

    /// The receiver of most data, and its address.
    pub fn busiest(&self) -> Option<(Address, &Receiver)> {
        let (place, receiver) = self.receivers().max_by_key(|(_, one)| one.load.bytes())?;
        Some((self.address(place), receiver))
    }

    /// Forgets what hosts received that were asked once or twice, if there are more than `most`.
    pub fn forget(&mut self, most: usize) {
        if self.receiving <= most {
            return;
        }
        for receiver in &mut self.receivers {
            if receiver.as_ref().is_some_and(|one| one.tallies.messages <= 2) {
                *receiver = None;
                self.receiving -= 1;
            }
        }
    }
}
