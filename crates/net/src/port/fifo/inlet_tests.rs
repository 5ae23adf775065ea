//! Announced packets.

use proptest::prelude::*;

use super::*;
use crate::packet::Packet;
use crate::packets::{Packets, Parcel};

proptest! {
    #[test]
    fn whatever_is_announced_enters_in_order(
        times in prop::collection::vec(0_u64..100, 1..60),
        until in 0_u64..100,
    ) {
        let packet = Packets::default().insert(Packet::default());
        let parcel = Parcel::new(packet, 1500, 0);
        let mut inlet = Inlet::default();
        let mut keys: Vec<(Time, u64)> = Vec::new();
        for (time, sequence) in times.into_iter().zip(0..) {
            let transit = Transit { arrival: Time::from_picos(time), sequence, parcel };
            let before = keys.first().copied();
            let is_next = inlet.push(transit);
            prop_assert_eq!(is_next, before.is_none_or(|before| transit.key() < before));
            keys.push(transit.key());
            keys.sort_unstable();
            prop_assert_eq!(inlet.first(), keys.first().copied());
            prop_assert_eq!(inlet.contents().count(), keys.len());
        }
        let until = (Time::from_picos(until), 7);
        while inlet.is_due(Transit::order_of(until)) {
            let next = inlet.pop().expect("one is due");
            prop_assert_eq!(next.key(), keys.remove(0));
        }
        prop_assert!(keys.first().is_none_or(|first| *first > until));
    }
}
