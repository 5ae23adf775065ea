//! Merges several files into one stream in order of time.

use std::path::{Path, PathBuf};

use super::{Count, End, File, OpenError, Packet, Tally};

struct Source {
    file: File,
    path: PathBuf,
    /// The next packet of the file.
    head: Option<Packet>,
    /// The vantage point, once the first packet of the file has been returned.
    point: Option<u16>,
}

/// Files that are read together.
///
/// A file that begins after another file has ended continues that file, as rotated files do. Files
/// that overlap in time were captured at different places, so each is a vantage point of its own.
pub struct Merge {
    sources: Vec<Source>,
    /// The vantage points whose files have ended, in the order in which the files ended.
    ended: Vec<u16>,
    points: u16,
    count: Count,
}

impl Merge {
    /// Opens the files, and reads each up to its first packet.
    ///
    /// # Errors
    /// One of the files cannot be read, or is no capture.
    pub fn open(paths: &[PathBuf]) -> Result<Self, OpenError> {
        Self::open_with(paths, &Count::default())
    }

    /// Like [`Merge::open`], but another thread can read the progress from `count`, and stop the
    /// reading. If a file is a pipe, this function waits for its writer and its first packet.
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

    /// Number of vantage points so far.
    pub fn points(&self) -> u16 {
        self.points
    }

    /// Each file, the counts of its frames, and its end.
    pub fn files(&self) -> impl Iterator<Item = (&Path, Tally, Option<&End>)> {
        self.sources.iter().map(|one| (one.path.as_path(), one.file.tally(), one.file.end()))
    }

    /// The vantage point of a file that begins now.
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
        // If the next packets of two files have the same time, a file that has already begun comes
        // first.
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
