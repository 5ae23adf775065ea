//! A port that drops only packets that are followed by three packets of the same flow.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::stepped::{Switch, config, queue};
use super::*;
use crate::packet::{Flags, RouteId};
use crate::queue::Site;

/// Distance between the sequence numbers of different flows.
const FLOW: u64 = 1_000_000;

/// Segment number `number` of a flow.
fn segment(flow: u32, number: u64) -> Packet {
    let seq = 1 + FLOW * u64::from(flow) + 1000 * number;
    Packet { seq, payload: 1000, route: RouteId::new(flow, true), ..packet(1000) }
}

fn again(flow: u32, number: u64) -> Packet {
    Packet { flags: Flags::RETRANSMISSION, ..segment(flow, number) }
}

fn syn_ack(flow: u32) -> Packet {
    let seq = FLOW * u64::from(flow);
    let flags = Flags::SYN.with(Flags::ACK);
    Packet { seq, flags, payload: 0, ..segment(flow, 0) }
}

/// A port whose buffer holds `places` packets behind the packet being sent. Its clock advances only
/// when a test sends packets.
struct Queue {
    switch: Switch,
    now: Time,
}

impl Queue {
    fn new(places: u64, params: &Value) -> Self {
        let mut discipline = json!({ "name": "rapid" });
        for (key, value) in params.as_object().into_iter().flatten() {
            discipline[key] = value.clone();
        }
        let switch = Switch::new(&[config(Limit::Packets(places), queue(discipline))], None);
        let mut queue = Self { switch, now: Time::ZERO };
        queue.offer([syn_ack(999)]);
        queue
    }

    fn offer(&mut self, packets: impl IntoIterator<Item = Packet>) {
        for packet in packets {
            self.switch.offer(self.now, 0, packet);
        }
    }

    /// Flow and segment of each packet dropped since the last call.
    fn gone(&mut self) -> Vec<(u32, u64)> {
        let dropped = std::mem::take(&mut self.switch.dropped[0]);
        let name = |seq: u64| ((seq / FLOW) as u32, (seq % FLOW).saturating_sub(1) / 1000);
        dropped.into_iter().map(|(_, seq)| name(seq)).collect()
    }

    /// The packets that are dropped when `packets` arrive one by one.
    fn dropped_by(&mut self, packets: impl IntoIterator<Item = Packet>) -> Vec<(u32, u64)> {
        self.gone();
        self.offer(packets);
        self.gone()
    }

    /// Sends all waiting packets, and then `packets`.
    fn send(&mut self, packets: impl IntoIterator<Item = Packet>) {
        self.switch.advance(self.now + Span::from_secs(1));
        self.now += Span::from_secs(1);
        for packet in packets {
            self.offer([packet]);
            self.now += Span::from_millis(1);
        }
    }

    /// Empties the line. Afterwards, a packet of flow 99 is being sent.
    fn drain(&mut self) {
        self.send([]);
        self.offer([segment(99, 0)]);
    }
}

fn segments(flow: u32, numbers: std::ops::Range<u64>) -> impl Iterator<Item = Packet> {
    numbers.map(move |number| segment(flow, number))
}

#[test]
fn the_oldest_packet_that_three_of_its_flow_follow_goes() {
    let mut queue = Queue::new(6, &json!({}));
    queue.offer(segments(1, 0..2).chain(segments(2, 0..4)));
    assert_eq!(queue.dropped_by([segment(3, 0)]), [(2, 0)]);
}

#[test]
fn with_two_behind_each_the_newcomer_goes() {
    let mut queue = Queue::new(6, &json!({}));
    queue.offer(segments(1, 0..3).chain(segments(2, 0..3)));
    assert_eq!(queue.dropped_by([segment(3, 0), segment(1, 3)]), [(3, 0), (1, 3)]);
}

#[test]
fn every_window_loses_one_before_any_loses_two() {
    let mut queue = Queue::new(16, &json!({}));
    queue.offer(segments(1, 0..8).chain(segments(2, 0..8)));
    // First, each flow loses one packet. Then flow 1 loses further packets.
    let newcomers = (0..4).map(|number| segment(3 + number, 0));
    assert_eq!(queue.dropped_by(newcomers), [(1, 0), (2, 0), (1, 1), (1, 2)]);
}

#[test]
fn the_three_behind_the_first_loss_are_never_lost() {
    let mut queue = Queue::new(8, &json!({}));
    queue.offer(segments(1, 0..8));
    let newcomers = (0..8).map(|number| segment(2 + number, 0));
    let expected = [(1, 0), (1, 1), (1, 2), (1, 3), (1, 4), (7, 0), (8, 0), (9, 0)];
    assert_eq!(queue.dropped_by(newcomers), expected);
}

/// "Never drop retransmissions": their loss would cause a timeout.
#[test]
fn a_retransmission_pushes_out_what_is_new_and_stays() {
    let mut queue = Queue::new(4, &json!({}));
    queue.offer([segment(1, 0), again(2, 0), again(3, 0), segment(4, 0)]);
    assert_eq!(queue.dropped_by([segment(5, 0)]), [(5, 0)]);
    assert_eq!(queue.dropped_by([again(5, 0), again(6, 0)]), [(1, 0), (4, 0)]);
    assert_eq!(queue.dropped_by([again(7, 0)]), [(7, 0)], "nothing new waits");
}

#[test]
fn what_carries_no_data_pushes_out_what_is_new_and_stays() {
    let mut queue = Queue::new(2, &json!({}));
    queue.offer([syn_ack(1), segment(2, 0)]);
    assert_eq!(queue.dropped_by([syn_ack(3)]), [(2, 0)]);
    assert_eq!(queue.dropped_by([segment(4, 0), syn_ack(5)]), [(4, 0), (5, 0)]);
}

#[test]
fn a_window_may_lose_again_when_its_loss_was_sent_again() {
    let mut queue = Queue::new(8, &json!({}));
    queue.offer(segments(1, 0..5).chain(segments(2, 0..3)));
    assert_eq!(queue.dropped_by([segment(3, 0)]), [(1, 0)]);
    // The window of the loss ends with segment 4. Segment 5, the first packet after this window, is
    // kept, because a careful sender must receive its acknowledgement before it counts duplicate
    // ACKs again (RFC 6582 §3.2, step 2).
    queue.send([again(1, 0)]);
    queue.drain();
    queue.offer(segments(1, 5..11).chain(segments(2, 3..5)));
    assert_eq!(queue.dropped_by([segment(4, 0)]), [(1, 6)]);
}

#[test]
fn what_a_sender_sends_while_it_repairs_is_not_lost() {
    let mut queue = Queue::new(8, &json!({}));
    queue.offer(segments(1, 0..8));
    // Flow 1 has lost two packets, and retransmits only the first of them.
    assert_eq!(queue.dropped_by([segment(2, 0), segment(3, 0)]), [(1, 0), (1, 1)]);
    queue.send([again(1, 0)]);
    queue.drain();
    queue.offer(segments(1, 8..16));
    assert_eq!(queue.dropped_by([segment(4, 0)]), [(4, 0)]);
}

#[test]
fn a_gap_tells_of_a_loss_elsewhere() {
    let mut queue = Queue::new(9, &json!({}));
    // Segment 1 of flow 1 never arrives, so the port regards it as lost, and prefers flow 2 for the
    // next loss.
    queue.offer([segment(1, 0)].into_iter().chain(segments(1, 2..6)).chain(segments(2, 0..4)));
    assert_eq!(queue.dropped_by([segment(3, 0), segment(4, 0)]), [(2, 0), (1, 0)]);
}

#[test]
fn a_new_connection_of_the_same_number_begins_anew() {
    let mut queue = Queue::new(4, &json!({}));
    queue.offer(segments(1, 0..4));
    assert_eq!(queue.dropped_by([segment(2, 0)]), [(1, 0)]);
    queue.drain();
    let next = |number| Packet { epoch: 1, ..segment(1, number) };
    queue.offer((0..4).map(next));
    assert_eq!(queue.dropped_by([segment(3, 0)]), [(1, 0)]);
}

#[test]
fn what_an_earlier_connection_left_is_not_chosen() {
    let mut queue = Queue::new(6, &json!({}));
    queue.offer(segments(1, 0..5));
    queue.offer([Packet { epoch: 1, ..syn_ack(1) }]);
    assert_eq!(queue.dropped_by([segment(2, 0)]), [(2, 0)]);
}

#[test]
fn with_limited_transmit_fewer_have_to_follow() {
    let gone = [(1, [(1, 0), (1, 1)]), (2, [(1, 0), (4, 0)]), (3, [(3, 0), (4, 0)])];
    for (followers, gone) in gone {
        let mut queue = Queue::new(4, &json!({ "followers": followers }));
        queue.offer(segments(1, 0..3).chain([segment(2, 0)]));
        assert_eq!(queue.dropped_by([segment(3, 0), segment(4, 0)]), gone);
    }
}

#[test]
fn early_drops_what_three_of_its_flow_are_ahead_of() {
    let mut queue = Queue::new(9, &json!({ "early": true, "threshold": "5pkt" }));
    assert_eq!(queue.dropped_by(segments(1, 0..4)), [], "below the threshold");
    assert_eq!(queue.dropped_by(segments(2, 0..3)), [], "two are ahead");
    // At most one packet of a window is dropped. The window does not end until segment 3 is
    // retransmitted.
    assert_eq!(queue.dropped_by(segments(2, 3..6)), [(2, 3)]);
    assert_eq!(queue.dropped_by([again(2, 3)]), [(2, 3)], "it is full, and nothing is pushed out");
}

#[test]
fn early_spares_labels_retransmissions_and_what_carries_no_data() {
    let early = json!({ "early": true, "threshold": "1pkt", "label": 6 });
    let mut queue = Queue::new(20, &early);
    queue.offer(segments(1, 0..3));
    let labelled = |label| Packet { label, ..segment(1, 3) };
    let spared = [labelled(2), labelled(12), again(1, 0), Packet { payload: 0, ..segment(1, 4) }];
    assert_eq!(queue.dropped_by(spared), []);
    assert_eq!(queue.dropped_by([Packet { label: 1, ..segment(1, 4) }]), [(1, 4)]);
}

#[test]
fn early_counts_what_waits_and_what_is_being_sent_if_it_shall() {
    for (counts, dropped) in [(false, vec![]), (true, vec![(1, 3)])] {
        let early = json!({ "early": true, "threshold": "4pkt", "counts_in_service": counts });
        let mut queue = Queue::new(10, &early);
        assert_eq!(queue.dropped_by(segments(1, 0..4)), dropped);
    }
}

#[test]
fn early_forgets_what_has_left() {
    let mut queue = Queue::new(20, &json!({ "early": true, "threshold": "1pkt" }));
    queue.offer(segments(1, 0..3));
    queue.drain();
    queue.offer([segment(98, 0)]);
    assert_eq!(queue.dropped_by(segments(1, 3..6)), []);
    assert_eq!(queue.dropped_by([segment(1, 6)]), [(1, 6)]);
}

#[test]
fn a_share_of_a_buffer_without_limit_is_a_mistake_only_where_it_counts() {
    let site = Site {
        buffer: None,
        ..config(Limit::Packets(1), queue(json!({ "name": "rapid" }))).site()
    };
    assert_eq!(queue(json!({ "name": "rapid" })).check(&site), Ok(()));
    let early = queue(json!({ "name": "rapid", "early": true }));
    assert_eq!(early.check(&site).expect_err("a share of what?").key, "threshold");
}

proptest! {
    /// A waiting packet that is dropped for a new packet is followed by at least three packets of
    /// its flow. No retransmission is dropped while a packet that is not a retransmission waits.
    #[test]
    fn a_chosen_loss_has_three_behind_it(
        arrivals in prop::collection::vec((0_u32..6, prop::bool::weighted(0.1)), 1..120),
        places in 4_u64..24,
    ) {
        let mut queue = Queue::new(places, &json!({}));
        let mut waiting: Vec<Packet> = Vec::new();
        let mut numbers: BTreeMap<u32, u64> = BTreeMap::new();
        for (flow, is_again) in arrivals {
            let number = numbers.entry(flow).or_default();
            let packet = if is_again && *number > 0 {
                again(flow, 0)
            } else {
                *number += 1;
                segment(flow, *number - 1)
            };
            let before = waiting.clone();
            let dropped = queue.dropped_by([packet]);
            prop_assert!(dropped.len() <= 1);
            let is_new = |packet: &Packet| packet.flags.control() == Flags::NONE;
            let Some(&(flow, number)) = dropped.first() else {
                waiting.push(packet);
                continue;
            };
            let seq = segment(flow, number).seq;
            let place = before.iter().position(|it| it.seq == seq && is_new(it));
            match place {
                // The arriving packet itself was dropped.
                None => {
                    prop_assert_eq!(packet.seq, seq);
                    prop_assert!(is_new(&packet) || !before.iter().any(is_new));
                }
                Some(place) => {
                    let behind = before[place + 1..].iter();
                    let behind = behind.filter(|it| it.route.flow() == flow && is_new(it)).count();
                    prop_assert!(behind >= 3 || !is_new(&packet), "{behind} behind {flow}:{number}");
                    waiting.remove(place);
                    waiting.push(packet);
                }
            }
        }
    }
}
