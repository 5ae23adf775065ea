//! Laws that every discipline obeys.

use super::*;

/// A switch's port at 1 Gbps.
pub(super) const SITE: Site = Site {
    rate: Rate(1_000_000_000),
    layer2_overhead: 0,
    buffer: Some(Limit::Packets(40)),
    counts_in_service: false,
};

/// A full data packet.
pub(super) fn data() -> Packet {
    Packet { payload: 1460, header: 40, ..Packet::default() }
}

fn every_entry() -> impl Iterator<Item = (&'static str, QueueConfig)> {
    ENTRIES.iter().map(|entry| {
        let config = serde_json::from_value(serde_json::json!({ "name": entry.name }));
        (entry.name, config.expect("an entry is found by its name"))
    })
}

/// A queue of full packets at a busy port.
fn busy(packets: u32) -> QueueView {
    let bytes = u64::from(packets) * 1500;
    QueueView { load: Load { packets, bytes, in_service_bytes: 1500 }, ..QueueView::default() }
}

/// A discipline's verdicts on packets of all kinds while the queue grows and shrinks.
fn verdicts(config: &QueueConfig, ecn: Ecn) -> Vec<Verdict> {
    let mut discipline = config.build(&SITE);
    let mut random = Stream::named(3, "law", 0);
    let mut verdicts = Vec::new();
    for step in 0..400_u32 {
        let packet = Packet { label: step as u16 & 1, ..data() }.with_ecn(ecn);
        let now = Time::ZERO + Span::from_micros(12) * u64::from(step);
        let view = QueueView { now, ..busy(40 - step.abs_diff(200) / 5) };
        verdicts.push(discipline.offer(&packet, &view, &mut random));
        verdicts.push(discipline.departing(&packet, Span::from_millis(1), &view));
    }
    verdicts
}

#[test]
fn every_discipline_is_deterministic_and_its_defaults_make_sense() {
    for (name, config) in every_entry() {
        assert_eq!(config.check(&SITE), Ok(()), "{name}");
        assert_eq!(verdicts(&config, Ecn::Capable), verdicts(&config, Ecn::Capable), "{name}");
    }
}

#[test]
fn only_what_can_be_marked_is_marked_and_only_by_those_that_say_so() {
    for (name, config) in every_entry() {
        let marks = |ecn| verdicts(&config, ecn).contains(&Verdict::Mark);
        assert!(!marks(Ecn::NotCapable), "{name}");
        assert_eq!(marks(Ecn::Capable), config.marks(), "{name}");
    }
}

#[test]
fn only_those_act_at_departure_that_say_so() {
    for (name, config) in every_entry() {
        let mut discipline = config.build(&SITE);
        let view = QueueView { now: Time::ZERO + Span::from_secs(1), ..busy(40) };
        let waits = (0..100).map(|_| discipline.departing(&data(), Span::from_secs(1), &view));
        let acts = waits.filter(|verdict| *verdict != Verdict::Admit).count() > 0;
        let mut acts = acts || discipline.classes() > 1;
        for label in 0..=u16::MAX {
            let packet = Packet { label, ..data() };
            assert!(discipline.class(&packet) < discipline.classes(), "{name}");
            // A packet that may push out other packets must not be pushed out in the first round.
            let pushes_out = discipline.pushes_out(&packet).is_some();
            assert!(!pushes_out || !discipline.gives_way(&packet, 0), "{name}");
            acts |= pushes_out;
        }
        assert!(!acts || config.acts_at_departure(), "{name}");
    }
}

/// Whatever the state of the discipline, an idle port admits packets and sends the admitted
/// packets. RED may drop a few of them.
#[test]
fn no_discipline_starves_its_port() {
    for (name, config) in every_entry() {
        let mut discipline = config.build(&SITE);
        let mut random = Stream::named(3, "law", 0);
        for _ in 0..1000 {
            discipline.offer(&data(), &busy(40), &mut random);
            discipline.departing(&data(), Span::from_secs(1), &busy(40));
        }
        let idle = QueueView { now: Time::ZERO + Span::from_secs(2), ..QueueView::default() };
        let taken = (0..100).filter(|_| {
            discipline.offer(&data(), &idle, &mut random) == Verdict::Admit
                && discipline.departing(&data(), Span::ZERO, &idle) == Verdict::Admit
        });
        assert!(taken.count() > 90, "{name}");
    }
}
