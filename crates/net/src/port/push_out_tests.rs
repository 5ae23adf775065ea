//! Packets that are pushed out of a full buffer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use serde_json::json;

use super::stepped::{Switch, config, numbered, queue};
use super::*;
use crate::buffer::PoolConfig;
use crate::queue::{QueueDiscipline, QueueView, Search, Verdict, Victim};

fn push_out(limit: Limit, victim: &str) -> PortConfig {
    config(limit, queue(json!({ "name": "push-out", "victim": victim })))
}

/// Packet number `seq` of `size` bytes.
fn sized(seq: u64, size: u16, label: u16) -> Packet {
    Packet { payload: size - 40, ..numbered(seq, label) }
}

fn dropped(switch: &Switch) -> Vec<u64> {
    switch.dropped[0].iter().map(|(_, seq)| *seq).collect()
}

#[test]
fn the_oldest_or_the_newest_without_a_label_goes() {
    for (victim, gone, left) in
        [("oldest", [2, 4], [0, 1, 3, 5, 6]), ("newest", [4, 2], [0, 1, 3, 5, 6])]
    {
        let mut switch = Switch::new(&[push_out(Limit::Packets(4), victim)], None);
        // Packet 0 is being sent; packets 1 and 3 have labels; packets 2 and 4 have none.
        for seq in 0..=4 {
            switch.offer(Time::ZERO, 0, numbered(seq, (seq % 2) as u16));
        }
        for (seq, gone) in (5..).zip(gone) {
            let view = switch.offer(at(6), 0, numbered(seq, 1));
            assert_eq!((view.packets, view.bytes), (4, 6000));
            assert_eq!(dropped(&switch).last(), Some(&gone), "{victim}");
        }
        // All waiting packets now have labels, so packet 7 cannot push a packet out. Packet 8 has
        // no label, so it never pushes a packet out.
        switch.offer(at(6), 0, numbered(7, 1));
        switch.offer(at(6), 0, numbered(8, 0));
        assert_eq!(dropped(&switch)[2..], [7, 8]);
        switch.finish();
        assert_eq!(switch.seqs(0), left);
        let counters = switch.ports[0].counters();
        assert_eq!((counters.offered, counters.dropped, counters.delivered), (9, 4, 5));
        assert_eq!(counters.max_packets, 4);
        assert_eq!(counters.sending, Span::from_micros(60), "nobody sends what was pushed out");
        // All packets have 1500 bytes. Packets 2 and 4 wait for 6 us each, packets 1 and 3 for 12
        // and 24 us, and packets 5 and 6 for 30 and 42 us.
        let waited = Span::from_micros(6 + 6 + 12 + 24 + 30 + 42);
        assert_eq!(counters.byte_time, 1500 * u128::from(waited.as_picos()));
    }
}

#[test]
fn as_many_go_as_it_takes_or_none() {
    let mut switch = Switch::new(&[push_out(Limit::Bytes(3000), "oldest")], None);
    switch.offer(Time::ZERO, 0, numbered(0, 0));
    for (seq, size) in [(1, 400), (2, 400), (3, 1400), (4, 400)] {
        switch.offer(Time::ZERO, 0, sized(seq, size, 0));
    }
    // 400 bytes are free. To push out two packets of 400 bytes is not enough for 1300 bytes, so
    // three packets are pushed out.
    switch.offer(Time::ZERO, 0, sized(5, 1300, 1));
    assert_eq!(switch.dropped[0].len(), 3);
    // 1700 bytes wait, of which 400 bytes belong to a packet without a label. A packet of 1800
    // bytes does not fit even if this packet is pushed out, but a packet of 1700 bytes does.
    switch.offer(Time::ZERO, 0, sized(6, 1800, 1));
    assert_eq!(switch.dropped[0].last(), Some(&(Time::ZERO, 6)));
    switch.offer(Time::ZERO, 0, sized(7, 1700, 1));
    assert_eq!(switch.dropped[0].last(), Some(&(Time::ZERO, 4)));
    switch.finish();
    assert_eq!(switch.seqs(0), [0, 5, 7]);
}

#[test]
fn a_shared_buffer_gets_back_what_is_pushed_out() {
    let port = PortConfig { pool: Some(PoolId(0)), ..push_out(Limit::Packets(6), "oldest") };
    let pool = PoolConfig { total: Limit::Packets(8), alpha: None };
    let mut switch = Switch::new(&[port.clone(), port], Some(pool));
    for seq in 0..9 {
        switch.offer(Time::ZERO, 0, numbered(seq, 0));
        switch.offer(Time::ZERO, 1, numbered(seq, 1));
    }
    // Each port has a packet in service. A packet of one port does not push out packets of the
    // other port.
    let waiting = [0, 1].map(|port: usize| switch.ports[port].view().packets);
    assert_eq!(waiting, [4, 4]);
    assert_eq!(switch.commons.pools[0].used().packets, 8);
    switch.offer(Time::ZERO, 0, numbered(9, 1));
    assert_eq!(switch.ports[0].view().packets, 4);
    assert_eq!(switch.dropped[0].last(), Some(&(Time::ZERO, 1)));
    assert_eq!(switch.commons.pools[0].used().packets, 8);
    switch.finish();
}

/// Pushes out packets without a label, and counts the packets that it examines.
struct Counting(Arc<AtomicUsize>);

impl QueueDiscipline for Counting {
    fn offer(&mut self, _: &Packet, _: &QueueView, _: &mut Stream) -> Verdict {
        Verdict::Admit
    }

    fn pushes_out(&self, packet: &Packet) -> Option<Search> {
        (packet.label > 0).then_some(Search { first: Victim::Oldest, rounds: 1 })
    }

    fn gives_way(&self, packet: &Packet, _: u8) -> bool {
        self.0.fetch_add(1, Relaxed);
        packet.label == 0
    }
}

/// "This results into an O(n) time complexity": the search visits every waiting packet with a
/// label.
#[test]
fn the_search_is_linear_and_only_where_there_is_no_room() {
    for limit in [10, 100, 1000] {
        let looks = Arc::new(AtomicUsize::new(0));
        let mut switch = Switch::new(&[push_out(Limit::Packets(limit), "oldest")], None);
        switch.ports[0].set_discipline(Box::new(Counting(Arc::clone(&looks))));
        for seq in 0..=limit {
            switch.offer(Time::ZERO, 0, numbered(seq, 0));
        }
        switch.offer(Time::ZERO, 0, numbered(0, 0));
        assert_eq!(looks.swap(0, Relaxed), 0, "room for all but one, which pushes nothing out");
        for ahead in 0..limit as usize {
            switch.offer(Time::ZERO, 0, numbered(0, 1));
            assert_eq!(looks.swap(0, Relaxed), 1, "{ahead} have gone, and one is the oldest");
        }
        switch.offer(Time::ZERO, 0, numbered(0, 1));
        assert_eq!(looks.swap(0, Relaxed), limit as usize, "all have labels");
    }
}

/// Pushes out packets with label r in round r, and counts the notifications.
struct Rounds(Arc<AtomicUsize>);

impl QueueDiscipline for Rounds {
    fn offer(&mut self, _: &Packet, _: &QueueView, _: &mut Stream) -> Verdict {
        Verdict::Admit
    }

    fn pushes_out(&self, packet: &Packet) -> Option<Search> {
        Some(Search { first: Victim::Oldest, rounds: packet.label as u8 })
    }

    fn gives_way(&self, packet: &Packet, round: u8) -> bool {
        packet.label == u16::from(round)
    }

    fn on_pushed_out(&mut self, packet: &Packet) {
        self.0.fetch_add(1 << (8 * packet.seq), Relaxed);
    }
}

#[test]
fn a_later_round_takes_what_the_one_before_has_left() {
    for (rounds, gone) in [(1, vec![]), (2, vec![]), (3, vec![3, 2, 1])] {
        let told = Arc::new(AtomicUsize::new(0));
        let mut switch = Switch::new(&[push_out(Limit::Bytes(1500), "oldest")], None);
        switch.ports[0].set_discipline(Box::new(Rounds(Arc::clone(&told))));
        switch.offer(Time::ZERO, 0, numbered(0, 0));
        for (seq, label) in [(1, 2), (2, 1), (3, 0)] {
            switch.offer(Time::ZERO, 0, sized(seq, 500, label));
        }
        // The packet fits only if all three waiting packets are pushed out.
        switch.offer(Time::ZERO, 0, sized(4, 1500, rounds));
        let was_told = (1..4).filter(|seq| told.load(Relaxed) >> (8 * seq) & 0xff == 1);
        assert_eq!(was_told.count(), gone.len());
        let mut dropped = dropped(&switch);
        dropped.sort_unstable_by(|a, b| b.cmp(a));
        assert_eq!(dropped, if gone.is_empty() { vec![4] } else { gone });
        switch.finish();
    }
}

proptest! {
    /// Compares the port with a simple list of packets, with all arrivals at the same time. Both
    /// drop the same packets, and deliver the others in the same order.
    #[test]
    fn the_port_does_what_a_list_does(
        arrivals in prop::collection::vec((40_u16..=1500, 0_u16..3), 1..80),
        limit in prop_oneof![
            (1_u64..12).prop_map(Limit::Packets),
            (1500_u64..9000).prop_map(Limit::Bytes),
        ],
        counts_in_service in any::<bool>(),
        newest in any::<bool>(),
    ) {
        let victim = if newest { "newest" } else { "oldest" };
        let mut port = push_out(limit, victim);
        port.buffer = Some(Buffer::new(limit, counts_in_service));
        let mut switch = Switch::new(&[port], None);
        let (mut list, mut gone): (Vec<Packet>, Vec<u64>) = (Vec::new(), Vec::new());
        for (&(size, label), seq) in arrivals.iter().zip(0..) {
            let packet = sized(seq, size, label);
            switch.offer(Time::ZERO, 0, packet);
            // The first packet of the list is the packet in service.
            let fits = |list: &[Packet]| {
                let held = if counts_in_service { list } else { list.get(1..).unwrap_or(&[]) };
                match limit {
                    Limit::Packets(limit) => (held.len() as u64) < limit,
                    Limit::Bytes(limit) => {
                        let bytes: u32 = held.iter().map(Packet::size).sum();
                        u64::from(bytes + packet.size()) <= limit
                    }
                }
            };
            let (mut rest, mut out) = (list.clone(), Vec::new());
            while !(fits(&rest) || rest.is_empty() && !counts_in_service) {
                let may_go = |packet: &Packet| packet.label & 1 == 0;
                let waiting = &rest[1.min(rest.len())..];
                let place = if newest {
                    waiting.iter().rposition(may_go)
                } else {
                    waiting.iter().position(may_go)
                };
                match place {
                    Some(place) if label & 1 > 0 => out.push(rest.remove(place + 1).seq),
                    _ => break,
                }
            }
            if rest.is_empty() && !counts_in_service || fits(&rest) {
                rest.push(packet);
                list = rest;
                gone.extend(out);
            } else {
                gone.push(seq);
            }
        }
        let mut dropped = dropped(&switch);
        dropped.sort_unstable();
        gone.sort_unstable();
        prop_assert_eq!(dropped, gone);
        switch.finish();
        let left: Vec<u64> = list.iter().map(|packet| packet.seq).collect();
        prop_assert_eq!(switch.seqs(0), left);
    }
}
