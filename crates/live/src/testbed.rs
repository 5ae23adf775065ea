//! Scenarios, interfaces and frames for tests.

use std::io::{Cursor, Result, Write};
use std::process::Command;
use std::sync::{Arc, Mutex};

use incast_capture::read::{File, Packet};
use incast_scenario::Scenario;

use crate::frame::FIRST_PORT;
use crate::sys::Namespace;

/// A scenario with one client (host 0) and two servers (hosts 1 and 2), whose flows are 0 and 1.
pub fn scenario(rate: &str, delay: &str, queue: &str) -> Scenario {
    let text = format!(
        r#"
        profile = "rfc"
        network = {{ rate = "{rate}", delay = "{delay}", buffer = "64KiB", queue = {queue} }}
        workload = {{ name = "barrier-read", servers = 2, sru = "64KiB", blocks = 1 }}
        transport = {{ name = "newreno" }}
        "#
    );
    let document = incast_scenario::from_toml(&text).expect("it is TOML");
    Scenario::from_document(&document).expect("it is valid")
}

/// A queue that neither marks nor drops before its buffer is full.
pub const DROP_TAIL: &str = r#"{ name = "drop-tail" }"#;
/// A queue that marks every packet that has to wait.
pub const MARKING: &str = r#"{ name = "ecn-threshold", threshold = "1B" }"#;

/// Runs a test in a thread of a new namespace. Does not run the test if this process has no right
/// to make a namespace.
pub fn alone(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::spawn(|| {
        let Ok(namespace) = Namespace::new() else { return };
        namespace.enter().expect("it exists");
        // With IPv6, the kernel would send additional frames on new interfaces.
        let _ = std::fs::write("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
        test();
    });
    thread.join().unwrap_or_else(|why| std::panic::resume_unwind(why));
}

/// Runs `ip` in this thread's namespace.
pub fn ip(words: &str) {
    let status = Command::new("ip").args(words.split(' ')).status().expect("there is iproute2");
    assert!(status.success(), "ip {words}");
}

/// Creates a pair of connected interfaces (`n0` and `h0` for number 0), and returns their indices.
pub fn link(number: u32) -> (u32, u32) {
    let (near, far) = (10 + 2 * number, 11 + 2 * number);
    let peer = format!("type veth peer name h{number} index {far}");
    ip(&format!("link add name n{number} index {near} {peer}"));
    ip(&format!("link set n{number} up"));
    ip(&format!("link set h{number} up"));
    (near, far)
}

/// A frame without options, with a payload of zeros.
#[derive(Clone, Copy)]
pub struct Sent {
    pub from: u16,
    pub to: u16,
    pub seq: u32,
    pub flags: u8,
    pub payload: usize,
}

pub const SYN: u8 = 0x02;
pub const ACK: u8 = 0x10;

impl Sent {
    /// Data of a flow's server.
    pub fn data(flow: u16, seq: u32, payload: usize) -> Self {
        Self { from: FIRST_PORT + flow, to: 40_000, seq, flags: ACK, payload }
    }

    /// An ACK of a flow's client.
    pub fn ack(flow: u16) -> Self {
        Self { from: 40_000, to: FIRST_PORT + flow, seq: 1, flags: ACK, payload: 0 }
    }

    /// The bytes of the frame: Ethernet, IPv4 with ECT(0), TCP.
    pub fn frame(&self) -> Vec<u8> {
        let length = (40 + self.payload) as u16;
        let mut frame = vec![0; 14];
        frame[12] = 0x08;
        frame.extend([0x45, 2]);
        frame.extend(length.to_be_bytes());
        frame.extend([0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 2, 10, 0, 0, 1]);
        frame.extend(self.from.to_be_bytes());
        frame.extend(self.to.to_be_bytes());
        frame.extend(self.seq.to_be_bytes());
        frame.extend([0, 0, 0, 9, 5 << 4, self.flags, 1, 0, 0, 0, 0, 0]);
        frame.resize(54 + self.payload, 0);
        frame
    }
}

/// A file in memory. Clones share the same bytes.
#[derive(Clone, Default)]
pub struct Memory(Arc<Mutex<Vec<u8>>>);

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.0.lock().expect("nobody panics").write(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

impl Memory {
    /// Number of bytes written.
    pub fn length(&self) -> usize {
        self.0.lock().expect("nobody panics").len()
    }

    /// The packets of the capture in this file.
    pub fn packets(&self) -> Vec<Packet> {
        let bytes = self.0.lock().expect("nobody panics").clone();
        let mut file = File::from_bytes(Box::new(Cursor::new(bytes)), 0).expect("it is a capture");
        std::iter::from_fn(|| file.next_packet()).collect()
    }
}
