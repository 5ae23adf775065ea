//! One capture file, packet by packet.

use std::io::{Error, Read};
use std::path::{Path, PathBuf};

use super::buffer::Buffer;
use super::decode::{self, Other, plain};
use super::pcap::Pcap;
use super::pcapng::Pcapng;
use super::record::Next;
use super::{Count, Packet, Tally, source};

/// The end of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The file ended after a whole frame.
    Whole,
    /// The file ended in the middle of a frame; everything before this frame was read.
    Cut,
    /// The reading ended at this byte of the decompressed file, because the next bytes cannot
    /// belong to a capture.
    Damaged(u64, String),
}

/// The reason why a file cannot be read as a capture, as one line of text.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The system returned an error.
    #[error("{}: {}", .0.display(), system(.1))]
    Io(PathBuf, Error),
    /// The file is of another kind.
    #[error("{}: must be a pcap or pcapng file (plain, gzip or zstd)", .0.display())]
    Kind(PathBuf),
    /// The file is empty.
    #[error("{}: is empty; must be a pcap or pcapng file", .0.display())]
    Empty(PathBuf),
}

/// The system's error message, without its number.
fn system(error: &Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}

enum Format {
    Pcap(Pcap),
    Pcapng(Pcapng),
    /// The reading was stopped before the kind of the file was known.
    Unknown,
}

/// Number of frames between two checks of the stop flag.
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
    /// Opens a file, or standard input for `-`. If `count` is stopped before the file is open, the
    /// file has no packets.
    ///
    /// # Errors
    /// The file cannot be read, or is no capture.
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

    /// Reads bytes as a file, and decompresses them if necessary.
    ///
    /// # Errors
    /// The bytes are no capture.
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

    /// The counts of the frames that have been read so far.
    pub fn tally(&self) -> Tally {
        let mut tally = self.tally.clone();
        if let Format::Pcapng(format) = &self.format {
            tally.dropped = format.drops();
        }
        tally
    }

    /// The way in which the file ended, or `None` before its end. Stopping the reading does not
    /// count as an end.
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
            if let Some(packet) = plain::packet(&frame) {
                self.tally.packets += 1;
                return Some(Packet { frame: self.tally.frames, file: self.number, ..packet });
            }
            match decode::packet(frame.link, frame.bytes, frame.length) {
                Ok(packet) => {
                    self.tally.packets += 1;
                    if let Some(tunnel) = packet.tunnel {
                        self.tally.carried_by(tunnel);
                    }
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
