//! The source of a file's bytes, and its decompression.

use std::error::Error as _;
use std::fs::File;
use std::io::{BufRead, BufReader, Chain, Cursor, Error, ErrorKind, Read, Result};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::Count;
use super::pump::Pump;

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

struct Counted<R> {
    input: R,
    count: Count,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        self.count.go_on()?;
        let read = self.input.read(buffer)?;
        self.count.add(read);
        Ok(read)
    }
}

/// Opens a file, or standard input for `-`. Regular files are read directly, and all other inputs
/// through a [`Pump`].
pub fn open(path: &Path, count: &Count) -> Result<Box<dyn Read + Send>> {
    if path.as_os_str() == "-" {
        return plain(Box::new(Pump::start(|| Ok(std::io::stdin()), count)?), count);
    }
    let about = std::fs::metadata(path)?;
    if about.is_dir() {
        return Err(Error::other("is a directory"));
    }
    if about.is_file() {
        return plain(Box::new(File::open(path)?), count);
    }
    let path = path.to_owned();
    plain(Box::new(Pump::start(|| File::open(path), count)?), count)
}

/// Decompresses an input if it starts like gzip or zstd.
pub fn plain(input: Box<dyn Read + Send>, count: &Count) -> Result<Box<dyn Read + Send>> {
    let mut input = Counted { input, count: count.clone() };
    let mut magic = [0; 4];
    let mut have = 0;
    while have < magic.len() {
        match input.read(&mut magic[have..])? {
            0 => break,
            read => have += read,
        }
    }
    let start = Cursor::new(magic[..have].to_vec()).chain(input);
    if magic[..have].starts_with(&GZIP) {
        return Ok(Box::new(MultiGzDecoder::new(BufReader::with_capacity(1 << 16, start))));
    }
    if magic[..have] == ZSTD {
        return Ok(Box::new(Frames::new(start)?));
    }
    Ok(Box::new(start))
}

type Start = Chain<Cursor<Vec<u8>>, Counted<Box<dyn Read + Send>>>;
type Zstd = (BufReader<Start>, FrameDecoder);

/// The frames of a zstd file, one after the other, because a decoder stops after the first frame.
struct Frames(Option<Zstd>);

impl Frames {
    fn new(input: Start) -> Result<Self> {
        Ok(Self(decoder(BufReader::with_capacity(1 << 16, input))?))
    }
}

/// The decoder of the next frame after any skippable frames, or `None` at the end of the input.
fn decoder(mut input: BufReader<Start>) -> Result<Option<Zstd>> {
    while !input.fill_buf()?.is_empty() {
        let mut frames = FrameDecoder::new();
        match frames.init(&mut input) {
            Ok(()) => return Ok(Some((input, frames))),
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length,
                ..
            })) => {
                std::io::copy(&mut (&mut input).take(length.into()), &mut std::io::sink())?;
            }
            Err(error) => return Err(told(&error)),
        }
    }
    Ok(None)
}

/// The error of the decoder in plain words. An error of the input stays the same, so that a
/// truncated file does not count as damaged.
fn told(error: &FrameDecoderError) -> Error {
    match error {
        FrameDecoderError::WindowSizeTooBig { requested, max } => {
            return Error::other(format!(
                "a zstd window of {requested} bytes; must be at most {max}"
            ));
        }
        FrameDecoderError::DictNotProvided { .. } => {
            return Error::other("zstd data that need a dictionary");
        }
        _ => {}
    }
    let mut source = error.source();
    while let Some(one) = source {
        if let Some(input) = one.downcast_ref::<Error>() {
            return match input.kind() {
                ErrorKind::UnexpectedEof => ErrorKind::UnexpectedEof.into(),
                kind => Error::new(kind, input.to_string()),
            };
        }
        source = one.source();
    }
    Error::other("damaged zstd data")
}

impl Read for Frames {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        loop {
            let Some((input, frame)) = &mut self.0 else { return Ok(0) };
            while frame.can_collect() == 0 && !frame.is_finished() {
                let one = BlockDecodingStrategy::UptoBlocks(1);
                frame.decode_blocks(&mut *input, one).map_err(|error| told(&error))?;
            }
            let read = frame.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            let Some((input, _)) = self.0.take() else { return Ok(0) };
            self.0 = decoder(input)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_ends_an_input_that_a_decoder_reads() {
        let count = Count::default();
        let mut input = plain(Box::new(Cursor::new(b"no magic".to_vec())), &count).unwrap();
        assert_eq!(input.read(&mut [0; 5]).unwrap(), 4, "those that were looked at");
        count.stop();
        assert!(input.read(&mut [0; 5]).is_err());
        assert_eq!(count.bytes(), 4);
    }
}
