//! What every format of capture files has: records.

/// The longest frame of a capture. A longer frame means that the file is damaged.
pub const MOST: u32 = 1 << 24;

/// A frame of the file.
pub struct Frame<'a> {
    /// Nanoseconds since 1970.
    pub time: i64,
    pub link: u32,
    /// Bytes on the wire.
    pub length: u32,
    /// The bytes that were captured.
    pub bytes: &'a [u8],
}

/// The next record of a file.
pub enum Next<'a> {
    Frame(Frame<'a>),
    End,
    Cut,
    /// The decompressed file is damaged from this byte on.
    Damaged(u64, String),
}
