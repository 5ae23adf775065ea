//! Simulates synchronised reads packet by packet, with one queue that all connections share.
//!
//! [`follow`] simulates runs until the means over blocks are known (`chain`). A run consists of a
//! queue at the client's link (`queue`), servers with their own links (`links`), senders whose
//! windows follow the RFCs (`sender`, `rto`), and the client's receivers (`receiver`). The events
//! of a run are handled in the order of time (`network`, `timeline`). All other elements are
//! constant delays.
//!
//! A sender reads ACKs without SACK (`duplicates`) or with SACK (`selective`, `rack`), changes its
//! window (`growth`, `cubic`, `bbr`, `marks`, `proportion`, `undo`), and chooses the segments to
//! send (`transmit`, `resend`, `defer`). Stacks differ by flags (`flavour`).

mod bbr;
mod board;
mod careful;
mod chain;
mod collapse;
mod connection;
mod counted;
mod delivery;
mod flavour;
mod hybrid;
mod links;
mod network;
mod packet;
mod parts;
mod peaks;
mod proportion;
mod queue;
mod read;
mod receiver;
mod rto;
mod sender;
mod timeline;
mod wheel;

use std::cmp::Reverse;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

pub use chain::{Effort, Outcome};
pub use collapse::Collapse;
pub use flavour::{
    Bbr, Cubic, Examine, Exit, Flavour, Growth, Halved, Idle, Marks, Rack, Repair, Style, Watch,
};
pub use queue::Marking;
pub use read::Read;

/// Simulates every read, on `threads` threads. The number of threads does not change the results.
///
/// # Panics
///
/// If a thread has panicked.
pub fn follow(reads: &[Read], effort: &Effort, threads: usize) -> Vec<Outcome> {
    // The largest read comes first, so that it does not run alone at the end.
    let mut order: Vec<usize> = (0..reads.len()).collect();
    order.sort_by_key(|&number| Reverse(reads[number].packets()));
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some(&number) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            done.push((number, chain::follow(&reads[number], effort)));
        }
        done
    };
    let mut outcomes = vec![Outcome::default(); reads.len()];
    thread::scope(|scope| {
        let workers: Vec<_> =
            (0..threads.clamp(1, reads.len().max(1))).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            for (number, outcome) in worker.join().expect("a thread that only computes") {
                outcomes[number] = outcome;
            }
        }
    });
    outcomes
}

#[cfg(test)]
mod tests;
