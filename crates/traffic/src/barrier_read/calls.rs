//! The times at which the connections of a block are opened and its requests are sent.

use incast_engine::{Stream, Time};

use super::params::{Handshakes, Params};

/// A step of a part: its handshake begins, or its request is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    /// The handshake begins, without the request.
    Open,
    /// The request is sent; if there is no connection, the request opens it.
    Ask,
}

/// The steps of a block.
pub(super) struct Calls {
    /// Random stream of the times.
    jitter: Stream,
    /// The steps, earliest first.
    steps: Vec<(Time, u32, Step)>,
    done: usize,
    /// Whether the handshake with each server has begun.
    begun: Vec<bool>,
    /// Number of handshakes that must end before the requests are sent.
    open: u32,
}

impl Calls {
    pub(super) fn new(jitter: Stream, servers: u32, active: u32) -> Self {
        Self {
            jitter,
            steps: Vec::with_capacity(active as usize),
            done: 0,
            begun: vec![false; servers as usize],
            open: 0,
        }
    }

    /// Forgets the steps of the last block, and its connections if they are not `kept`.
    pub(super) fn clear(&mut self, kept: bool) {
        self.steps.clear();
        self.done = 0;
        if !kept {
            self.begun.fill(false);
        }
    }

    /// Draws the times of a block's steps; the first is at `now` or later.
    pub(super) fn draw(&mut self, read: &Params, now: Time) {
        let mut at = now;
        for part in 0..read.active() {
            if part > 0 {
                at += self.jitter.uniform(read.request_jitter);
            }
            let opened = at + self.jitter.uniform(read.start_spread);
            let mut asked = opened;
            if !read.request_spread.is_zero() {
                asked += self.jitter.uniform(read.request_spread);
                if read.handshakes == Handshakes::WithRequest {
                    self.steps.push((opened, part, Step::Open));
                }
            }
            self.steps.push((asked, part, Step::Ask));
        }
        self.steps.sort_unstable();
    }

    /// The next step if it is due, and otherwise the time of the next step.
    pub(super) fn next(&mut self, now: Time) -> Result<(u32, Step), Option<Time>> {
        match self.steps.get(self.done) {
            Some(&(at, part, step)) if at <= now => {
                self.done += 1;
                Ok((part, step))
            }
            later => Err(later.map(|&(at, ..)| at)),
        }
    }

    /// Marks the handshake with a server as begun, and returns true if it had not begun before.
    pub(super) fn begin(&mut self, server: u32) -> bool {
        !std::mem::replace(&mut self.begun[server as usize], true)
    }

    /// Lets the requests wait for one more handshake.
    pub(super) fn wait_for_one(&mut self) {
        self.open += 1;
    }

    /// Notes the end of a handshake. Returns whether this was the last handshake for which the
    /// requests waited.
    pub(super) fn ended_one(&mut self) -> bool {
        let waited = self.open > 0;
        self.open = self.open.saturating_sub(1);
        waited && self.open == 0
    }

    /// Whether the requests wait for handshakes.
    pub(super) fn waits(&self) -> bool {
        self.open > 0
    }
}
