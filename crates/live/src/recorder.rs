//! A capture of the frames that pass the switch. Another thread writes the capture, so that the
//! switch does not wait for a file.

use std::io::{Result, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use incast_capture::write::{About, Capture};
use incast_lab::tap::Vantage;
use incast_net::topology::HostId;
use incast_scenario::Scenario;

/// The output to which the capture is written.
pub type Output = Box<dyn Write + Send>;

/// The settings of a requested capture.
pub struct Wanted {
    /// The vantage point.
    pub at: Vantage,
    /// Largest number of bytes that the capture keeps of each frame.
    pub snaplen: u32,
    /// The output.
    pub out: Output,
}

/// The part of a frame that the capture keeps.
struct Seen {
    nanos: u64,
    length: usize,
    bytes: Vec<u8>,
}

/// Records the frames at one vantage point.
pub struct Recorder {
    /// The host whose frames are recorded; `None` to record the frames that enter the switch.
    host: Option<HostId>,
    snaplen: usize,
    /// The date of the switch's time zero, in ns since 1970.
    epoch: u64,
    frames: Sender<Seen>,
    writer: JoinHandle<Result<()>>,
}

impl Recorder {
    /// Begins a file. `epoch` is the date of the switch's time zero, in ns since 1970.
    pub fn start(wanted: Wanted, scenario: &Scenario, epoch: u64) -> Result<Self> {
        let Wanted { at, snaplen, out } = wanted;
        let about = About {
            application: concat!("incast ", env!("CARGO_PKG_VERSION")),
            comment: &format!("real hosts, seen at the {at}"),
            interface: &at.to_string(),
        };
        let capture = Capture::new(out, snaplen, &about)?;
        let (frames, taken) = channel();
        let writer = std::thread::Builder::new()
            .name("incast-capture".into())
            .spawn(move || write(capture, &taken))?;
        let host = at.host(scenario);
        Ok(Self { host, snaplen: snaplen as usize, epoch, frames, writer })
    }

    /// Notes that a host has sent a frame, `nanos` nanoseconds after time zero.
    pub fn on_sent(&mut self, host: HostId, nanos: u64, frame: &[u8]) {
        if self.host.is_none_or(|own| own == host) {
            self.keep(nanos, frame);
        }
    }

    /// Notes that a frame leaves for a host.
    pub fn on_received(&mut self, host: HostId, nanos: u64, frame: &[u8]) {
        if self.host == Some(host) {
            self.keep(nanos, frame);
        }
    }

    fn keep(&mut self, nanos: u64, frame: &[u8]) {
        let bytes = frame[..frame.len().min(self.snaplen)].to_vec();
        // Sending fails only if the writer has ended with an error, which `finish` returns.
        let _ = self.frames.send(Seen { nanos: self.epoch + nanos, length: frame.len(), bytes });
    }

    /// Ends the file.
    pub fn finish(self) -> Result<()> {
        drop(self.frames);
        self.writer.join().unwrap_or_else(|why| std::panic::resume_unwind(why))
    }
}

/// Writes frames until the sending end of the channel is closed.
fn write(mut capture: Capture<Output>, frames: &Receiver<Seen>) -> Result<()> {
    for Seen { nanos, length, bytes } in frames {
        capture.frame(nanos, &bytes, length, &[])?;
    }
    capture.finish().map(drop)
}

#[cfg(test)]
mod tests;
