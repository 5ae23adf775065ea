//! The packets of a network: their storage, and amounts of them.
//!
//! The sender writes a packet into a slot of the storage, and the receiver reads it there. Links
//! pass on only the index of the slot, because copying the packet would take longer than everything
//! else that a link does.

use std::ops::{Add, Index, IndexMut, Sub};

use incast_engine::Limit;

use crate::packet::{Packet, RouteId};

/// Index of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PacketId(u32);

impl PacketId {
    /// The number of the packet's slot. The slot is reused after the packet has been released.
    pub const fn place(self) -> usize {
        self.0 as usize
    }
}

/// The index of a packet in the network, with the data that links need. A parcel fits into two
/// registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Parcel {
    /// The packet.
    pub packet: PacketId,
    /// The size in the lower 32 bits, and the hop in the upper 32 bits.
    way: u64,
}

impl Parcel {
    /// A packet of `size` bytes. `hop` is the index of its next port in the network's table of
    /// routes.
    #[inline]
    pub const fn new(packet: PacketId, size: u32, hop: u32) -> Self {
        Self { packet, way: (hop as u64) << 32 | size as u64 }
    }

    /// Bytes of the IP packet.
    #[inline]
    pub const fn size(self) -> u32 {
        self.way as u32
    }

    /// The same packet with another size.
    #[inline]
    #[must_use]
    pub const fn resized(self, size: u32) -> Self {
        Self::new(self.packet, size, self.hop())
    }

    /// Index of the packet's next port in the network's table of routes.
    #[inline]
    pub const fn hop(self) -> u32 {
        (self.way >> 32) as u32
    }

    /// The same packet, with the hop after its next port.
    #[inline]
    #[must_use]
    pub const fn onward(self) -> Self {
        Self { way: self.way + (1 << 32), ..self }
    }
}

/// The length of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occupancy {
    /// In packets.
    pub packets: u64,
    /// In bytes.
    pub bytes: u64,
}

impl Occupancy {
    /// Whether the length is more than `limit`, in the limit's unit.
    #[inline]
    pub fn exceeds(&self, limit: Limit) -> bool {
        match limit {
            Limit::Packets(limit) => self.packets > limit,
            Limit::Bytes(limit) => self.bytes > limit,
        }
    }

    /// Whether the length is `limit` or more, in the limit's unit.
    #[inline]
    pub fn reaches(&self, limit: Limit) -> bool {
        match limit {
            Limit::Packets(limit) => self.packets >= limit,
            Limit::Bytes(limit) => self.bytes >= limit,
        }
    }
}

impl Add for Occupancy {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { packets: self.packets + other.packets, bytes: self.bytes + other.bytes }
    }
}

impl Sub for Occupancy {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self { packets: self.packets - other.packets, bytes: self.bytes - other.bytes }
    }
}

/// The packets in a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Waiting packets, without the packet being sent.
    pub packets: u32,
    /// Waiting bytes (IP packets, without layer 2).
    pub bytes: u64,
    /// Size of the packet being sent; 0 if the link is idle.
    pub in_service_bytes: u32,
}

impl Load {
    /// Whether the port is empty: no packet is being sent, and no packet waits.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.in_service_bytes == 0 && self.packets == 0
    }

    /// Occupancy of the port: the waiting packets and, if `counts_in_service`, the packet being
    /// sent.
    #[inline]
    pub fn occupancy(&self, counts_in_service: bool) -> Occupancy {
        let in_service = if counts_in_service { self.in_service_bytes } else { 0 };
        Occupancy {
            packets: u64::from(self.packets) + u64::from(in_service > 0),
            bytes: self.bytes + u64::from(in_service),
        }
    }

    /// Whether `size` more bytes fit into a buffer with this limit. If the link is idle, the packet
    /// is sent at once. It then needs buffer space only if `counts_in_service`.
    #[inline]
    pub fn has_room(&self, limit: Limit, counts_in_service: bool, size: u32) -> bool {
        if self.is_idle() && !counts_in_service {
            return true;
        }
        !self.occupancy_behind(size, counts_in_service).exceeds(limit)
    }

    /// Occupancy of the port after the admission of a packet of `size` bytes. If the link is idle,
    /// the packet is sent at once.
    #[inline]
    pub fn occupancy_with(&self, size: u32, counts_in_service: bool) -> Occupancy {
        if self.is_idle() && !counts_in_service {
            return self.occupancy(counts_in_service);
        }
        self.occupancy_behind(size, counts_in_service)
    }

    /// Occupancy of the port with one more packet in the buffer.
    #[inline]
    fn occupancy_behind(&self, size: u32, counts_in_service: bool) -> Occupancy {
        let one_more = Occupancy { packets: 1, bytes: u64::from(size) };
        self.occupancy(counts_in_service) + one_more
    }
}

/// Maximum number of stored packets. This number of packets needs about a gigabyte. A host's own
/// queue has no limit, so without this maximum a sender that exceeds its link's rate would fill the
/// memory.
pub const MOST_PACKETS: usize = 1 << 23;

/// The error of a run that needs more than [`MOST_PACKETS`] items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted {
    /// The kind of item, in the plural.
    pub what: &'static str,
}

impl Exhausted {
    /// Ends the run with a panic.
    ///
    /// # Panics
    /// Always panics. The caller of the run catches the panic.
    pub fn stop(self) -> ! {
        std::panic::resume_unwind(Box::new(self))
    }
}

/// The stored packets, and the free slots.
#[derive(Debug)]
pub struct Packets {
    slots: Vec<Packet>,
    /// Maximum number of packets.
    most: usize,
    /// Free slots. The slot that was released last is used first, because it is cached.
    free: Vec<PacketId>,
    /// Number of packets per route, up to the highest route used so far.
    on_routes: Vec<u32>,
    /// The route of the packet in each slot, side by side for [`Self::of_route`]. [`NOWHERE`] for a
    /// free slot, and for a packet that is set aside.
    routes: Vec<RouteId>,
}

/// The route of a packet that is not in the network.
const NOWHERE: RouteId = RouteId(u32::MAX);

/// Number of slots that [`Packets::of_route`] compares without a branch.
const SLOTS_AT_ONCE: usize = 32;

impl Default for Packets {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            most: MOST_PACKETS,
            free: Vec::new(),
            on_routes: Vec::new(),
            routes: Vec::new(),
        }
    }
}

impl Packets {
    /// A slot for a packet, with undefined content. Returns the same slot until it is
    /// [taken](Self::take).
    ///
    /// # Panics
    /// Panics with [`Exhausted`] if there are too many packets.
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
        self.routes.push(NOWHERE);
    }

    /// Stores the draft as a packet.
    ///
    /// # Panics
    /// Panics if there is no draft.
    #[expect(clippy::inline_always, reason = "it is short, and every packet needs it")]
    #[inline(always)]
    pub fn take(&mut self) -> PacketId {
        let id = self.free.pop().expect("a packet was drafted");
        self.join_route(id);
        id
    }

    #[inline]
    fn join_route(&mut self, id: PacketId) {
        let route = self[id].route;
        self.routes[id.place()] = route;
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

    /// Notes that a packet was overwritten in its slot by its answer, which uses the reverse route.
    #[inline]
    pub fn turn(&mut self, id: PacketId) {
        let route = self[id].route;
        self.on_routes[route.reverse().0 as usize] -= 1;
        self.join_route(id);
    }

    /// Number of packets on a route, including those set aside.
    pub fn on_route(&self, route: RouteId) -> u32 {
        self.on_routes.get(route.0 as usize).copied().unwrap_or_default()
    }

    /// The packets of a route that are in the network, in no particular order. The search reads 4
    /// bytes per slot, and the number of slots is the largest number of packets so far. It ends
    /// early if all packets of the route are found.
    pub(crate) fn of_route(&self, route: RouteId) -> impl Iterator<Item = &Packet> {
        let held = self.on_route(route) as usize;
        let (chunks, rest) = self.routes.as_chunks::<SLOTS_AT_ONCE>();
        let chunks = if held > 0 { chunks } else { &[] };
        let has_route = move |slots: &[RouteId; SLOTS_AT_ONCE]| {
            slots.iter().fold(0, |any, it| any | u32::from(it.0 == route.0)) > 0
        };
        let found = (0..).step_by(SLOTS_AT_ONCE).zip(chunks).filter(move |it| has_route(it.1));
        let rest = (chunks.len() * SLOTS_AT_ONCE, rest);
        found
            .map(|(place, slots)| (place, slots.as_slice()))
            .chain((held > 0).then_some(rest))
            .flat_map(|(place, slots)| (place..).zip(slots))
            .filter(move |(_, it)| **it == route)
            .take(held)
            .map(|(place, _): (usize, _)| &self.slots[place])
    }

    /// Notes that a packet has not entered the network yet: its host keeps it.
    pub fn set_aside(&mut self, id: PacketId) {
        self.routes[id.place()] = NOWHERE;
    }

    /// Notes that a packet that was set aside enters the network.
    pub fn bring_back(&mut self, id: PacketId) {
        self.routes[id.place()] = self[id].route;
    }

    /// Stores a packet.
    pub fn insert(&mut self, packet: Packet) -> PacketId {
        *self.draft() = packet;
        self.take()
    }

    /// Frees the slot of a packet. The packet's content stays readable until the next draft.
    #[inline]
    pub fn release(&mut self, id: PacketId) {
        let route = self[id].route;
        self.on_routes[route.0 as usize] -= 1;
        self.routes[id.place()] = NOWHERE;
        self.free.push(id);
    }

    /// Number of stored packets.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Whether no packet is stored.
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
    fn packets_are_found_by_route_also_if_they_turn_round() {
        let mut packets = Packets::default();
        let [there, back] = [true, false].map(|forward| RouteId::new(3, forward));
        let count = |packets: &Packets, route| packets.of_route(route).count();
        let insert =
            |packets: &mut Packets, route| packets.insert(Packet { route, ..Packet::default() });
        // More than are compared at once.
        let others: Vec<PacketId> =
            (10..80).map(|flow| insert(&mut packets, RouteId::new(flow, true))).collect();
        let ids = [(); 2].map(|()| insert(&mut packets, there));
        assert_eq!((count(&packets, there), count(&packets, back)), (2, 0));
        packets[ids[0]].route = back;
        packets.turn(ids[0]);
        assert_eq!((count(&packets, there), count(&packets, back)), (1, 1));
        packets.set_aside(ids[1]);
        assert_eq!((count(&packets, there), packets.on_route(there)), (0, 1));
        packets.bring_back(ids[1]);
        assert_eq!(count(&packets, there), 1);
        for id in others.into_iter().chain(ids) {
            packets.release(id);
        }
        assert_eq!((count(&packets, there), count(&packets, back)), (0, 0));
        assert_eq!((packets.on_route(there), packets.on_route(RouteId::new(9, true))), (0, 0));
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
