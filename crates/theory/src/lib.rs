//! Synchronised reads as a process of packets that meet in one queue.
//!
//! [`follow`] plays runs until it is known what a mean block is like ([`chain`]). A run is a queue
//! in front of the client's link ([`queue`]), servers behind links of their own ([`links`]) whose
//! windows follow the RFCs ([`sender`], [`rto`]), and what the client has of their segments
//! ([`receiver`]), in the order of time ([`network`], [`timeline`]). Everything else is a delay.

mod board;
mod chain;
mod collapse;
mod flavour;
mod hybrid;
mod links;
mod network;
mod packet;
mod parts;
mod queue;
mod read;
mod receiver;
mod rto;
mod selective;
mod sender;
mod timeline;
mod transmit;

use std::cmp::Reverse;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

pub use chain::{Effort, Outcome};
pub use collapse::Collapse;
pub use flavour::{Exit, Flavour, Halved, Idle, Repair, Style};
pub use read::Read;

/// Follows every read on this many threads; how many does not change the answers.
///
/// # Panics
///
/// If a thread has panicked.
pub fn follow(reads: &[Read], effort: &Effort, threads: usize) -> Vec<Outcome> {
    // The largest first, so that no thread is left with it at the end.
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
