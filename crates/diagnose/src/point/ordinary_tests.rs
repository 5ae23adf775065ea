//! The short path of ordinary packets and the general path lead to the same state.

use std::io::Cursor;

use incast_capture::read::{Address, File, Options};

use super::*;

/// Random numbers (Marsaglia's xorshift).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, most: u64) -> u64 {
        self.next() % most
    }

    /// Whether an event with this probability (1/n) happens.
    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }
}

/// The identifications of a host's packets.
#[derive(Clone, Copy)]
enum Scheme {
    None,
    Zero,
    Random,
    PerConnection,
    PerHost,
}

const SCHEMES: [Scheme; 8] = [
    Scheme::None,
    Scheme::Zero,
    Scheme::Random,
    Scheme::PerHost,
    Scheme::PerConnection,
    Scheme::PerConnection,
    Scheme::PerConnection,
    Scheme::PerConnection,
];

/// The client has side 0, and its server side 1.
#[derive(Clone, Copy)]
struct Pair {
    ends: [Endpoint; 2],
    next: [u32; 2],
    /// The bytes of each end that the other end has acknowledged.
    acked: [u32; 2],
    ids: [u16; 2],
    opened: bool,
    stamped: bool,
    scale: Option<u8>,
}

/// A client that reads from several servers through a bad network.
struct World {
    dice: Dice,
    now: i64,
    pairs: Vec<Pair>,
    schemes: [Scheme; 2],
    host_ids: [u16; 2],
    /// One of this number of packets is unusual.
    bad: u64,
    /// The longest time to the next packet, in nanoseconds, unless there is a pause.
    pace: u64,
    packets: Vec<Packet>,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let end = |host, port| Endpoint { address: Address::v4([10, 0, 0, host]), port };
        let pairs = (0..=dice.below(4) as u8).map(|host| Pair {
            ends: [end(1 + 20 * (seed % 2) as u8, 40_000 + u16::from(host)), end(2 + host % 3, 80)],
            next: [dice.next() as u32, dice.next() as u32],
            acked: [0; 2],
            ids: [dice.next() as u16, dice.next() as u16],
            opened: false,
            stamped: dice.one_in(3),
            scale: (!dice.one_in(3)).then_some(5),
        });
        let pairs = pairs.collect();
        let schemes = [dice.of(&SCHEMES), dice.of(&SCHEMES)];
        let (bad, pace) = (dice.of(&[5, 20, 100]), dice.of(&[30_000, 30_000, 40_000_000]));
        let host_ids = [dice.next() as u16, dice.next() as u16];
        Self { dice, now: 5_000_000_000, pairs, schemes, host_ids, bad, pace, packets: Vec::new() }
    }

    fn id(&mut self, at: usize, side: usize, segments: u16) -> Option<u16> {
        let counter = match self.schemes[side] {
            Scheme::None => return None,
            Scheme::Zero => return Some(0),
            Scheme::Random => return Some(self.dice.next() as u16),
            Scheme::PerConnection => &mut self.pairs[at].ids[side],
            Scheme::PerHost => &mut self.host_ids[side],
        };
        let id = *counter;
        *counter = id.wrapping_add(segments);
        Some(id)
    }

    fn options(&mut self, at: usize, opens: bool) -> Options {
        let pair = self.pairs[at];
        let mut bytes = Vec::new();
        if opens {
            bytes.extend([2, 4, 5, 180, 4, 2]);
            bytes.extend(pair.scale.into_iter().flat_map(|scale| [3, 3, scale]));
        }
        if pair.stamped {
            let tick = (self.now / 1_000_000) as u32;
            bytes.extend([8, 10]);
            bytes.extend(tick.to_be_bytes());
            bytes.extend(tick.wrapping_sub(self.dice.below(3) as u32).to_be_bytes());
        }
        if !opens && self.dice.one_in(2 * self.bad) {
            let first = pair.next[1].wrapping_sub(self.dice.below(6000) as u32);
            bytes.extend([5, 10]);
            bytes.extend(first.to_be_bytes());
            bytes.extend(first.wrapping_add(1448).to_be_bytes());
        }
        Options::parse(&bytes)
    }

    /// Sends a packet of an end, which nearly always reaches the vantage point.
    fn send(&mut self, (at, side): (usize, usize), seq: u32, payload: u32, bits: u8) {
        let pair = self.pairs[at];
        self.now += match self.dice.below(8 * self.bad) {
            0 => 1_000_000 * self.dice.below(400) as i64,
            1 => -1_000 * self.dice.below(900) as i64,
            2 => -3_000_000,
            _ => self.dice.below(self.pace) as i64,
        };
        let id = self.id(at, side, payload.div_ceil(1448).max(1) as u16);
        let options = self.options(at, bits & flags::SYN != 0);
        let odd = self.dice.one_in(self.bad);
        let packet = Packet {
            time: self.now,
            frame: self.packets.len() as u64 + 1,
            source: pair.ends[side],
            target: pair.ends[1 - side],
            seq,
            ack: pair.acked[1 - side],
            flags: bits | if odd { self.dice.of(&[0, 8, flags::ECE]) } else { 0 },
            window: if odd { self.dice.of(&[0, 3, 40, 900, 65_535]) } else { 2000 },
            payload,
            size: payload + 40,
            id,
            marked: self.dice.one_in(self.bad),
            options,
            ..Packet::default()
        };
        match self.dice.below(3 * self.bad) {
            0 => {} // lost before the point
            1 => self.packets.extend([packet; 2]),
            2 if !self.packets.is_empty() => self.packets.insert(self.packets.len() - 1, packet),
            _ => self.packets.push(packet),
        }
    }

    fn open(&mut self, at: usize) {
        let both = flags::SYN | flags::ACK;
        if !self.dice.one_in(6) {
            let [client, server] = self.pairs[at].next;
            self.send((at, 0), client, 0, flags::SYN);
            self.pairs[at].acked[0] = client.wrapping_add(1);
            self.send((at, 1), server, 0, both);
            self.pairs[at].next = [client, server].map(|seq| seq.wrapping_add(1));
        }
        self.pairs[at].acked = self.pairs[at].next;
        self.pairs[at].opened = true;
        self.send((at, 0), self.pairs[at].next[0], 0, flags::ACK);
    }

    /// An end sends new bytes, or bytes that it has sent before.
    fn data(&mut self, at: usize, side: usize, payload: u32) {
        let next = self.pairs[at].next[side];
        if self.dice.one_in(self.bad) {
            let before = self.dice.of(&[self.pairs[at].acked[side], next.wrapping_sub(1448)]);
            return self.send((at, side), before, payload, flags::ACK);
        }
        self.pairs[at].next[side] = next.wrapping_add(payload);
        self.send((at, side), next, payload, flags::ACK);
    }

    /// An end acknowledges some of the bytes that the other end has sent.
    fn ack(&mut self, at: usize, side: usize) {
        let Pair { next, acked, .. } = self.pairs[at];
        let most = (next[1 - side].wrapping_sub(acked[1 - side]) as i32).max(0) as u32;
        let step = if self.dice.one_in(4) { most / 2 } else { most };
        let far = if self.dice.one_in(20 * self.bad) { 3000 } else { 0 };
        self.pairs[at].acked[1 - side] = acked[1 - side].wrapping_add(step + far);
        self.send((at, side), next[side], 0, flags::ACK);
    }

    fn step(&mut self) {
        let at = self.dice.below(self.pairs.len() as u64) as usize;
        if !self.pairs[at].opened {
            return self.open(at);
        }
        match self.dice.below(24) {
            0 => {
                let length = 100 + self.dice.below(900) as u32;
                self.data(at, 0, length);
                self.pairs[at].acked[0] = self.pairs[at].next[0];
                self.data(at, 1, 1448);
            }
            1 => (0..3).for_each(|_| self.ack(at, 1)),
            2 if self.dice.one_in(self.bad) => {
                let bits = self.dice.of(&[flags::FIN, flags::RST]) | flags::ACK;
                let payload = self.dice.of(&[0, 300]);
                for side in 0..=self.dice.below(2) as usize {
                    let next = self.pairs[at].next[side];
                    self.send((at, side), next, payload, bits);
                    self.pairs[at].next[side] = next.wrapping_add(payload);
                }
                self.pairs[at].opened = self.dice.one_in(2);
            }
            3..15 => {
                let length = match self.dice.below(2 * self.bad) {
                    0 => self.dice.below(1600) as u32,
                    1 => 1,
                    2 => 1448 * (1 + self.dice.below(8) as u32),
                    _ => 1448,
                };
                self.data(at, 1, length);
                if self.dice.one_in(2) {
                    self.ack(at, 0);
                }
            }
            _ => self.ack(at, 0),
        }
    }
}

/// The whole state of a point, without the last use of each identification.
fn state(point: &Point) -> String {
    let Point { connections, hosts, stalls, episodes, blocks, evidence, intake, .. } = point;
    let Point { silences, black_holes, parameters, opened, unlisted, packets, .. } = point;
    let receivers: Vec<_> = hosts.receivers().collect();
    format!(
        "{connections:?} {receivers:?} {stalls:?} {episodes:?} {blocks:?} {evidence:?} {intake:?} \
         {silences:?} {black_holes:?} {parameters:?} {opened} {unlisted} {packets}"
    )
}

/// Gives the packets to both paths, and compares the states after each `every` packets. Returns the
/// number of ordinary packets.
fn compare(packets: &[Packet], every: usize, name: &str) -> u64 {
    let mut short = Point::new(3);
    let mut general = Point { predicts: false, ..Point::new(3) };
    for (number, packet) in packets.iter().enumerate() {
        short.take(packet);
        general.take(packet);
        if number % every == 0 {
            assert_eq!(state(&short), state(&general), "{name}, packet {number}: {packet:?}");
        }
    }
    let numbers = |point: &Point| format!("{:?}", point.hosts.numbering);
    assert!(numbers(&short) == numbers(&general), "{name}");
    short.finish();
    general.finish();
    assert_eq!(state(&short), state(&general), "{name}");
    assert_eq!(general.predicted, 0);
    short.predicted
}

#[test]
fn both_paths_lead_to_the_same_state() {
    let (mut ordinary, mut all) = (0, 0);
    for seed in 1..=400 {
        let mut world = World::new(seed);
        (0..250).for_each(|_| world.step());
        ordinary += compare(&world.packets, 5, &seed.to_string());
        all += world.packets.len() as u64;
    }
    assert!(6 * ordinary > all && 2 * ordinary < all, "{ordinary} of {all}");
}

#[test]
fn both_paths_read_files_in_the_same_way() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../capture/fuzz/corpus/read");
    let entries = std::fs::read_dir(folder).expect("the corpus of the fuzzer");
    let mut dice = Dice(0x1ca5_7000_0003);
    for path in entries.map(|entry| entry.expect("a file").path()) {
        let bytes = std::fs::read(&path).expect("bytes");
        for round in 0..200 {
            let mut bytes = bytes.clone();
            for _ in 0..round % 8 {
                let at = dice.below(bytes.len() as u64) as usize;
                bytes[at] ^= 1 << dice.below(8);
            }
            let Ok(mut file) = File::from_bytes(Box::new(Cursor::new(bytes)), 0) else { continue };
            let packets: Vec<Packet> = std::iter::from_fn(|| file.next_packet()).collect();
            compare(&packets, 7, &format!("{}, round {round}", path.display()));
        }
    }
}
