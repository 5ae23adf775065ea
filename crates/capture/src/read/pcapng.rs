//! The blocks of a pcapng file (draft-ietf-opsawg-pcapng).

use std::io::Result;

use super::buffer::{Buffer, four};
use super::record::{Frame, MOST, Next};

const SECTION: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
const INTERFACE: u32 = 1;
const OLD_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const STATISTICS: u32 = 5;
const PACKET: u32 = 6;
/// The longest block of a known kind. Blocks of other kinds may be longer, and are skipped.
const MOST_BLOCK: u32 = MOST + (1 << 16);
const MOST_INTERFACES: usize = 1 << 16;

#[derive(Clone, Copy)]
struct Interface {
    link: u32,
    snaplen: u32,
    clock: Clock,
    /// Number of packets that the interface reports as dropped.
    drops: u64,
}

/// The conversion of ticks to nanoseconds.
#[derive(Clone, Copy)]
enum Scale {
    Times(u64),
    Over(u128),
    /// A tick is a second divided by this power of two.
    Binary(u8),
}

#[derive(Clone, Copy)]
struct Clock {
    scale: Scale,
    /// Nanoseconds that are added to every time.
    offset: i64,
}

const GIGA: u64 = 1_000_000_000;

impl Scale {
    /// The scale of an `if_tsresol`. Its high bit tells whether the other bits are an exponent of
    /// two or of ten.
    fn new(resolution: u8) -> Self {
        let exponent = resolution & 0x7f;
        match exponent {
            _ if resolution & 0x80 != 0 => Self::Binary(exponent),
            0..=9 => Self::Times(10_u64.pow(9 - u32::from(exponent))),
            _ => Self::Over(10_u128.pow(u32::from(exponent.min(38)) - 9)),
        }
    }
}

impl Clock {
    fn nanoseconds(self, high: u32, low: u32) -> i64 {
        let ticks = u64::from(high) << 32 | u64::from(low);
        let nanoseconds = match self.scale {
            Scale::Times(factor) => ticks.saturating_mul(factor),
            Scale::Over(divisor) => (u128::from(ticks) / divisor) as u64,
            Scale::Binary(exponent) => {
                let nanoseconds = (u128::from(ticks) * u128::from(GIGA)) >> exponent;
                u64::try_from(nanoseconds).unwrap_or(u64::MAX)
            }
        };
        let nanoseconds = i64::try_from(nanoseconds).unwrap_or(i64::MAX);
        let time = nanoseconds.saturating_add(self.offset);
        time.clamp(0, i64::MAX / 2) // up to the year 2116; other times are damage
    }
}

/// The state of a section: its byte order and its interfaces.
pub struct Pcapng {
    big_endian: bool,
    interfaces: Vec<Interface>,
    /// Number of dropped packets in sections that have ended.
    drops: u64,
}

impl Pcapng {
    /// Reads the first bytes of the file; `None` if the file is not of this kind.
    pub fn open(buffer: &mut Buffer) -> Result<Option<Self>> {
        let starts = buffer.fill(12)? && buffer.bytes().starts_with(&SECTION);
        Ok(starts.then(|| Self { big_endian: false, interfaces: Vec::new(), drops: 0 }))
    }

    /// Number of packets that the capture itself reports as dropped.
    pub fn drops(&self) -> u64 {
        self.interfaces.iter().fold(self.drops, |sum, one| sum.saturating_add(one.drops))
    }

    /// The frame of the next block that has a frame.
    pub fn next<'a>(&mut self, buffer: &'a mut Buffer) -> Result<Next<'a>> {
        loop {
            let place = buffer.offset();
            let damaged = |what: &str| Ok(Next::Damaged(place, what.to_owned()));
            if !buffer.fill(12)? {
                return Ok(if buffer.bytes().is_empty() { Next::End } else { Next::Cut });
            }
            if buffer.bytes().starts_with(&SECTION) {
                let order = four(buffer.bytes(), 8, true);
                self.big_endian = match order {
                    0x1a2b_3c4d => true,
                    0x4d3c_2b1a => false,
                    _ => return damaged("a section without byte order"),
                };
                self.drops = self.drops();
                self.interfaces.clear();
            }
            let kind = four(buffer.bytes(), 0, self.big_endian);
            let length = four(buffer.bytes(), 4, self.big_endian);
            if length < 12 || !length.is_multiple_of(4) {
                return damaged(&format!("a block of {length} bytes"));
            }
            if !matches!(kind, INTERFACE | OLD_PACKET | SIMPLE_PACKET | PACKET | STATISTICS) {
                if !buffer.skip(length.into())? {
                    return Ok(Next::Cut);
                }
                continue;
            }
            if length > MOST_BLOCK {
                return damaged(&format!("a block of {length} bytes"));
            }
            if !buffer.fill(length as usize)? {
                return Ok(Next::Cut);
            }
            let body = 8..length as usize - 4;
            if kind == INTERFACE && self.interfaces.len() == MOST_INTERFACES {
                return damaged(&format!("more than {MOST_INTERFACES} interfaces in a section"));
            }
            match kind {
                INTERFACE | STATISTICS => {
                    let big_endian = self.big_endian;
                    let told = buffer.take(length as usize);
                    let done = if kind == INTERFACE {
                        self.describe(&told[body], big_endian)
                    } else {
                        self.count(&told[body], big_endian)
                    };
                    if done.is_none() {
                        return damaged("an interface that is cut short");
                    }
                }
                _ => {
                    let whole = buffer.take(length as usize);
                    let frame = self.frame(kind, &whole[body]);
                    return match frame {
                        Some(frame) => Ok(Next::Frame(frame)),
                        None => damaged("a packet that does not fit its block"),
                    };
                }
            }
        }
    }

    fn describe(&mut self, body: &[u8], big_endian: bool) -> Option<()> {
        let fixed = body.get(..8)?;
        let mut clock = Clock { scale: Scale::new(6), offset: 0 };
        for (code, value) in Options::new(&body[8..], big_endian) {
            match (code, value.len()) {
                (9, 1) => clock.scale = Scale::new(value[0]),
                (14, 8) => {
                    let seconds = eight(value, big_endian) as i64;
                    clock.offset = seconds.saturating_mul(GIGA as i64);
                }
                _ => {}
            }
        }
        self.interfaces.push(Interface {
            link: if big_endian {
                u16::from_be_bytes([fixed[0], fixed[1]])
            } else {
                u16::from_le_bytes([fixed[0], fixed[1]])
            }
            .into(),
            snaplen: four(fixed, 4, big_endian),
            clock,
            drops: 0,
        });
        Some(())
    }

    fn count(&mut self, body: &[u8], big_endian: bool) -> Option<()> {
        let which = four(body.get(..12)?, 0, big_endian) as usize;
        if let Some(interface) = self.interfaces.get_mut(which) {
            let lost = Options::new(&body[12..], big_endian)
                .filter(|(code, value)| matches!(code, 5 | 7) && value.len() == 8)
                .fold(0_u64, |sum, (_, value)| sum.saturating_add(eight(value, big_endian)));
            interface.drops = lost;
        }
        Some(())
    }

    fn frame<'a>(&self, kind: u32, body: &'a [u8]) -> Option<Frame<'a>> {
        if kind == SIMPLE_PACKET {
            let length = four(body.get(..4)?, 0, self.big_endian);
            let interface = self.interfaces.first()?;
            let captured = (length.min(match interface.snaplen {
                0 => u32::MAX,
                snaplen => snaplen,
            }) as usize)
                .min(body.len() - 4);
            let bytes = &body[4..4 + captured];
            return Some(Frame { time: 0, link: interface.link, length, bytes });
        }
        let (fixed, rest) = body.split_first_chunk::<20>()?;
        let field = |at: usize| four(fixed, at, self.big_endian);
        let which = match kind {
            OLD_PACKET if self.big_endian => field(0) >> 16,
            OLD_PACKET => field(0) & 0xffff,
            _ => field(0),
        };
        let interface = self.interfaces.get(which as usize)?;
        let time = interface.clock.nanoseconds(field(4), field(8));
        let (captured, length) = (field(12) as usize, field(16));
        let bytes = rest.get(..captured)?;
        Some(Frame { time, link: interface.link, length, bytes })
    }
}

/// The options at the end of a block, each with its code and value.
struct Options<'a> {
    rest: &'a [u8],
    big_endian: bool,
}

impl<'a> Options<'a> {
    fn new(rest: &'a [u8], big_endian: bool) -> Self {
        Self { rest, big_endian }
    }
}

impl<'a> Iterator for Options<'a> {
    type Item = (u16, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let head = self.rest.get(..4)?;
        let number = if self.big_endian { u16::from_be_bytes } else { u16::from_le_bytes };
        let (code, length) = (number([head[0], head[1]]), number([head[2], head[3]]));
        if code == 0 {
            return None;
        }
        let length = usize::from(length);
        let value = self.rest.get(4..4 + length)?;
        self.rest = self.rest.get(4 + length.next_multiple_of(4)..).unwrap_or_default();
        Some((code, value))
    }
}

fn eight(bytes: &[u8], big_endian: bool) -> u64 {
    let (first, second) = (four(bytes, 0, big_endian), four(bytes, 4, big_endian));
    let (high, low) = if big_endian { (first, second) } else { (second, first) };
    u64::from(high) << 32 | u64::from(low)
}
