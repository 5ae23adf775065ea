//! A buffer over the bytes of an input.

use std::io::{ErrorKind, Read, Result};

use super::Count;

const FIRST: usize = 1 << 18;

/// The unread bytes of an input, of which any number can be looked at once they have arrived.
pub struct Buffer {
    input: Box<dyn Read + Send>,
    count: Count,
    bytes: Vec<u8>,
    /// The unread ones are `bytes[start..end]`.
    start: usize,
    end: usize,
    /// Bytes consumed so far.
    offset: u64,
}

impl Buffer {
    pub fn new(input: Box<dyn Read + Send>, count: &Count) -> Self {
        let count = count.clone();
        Self { input, count, bytes: vec![0; FIRST], start: 0, end: 0, offset: 0 }
    }

    /// Where the next unread byte is in the input.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Reads until `wanted` bytes are there, and returns whether they are. The buffer grows by
    /// doubling, after the input has filled it. It is an error if the reading is to end.
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

    /// Passes over bytes without keeping them; returns whether there were as many.
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
}
