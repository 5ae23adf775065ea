//! Ports with departure events, alone and compared with FIFO ports.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::*;
use crate::buffer::{Alpha, PoolConfig};
use crate::packet::Ecn;

/// An event of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Happening {
    Departure(usize),
    /// The port stops sending these classes, or continues.
    Signal(usize, u8, bool),
    Arrival(usize),
}

/// Some ports, with their shared buffers and their scheduled events.
pub(super) struct Switch {
    pub ports: Vec<Port>,
    pub commons: Commons,
    /// The events, ordered by time and by their order among simultaneous events.
    schedule: BTreeSet<(Time, u64, Happening)>,
    sequence: u64,
    /// The packets that arrived at the end of each port's link, with their arrival times.
    pub arrived: Vec<Vec<(Time, Packet)>>,
    /// The packets that each port dropped, at their arrival or later, with the times of the drops.
    pub dropped: Vec<Vec<(Time, u64)>>,
}

impl Switch {
    pub fn new(configs: &[PortConfig], pool: Option<PoolConfig>) -> Self {
        let ports = configs.iter().zip(0..).map(|(config, index)| Port::new(config, index, 7));
        Self {
            ports: ports.collect(),
            commons: Commons {
                pools: pool.into_iter().map(Pool::new).collect(),
                ..Commons::default()
            },
            schedule: BTreeSet::new(),
            sequence: 1 << 63,
            arrived: vec![Vec::new(); configs.len()],
            dropped: vec![Vec::new(); configs.len()],
        }
    }

    /// The number of departures that have an event.
    fn scheduled_departures(&self) -> usize {
        let is_departure = |what: &Happening| matches!(what, Happening::Departure(_));
        self.schedule.iter().filter(|(_, _, what)| is_departure(what)).count()
    }

    /// Runs all events that precede an arrival at `now`.
    pub fn advance(&mut self, now: Time) {
        self.sequence += 1;
        while let Some(first) = self.schedule.first().copied()
            && (first.0, first.1) < (now, self.sequence)
        {
            self.schedule.remove(&first);
            self.happen(first.0, first.2);
        }
    }

    fn happen(&mut self, now: Time, what: Happening) {
        match what {
            Happening::Departure(port) => {
                self.ports[port].depart(now, &mut self.commons);
                self.note_late(now, port);
                self.serve(port);
            }
            Happening::Signal(port, classes, stops) => {
                let is_sending = self.ports[port].pause(now, classes, stops, &mut self.commons);
                self.note_late(now, port);
                if is_sending {
                    self.serve(port);
                }
            }
            Happening::Arrival(port) => {
                let (parcel, next) = self.ports[port].deliver(now);
                self.arrived[port].push((now, self.commons.packets[parcel.packet]));
                if let NextEvent::Arrival(time, sequence) = next {
                    self.schedule.insert((time, sequence, Happening::Arrival(port)));
                }
            }
        }
    }

    fn note_late(&mut self, now: Time, port: usize) {
        while let Some(late) = self.ports[port].pop_late() {
            self.dropped[port].push((now, self.commons.packets[late.parcel.packet].seq));
        }
    }

    fn serve(&mut self, port: usize) {
        let Some(Service { departure, arrival }) = self.ports[port].service() else { return };
        if let Some((time, sequence)) = departure {
            self.schedule.insert((time, sequence, Happening::Departure(port)));
        }
        if let Some((time, sequence)) = arrival {
            self.schedule.insert((time, sequence, Happening::Arrival(port)));
        }
    }

    /// Pauses classes of a port for some time; see [`Port::pause`].
    pub fn pause(&mut self, port: usize, classes: u8, from: Time, until: Time) {
        for (at, stops) in [(from, true), (until, false)] {
            self.schedule.insert((at, 1 << 62, Happening::Signal(port, classes, stops)));
        }
    }

    /// Offers a packet; returns the load of the port afterwards.
    pub fn offer(&mut self, now: Time, port: usize, packet: Packet) -> Load {
        self.advance(now);
        let sequence = self.sequence;
        let id = self.commons.packets.insert(packet);
        let parcel = Parcel::new(id, packet.size(), 0);
        self.commons.sequence = sequence;
        let admission = self.ports[port].offer(now, parcel, sequence, &mut self.commons);
        match admission {
            Admission::Queued => {}
            Admission::Scheduled(at) => {
                self.schedule.insert((at, sequence, Happening::Arrival(port)));
            }
            Admission::QueuedWithEffects => self.note_late(now, port),
            Admission::Started => self.serve(port),
            Admission::Dropped(_) => self.dropped[port].push((now, packet.seq)),
        }
        assert!(self.ports[port].is_conserving());
        self.ports[port].view()
    }

    pub fn finish(&mut self) {
        self.advance(Time::NEVER);
        assert!(self.schedule.is_empty() && self.ports.iter().all(Port::is_conserving));
        for pool in &self.commons.pools {
            assert_eq!(pool.used(), crate::packets::Occupancy::default(), "all was given back");
        }
    }

    pub fn seqs(&self, port: usize) -> Vec<u64> {
        self.arrived[port].iter().map(|(_, packet)| packet.seq).collect()
    }
}

pub(super) fn queue(value: Value) -> QueueConfig {
    serde_json::from_value(value).expect("a discipline")
}

/// A switch's port at 1 Gbps.
pub(super) fn config(limit: Limit, queue: QueueConfig) -> PortConfig {
    let buffer = Some(Buffer::new(limit, false));
    PortConfig { buffer, queue, ..PortConfig::host(GIGABIT, DELAY) }
}

/// A full packet with the number `seq` and these labels.
pub(super) fn numbered(seq: u64, label: u16) -> Packet {
    Packet { seq, label, ..packet(1460) }
}

/// Disciplines that decide at arrival.
fn at_arrival() -> impl Strategy<Value = QueueConfig> {
    prop::sample::select(vec![
        json!({ "name": "drop-tail" }),
        json!({ "name": "bernoulli", "p": 0.2 }),
        json!({ "name": "ecn-threshold", "threshold": "1pkt" }),
        json!({ "name": "ecn-threshold", "threshold": 1000, "counts_arriving": true }),
        json!({ "name": "red", "min_th": "1pkt", "max_th": "4pkt", "weight": 0.3, "ecn": true }),
        json!({ "name": "wred", "weight": 0.5, "classes": [{ "control": true }] }),
        json!({ "name": "label-threshold", "threshold": "50%" }),
    ])
    .prop_map(queue)
}

fn limits() -> impl Strategy<Value = Limit> {
    prop_oneof![
        (1_u64..9).prop_map(Limit::Packets),
        (1500_u64..15_000).prop_map(Limit::Bytes),
        Just(Limit::Packets(1000)),
    ]
}

/// Gaps that often lead to simultaneous events: packets of 1500 bytes take 12 us.
fn arrivals() -> impl Strategy<Value = Vec<(u64, u16, u16)>> {
    let gap = prop_oneof![0_u64..20, Just(0), Just(6), Just(12)];
    let payload = prop_oneof![0_u16..1461, Just(0), Just(1460)];
    prop::collection::vec((gap, payload, 0_u16..4), 1..120)
}

proptest! {
    /// Where both kinds of port are possible, they agree on every packet, mark, drop, time and
    /// counter.
    #[test]
    fn departures_that_are_events_change_nothing(
        arrivals in arrivals(),
        limit in limits(),
        counts_in_service in any::<bool>(),
        ties in prop::sample::select(vec![
            Ties::DepartureFirst, Ties::ArrivalFirst, Ties::Scheduled,
        ]),
        noise in prop_oneof![Just(0_u64), 1_u64..100],
        queue in at_arrival(),
        is_host in any::<bool>(),
        no_delay in any::<bool>(),
    ) {
        // On a link without delay, a packet arrives at the time of its departure. With
        // `ArrivalFirst`, the FIFO port counts the packet as gone once it is delivered, but the
        // stepped port counts it as gone only after all events at this time. Links without delay
        // are therefore tested only with `DepartureFirst`.
        let delay = if no_delay && ties == Ties::DepartureFirst { Span::ZERO } else { DELAY };
        let buffer = (!is_host).then_some(Buffer::new(limit, counts_in_service));
        let clock_noise = Span::from_nanos(noise);
        let fifo = PortConfig {
            clock_noise,
            ties,
            buffer,
            queue,
            ..PortConfig::host(GIGABIT, delay)
        };
        let stepped = PortConfig { departure_events: true, ..fifo.clone() };
        let configs = [fifo, stepped.clone(), stepped];
        let mut switches = configs.map(|config| Switch::new(&[config], None));
        switches[2].ports[0].spare_events();
        prop_assert!(matches!(switches[0].ports[0], Port::Fifo(_)));
        prop_assert!(matches!(switches[1].ports[0], Port::Stepped(_)));
        let mut now = Time::ZERO;
        for (&(gap, payload, label), seq) in arrivals.iter().zip(0..) {
            now += Span::from_micros(gap);
            let ecn = if label > 1 { Ecn::Capable } else { Ecn::NotCapable };
            let packet = Packet { seq, payload, label, header: 40, ..Packet::default() }.with_ecn(ecn);
            let [one, other, third] = switches.each_mut().map(|switch| {
                let view = switch.offer(now, 0, packet);
                (view.packets, view.bytes, view.in_service_bytes)
            });
            if !is_host {
                prop_assert_eq!([one, one], [other, third]);
            }
            let [fifo, stepped, sparing] = switches.each_ref().map(|switch| {
                let port = &switch.ports[0];
                let byte_time = if is_host { 0 } else { port.byte_time_until(now) };
                (byte_time, port.sending_until(now), port.in_flight().count())
            });
            prop_assert_eq!([fifo, fifo], [stepped, sparing]);
        }
        for switch in &mut switches {
            switch.finish();
        }
        let [fifo, stepped, sparing] = &switches;
        for stepped in [stepped, sparing] {
            prop_assert_eq!(&fifo.arrived, &stepped.arrived);
            prop_assert_eq!(&fifo.dropped, &stepped.dropped);
            prop_assert_eq!(fifo.ports[0].counters(), stepped.ports[0].counters());
            prop_assert_eq!(fifo.ports[0].last_departure(), stepped.ports[0].last_departure());
        }
    }

    /// With any discipline and buffer, packets are conserved, no pool exceeds its limit, and each
    /// class keeps its order.
    #[test]
    fn a_switch_with_departure_events_conserves_packets(
        arrivals in arrivals(),
        limit in limits(),
        counts_in_service in any::<bool>(),
        alpha in prop_oneof![Just(None), Just(Some("1/4")), Just(Some("2^1"))],
        cell in prop_oneof![Just(1_u32), Just(208)],
        name in prop::sample::select(vec![
            "drop-tail", "codel", "priority", "red", "ecn-threshold", "push-out",
        ]),
    ) {
        let codel = json!({ "name": "codel", "target": "5us", "interval": "20us" });
        let queue = queue(if name == "codel" { codel } else { json!({ "name": name }) });
        let config = PortConfig {
            buffer: Some(Buffer::new(limit, counts_in_service)),
            pool: Some(PoolId(0)),
            accounting: Accounting { cell, packet_overhead: 0 },
            ..config(limit, queue)
        };
        let total = match limit {
            Limit::Packets(limit) => Limit::Packets(2 * limit),
            Limit::Bytes(limit) => Limit::Bytes(2 * limit),
        };
        let alpha = alpha.map(|text| text.parse::<Alpha>().expect("a ratio"));
        let mut switch = Switch::new(&vec![config; 3], Some(PoolConfig { total, alpha }));
        let mut now = Time::ZERO;
        for (&(gap, payload, label), seq) in arrivals.iter().zip(0..) {
            now += Span::from_micros(gap / 2);
            let packet = Packet { seq, payload, label, header: 40, ..Packet::default() };
            switch.offer(now, seq as usize % 3, packet);
            prop_assert!(!switch.commons.pools[0].used().exceeds(total));
        }
        switch.finish();
        for port in 0..3 {
            let is_urgent = |packet: &&(Time, Packet)| name == "priority" && packet.1.label & 1 > 0;
            let (urgent, rest): (Vec<_>, Vec<_>) =
                switch.arrived[port].iter().partition(is_urgent);
            for class in [urgent, rest] {
                prop_assert!(class.is_sorted_by_key(|(_, packet)| packet.seq));
            }
        }
    }
}

#[test]
fn urgent_packets_wait_for_one_other_at_most() {
    let mut switch =
        Switch::new(&[config(Limit::Packets(99), queue(json!({ "name": "priority" })))], None);
    for seq in 0..10 {
        switch.offer(Time::ZERO, 0, numbered(seq, 0));
    }
    // Packet 1 is being sent. Packet 11 arrives together with packet 10, and packet 12 during the
    // transmission of packet 4.
    switch.offer(at(13), 0, numbered(10, 1));
    switch.offer(at(13), 0, numbered(11, 1));
    switch.offer(at(66), 0, numbered(12, 1));
    switch.finish();
    assert_eq!(switch.seqs(0), [0, 1, 10, 11, 2, 3, 12, 4, 5, 6, 7, 8, 9]);
    let sending = Span::from_micros(12);
    for (seq, offered) in [(10, 13), (12, 66)] {
        let (arrived, _) = switch.arrived[0].iter().find(|(_, it)| it.seq == seq).unwrap();
        assert!(*arrived - at(offered) <= DELAY + sending * 2, "{seq} at {arrived}");
    }
}

/// Packets arrive at 2 Gbps for 60 ms, at a port of 1 Gbps.
#[test]
fn codel_drops_at_departure_by_the_control_law() {
    let codel = queue(json!({ "name": "codel", "target": "1ms", "interval": "10ms" }));
    let mut switch = Switch::new(&[config(Limit::Packets(100_000), codel)], None);
    for seq in 0..10_000 {
        switch.offer(Time::ZERO + Span::from_micros(6) * seq, 0, numbered(seq, 0));
    }
    switch.finish();
    let times: Vec<u64> =
        switch.dropped[0].iter().map(|(time, _)| time.as_picos() / 1_000_000).collect();
    // The waiting time grows by 1 us every 2 us. It reaches 1 ms with the packet that leaves at
    // about 2 ms, and at about 12 ms it has been above 1 ms for 10 ms. The time from one drop to the
    // next is `interval / sqrt(count)`, rounded up to the next departure.
    // Departures are 12 us apart.
    let first = times[0];
    assert!((12_000..12_040).contains(&first), "{first}");
    let mut due = first as f64;
    for (count, time) in (1..).zip(&times[1..]).take(20) {
        due += 10_000.0 / f64::from(count).sqrt();
        assert!((due.floor()..due + 13.0).contains(&(*time as f64)), "{time} us, due {due}");
    }
    let waits = switch.arrived[0].len() + times.len();
    assert_eq!((waits, times.len() as u64), (10_000, switch.ports[0].counters().dropped));
}

/// The largest queue of each of `hot` busy ports that share a buffer.
fn hot_ports(hot: usize, alpha: &str, counts_in_service: bool) -> Vec<u64> {
    let total = 1_000_000;
    let limit = Limit::Bytes(total);
    let port = PortConfig {
        buffer: Some(Buffer::new(limit, counts_in_service)),
        pool: Some(PoolId(0)),
        ..config(limit, QueueConfig::default())
    };
    let alpha = Some(alpha.parse().expect("a ratio"));
    let mut switch = Switch::new(&vec![port; 8], Some(PoolConfig { total: limit, alpha }));
    // Packets arrive at each busy port at ten times its line rate.
    for step in 0..5_000 {
        for port in 0..hot {
            switch.offer(Time::ZERO + Span::from_nanos(1_200) * step, port, numbered(step, 0));
        }
    }
    let most = switch.ports[..hot].iter().map(|port| {
        let in_service = if counts_in_service { 1500 } else { 0 };
        port.counters().max_bytes + in_service
    });
    let most = most.collect();
    switch.finish();
    most
}

/// Choudhury & Hahne 1998: a single busy port uses alpha / (1 + alpha) of the buffer. Each of two
/// busy ports uses alpha / (1 + 2 alpha).
#[test]
fn hot_ports_take_their_shares_of_a_pool() {
    for (alpha, ratio) in [("2^-3", 0.125), ("1/2", 0.5), ("1", 1.0), ("8", 8.0)] {
        for counts_in_service in [false, true] {
            for hot in [1, 2] {
                let share = 1e6 * ratio / (1.0 + hot as f64 * ratio);
                for most in hot_ports(hot, alpha, counts_in_service) {
                    let off = (most as f64 - share).abs();
                    assert!(off <= 1500.0, "{most} of {share}, {hot} hot, alpha {alpha}");
                }
            }
        }
    }
}

#[test]
fn a_shared_buffer_lends_what_other_ports_leave_within_a_port_s_limit() {
    let port =
        PortConfig { pool: Some(PoolId(0)), ..config(Limit::Packets(6), QueueConfig::default()) };
    let pool = PoolConfig { total: Limit::Packets(8), alpha: None };
    let mut switch = Switch::new(&[port.clone(), port], Some(pool));
    for seq in 0..10 {
        switch.offer(Time::ZERO, 0, numbered(seq, 0));
    }
    assert_eq!(switch.ports[0].view().packets, 6, "its own limit");
    for seq in 0..10 {
        switch.offer(Time::ZERO, 1, numbered(seq, 0));
    }
    assert_eq!(switch.ports[1].view().packets, 2, "what is left of the pool");
    // At 12 us, each port begins to send its next packet, and has freed the space of one packet. At
    // 24 us, the first port occupies the space of two packets.
    switch.advance(at(25));
    assert_eq!(switch.commons.pools[0].used().packets, 4);
    for seq in 10..20 {
        switch.offer(at(25), 1, numbered(seq, 0));
    }
    assert_eq!(switch.ports[1].view().packets, 4);
    switch.finish();
}

#[test]
fn as_many_acks_fit_as_there_are_cells() {
    let ack = |seq| Packet { seq, header: 64, ..Packet::default() };
    let waiting = |cell, packet_overhead| {
        let port = PortConfig {
            accounting: Accounting { cell, packet_overhead },
            ..config(Limit::Bytes(208 * 100), QueueConfig::default())
        };
        let mut switch = Switch::new(&[port], None);
        for seq in 0..1000 {
            switch.offer(Time::ZERO, 0, ack(seq));
        }
        let waiting = switch.ports[0].view().packets;
        switch.finish();
        waiting
    };
    assert_eq!(waiting(208, 0), 100);
    assert_eq!(waiting(64, 0), 325);
    assert_eq!(waiting(64, 1), 162, "two cells each");
    assert_eq!(waiting(1, 16), 260, "80 bytes each");
}

#[test]
fn a_delayed_packet_is_overtaken() {
    let run = |p| {
        let reordering = Some(Reordering { p, delay: Span::from_micros(30) });
        let port = PortConfig { reordering, ..PortConfig::host(GIGABIT, DELAY) };
        let mut switch = Switch::new(&[port], None);
        for seq in 0..1000 {
            switch.offer(Time::ZERO, 0, numbered(seq, 0));
        }
        switch.finish();
        switch
    };
    let in_order: Vec<u64> = (0..1000).collect();
    assert_eq!(run(0.0).seqs(0), in_order);
    assert_eq!(run(1.0).seqs(0), in_order, "all take it");
    let some = run(0.1);
    let late = |(time, packet): &&(Time, Packet)| {
        *time - Time::ZERO != DELAY + Span::from_micros(12) * (packet.seq + 1)
    };
    let late: Vec<_> = some.arrived[0].iter().filter(late).collect();
    assert!((70..130).contains(&late.len()), "{}", late.len());
    for (time, packet) in late {
        let reordering = Span::from_micros(30);
        assert_eq!(
            *time - Time::ZERO,
            DELAY + reordering + Span::from_micros(12) * (packet.seq + 1)
        );
    }
    assert!(!some.seqs(0).is_sorted() && some.arrived[0].is_sorted_by_key(|(time, _)| *time));
}

#[test]
fn a_departure_gets_an_event_once_a_packet_waits_for_it() {
    let config = PortConfig { departure_events: true, ..PortConfig::host(GIGABIT, DELAY) };
    let mut switch = Switch::new(&[config], None);
    switch.ports[0].spare_events();
    switch.offer(at(0), 0, numbered(0, 0));
    assert_eq!(switch.scheduled_departures(), 0);
    switch.offer(at(1), 0, numbered(0, 1));
    assert_eq!(switch.scheduled_departures(), 1);
    // The first packet has left after 12 us, and no other packet waits for the second.
    switch.offer(at(30), 0, numbered(0, 2));
    assert_eq!(switch.scheduled_departures(), 0);
    switch.finish();
    let arrivals: Vec<Time> = switch.arrived[0].iter().map(|(time, _)| *time).collect();
    assert_eq!(arrivals, [37, 49, 67].map(at));
}

#[test]
fn a_departure_that_frees_buffer_space_keeps_its_event() {
    let counted = |counts_in_service| {
        let buffer = Some(Buffer::new(Limit::Packets(9), counts_in_service));
        let codel = config(Limit::Packets(9), queue(json!({ "name": "codel" })));
        let mut switch = Switch::new(&[PortConfig { buffer, ..codel }], None);
        switch.ports[0].spare_events();
        switch.offer(at(0), 0, numbered(0, 0));
        switch.scheduled_departures()
    };
    assert_eq!([false, true].map(counted), [0, 1]);
}
