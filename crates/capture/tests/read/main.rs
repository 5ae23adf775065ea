//! Reading of files: every format, link and tunnel, and damaged files.

#[path = "../builder/mod.rs"]
mod builder;
mod carriers;
mod clocks;
mod files;
mod kinds;
#[cfg(unix)]
mod stops;
mod tunnels;

use std::io::Cursor;

use builder::{Order, Segment, pcap};
use incast_capture::read::{File, Packet, Tally};

const LITTLE: Order = Order { big: false };
const BIG: Order = Order { big: true };
const START: u64 = 1_700_000_000_123_456_000;

fn open(bytes: &[u8]) -> File {
    File::from_bytes(Box::new(Cursor::new(bytes.to_vec())), 0).expect("a capture")
}

fn packets(file: &mut File) -> Vec<Packet> {
    std::iter::from_fn(|| file.next_packet()).collect()
}

/// The packet and the counts of a capture with one frame.
fn read(link: u32, frame: &[u8]) -> (Option<Packet>, Tally) {
    let mut file = open(&pcap(LITTLE, true, link, &[(START, frame.to_vec())]));
    let packet = file.next_packet();
    assert!(packet.is_none() || file.next_packet().is_none());
    (packet, file.tally())
}

fn segment() -> Segment {
    Segment {
        options: vec![1, 1, 8, 10, 0, 0, 0, 7, 0, 0, 0, 9],
        ..Segment::new(1, 2, 70, 90, 300)
    }
}

/// Checks that a packet has the fields of the test's segment.
fn check(packet: &Packet) {
    assert_eq!((packet.seq, packet.ack, packet.payload), (70, 90, 300));
    assert_eq!((packet.source.port, packet.target.port), (5000, 6000));
    assert_eq!(packet.options.timestamps.map(|stamps| (stamps.value, stamps.echo)), Some((7, 9)));
}
