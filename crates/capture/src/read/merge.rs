//! Several files as one stream in order of time.

use std::path::{Path, PathBuf};

use super::{Count, End, File, OpenError, Packet, Tally};

struct Source {
    file: File,
    path: PathBuf,
    /// Its next packet.
    head: Option<Packet>,
    /// The vantage point, once its first packet has been given.
    point: Option<u16>,
}

/// Files that are read together.
///
/// A file that begins after another has ended continues it, as rotated files do. Files that overlap
/// in time were taken at different places: each is a vantage point of its own.
pub struct Merge {
    sources: Vec<Source>,
    /// The files of each point that have ended, in that order.
    ended: Vec<u16>,
    points: u16,
    count: Count,
}

impl Merge {
    /// Opens the files, and reads each up to its first packet.
    ///
    /// # Errors
    /// One of them cannot be read, or is no capture.
    pub fn open(paths: &[PathBuf]) -> Result<Self, OpenError> {
        Self::open_with(paths, &Count::default())
    }

    /// The same, of which another thread can see the progress, and stop it: pipes without a writer
    /// or without packets keep it waiting.
    ///
    /// # Errors
    /// One of the files cannot be read, or is no capture.
    pub fn open_with(paths: &[PathBuf], count: &Count) -> Result<Self, OpenError> {
        let open = |(number, path): (usize, &PathBuf)| {
            Ok((File::open(path, number as u16, count)?, path.clone()))
        };
        let files: Result<Vec<_>, _> = paths.iter().enumerate().map(open).collect();
        Ok(Self::of(files?, count.clone()))
    }

    /// Reads files that are open.
    pub fn of(files: Vec<(File, PathBuf)>, count: Count) -> Self {
        let begin = |(mut file, path): (File, PathBuf)| {
            let head = file.next_packet();
            Source { file, path, head, point: None }
        };
        let sources = files.into_iter().map(begin).collect();
        Self { sources, ended: Vec::new(), points: 0, count }
    }

    /// The bytes of the files that have been read so far.
    pub fn progress(&self) -> &Count {
        &self.count
    }

    /// Vantage points so far.
    pub fn points(&self) -> u16 {
        self.points
    }

    /// Each file, what was in it, and how it has ended.
    pub fn files(&self) -> impl Iterator<Item = (&Path, Tally, Option<&End>)> {
        self.sources.iter().map(|one| (one.path.as_path(), one.file.tally(), one.file.end()))
    }

    /// The point of a file that begins now.
    fn point(&mut self) -> u16 {
        if let Some(point) = self.ended.pop() {
            return point;
        }
        self.points += 1;
        self.points - 1
    }
}

impl Iterator for Merge {
    type Item = Packet;

    fn next(&mut self) -> Option<Packet> {
        if let [only] = &mut self.sources[..] {
            let packet = only.head.take().or_else(|| only.file.next_packet());
            self.points |= u16::from(packet.is_some());
            return packet;
        }
        // A file that has begun goes on, if the next one begins at the same time.
        let first = |one: &(usize, &Source)| {
            (one.1.head.map_or(i64::MAX, |head| head.time), one.1.point.is_none())
        };
        let waiting = self.sources.iter().enumerate().filter(|(_, one)| one.head.is_some());
        let (which, _) = waiting.min_by_key(first)?;
        let point = match self.sources[which].point {
            Some(point) => point,
            None => self.point(),
        };
        let source = &mut self.sources[which];
        source.point = Some(point);
        let packet = source.head.take().map(|head| Packet { point, ..head });
        source.head = source.file.next_packet();
        if source.head.is_none() {
            self.ended.push(point);
        }
        packet
    }
}
