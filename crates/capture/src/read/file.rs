//! One capture file, packet by packet.

use std::io::{Error, Read};
use std::path::{Path, PathBuf};

use super::buffer::Buffer;
use super::decode::{self, Other};
use super::pcap::Pcap;
use super::pcapng::Pcapng;
use super::{Count, Packet, Tally, source};

/// A frame as the file has it.
pub struct Frame<'a> {
    /// Nanoseconds since 1970.
    pub time: i64,
    pub link: u32,
    /// Bytes on the wire.
    pub length: u32,
    /// Those that were captured.
    pub bytes: &'a [u8],
}

/// What comes next in a file.
pub enum Next<'a> {
    Frame(Frame<'a>),
    End,
    Cut,
    /// From this byte of the decompressed file on.
    Damaged(u64, String),
}

/// How a file has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// As it should.
    Whole,
    /// In the middle of a frame; everything before it was read.
    Cut,
    /// With something that no capture has, at this byte of the decompressed file.
    Damaged(u64, String),
}

/// A file that cannot be read as a capture; one line.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The system's answer.
    #[error("{}: {}", .0.display(), system(.1))]
    Io(PathBuf, Error),
    /// Another kind of file.
    #[error("{}: must be a pcap or pcapng file, also compressed by gzip or zstd", .0.display())]
    Kind(PathBuf),
    /// Nothing in it.
    #[error("{}: is empty; must be a pcap or pcapng file", .0.display())]
    Empty(PathBuf),
}

/// The system's reason, without its number.
fn system(error: &Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}

enum Format {
    Pcap(Pcap),
    Pcapng(Pcapng),
    /// The reading was stopped before the file had said what it is.
    Unknown,
}

/// Frames between two looks at whether to stop.
const CHECK: u64 = 1 << 12;

/// A capture file.
pub struct File {
    buffer: Buffer,
    format: Format,
    number: u16,
    tally: Tally,
    end: Option<End>,
    count: Count,
}

impl File {
    /// Opens a file, or standard input for `-`. If `count` is stopped meanwhile, it has no packets.
    ///
    /// # Errors
    /// It cannot be read, or is no capture.
    pub fn open(path: &Path, number: u16, count: &Count) -> Result<Self, OpenError> {
        let input = source::open(path, count);
        match Self::new(input, path, number, count) {
            Err(OpenError::Io(..)) if count.is_stopped() => {
                let buffer = Buffer::new(Box::new(std::io::empty()), count);
                Ok(Self::of(buffer, Format::Unknown, number, count))
            }
            opened => opened,
        }
    }

    /// Reads bytes that are decompressed if they must be.
    ///
    /// # Errors
    /// They are no capture.
    pub fn from_bytes(bytes: Box<dyn Read + Send>, number: u16) -> Result<Self, OpenError> {
        let count = Count::default();
        Self::new(source::plain(bytes, &count), Path::new("-"), number, &count)
    }

    fn new(
        input: Result<Box<dyn Read + Send>, Error>,
        path: &Path,
        number: u16,
        count: &Count,
    ) -> Result<Self, OpenError> {
        let failed = |error| OpenError::Io(path.into(), error);
        let mut buffer = Buffer::new(input.map_err(failed)?, count);
        let format = if let Some(pcap) = Pcap::open(&mut buffer).map_err(failed)? {
            Format::Pcap(pcap)
        } else if let Some(pcapng) = Pcapng::open(&mut buffer).map_err(failed)? {
            Format::Pcapng(pcapng)
        } else if buffer.bytes().is_empty() {
            return Err(OpenError::Empty(path.into()));
        } else {
            return Err(OpenError::Kind(path.into()));
        };
        Ok(Self::of(buffer, format, number, count))
    }

    fn of(buffer: Buffer, format: Format, number: u16, count: &Count) -> Self {
        let (tally, count) = (Tally::default(), count.clone());
        Self { buffer, format, number, tally, end: None, count }
    }

    /// What has been read so far.
    pub fn tally(&self) -> Tally {
        let mut tally = self.tally.clone();
        if let Format::Pcapng(format) = &self.format {
            tally.dropped = format.drops();
        }
        tally
    }

    /// How it has ended, once it has. A reading that is stopped does not end a file.
    pub fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// The next TCP packet.
    pub fn next_packet(&mut self) -> Option<Packet> {
        while self.end.is_none() {
            if self.tally.frames.is_multiple_of(CHECK) && self.count.is_stopped() {
                return None;
            }
            let next = match &mut self.format {
                Format::Pcap(format) => format.next(&mut self.buffer),
                Format::Pcapng(format) => format.next(&mut self.buffer),
                Format::Unknown => return None,
            };
            let frame = match next {
                Ok(Next::Frame(frame)) => frame,
                Ok(Next::End) => return self.stop(End::Whole),
                Ok(Next::Cut) => return self.stop(End::Cut),
                Ok(Next::Damaged(place, what)) => return self.stop(End::Damaged(place, what)),
                Err(_) if self.count.is_stopped() => return None,
                Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
                    return self.stop(End::Cut);
                }
                Err(error) => {
                    return self.stop(End::Damaged(self.buffer.offset(), system(&error)));
                }
            };
            self.tally.frames += 1;
            match decode::packet(frame.link, frame.bytes, frame.length) {
                Ok(packet) => {
                    self.tally.packet(packet.tunnel);
                    let (time, frame) = (frame.time, self.tally.frames);
                    return Some(Packet { time, frame, file: self.number, ..packet });
                }
                Err(Other::Kind(kind)) => self.tally.other(kind),
                Err(Other::Short) => self.tally.short += 1,
                Err(Other::Fragment) => self.tally.fragments += 1,
                Err(Other::Malformed) => self.tally.malformed += 1,
            }
        }
        None
    }

    fn stop(&mut self, end: End) -> Option<Packet> {
        self.end = Some(end);
        None
    }
}
