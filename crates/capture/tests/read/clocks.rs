//! Times of frames, which depend on the clock options of an interface (draft-ietf-opsawg-pcapng
//! §4.2).

use incast_capture::read::File;

use crate::builder::block;
use crate::{BIG, LITTLE, Order, START, open, packets, segment};

/// A file with one interface and one packet. The packet's time is in ticks of the interface's
/// clock, whose `if_tsresol` is `resolution`.
fn file(order: Order, resolution: Option<u8>, offset: Option<i64>, ticks: u64) -> File {
    let mut bytes = Vec::new();
    let mut body = order.four(0x1a2b_3c4d).to_vec();
    body.extend(order.two(1));
    body.extend(order.two(0));
    body.extend([0xff; 8]);
    block(&mut bytes, order, 0x0a0d_0d0a, &body);
    let mut body = order.two(1).to_vec();
    body.extend([0; 6]);
    if let Some(resolution) = resolution {
        body.extend(order.two(9));
        body.extend(order.two(1));
        body.extend([resolution, 0, 0, 0]);
    }
    if let Some(offset) = offset {
        body.extend(order.two(14));
        body.extend(order.two(8));
        body.extend(if order.big { offset.to_be_bytes() } else { offset.to_le_bytes() });
    }
    block(&mut bytes, order, 1, &body);
    let frame = segment().ethernet();
    let length = frame.len() as u32;
    let mut body = Vec::new();
    for value in [0, (ticks >> 32) as u32, ticks as u32, length, length] {
        body.extend(order.four(value));
    }
    body.extend(frame);
    body.resize(body.len().next_multiple_of(4), 0);
    block(&mut bytes, order, 6, &body);
    open(&bytes)
}

fn time(resolution: u8, ticks: u64) -> i64 {
    let all = packets(&mut file(LITTLE, Some(resolution), None, ticks));
    assert_eq!(packets(&mut file(BIG, Some(resolution), None, ticks)), all);
    all[0].time
}

#[test]
fn decimal_clocks() {
    assert_eq!(packets(&mut file(LITTLE, None, None, 5))[0].time, 5_000);
    for (resolution, ticks, nanoseconds) in [
        (0, 5, 5_000_000_000),
        (3, 7, 7_000_000),
        (6, START / 1000, START as i64),
        (8, 3, 30),
        (9, START, START as i64),
        (10, 39, 3),
        (12, 7_999, 7),
        (18, 2_000_000_000, 2),
    ] {
        assert_eq!(time(resolution, ticks), nanoseconds, "10^-{resolution}");
    }
}

#[test]
fn binary_clocks() {
    for (resolution, ticks, nanoseconds) in [
        (0x80, 5, 5_000_000_000),
        (0x81, 3, 1_500_000_000),
        (0x8a, 1, 976_562),
        (0x94, 1 << 20, 1_000_000_000),
        (0x94, (1_700_000_000 << 20) + 1, 1_700_000_000_000_000_953),
        (0x9e, 1 << 29, 500_000_000),
        (0xa0, (1 << 32) + (1 << 31), 1_500_000_000),
        (0xc0, u64::MAX, 999_999_999),
        (0xff, u64::MAX, 0),
    ] {
        assert_eq!(time(resolution, ticks), nanoseconds, "2^-{}", resolution & 0x7f);
    }
}

#[test]
fn an_offset_is_in_seconds() {
    for order in [LITTLE, BIG] {
        let mut later = file(order, Some(9), Some(1_700_000_000), 123);
        assert_eq!(packets(&mut later)[0].time, 1_700_000_000_000_000_123);
        let mut earlier = file(order, Some(6), Some(-2), 5_000_001);
        assert_eq!(packets(&mut earlier)[0].time, 3_000_001_000);
    }
}

#[test]
fn times_that_no_clock_has_are_bounded() {
    for ticks in [u64::MAX, 1 << 63] {
        assert_eq!(time(0, ticks), i64::MAX / 2);
    }
    assert_eq!(packets(&mut file(LITTLE, Some(9), Some(i64::MIN), 1))[0].time, 0);
}

#[test]
fn packets_keep_their_times_when_these_run_back_or_are_missing() {
    let frames = [30, 10, 20].map(|time| (time, segment().ethernet()));
    let mut bytes = crate::builder::pcapng(LITTLE, 1, &frames);
    let frame = segment().ethernet();
    let mut body = LITTLE.four(frame.len() as u32).to_vec();
    body.extend(&frame);
    body.resize(body.len().next_multiple_of(4), 0);
    block(&mut bytes, LITTLE, 3, &body);
    let times: Vec<_> = packets(&mut open(&bytes)).iter().map(|packet| packet.time).collect();
    assert_eq!(times, [30, 10, 20, 0]);
}
