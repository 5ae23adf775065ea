//! The records of a pcap file (draft-ietf-opsawg-pcap).

use std::io::Result;

use super::buffer::{Buffer, four};
use super::record::{Frame, MOST, Next};

/// The properties of a file that its header gives.
pub struct Pcap {
    big_endian: bool,
    /// Nanoseconds per unit of the second time field.
    unit: u32,
    link: u32,
    /// Bytes of a record's header: 16, or more in a dialect of the format from Linux 2.
    header: usize,
}

impl Pcap {
    /// Reads the header of the file; `None` if the file is not of this kind.
    pub fn open(buffer: &mut Buffer) -> Result<Option<Self>> {
        if !buffer.fill(24)? {
            return Ok(None);
        }
        let start = buffer.bytes();
        let magic = [start[0], start[1], start[2], start[3]];
        let (big_endian, unit, header) = match magic {
            [0xa1, 0xb2, 0xc3, 0xd4] => (true, 1000, 16),
            [0xd4, 0xc3, 0xb2, 0xa1] => (false, 1000, 16),
            [0xa1, 0xb2, 0x3c, 0x4d] => (true, 1, 16),
            [0x4d, 0x3c, 0xb2, 0xa1] => (false, 1, 16),
            [0xa1, 0xb2, 0xcd, 0x34] => (true, 1000, 24),
            [0x34, 0xcd, 0xb2, 0xa1] => (false, 1000, 24),
            _ => return Ok(None),
        };
        let link = four(start, 20, big_endian) & 0xffff; // the upper bits: checksum length
        buffer.take(24);
        Ok(Some(Self { big_endian, unit, link, header }))
    }

    /// The next record.
    pub fn next<'a>(&mut self, buffer: &'a mut Buffer) -> Result<Next<'a>> {
        if !buffer.fill(self.header)? {
            return Ok(if buffer.bytes().is_empty() { Next::End } else { Next::Cut });
        }
        let field = |at| four(buffer.bytes(), at, self.big_endian);
        let (seconds, part, captured, length) = (field(0), field(4), field(8), field(12));
        if captured > MOST {
            let what = format!("a frame of {captured} bytes");
            return Ok(Next::Damaged(buffer.offset(), what));
        }
        let whole = self.header + captured as usize;
        if !buffer.fill(whole)? {
            return Ok(Next::Cut);
        }
        let time = i64::from(seconds) * 1_000_000_000 + i64::from(part) * i64::from(self.unit);
        let (link, skip) = (self.link, self.header);
        Ok(Next::Frame(Frame { time, link, length, bytes: &buffer.take(whole)[skip..] }))
    }
}
