use std::io::Error;

use super::*;
use crate::testbed::{DROP_TAIL, Memory, Sent, scenario};

/// A date in 2001, ns.
const EPOCH: u64 = 1_000_000_000_000_000_000;

fn recorder(at: Vantage, snaplen: u32, out: Output) -> Recorder {
    let scenario = scenario("1Gbps", "10us", DROP_TAIL);
    Recorder::start(Wanted { at, snaplen, out }, &scenario, EPOCH).expect("it can be written")
}

/// Captures, at `at`, a frame that host 1 sends to host 0. The frame reaches the switch after 100
/// ns and leaves it after 300 ns. Returns the times and sequence numbers in the capture.
fn seen(at: Vantage) -> Vec<(u64, u32)> {
    let memory = Memory::default();
    let mut recorder = recorder(at, 200, Box::new(memory.clone()));
    recorder.on_sent(HostId(1), 100, &Sent::data(0, 5, 8).frame());
    recorder.on_received(HostId(0), 300, &Sent::data(0, 6, 8).frame());
    recorder.finish().expect("it can be written");
    let packets = memory.packets().into_iter();
    packets.map(|packet| (packet.time as u64 - EPOCH, packet.seq)).collect()
}

#[test]
fn a_host_sees_what_it_sends_and_receives_and_the_switch_what_enters_it() {
    assert_eq!(seen(Vantage::Server(0)), [(100, 5)]);
    assert_eq!(seen(Vantage::Client(0)), [(300, 6)]);
    assert_eq!(seen(Vantage::Switch), [(100, 5)]);
    assert_eq!(seen(Vantage::Server(1)), []);
}

#[test]
fn frames_are_cut_and_keep_their_length() {
    let memory = Memory::default();
    let mut recorder = recorder(Vantage::Switch, 60, Box::new(memory.clone()));
    recorder.on_sent(HostId(1), 0, &Sent::data(0, 1, 1000).frame());
    recorder.on_sent(HostId(1), 1, &Sent::ack(0).frame());
    recorder.finish().expect("it can be written");
    let sizes: Vec<_> =
        memory.packets().iter().map(|packet| (packet.size, packet.payload)).collect();
    assert_eq!(sizes, [(1040, 1000), (40, 0)]);
    let whole = Memory::default();
    let mut recorder = self::recorder(Vantage::Switch, 2000, Box::new(whole.clone()));
    recorder.on_sent(HostId(1), 0, &Sent::data(0, 1, 1000).frame());
    recorder.finish().expect("it can be written");
    assert!(whole.length() > memory.length() + 900, "what is cut off is not in the file");
}

/// An output that accepts only this number of bytes.
struct Small(usize);

impl Write for Small {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(Error::other("it is full"))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

#[test]
fn a_file_that_is_full_is_an_error_at_the_end() {
    let mut recorder = recorder(Vantage::Switch, 200, Box::new(Small(500)));
    for nanos in 0..100 {
        recorder.on_sent(HostId(1), nanos, &Sent::data(0, 1, 8).frame());
    }
    assert!(recorder.finish().is_err());
    let scenario = scenario("1Gbps", "10us", DROP_TAIL);
    let wanted = Wanted { at: Vantage::Switch, snaplen: 200, out: Box::new(Small(0)) };
    assert!(Recorder::start(wanted, &scenario, EPOCH).is_err(), "already at its beginning");
}
