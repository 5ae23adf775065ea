//! The packets of a network, where they lie while they travel.
//!
//! A packet is written once, where its sender finds room for it, and read where it arrives; what
//! moves from link to link is its number. Copying it instead would cost more than everything else
//! that a link does.

use std::ops::{Index, IndexMut};

use crate::packet::{Packet, RouteId};

/// Where a packet lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PacketId(u32);

/// A packet on its way, and what links need to know of it without looking at it. It fits two
/// registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Parcel {
    /// The packet.
    pub packet: PacketId,
    /// Size in the lower half, hop in the upper.
    way: u64,
}

impl Parcel {
    /// A packet of `size` bytes; `hop` is where the network's table of routes names the port that
    /// it enters next.
    #[inline]
    pub const fn new(packet: PacketId, size: u32, hop: u32) -> Self {
        Self { packet, way: (hop as u64) << 32 | size as u64 }
    }

    /// Bytes of the IP packet.
    #[inline]
    pub const fn size(self) -> u32 {
        self.way as u32
    }

    /// The same with another size.
    #[inline]
    #[must_use]
    pub const fn resized(self, size: u32) -> Self {
        Self::new(self.packet, size, self.hop())
    }

    /// Where the network's table of routes names the port that it enters next.
    #[inline]
    pub const fn hop(self) -> u32 {
        (self.way >> 32) as u32
    }

    /// The same beyond that port.
    #[inline]
    #[must_use]
    pub const fn onward(self) -> Self {
        Self { way: self.way + (1 << 32), ..self }
    }
}

/// The most packets that may travel or wait at once: a gigabyte of them. Nothing bounds a host's own
/// queue, and who sends more than a link carries would fill the memory.
pub const MOST_PACKETS: usize = 1 << 23;

/// What a run is stopped with that wants more than [`MOST_PACKETS`] of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted {
    /// Of what, in the plural.
    pub what: &'static str,
}

impl Exhausted {
    /// Ends the run by unwinding, because nobody on the way could go on.
    ///
    /// # Panics
    /// Always; whoever runs catches it.
    pub fn stop(self) -> ! {
        std::panic::resume_unwind(Box::new(self))
    }
}

/// The packets that travel, and room for more.
#[derive(Debug)]
pub struct Packets {
    slots: Vec<Packet>,
    /// How many there may be.
    most: usize,
    /// Room that was given back; what was used last is used first, because it is in the cache.
    free: Vec<PacketId>,
    /// How many there are on each route, as far as one was ever used.
    on_routes: Vec<u32>,
}

impl Default for Packets {
    fn default() -> Self {
        Self { slots: Vec::new(), most: MOST_PACKETS, free: Vec::new(), on_routes: Vec::new() }
    }
}

impl Packets {
    /// Room for a packet, with whatever was there before; the same until it is [taken](Self::take).
    ///
    /// # Panics
    /// With [`Exhausted`], if there are too many.
    #[inline]
    pub fn draft(&mut self) -> &mut Packet {
        if self.free.is_empty() {
            self.grow();
        }
        let id = self.free[self.free.len() - 1];
        &mut self[id]
    }

    #[cold]
    fn grow(&mut self) {
        if self.slots.len() == self.most {
            Exhausted { what: "packets are under way or wait at their hosts" }.stop();
        }
        self.free.push(PacketId(self.slots.len() as u32));
        self.slots.push(Packet::default());
    }

    /// Takes the packet that was drafted.
    ///
    /// # Panics
    /// If there was no draft.
    #[inline]
    pub fn take(&mut self) -> PacketId {
        let id = self.free.pop().expect("a packet was drafted");
        self.join_route(self[id].route);
        id
    }

    #[inline]
    fn join_route(&mut self, route: RouteId) {
        let index = route.0 as usize;
        if index >= self.on_routes.len() {
            self.add_routes(index + 1);
        }
        self.on_routes[index] += 1;
    }

    #[cold]
    fn add_routes(&mut self, count: usize) {
        self.on_routes.resize(count, 0);
    }

    /// A packet was rewritten where it lies, and goes back the way that it came.
    #[inline]
    pub fn turn(&mut self, id: PacketId) {
        let route = self[id].route;
        self.on_routes[route.reverse().0 as usize] -= 1;
        self.join_route(route);
    }

    /// How many there are on a route.
    pub fn on_route(&self, route: RouteId) -> u32 {
        self.on_routes.get(route.0 as usize).copied().unwrap_or_default()
    }

    /// Room with this packet in it.
    pub fn insert(&mut self, packet: Packet) -> PacketId {
        *self.draft() = packet;
        self.take()
    }

    /// Gives the room back; the packet may be read until the next draft.
    #[inline]
    pub fn release(&mut self, id: PacketId) {
        let route = self[id].route.0 as usize;
        self.on_routes[route] -= 1;
        self.free.push(id);
    }

    /// Number of packets that have not been released.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Whether every packet was released.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Index<PacketId> for Packets {
    type Output = Packet;

    #[inline]
    fn index(&self, id: PacketId) -> &Packet {
        &self.slots[id.0 as usize]
    }
}

impl IndexMut<PacketId> for Packets {
    #[inline]
    fn index_mut(&mut self, id: PacketId) -> &mut Packet {
        &mut self.slots[id.0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_used_again_and_never_twice_at_a_time() {
        let mut packets = Packets::default();
        let first = packets.insert(Packet { seq: 1, ..Packet::default() });
        let second = packets.insert(Packet { seq: 2, ..Packet::default() });
        assert_eq!((packets[first].seq, packets[second].seq, packets.len()), (1, 2, 2));
        packets.release(first);
        assert_eq!(packets[first].seq, 1, "still there to be read");
        let third = packets.insert(Packet { seq: 3, ..Packet::default() });
        assert_eq!((third, packets[second].seq, packets.len()), (first, 2, 2));
        packets.release(second);
        packets.release(third);
        assert!(packets.is_empty());
    }

    #[test]
    fn packets_are_counted_by_route_also_if_they_turn_round() {
        let mut packets = Packets::default();
        let [there, back] = [true, false].map(|forward| RouteId::new(3, forward));
        let ids = [(); 2].map(|()| packets.insert(Packet { route: there, ..Packet::default() }));
        assert_eq!((packets.on_route(there), packets.on_route(back)), (2, 0));
        packets[ids[0]].route = back;
        packets.turn(ids[0]);
        assert_eq!((packets.on_route(there), packets.on_route(back)), (1, 1));
        for id in ids {
            packets.release(id);
        }
        assert_eq!((packets.on_route(there), packets.on_route(back)), (0, 0));
        assert_eq!(packets.on_route(RouteId::new(9, true)), 0, "never used");
    }

    #[test]
    fn more_than_memory_holds_ends_the_run() {
        let mut packets = Packets { most: 2, ..Packets::default() };
        let first = packets.insert(Packet::default());
        packets.insert(Packet::default());
        packets.release(first);
        packets.insert(Packet::default());
        let third = std::panic::AssertUnwindSafe(|| packets.insert(Packet::default()));
        let why = std::panic::catch_unwind(third).expect_err("a third one");
        assert!(why.is::<Exhausted>());
    }
}
