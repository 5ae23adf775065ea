//! The hosts of a vantage point. Each host has an index in a list and the numbering of its packets.
//! A host that receives data also has a record of these data.

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
    /// Number of hosts that receive data.
    receiving: usize,
    /// Time of the first packet of the capture. A link counts as idle from this time until data
    /// arrive.
    pub began: Time,
}

impl Hosts {
    /// The index of a host.
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

    /// The address of the host at an index.
    pub fn address(&self, place: usize) -> Address {
        self.addresses[place]
    }

    /// The data that the host at an index received, if any.
    pub fn receiver(&self, place: usize) -> Option<&Receiver> {
        self.receivers.get(place)?.as_deref()
    }

    /// The idle time of the link to a host until now.
    pub fn mark(&self, place: usize, now: Time) -> Mark {
        let began = Mark { idle: now - self.began };
        self.receiver(place).map_or(began, |receiver| receiver.load.mark(now))
    }

    /// Takes a packet from one host to another. `usual` holds a usual round trip and the usual wait
    /// in a queue behind the point.
    pub fn carry(
        &mut self,
        packet: &Packet,
        (source, target): (usize, usize),
        key: Key,
        usual: (Span, Span),
    ) {
        let now = Time::of(packet);
        if packet.payload > 0 {
            let receiver = self.receiving(target);
            receiver.packet((now, packet.size), key, packet.source.address, usual);
            receiver.tallies.marked += u64::from(packet.marked);
        }
        if let Some(receiver) = self.receives(target) {
            receiver.heard = now;
        }
        if packet.has(flags::ECE) && !packet.has(flags::SYN) && packet.payload == 0 {
            self.receiving(source).tallies.echoed += 1;
        }
    }

    /// The data that the host at an index received, mutably.
    fn receives(&mut self, place: usize) -> Option<&mut Receiver> {
        self.receivers.get_mut(place)?.as_deref_mut()
    }

    /// The receiving host at an index, mutably. The host becomes a receiver if it is not one yet.
    pub fn receiving(&mut self, place: usize) -> &mut Receiver {
        let receiver = &mut self.receivers[place];
        self.receiving += usize::from(receiver.is_none());
        receiver.get_or_insert_with(|| Box::new(Receiver::idle_since(self.began)))
    }

    /// All receiving hosts, with their indices.
    pub fn receivers(&self) -> impl Iterator<Item = (usize, &Receiver)> {
        let all = self.receivers.iter().enumerate();
        all.filter_map(|(place, receiver)| Some((place, receiver.as_deref()?)))
    }

    /// The host that receives most data, and its address.
    pub fn busiest(&self) -> Option<(Address, &Receiver)> {
        let (place, receiver) = self.receivers().max_by_key(|(_, one)| one.load.bytes())?;
        Some((self.address(place), receiver))
    }

    /// If more than `most` hosts receive data, forgets the data of hosts that received at most two
    /// messages.
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

#[cfg(test)]
mod tests {
    use incast_capture::read::Endpoint;

    use super::*;
    use crate::time::tests::{MS, at};

    fn address(host: u8) -> Address {
        Address::v4([10, 0, 0, host])
    }

    /// Two hosts, with the indices 0 and 1, of a capture that begins at 0.
    fn hosts() -> Hosts {
        let mut hosts = Hosts::default();
        assert_eq!([1, 2, 1].map(|host| hosts.place(address(host))), [0, 1, 0]);
        hosts
    }

    fn packet(time: Span, payload: u32, flags: u8) -> Packet {
        let source = Endpoint { address: address(1), port: 80 };
        let (time, size) = (time.as_nanos(), payload + 40);
        Packet { time, source, payload, size, flags, ..Packet::default() }
    }

    /// Takes a packet from host 0 to host 1, and returns the idle times of the target's link and of
    /// the source's link.
    fn carry(hosts: &mut Hosts, packet: &Packet) -> (Span, Span) {
        hosts.carry(packet, (0, 1), (1, 0), (MS, Span::ZERO));
        let now = Time::of(packet);
        (hosts.mark(1, now).idle, hosts.mark(0, now).idle)
    }

    #[test]
    fn a_link_without_data_is_idle_since_the_capture_began() {
        let mut hosts = hosts();
        hosts.began = at(0) + MS;
        assert_eq!(carry(&mut hosts, &packet(5 * MS, 0, flags::ACK)), (4 * MS, 4 * MS));
        assert!(hosts.receiver(1).is_none() && hosts.busiest().is_none());
        assert_eq!(carry(&mut hosts, &packet(7 * MS, 1460, flags::ACK)), (6 * MS, 6 * MS));
        assert!(hosts.receiver(0).is_none());
        assert_eq!(carry(&mut hosts, &packet(7 * MS, 1460, flags::ACK)), (6 * MS, 6 * MS));
        assert_eq!(carry(&mut hosts, &packet(9 * MS, 0, flags::ACK)), (6 * MS, 8 * MS));
        assert_eq!(
            hosts.receiver(1).map(|one| (one.load.bytes(), one.heard)),
            Some((3000, at(0) + 9 * MS))
        );
        assert!(hosts.receiver(2).is_none(), "there is no such host");
    }

    #[test]
    fn marks_count_for_who_receives_data_and_echoes_for_who_sends_it() {
        let mut hosts = hosts();
        let marked = |payload| Packet { marked: true, ..packet(MS, payload, flags::ACK) };
        carry(&mut hosts, &marked(0));
        carry(&mut hosts, &marked(100));
        carry(&mut hosts, &packet(MS, 100, flags::ACK));
        carry(&mut hosts, &packet(MS, 100, flags::ACK | flags::ECE));
        carry(&mut hosts, &packet(MS, 0, flags::SYN | flags::ECE));
        assert_eq!(
            hosts.receiver(1).map(|one| (one.tallies.marked, one.tallies.echoed)),
            Some((1, 0))
        );
        assert!(hosts.receiver(0).is_none());
        carry(&mut hosts, &packet(MS, 0, flags::ACK | flags::ECE));
        assert_eq!(
            hosts.receiver(0).map(|one| (one.tallies.marked, one.tallies.echoed)),
            Some((0, 1))
        );
    }

    #[test]
    fn the_busiest_host_gets_most_bytes() {
        let mut hosts = hosts();
        carry(&mut hosts, &packet(MS, 1000, flags::ACK));
        hosts.carry(&packet(MS, 1001, flags::ACK), (1, 0), (1, 1), (MS, Span::ZERO));
        assert_eq!(
            hosts.busiest().map(|(who, one)| (who, one.load.bytes())),
            Some((address(1), 1041))
        );
        let places: Vec<_> = hosts.receivers().map(|(place, _)| place).collect();
        assert_eq!(places, [0, 1]);
        assert_eq!((hosts.address(0), hosts.address(1)), (address(1), address(2)));
    }

    #[test]
    fn hosts_of_one_or_two_messages_are_forgotten_if_there_are_too_many() {
        let mut hosts = hosts();
        for (place, messages) in [(0, 3), (1, 2)] {
            hosts.receiving(place).tallies.messages = messages;
        }
        hosts.receiving(0);
        hosts.forget(2);
        assert_eq!(hosts.receivers().count(), 2);
        hosts.forget(1);
        assert_eq!(hosts.receivers().map(|(place, _)| place).collect::<Vec<_>>(), [0]);
        hosts.receiving(1);
        hosts.forget(1);
        assert_eq!(hosts.receivers().count(), 1, "it has begun anew, and is forgotten again");
        hosts.receiving(1).tallies.messages = 9;
        hosts.forget(0);
        assert_eq!(hosts.receivers().count(), 2, "both have more");
    }
}
