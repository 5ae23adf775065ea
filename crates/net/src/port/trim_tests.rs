//! Ports whose discipline trims packets that do not fit.

use super::stepped::{Switch, config};
use super::*;
use crate::buffer::PoolConfig;
use crate::packet::Flags;
use crate::queue::{QueueView, Refusal, Verdict};

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

    fn trims(&self) -> bool {
        true
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

/// Runs a port that trims packets if the queue is longer than `threshold`. 60 packets arrive, four
/// at a time, at twice the port's rate.
fn run(threshold: u64, limit: Limit, counts_in_service: bool) -> Switch {
    let port = PortConfig {
        departure_events: true,
        buffer: Some(Buffer::new(limit, counts_in_service)),
        ..config(limit, QueueConfig::default())
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

const LIMIT: Limit = Limit::Bytes(8000);

/// Packets are trimmed if the queue is above the threshold or the buffer is full, for every unit of
/// the buffer's limit.
#[test]
fn every_packet_arrives_and_what_was_cut_off_is_known() {
    let limits = [LIMIT, Limit::Bytes(7500), Limit::Bytes(7501), Limit::Packets(5)];
    for threshold in [6000, u64::MAX] {
        for (limit, in_service) in limits.into_iter().flat_map(|it| [(it, false), (it, true)]) {
            let switch = run(threshold, limit, in_service);
            let counters = switch.ports[0].counters();
            let case = format!("{threshold}, {limit}, {in_service}");
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

/// If a burst has more headers than fit, the rest is dropped. Headers do not use the buffer space
/// of full packets.
#[test]
fn headers_have_a_limit_of_their_own() {
    let limit = Limit::Packets(5);
    for headers in [0, 3, 100] {
        let buffer = Buffer { headers: Limit::Packets(headers), ..Buffer::new(limit, false) };
        let port = PortConfig {
            departure_events: true,
            buffer: Some(buffer),
            ..config(limit, QueueConfig::default())
        };
        let mut switch = Switch::new(&[port], None);
        switch.ports[0].set_discipline(Box::new(Trimming { threshold: u64::MAX }));
        for seq in 0..20 {
            let packet = Packet { seq, payload: 1460, header: 40, ..Packet::default() };
            switch.offer(Time::ZERO, 0, packet);
        }
        switch.finish();
        // One packet is being sent, five packets wait, and the other 14 are trimmed or dropped.
        let counters = switch.ports[0].counters();
        let kept = headers.min(14);
        assert_eq!((counters.trimmed, counters.dropped), (kept, 14 - kept), "{headers}");
        assert_eq!(counters.delivered, 6 + kept);
    }
}

/// A header that another switch has trimmed also uses the space for headers.
#[test]
fn a_header_from_elsewhere_finds_room_in_a_full_buffer() {
    let limit = Limit::Packets(2);
    let port = PortConfig { departure_events: true, ..config(limit, QueueConfig::default()) };
    let mut switch = Switch::new(&[port], None);
    switch.ports[0].set_discipline(Box::new(Trimming { threshold: u64::MAX }));
    for seq in 0..3 {
        let packet = Packet { seq, payload: 1460, header: 40, ..Packet::default() };
        switch.offer(Time::ZERO, 0, packet);
    }
    let mut header = Packet { seq: 3, payload: 1460, header: 40, ..Packet::default() };
    header.trim();
    switch.offer(Time::ZERO, 0, header);
    switch.finish();
    assert_eq!(switch.seqs(0), [0, 3, 1, 2], "it overtakes what waits");
    assert_eq!(switch.ports[0].counters().trimmed, 0, "it was cut elsewhere");
}

/// The discipline sees how many packets of each class wait.
#[test]
fn a_discipline_sees_each_class() {
    struct Looks(std::sync::Arc<std::sync::Mutex<Vec<[u32; 3]>>>);
    impl QueueDiscipline for Looks {
        fn offer(&mut self, _: &Packet, view: &QueueView, _: &mut Stream) -> Verdict {
            let bytes = [0, 1, 2].map(|class: usize| view.classes[class].bytes);
            self.0.lock().expect("one thread").push(bytes);
            Verdict::Admit
        }

        fn classes(&self) -> usize {
            2
        }

        fn class(&self, packet: &Packet) -> usize {
            usize::from(packet.label)
        }
    }
    let seen = std::sync::Arc::default();
    let port =
        PortConfig { departure_events: true, ..config(Limit::Packets(9), QueueConfig::default()) };
    let mut switch = Switch::new(&[port], None);
    switch.ports[0].set_discipline(Box::new(Looks(std::sync::Arc::clone(&seen))));
    for (time, label, payload) in [(0, 0, 960), (0, 1, 460), (0, 0, 160), (0, 1, 60), (20, 0, 0)] {
        let packet = Packet { label, payload, header: 40, ..Packet::default() };
        switch.offer(at(time), 0, packet);
    }
    switch.finish();
    let expected = [[0, 0, 0], [0, 0, 0], [0, 500, 0], [200, 500, 0], [0, 0, 0]];
    assert_eq!(*seen.lock().expect("one thread"), expected);
}

#[test]
fn a_header_overtakes_what_waits_whole() {
    let order = run(6000, LIMIT, false).seqs(0);
    let mut sorted = order.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..60).collect::<Vec<_>>());
    assert_ne!(order, sorted);
}

/// Trims packets at departure that have waited for longer than 20 us.
struct Late;

impl QueueDiscipline for Late {
    fn offer(&mut self, _: &Packet, _: &QueueView, _: &mut Stream) -> Verdict {
        Verdict::Admit
    }

    fn trims(&self) -> bool {
        true
    }

    fn departing(&mut self, _: &Packet, waited: Span, _: &QueueView) -> Verdict {
        if waited > Span::from_micros(20) { Verdict::Trim } else { Verdict::Admit }
    }
}

#[test]
fn a_packet_that_is_trimmed_at_departure_gives_its_room_back() {
    for counts_in_service in [false, true] {
        let limit = Limit::Bytes(9000);
        let buffer = Some(Buffer::new(limit, counts_in_service));
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
