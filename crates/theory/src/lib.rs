//! Synchronised reads as a process of connections instead of packets.
//!
//! [`follow`] hands windows ([`sender`]) from block to block ([`chain`]); a block opens with a burst
//! of all windows ([`opening`], [`burst`]), goes on round trip by round trip ([`rounds`]), and ends
//! when the last connection has its data. All times are in packet times, all sizes in packets.

mod burst;
mod chain;
mod draws;
mod opening;
mod read;
mod rounds;
mod sender;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

pub use chain::{Effort, Outcome};
pub use read::Read;

use chain::Chain;
use draws::Draws;

/// Follows every read on this many threads; how many does not change the answers.
///
/// # Panics
///
/// If a thread has panicked.
pub fn follow(reads: &[Read], effort: &Effort, threads: usize) -> Vec<Outcome> {
    let width = reads.iter().map(|read| read.servers).max().unwrap_or(0);
    let draws = Draws::new(width);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut chain = Chain::new(&draws);
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(read) = reads.get(number) else { return done };
            done.push((number, chain.follow(read, effort)));
        }
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
