//! Progress and cancellation, shared by the thread that reads and the threads that wait for it.

use std::io::{Error, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The number of bytes read so far, which shows progress, and a flag that stops the reading.
#[derive(Clone, Debug, Default)]
pub struct Count(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    bytes: AtomicU64,
    stopped: AtomicBool,
}

impl Count {
    /// The number of bytes.
    pub fn bytes(&self) -> u64 {
        self.0.bytes.load(Ordering::Relaxed)
    }

    /// Ends the reading soon, even if the reader is waiting for bytes. Packets that were read
    /// before remain in the result.
    pub fn stop(&self) {
        self.0.stopped.store(true, Ordering::Relaxed);
    }

    /// Whether the reading was stopped.
    pub fn is_stopped(&self) -> bool {
        self.0.stopped.load(Ordering::Relaxed)
    }

    pub(super) fn add(&self, bytes: usize) {
        self.0.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Returns an error if the reading was stopped.
    pub(super) fn go_on(&self) -> Result<()> {
        if self.is_stopped() { Err(Error::other("the reading was stopped")) } else { Ok(()) }
    }
}
