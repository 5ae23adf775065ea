//! Progress and cancellation of a run, from another thread.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// The error of a run that was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the run was cancelled")]
pub struct Cancelled;

/// Progress and cancellation, shared between a run and the thread that waits for it.
#[derive(Debug, Default)]
pub struct Control {
    cancelled: AtomicBool,
    /// Finished share of the run, in units of 2^-32.
    progress: AtomicU64,
}

impl Control {
    /// Cancels the run, which then returns no result.
    pub fn cancel(&self) {
        self.cancelled.store(true, Relaxed);
    }

    /// Whether `cancel` was called.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Relaxed)
    }

    /// Finished share of the run, 0 to 1.
    pub fn progress(&self) -> f64 {
        self.progress.load(Relaxed) as f64 / (1_u64 << 32) as f64
    }

    pub(crate) fn set_progress(&self, share: f64) {
        self.progress.store((share.clamp(0.0, 1.0) * (1_u64 << 32) as f64) as u64, Relaxed);
    }
}
