//! Ports whose discipline trims packets that do not fit.

use super::stepped::{Switch, config};
use super::*;
use crate::buffer::PoolConfig;
use crate::packet::Flags;
use crate::queue::{Refusal, Verdict};

/// Trims packets that do not fit, or that arrive while the queue is longer than `threshold` bytes.
/// Trimmed headers have priority.
struct Trimming {
    threshold: u64,
}

impl QueueDiscipline for Trimming {
    fn offer(&mut self, packet: &Packet, view: &QueueView, _: &mut Stream) -> Verdict {
        if view.bytes + u64::from(packet.size()) > self.threshold {
            Verdict::Trim
        } else {
            Verdict::Admit
        }
    }

    fn refused(&mut self, _: &Packet, _: &QueueView) -> Refusal {
        Refusal::Trim
    }

    fn classes(&self) -> usize {
        2
    }

    fn class(&self, packet: &Packet) -> usize {
        usize::from(!packet.flags.contains(Flags::TRIMMED))
    }
}

/// Runs a port with 8 KB of buffer that trims packets if the queue is longer than `threshold`. 60
/// packets arrive, four at a time, at twice the port's rate.
fn run(threshold: u64, departure_events: bool, counts_in_service: bool) -> Switch {
    let port = PortConfig {
        departure_events,
        buffer: Some(Buffer { limit: Limit::Bytes(8000), counts_in_service }),
        ..config(Limit::Bytes(8000), QueueConfig::default())
    };
    let mut switch = Switch::new(&[port], None);
    switch.ports[0].set_discipline(Box::new(Trimming { threshold }));
    for seq in 0..60 {
        let packet = Packet { seq, payload: 1460, header: 40, ..Packet::default() };
        switch.offer(at(seq / 4 * 24), 0, packet);
    }
    switch.finish();
    switch
}

#[test]
fn every_packet_arrives_and_what_was_cut_off_is_known() {
    // Packets are trimmed beyond the threshold, or because the buffer is full.
    for threshold in [6000, u64::MAX] {
        for (events, in_service) in [(false, false), (false, true), (true, false), (true, true)] {
            let switch = run(threshold, events, in_service);
            let counters = switch.ports[0].counters();
            let case = format!("{threshold}, {events}, {in_service}");
            assert_eq!((counters.dropped, counters.delivered), (0, 60), "{case}");
            assert!((20..50).contains(&counters.trimmed), "{case}: {}", counters.trimmed);
            let (cut, whole): (Vec<_>, Vec<_>) = switch.arrived[0]
                .iter()
                .map(|(_, packet)| *packet)
                .partition(|packet| packet.flags.contains(Flags::TRIMMED));
            assert_eq!(cut.len() as u64, counters.trimmed, "{case}");
            assert!(cut.iter().all(|packet| packet.size() == 40), "{case}");
            assert!(whole.iter().all(|packet| packet.size() == 1500), "{case}");
            let arrived: u32 = cut.iter().chain(&whole).map(Packet::size).sum();
            assert_eq!(u64::from(arrived) + counters.trimmed_bytes, 60 * 1500, "{case}");
            // The line was busy only for the bytes that were sent.
            assert_eq!(counters.sending, Span::from_nanos(8) * u64::from(arrived), "{case}");
        }
    }
}

#[test]
fn a_header_overtakes_what_waits_whole() {
    let order = run(6000, true, false).seqs(0);
    let mut sorted = order.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..60).collect::<Vec<_>>());
    assert_ne!(order, sorted);
    // There is only one class, so packets leave in the order of arrival.
    assert_eq!(run(6000, false, false).seqs(0), sorted);
}

/// Trims packets at departure that have waited for longer than 20 us.
struct Late;

impl QueueDiscipline for Late {
    fn offer(&mut self, _: &Packet, _: &QueueView, _: &mut Stream) -> Verdict {
        Verdict::Admit
    }

    fn departing(&mut self, _: &Packet, waited: Span, _: &QueueView) -> Verdict {
        if waited > Span::from_micros(20) { Verdict::Trim } else { Verdict::Admit }
    }
}

#[test]
fn a_packet_that_is_trimmed_at_departure_gives_its_room_back() {
    for counts_in_service in [false, true] {
        let limit = Limit::Bytes(9000);
        let buffer = Some(Buffer { limit, counts_in_service });
        let port = PortConfig {
            departure_events: true,
            buffer,
            pool: Some(PoolId(0)),
            ..config(limit, QueueConfig::default())
        };
        let pool = PoolConfig { total: limit, alpha: None };
        let mut switch = Switch::new(&[port], Some(pool));
        switch.ports[0].set_discipline(Box::new(Late));
        for seq in 0..5 {
            let packet = Packet { seq, payload: 1460, header: 40, ..Packet::default() };
            switch.offer(Time::ZERO, 0, packet);
        }
        // The pool is empty again at the end.
        switch.finish();
        let sizes: Vec<u32> = switch.arrived[0].iter().map(|(_, packet)| packet.size()).collect();
        assert_eq!(sizes, [1500, 1500, 40, 40, 40]);
        let last = switch.arrived[0].last().expect("five arrived").0;
        assert_eq!(last - (Time::ZERO + DELAY), Span::from_nanos(8) * (2 * 1500 + 3 * 40));
    }
}

#[test]
fn a_packet_without_payload_cannot_be_trimmed() {
    let mut ack = Packet { header: 40, ..Packet::default() };
    assert_eq!((ack.trim(), ack.flags), (0, Flags::NONE));
    let mut data = Packet { payload: 1460, ..ack };
    assert_eq!((data.trim(), data.size(), data.flags), (1460, 40, Flags::TRIMMED));
}
