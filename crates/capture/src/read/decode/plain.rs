//! The short path of plain frames: Ethernet II, IPv4 without options, and TCP with no option or only
//! timestamps.
//!
//! Nearly all frames of most captures are plain, and every field of a plain frame has a fixed place.
//! All other frames, also damaged and truncated ones, are left to the layers of [`super::packet`].

use super::super::record::Frame;
use super::super::{Address, Endpoint, Options, Packet, Timestamps};

/// The link type of Ethernet.
const ETHERNET: u32 = 1;
/// The place of the IPv4 header, of the TCP header, and of the TCP options.
const IP: usize = 14;
const TCP: usize = IP + 20;
const OPTIONS: usize = TCP + 20;
/// The end of the TCP options, if these are timestamps.
const END: usize = OPTIONS + 12;

/// Ethertype, version and length of an IPv4 header without options.
const VERSION: [u8; 3] = [0x08, 0x00, 0x45];
/// The protocol number of TCP.
const PROTOCOL: u8 = 6;
/// Timestamps in the form that RFC 7323 appendix A recommends.
const STAMPS: [u8; 4] = [1, 1, 8, 10];

/// The packet in a frame, if the frame is plain.
#[inline]
pub fn packet(frame: &Frame<'_>) -> Option<Packet> {
    let bytes: &[u8; OPTIONS] = frame.bytes.first_chunk()?;
    let pair = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
    let address = |at: usize| [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
    let long = |at: usize| u32::from_be_bytes(address(at));
    let is_later_fragment = pair(IP + 6) & 0x1fff != 0;
    let is_tcp = bytes[IP - 2..=IP] == VERSION && bytes[IP + 9] == PROTOCOL;
    if frame.link != ETHERNET || !is_tcp || is_later_fragment {
        return None;
    }
    let (timestamps, headers) = match bytes[TCP + 12] >> 4 {
        5 => (None, OPTIONS - IP),
        8 => (Some(stamps(frame.bytes.get(OPTIONS..END)?)?), END - IP),
        _ => return None,
    };
    // A length of zero, which offloads leave, is shorter than the headers, too.
    let size = u32::from(pair(IP + 2));
    let payload = size.checked_sub(headers as u32)?;
    let source = Endpoint { address: Address::v4(address(IP + 12)), port: pair(TCP) };
    let target = Endpoint { address: Address::v4(address(IP + 16)), port: pair(TCP + 2) };
    Some(Packet {
        time: frame.time,
        source,
        target,
        seq: long(TCP + 4),
        ack: long(TCP + 8),
        flags: bytes[TCP + 13],
        window: pair(TCP + 14),
        payload,
        size,
        id: Some(pair(IP + 4)),
        ttl: bytes[IP + 8],
        marked: bytes[IP + 1] & 3 == 3, // congestion experienced (RFC 3168 §5)
        options: Options::only(timestamps),
        ..Packet::default()
    })
}

/// The timestamps, if these are the only option.
fn stamps(options: &[u8]) -> Option<Timestamps> {
    let long = |at: usize| Some(u32::from_be_bytes(*options.get(at..)?.first_chunk()?));
    if !options.starts_with(&STAMPS) {
        return None;
    }
    Some(Timestamps { value: long(4)?, echo: long(8)? })
}

#[cfg(test)]
mod tests {
    use super::super::packet as layered;
    use super::*;
    use crate::wire::{self, flag};

    /// Random numbers (Marsaglia's xorshift).
    struct Dice(u64);

    impl Dice {
        fn next(&mut self) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0
        }

        fn below(&mut self, most: usize) -> usize {
            (self.next() % most as u64) as usize
        }
    }

    /// A random segment of TCP in an Ethernet frame, with up to three changed bytes in its headers.
    fn random(dice: &mut Dice) -> Vec<u8> {
        let end = |number: u64| wire::Endpoint {
            address: (number as u32).to_be_bytes(),
            port: (number >> 32) as u16,
        };
        let is = |number: u64| number.is_multiple_of(4);
        let options = wire::Options {
            timestamps: is(dice.next()).then(|| (dice.next() as u32, dice.next() as u32)),
            mss: is(dice.next()).then_some(1460),
            ..wire::Options::default()
        };
        let segment = wire::Segment {
            from: end(dice.next()),
            to: end(dice.next()),
            tos: dice.next() as u8,
            id: dice.next() as u16,
            flags: dice.next() as u8 | flag::ACK,
            seq: dice.next() as u32,
            ack: dice.next() as u32,
            window: dice.next() as u16,
            options,
            payload: dice.below(1 << 17) as u32,
        };
        let mut frame = Vec::new();
        wire::write_segment(&segment, &mut frame);
        frame.resize(frame.len() + dice.below(40), 0);
        for _ in 0..dice.below(4) {
            let at = dice.below(frame.len());
            frame[at] = match dice.below(2) {
                0 => frame[at] ^ 1 << dice.below(8),
                _ => dice.next() as u8,
            };
        }
        frame
    }

    #[test]
    fn the_short_path_and_the_layers_read_the_same() {
        let mut dice = Dice(0x1ca5_7000_0001);
        let mut plain = 0;
        for _ in 0..200_000 {
            let bytes = random(&mut dice);
            let length = bytes.len() as u32;
            let captured = if dice.below(2) == 0 { bytes.len() } else { dice.below(bytes.len()) };
            let link = if dice.below(16) == 0 { 101 } else { ETHERNET };
            let frame = Frame { time: 0, link, length, bytes: &bytes[..captured] };
            if let Some(found) = packet(&frame) {
                assert_eq!(Ok(found), layered(link, frame.bytes, length), "{:?}", frame.bytes);
                plain += 1;
            }
        }
        assert!(plain > 30_000, "{plain}");
    }

    /// A frame with these options and its bytes from the TCP options on.
    fn frame(options: wire::Options) -> Vec<u8> {
        let mut bytes = Vec::new();
        let segment =
            wire::Segment { flags: flag::ACK, payload: 700, options, ..wire::Segment::default() };
        wire::write_segment(&segment, &mut bytes);
        bytes
    }

    #[test]
    fn frames_with_no_option_or_timestamps_are_plain_if_their_headers_were_captured() {
        let is_plain =
            |link, bytes: &[u8]| packet(&Frame { time: 0, link, length: 2000, bytes }).is_some();
        let bare = frame(wire::Options::default());
        let stamped = wire::Options { timestamps: Some((3, 4)), ..wire::Options::default() };
        let stamped = frame(stamped);
        let sack = wire::Options { sack: [(1, 2); 3], ..wire::Options::default() };
        assert_eq!((bare.len(), stamped.len()), (54, 66));
        assert!(is_plain(1, &bare) && is_plain(1, &stamped) && !is_plain(1, &frame(sack)));
        assert!(!is_plain(1, &bare[..53]) && !is_plain(1, &stamped[..65]));
        assert!(!is_plain(101, &bare));
        let changed = |at: usize, value: u8| {
            let mut bytes = bare.clone();
            bytes[at] = value;
            is_plain(1, &bytes)
        };
        assert!(changed(20, 0x40), "may not be fragmented");
        assert!(changed(20, 0x20), "the first fragment has the header");
        assert!(!changed(20, 1) && !changed(21, 1), "a later one does not");
        assert!(!changed(12, 0x86) && !changed(14, 0x46) && !changed(23, 17) && !changed(46, 0x60));
        let long = |length: u16| {
            let mut bytes = bare.clone();
            bytes[16..18].copy_from_slice(&length.to_be_bytes());
            is_plain(1, &bytes)
        };
        assert!(long(40) && !long(39) && !long(0), "as long as its headers");
    }
}
