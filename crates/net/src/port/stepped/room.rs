//! The buffer space of a port with departure events: which packets use it, and which are pushed
//! out.

use incast_engine::Time;

use super::super::Gone;
use super::Stepped;
use crate::buffer::{Buffer, Pool};
use crate::packet::{Flags, Packet};
use crate::packets::{Occupancy, Packets};
use crate::queue::{CLASSES, QueueDiscipline, Victim};

impl Stepped {
    /// Whether a packet is a trimmed header, which uses the space for headers.
    pub(super) fn is_header(&self, packet: &Packet) -> bool {
        self.trims && packet.flags.contains(Flags::TRIMMED)
    }

    /// Whether a packet of `size` bytes fits.
    #[inline]
    pub(super) fn has_room(
        &self,
        buffer: Buffer,
        size: u32,
        is_header: bool,
        pool: Option<&Pool>,
    ) -> bool {
        let space = self.accounting.space(size);
        if is_header && self.trims {
            !(self.headers + space).exceeds(buffer.headers)
        } else {
            has_room(buffer, self.held, space, pool)
        }
    }

    /// Searches for packets to push out for an arriving packet, and stores their positions. Returns
    /// whether these packets free enough space.
    pub(super) fn find_victims(
        &mut self,
        arriving: &Packet,
        buffer: Buffer,
        packets: &Packets,
        pool: Option<&Pool>,
    ) -> bool {
        let Some(search) = self.discipline.pushes_out(arriving) else { return false };
        self.victims.clear();
        let space = self.accounting.space(arriving.size());
        let (mut held, mut pool) = (self.held, pool.cloned());
        for round in 0..search.rounds {
            let mut waiting = self.classes.iter().enumerate().flat_map(|(class, queue)| {
                queue.iter().enumerate().map(move |(place, waiting)| (class, place, waiting.parcel))
            });
            while let Some((class, place, parcel)) = match search.first {
                Victim::Oldest => waiting.next(),
                Victim::Newest => waiting.next_back(),
            } {
                if !self.discipline.gives_way(&packets[parcel.packet], round)
                    || self.victims.contains(&(class, place))
                {
                    continue;
                }
                self.victims.push((class, place));
                let freed = self.accounting.space(parcel.size());
                held = held - freed;
                if let Some(pool) = &mut pool {
                    pool.give_back(freed);
                }
                if has_room(buffer, held, space, pool.as_ref()) {
                    return true;
                }
            }
        }
        false
    }

    /// Drops the packets found by [`Self::find_victims`].
    pub(super) fn push_out(&mut self, now: Time, packets: &Packets, mut pool: Option<&mut Pool>) {
        // The packets are removed in descending order of their positions, so that the remaining
        // positions stay valid.
        self.victims.sort_unstable();
        while let Some((class, place)) = self.victims.pop() {
            let victim = self.classes[class].remove(place).expect("it was found there");
            let packet = &packets[victim.parcel.packet];
            self.stop_waiting(class, &victim, now);
            let is_header = self.is_header(packet);
            self.give_back(victim.parcel.size(), is_header, pool.as_deref_mut());
            self.counters.dropped += 1;
            self.discipline.on_pushed_out(packet);
            self.late.push_back(Gone { parcel: victim.parcel, class: class.min(CLASSES - 1) });
        }
    }

    pub(super) fn take(&mut self, size: u32, is_header: bool, pool: Option<&mut Pool>) {
        let space = self.accounting.space(size);
        if is_header {
            self.headers = self.headers + space;
            return;
        }
        self.held = self.held + space;
        if let Some(pool) = pool {
            pool.take(space);
        }
    }

    pub(super) fn give_back(&mut self, size: u32, is_header: bool, pool: Option<&mut Pool>) {
        let space = self.accounting.space(size);
        if is_header {
            self.headers = self.headers - space;
            return;
        }
        self.held = self.held - space;
        if let Some(pool) = pool {
            pool.give_back(space);
        }
    }
}

/// Whether `space` more fits if the port already uses `held`.
fn has_room(buffer: Buffer, held: Occupancy, space: Occupancy, pool: Option<&Pool>) -> bool {
    !(held + space).exceeds(buffer.limit) && pool.is_none_or(|pool| pool.has_room(held, space))
}
