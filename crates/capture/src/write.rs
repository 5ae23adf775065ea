//! Writes captures: pcapng with nanoseconds
//! ([draft-ietf-opsawg-pcapng](https://datatracker.ietf.org/doc/draft-ietf-opsawg-pcapng/)).

use std::io::{Result, Write};

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
const LINKTYPE_ETHERNET: u16 = 1;
/// Codes of the options: for every block, for the section header and for an interface.
const END: u16 = 0;
const COMMENT: u16 = 1;
const APPLICATION: u16 = 4;
const NAME: u16 = 2;
const RESOLUTION: u16 = 9;

/// Length of the longest option, in bytes.
const LONGEST: usize = u16::MAX as usize - 3;

/// Writes a capture of one Ethernet interface, little endian.
#[derive(Debug)]
pub struct Capture<W> {
    out: W,
    snaplen: u32,
    block: Vec<u8>,
    packets: u64,
}

/// The description of a file in its header.
#[derive(Clone, Copy, Debug, Default)]
pub struct About<'a> {
    /// The program that writes the file.
    pub application: &'a str,
    /// A description of the content.
    pub comment: &'a str,
    /// The name of the interface.
    pub interface: &'a str,
}

impl<W: Write> Capture<W> {
    /// Begins a file. At most `snaplen` bytes of each frame are kept.
    ///
    /// # Errors
    /// The errors of `out`.
    pub fn new(out: W, snaplen: u32, about: &About<'_>) -> Result<Self> {
        let mut capture = Self { out, snaplen, block: Vec::new(), packets: 0 };
        let block = &mut capture.block;
        begin(block, SECTION_HEADER);
        block.extend(BYTE_ORDER.to_le_bytes());
        block.extend([1, 0, 0, 0]);
        // The length of the section is not known.
        block.extend((-1_i64).to_le_bytes());
        option(block, COMMENT, about.comment.as_bytes());
        option(block, APPLICATION, about.application.as_bytes());
        option(block, END, &[]);
        capture.end()?;
        let block = &mut capture.block;
        begin(block, INTERFACE);
        block.extend(LINKTYPE_ETHERNET.to_le_bytes());
        block.extend([0, 0]);
        block.extend(snaplen.to_le_bytes());
        option(block, NAME, about.interface.as_bytes());
        option(block, RESOLUTION, &[9]);
        option(block, END, &[]);
        capture.end()?;
        Ok(capture)
    }

    /// Writes a frame that was seen at `nanos`. The frame has `length` bytes and begins with
    /// `bytes`; its other bytes are zeros.
    ///
    /// # Errors
    /// The errors of `out`.
    pub fn frame(
        &mut self,
        nanos: u64,
        bytes: &[u8],
        length: usize,
        comments: &[String],
    ) -> Result<()> {
        let block = &mut self.block;
        begin(block, ENHANCED_PACKET);
        block.extend([0; 4]);
        block.extend(((nanos >> 32) as u32).to_le_bytes());
        block.extend((nanos as u32).to_le_bytes());
        let kept = length.min(self.snaplen as usize);
        block.extend((kept as u32).to_le_bytes());
        block.extend((length as u32).to_le_bytes());
        let end = block.len() + kept;
        block.extend(&bytes[..kept.min(bytes.len())]);
        block.resize(end, 0);
        pad(block);
        if !comments.is_empty() {
            for comment in comments {
                option(block, COMMENT, comment.as_bytes());
            }
            option(block, END, &[]);
        }
        self.packets += 1;
        self.end()
    }

    /// Number of frames written.
    pub fn frames(&self) -> u64 {
        self.packets
    }

    /// Ends the file.
    ///
    /// # Errors
    /// The errors of the writer.
    pub fn finish(mut self) -> Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    /// Completes the block and writes it.
    fn end(&mut self) -> Result<()> {
        let length = (self.block.len() as u32 + 4).to_le_bytes();
        self.block.extend(length);
        self.block[4..8].copy_from_slice(&length);
        self.out.write_all(&self.block)
    }
}

/// Begins a block. `Capture::end` fills in the length of the block.
fn begin(block: &mut Vec<u8>, kind: u32) {
    block.clear();
    block.extend(kind.to_le_bytes());
    block.extend([0; 4]);
}

/// Appends an option. A string that is longer than the longest option is cut. An empty string adds
/// no option.
fn option(block: &mut Vec<u8>, code: u16, value: &[u8]) {
    if value.is_empty() && code != END {
        return;
    }
    let value = &value[..value.len().min(LONGEST)];
    block.extend(code.to_le_bytes());
    block.extend((value.len() as u16).to_le_bytes());
    block.extend(value);
    pad(block);
}

fn pad(block: &mut Vec<u8>) {
    block.resize(block.len().next_multiple_of(4), 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The blocks of a file: type and body.
    fn blocks(mut file: &[u8]) -> Vec<(u32, &[u8])> {
        let long = |bytes: &[u8], at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let mut found = Vec::new();
        while !file.is_empty() {
            let length = long(file, 4) as usize;
            assert_eq!(long(file, length - 4) as usize, length, "both lengths of a block");
            assert_eq!(length % 4, 0);
            found.push((long(file, 0), &file[8..length - 4]));
            file = &file[length..];
        }
        found
    }

    #[test]
    fn a_file_is_a_section_an_interface_and_its_frames() {
        let about = About { application: "test", comment: "of a test", interface: "" };
        let mut capture = Capture::new(Vec::new(), 60, &about).expect("memory does");
        let comments = ["first".to_owned(), "second".to_owned()];
        capture.frame((5 << 32) + 7, &[1; 54], 1514, &comments).expect("memory does");
        capture.frame(1, &[2; 54], 54, &[]).expect("memory does");
        assert_eq!(capture.frames(), 2);
        let file = capture.finish().expect("memory does");
        let found = blocks(&file);
        let kinds: Vec<_> = found.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(kinds, [SECTION_HEADER, INTERFACE, ENHANCED_PACKET, ENHANCED_PACKET]);
        let cut = found[2].1;
        assert_eq!(&cut[4..20], [5, 0, 0, 0, 7, 0, 0, 0, 60, 0, 0, 0, 0xea, 5, 0, 0]);
        assert_eq!(&cut[20 + 54..20 + 60], [0; 6], "what is missing are zeros");
        assert_eq!(&cut[80..92], [1, 0, 5, 0, b'f', b'i', b'r', b's', b't', 0, 0, 0]);
        let whole = found[3].1;
        assert_eq!(whole.len(), 20 + 56, "54 bytes and two of padding, without options");
    }

    #[test]
    fn a_comment_that_is_too_long_is_cut() {
        let mut block = Vec::new();
        option(&mut block, COMMENT, "x".repeat(70_000).as_bytes());
        assert_eq!(block.len(), 4 + 65_532);
    }
}
