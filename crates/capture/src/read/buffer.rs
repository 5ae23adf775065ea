//! A buffer over the bytes of an input, and numbers in these bytes.

use std::io::{ErrorKind, Read, Result};

use super::Count;

const FIRST: usize = 1 << 18;

/// The unread bytes of an input. A caller can examine any number of unread bytes that have arrived.
pub struct Buffer {
    input: Box<dyn Read + Send>,
    count: Count,
    bytes: Vec<u8>,
    /// The unread bytes are `bytes[start..end]`.
    start: usize,
    end: usize,
    /// Number of bytes consumed so far.
    offset: u64,
}

impl Buffer {
    pub fn new(input: Box<dyn Read + Send>, count: &Count) -> Self {
        let count = count.clone();
        Self { input, count, bytes: vec![0; FIRST], start: 0, end: 0, offset: 0 }
    }

    /// The position of the next unread byte in the input.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Reads until the buffer has `wanted` unread bytes. Returns false if the input ends before.
    /// The buffer's size doubles when the buffer is full. Returns an error if the reading was
    /// stopped.
    #[inline]
    pub fn fill(&mut self, wanted: usize) -> Result<bool> {
        if self.end - self.start >= wanted { Ok(true) } else { self.read(wanted) }
    }

    fn read(&mut self, wanted: usize) -> Result<bool> {
        while self.end - self.start < wanted {
            if self.start > 0 && self.end == self.bytes.len() {
                self.bytes.copy_within(self.start..self.end, 0);
                self.end -= self.start;
                self.start = 0;
            }
            if self.end == self.bytes.len() {
                self.bytes.resize(2 * self.bytes.len(), 0);
            }
            self.count.go_on()?;
            match self.input.read(&mut self.bytes[self.end..]) {
                Ok(0) => return Ok(false),
                Ok(count) => self.end += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// The unread bytes that have arrived.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Consumes bytes that have arrived, and returns them.
    pub fn take(&mut self, count: usize) -> &[u8] {
        let from = self.start;
        self.start += count.min(self.end - from);
        self.offset += (self.start - from) as u64;
        &self.bytes[from..self.start]
    }

    /// Skips `count` bytes without keeping them, and returns whether the input had that many bytes.
    pub fn skip(&mut self, mut count: u64) -> Result<bool> {
        while count > 0 {
            if self.start == self.end && !self.fill(1)? {
                return Ok(false);
            }
            let step = count.min((self.end - self.start) as u64);
            self.take(step as usize);
            count -= step;
        }
        Ok(true)
    }
}

/// Four bytes as a number.
pub fn four(bytes: &[u8], at: usize, big_endian: bool) -> u32 {
    let mut number = [0; 4];
    number.copy_from_slice(&bytes[at..at + 4]);
    if big_endian { u32::from_be_bytes(number) } else { u32::from_le_bytes(number) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_arrived_before_a_stop_is_there_and_nothing_else() {
        let count = Count::default();
        let mut buffer = Buffer::new(Box::new(std::io::repeat(7)), &count);
        assert!(buffer.fill(1).unwrap());
        count.stop();
        assert!(buffer.fill(FIRST).unwrap());
        assert!(buffer.fill(FIRST + 1).is_err());
        assert!(buffer.skip(1 << 40).is_err());
    }

    /// An input that gives its bytes in these pieces, with an interruption before each piece.
    struct Pieces(Vec<Vec<u8>>, bool);

    impl Pieces {
        fn of(lengths: &[usize]) -> Buffer {
            let mut next = 0;
            let mut piece = |&length: &usize| {
                let bytes = (next..next + length).map(|byte| byte as u8).collect();
                next += length;
                bytes
            };
            let mut pieces: Vec<_> = lengths.iter().map(&mut piece).collect();
            pieces.reverse();
            Buffer::new(Box::new(Self(pieces, false)), &Count::default())
        }
    }

    impl Read for Pieces {
        fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(ErrorKind::Interrupted.into());
            }
            let Some(mut piece) = self.0.pop() else { return Ok(0) };
            let count = piece.len().min(buffer.len());
            buffer[..count].copy_from_slice(&piece[..count]);
            if count < piece.len() {
                self.0.push(piece.split_off(count));
            }
            Ok(count)
        }
    }

    #[test]
    fn a_skip_passes_over_as_many_bytes_as_it_is_told() {
        let mut buffer = Pieces::of(&[5, 5, 5]);
        assert!(buffer.fill(5).unwrap());
        assert_eq!(buffer.take(3), [0, 1, 2]);
        assert!(buffer.skip(5).unwrap(), "two that are there, and three more");
        assert_eq!((buffer.offset(), buffer.bytes()), (8, &[8, 9][..]));
        assert!(buffer.skip(0).unwrap());
        assert_eq!((buffer.offset(), buffer.bytes()), (8, &[8, 9][..]));
        assert!(buffer.skip(7).unwrap(), "all that are left");
        assert_eq!((buffer.offset(), buffer.bytes()), (15, &[][..]));
        assert!(buffer.skip(0).unwrap());
        assert!(!buffer.skip(1).unwrap());
        let mut short = Pieces::of(&[5, 5, 5]);
        assert!(!short.skip(16).unwrap());
        assert_eq!(short.offset(), 15);
    }

    #[test]
    fn bytes_are_read_only_when_they_are_wanted() {
        let mut buffer = Pieces::of(&[4, 4, 4]);
        assert!(buffer.fill(0).unwrap() && buffer.bytes().is_empty());
        assert!(buffer.fill(4).unwrap());
        assert_eq!(buffer.bytes(), [0, 1, 2, 3]);
        assert!(buffer.fill(5).unwrap());
        assert_eq!(buffer.bytes().len(), 8);
        assert_eq!(buffer.take(6), [0, 1, 2, 3, 4, 5]);
        assert!(buffer.fill(2).unwrap());
        assert_eq!((buffer.offset(), buffer.bytes()), (6, &[6, 7][..]));
        assert!(!buffer.fill(7).unwrap(), "six are left");
        assert_eq!(buffer.bytes().len(), 6);
        assert_eq!(buffer.take(9).len(), 6);
        assert_eq!(buffer.offset(), 12);
    }

    #[test]
    fn what_is_left_moves_to_the_front_before_the_buffer_grows() {
        assert_eq!(FIRST, 262_144);
        let mut buffer = Pieces::of(&[3 * FIRST]);
        assert!(buffer.fill(FIRST).unwrap());
        buffer.take(FIRST - 2);
        assert!(buffer.fill(FIRST).unwrap());
        assert_eq!(buffer.bytes.len(), FIRST, "there was room");
        let at = FIRST - 2;
        assert!(buffer.bytes().iter().enumerate().all(|(byte, it)| *it == (at + byte) as u8));
        assert_eq!(buffer.bytes().len(), FIRST);
        assert!(buffer.fill(FIRST + 1).unwrap());
        assert_eq!(buffer.bytes.len(), 2 * FIRST);
        assert!(buffer.bytes().iter().enumerate().all(|(byte, it)| *it == (at + byte) as u8));
        assert!(buffer.fill(2 * FIRST).unwrap());
        assert_eq!(buffer.bytes.len(), 2 * FIRST);
        assert!(!buffer.fill(2 * FIRST + 3).unwrap(), "one less is left");
    }

    #[test]
    fn an_input_that_fails_is_an_error() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> Result<usize> {
                Err(ErrorKind::PermissionDenied.into())
            }
        }
        let mut buffer = Buffer::new(Box::new(Broken), &Count::default());
        assert!(buffer.fill(1).is_err() && buffer.skip(1).is_err());
        assert!(buffer.fill(0).unwrap());
    }
}
