//! Tests of the virtual link alone, and of the client's estimates.

use incast_engine::Rate;
use incast_net::Ecn;

use super::*;

fn at(micros: u64) -> Time {
    Time::ZERO + Span::from_micros(micros)
}

const PACKET: Span = Span::from_micros(8);

/// A link that sends 1000 bytes in 8 us, with a threshold of three such packets.
fn link() -> Link {
    let mut link = Link::new(Rate(1_000_000_000), Span::from_micros(100));
    link.set_threshold(3000);
    link
}

#[test]
fn a_threshold_leaves_at_once_and_the_rest_at_the_link_s_rate() {
    let mut link = link();
    let times: Vec<_> = (0..6).map(|_| link.reserve(at(0), PACKET, Class::Early)).collect();
    assert_eq!(times, [0, 0, 0, 8, 16, 24].map(at));
    // By 40 us, the link has sent enough of the earlier data.
    assert_eq!(link.reserve(at(40), PACKET, Class::Early), at(40));
    assert_eq!(link.reserve(at(1000), PACKET * 3, Class::Early), at(1000));
    assert_eq!(link.reserve(at(1000), PACKET, Class::Early), at(1008));
    // An ACK that triggers more than the threshold waits only for the data of earlier ACKs.
    assert_eq!(link.reserve(at(1000), PACKET * 9, Class::Early), at(1032));
}

#[test]
fn the_first_class_takes_the_next_place_and_the_second_learns_of_it() {
    let mut link = link();
    for packet in 0..6 {
        assert_eq!(link.reserve(at(0), PACKET, Class::Late), at(packet.max(2) * 8 - 16));
    }
    for _ in 0..3 {
        link.release(at(0), PACKET);
    }
    assert_eq!(link.overtaken(), Span::ZERO);
    assert_eq!(link.reserve(at(0), PACKET, Class::Early), at(8));
    assert_eq!(link.overtaken(), PACKET);
    // The data of three waiting ACKs of the second class and of the ACK of the first class are
    // before the data of this ACK.
    assert_eq!(link.reserve(at(0), PACKET, Class::Late), at(40));
}

#[test]
fn marks_take_up_to_half_of_the_threshold() {
    let mut link = link();
    let packet = |marked| Packet {
        payload: 1000,
        flags: Flags::NONE.with_ecn(if marked { Ecn::CongestionExperienced } else { Ecn::Capable }),
        ..Packet::default()
    };
    for micros in [0, 10, 20, 30] {
        link.receive(at(micros), &packet(micros == 0));
    }
    assert_eq!(link.room(), PACKET * 3, "the round trip is not over");
    link.receive(at(100), &packet(true));
    assert_eq!(link.room().as_picos(), PACKET.as_picos() * 3 * 7 / 8);
    link.receive(at(200), &packet(false));
    assert_eq!(link.room().as_picos(), PACKET.as_picos() * 3 / 2);
}

/// Segments of 1000 bytes, a window of two segments, and headers of 40 bytes.
fn guess(sru: u64) -> Guess {
    Guess { segment: 1000, header: 40, largest: 10_000, sru, window: 2000, ..Guess::START }
}

fn request(seq: u64, ack: u64) -> Packet {
    Packet { seq, ack, flags: Flags::ACK.with(Flags::REQUEST), ..Packet::default() }
}

fn ack(ack: u64) -> Packet {
    Packet { ack, flags: Flags::ACK, ..Packet::default() }
}

#[test]
fn all_triggers_of_an_sru_are_the_sru() {
    let mut guess = guess(9500);
    assert_eq!(guess.trigger(&request(1, 1)), 2080);
    let acks: Vec<_> = (1..=9).map(|it| guess.trigger(&ack(1 + it * 1000))).collect();
    assert_eq!(acks, [2080, 2080, 2080, 1580, 0, 0, 0, 0, 0]);
    assert_eq!(guess.trigger(&ack(9501)), 0);
    // The next block starts with the window at the end of the first block. The estimate never
    // exceeds the advertised window.
    assert_eq!(guess.trigger(&request(2, 9501)), 9500 + 10 * 40);
    assert_eq!(guess.trigger(&request(2, 9501)), 1040, "again");
}

#[test]
fn without_an_end_slow_start_triggers_two_packets_and_avoidance_one() {
    let mut guess = guess(u64::MAX);
    guess.trigger(&request(1, 1));
    assert_eq!(guess.trigger(&ack(1001)), 2080);
    let mut echo = ack(2001);
    echo.flags = echo.flags.with(Flags::ECE);
    assert_eq!(guess.trigger(&echo), 1333 + 2 * 40);
    assert_eq!(guess.trigger(&ack(3001)), 1300 + 2 * 40);
}

#[test]
fn a_duplicate_triggers_a_packet_and_the_third_halves_the_window() {
    let mut guess = guess(u64::MAX);
    assert_eq!(guess.trigger(&ack(1)), 0, "a handshake's last ACK");
    guess.trigger(&request(1, 1));
    for it in 1..=4 {
        guess.trigger(&ack(1 + it * 1000));
    }
    assert_eq!(guess.window, 6000);
    assert_eq!([1, 2, 3].map(|_| guess.trigger(&ack(4001))), [1040; 3]);
    assert_eq!((guess.window, guess.slow_start), (3000, false));
}

/// A client has two connections. One of them has received so much data that its ACKs are of the
/// second class.
#[test]
fn an_ack_of_the_second_class_is_overtaken_while_it_waits() {
    let shared = Arc::new(Mutex::new(link()));
    let receiver = |priority| Receiver {
        link: Arc::clone(&shared),
        guess: Guess { header: 0, ..guess(u64::MAX) },
        priority,
        marks: true,
        waiting: VecDeque::new(),
    };
    let (mut late, mut early) = (receiver(0), receiver(u64::MAX));
    let until = |receiver: &mut Receiver, event: AckEvent<'_>, micros| {
        receiver.on_ack(event, at(micros)).hold_ack_until
    };
    // The first ACK triggers four segments, one more than the threshold. At 32 us, they will have
    // passed the link. The two segments of the next ACK fit at 24 us.
    assert_eq!(until(&mut late, AckEvent::Ready(&ack(1001)), 0), at(0));
    until(&mut late, AckEvent::Left, 0);
    assert_eq!(until(&mut late, AckEvent::Ready(&ack(2001)), 0), at(24));
    // The two segments that the other connection's request triggers have priority, so they also fit
    // at 24 us.
    assert_eq!(until(&mut early, AckEvent::Ready(&request(1, 1)), 0), at(24));
    assert_eq!(until(&mut late, AckEvent::Expired, 24), at(40));
    assert_eq!(until(&mut early, AckEvent::Expired, 24), at(24));
    until(&mut early, AckEvent::Left, 24);
    assert_eq!(until(&mut late, AckEvent::Expired, 40), at(40));
}
