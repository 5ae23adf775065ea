//! Inputs that may block: pipes, standard input, devices.

use std::io::{ErrorKind, Read, Result};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use super::Count;

/// Bytes of a chunk: the capacity of a Linux pipe.
const CHUNK: usize = 1 << 16;
/// Number of chunks that may wait to be read.
const CHUNKS: usize = 4;
/// Time between two checks of the stop flag.
const STEP: Duration = Duration::from_millis(50);

/// An input that a separate thread opens and reads, because a blocking open or read cannot be
/// interrupted. The reader waits for this thread, and this wait can be interrupted.
pub struct Pump {
    chunks: Receiver<Result<Vec<u8>>>,
    chunk: Vec<u8>,
    /// Number of bytes of the chunk that have been read.
    read: usize,
    count: Count,
}

impl Pump {
    /// Starts the thread. The thread ends when the input ends, or at the first bytes that arrive
    /// after the pump was dropped.
    pub fn start<R: Read>(
        open: impl FnOnce() -> Result<R> + Send + 'static,
        count: &Count,
    ) -> Result<Self> {
        let (sender, chunks) = sync_channel(CHUNKS);
        let pump = move || match open() {
            Ok(input) => pump(input, &sender),
            Err(error) => drop(sender.send(Err(error))),
        };
        thread::Builder::new().name("capture input".to_owned()).spawn(pump)?;
        Ok(Self { chunks, chunk: Vec::new(), read: 0, count: count.clone() })
    }
}

fn pump(mut input: impl Read, sender: &SyncSender<Result<Vec<u8>>>) {
    loop {
        let mut chunk = vec![0; CHUNK];
        let told = match input.read(&mut chunk) {
            Ok(0) => return,
            Ok(count) => {
                chunk.truncate(count);
                Ok(chunk)
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let last = told.is_err();
        if sender.send(told).is_err() || last {
            return;
        }
    }
}

impl Read for Pump {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        while self.read == self.chunk.len() {
            self.count.go_on()?;
            match self.chunks.recv_timeout(STEP) {
                Ok(chunk) => (self.chunk, self.read) = (chunk?, 0),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
            }
        }
        let count = (&self.chunk[self.read..]).read(buffer)?;
        self.read += count;
        Ok(count)
    }
}
