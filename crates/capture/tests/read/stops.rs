//! A reading that another thread stops ends soon and returns the packets read so far, even if the
//! reading waits for bytes or for a writer.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use incast_capture::read::{Count, End, Merge, OpenError, Tally};

use crate::builder::pcap;
use crate::carriers::ethernet;
use crate::{LITTLE, START, segment};

/// Time limit for an answer. It is long enough for a busy machine.
const SOON: Duration = Duration::from_secs(10);
const MOMENT: Duration = Duration::from_millis(200);

/// A pipe with a name.
fn pipe(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_file(&path);
    let made = Command::new("mkfifo").arg(&path).status();
    assert!(made.expect("mkfifo").success());
    path
}

type Told = Result<(usize, Vec<(Tally, Option<End>)>), OpenError>;

/// Reads files in another thread, which reports the number of packets and the ends of the files.
fn reading(paths: Vec<PathBuf>, count: &Count) -> Receiver<Told> {
    let (sender, told) = channel();
    let count = count.clone();
    thread::spawn(move || {
        let read = |mut files: Merge| {
            let packets = files.by_ref().count();
            (packets, files.files().map(|(_, tally, end)| (tally, end.cloned())).collect())
        };
        sender.send(Merge::open_with(&paths, &count).map(read))
    });
    told
}

/// Checks that a reading has not ended, stops it, and returns the counts of the packets and files
/// that were read.
fn stopped(told: &Receiver<Told>, count: &Count) -> (usize, Vec<(Tally, Option<End>)>) {
    assert!(matches!(told.recv_timeout(MOMENT), Err(RecvTimeoutError::Timeout)), "it goes on");
    count.stop();
    told.recv_timeout(SOON).expect("it ends soon").expect("it was no error")
}

fn capture(packets: usize) -> Vec<u8> {
    pcap(LITTLE, true, 1, &vec![(START, segment().ethernet()); packets])
}

#[test]
fn while_it_waits_for_a_writer() {
    let count = Count::default();
    let told = reading(vec![pipe("no-writer")], &count);
    let (packets, files) = stopped(&told, &count);
    assert_eq!((packets, files), (0, vec![(Tally::default(), None)]));
}

#[test]
fn while_it_waits_for_the_first_packet_or_the_next() {
    // The first file is empty, the second has only the file header, the third also has five
    // packets, and the fourth also has half of a sixth packet.
    for (name, bytes, expected) in [
        ("no-bytes", &capture(0)[..0], 0),
        ("header", &capture(0)[..], 0),
        ("packets", &capture(5)[..], 5),
        ("half", &capture(6)[..24 + 5 * 382 + 100], 5),
    ] {
        let (path, count) = (pipe(name), Count::default());
        let told = reading(vec![path.clone()], &count);
        let mut writer = OpenOptions::new().write(true).open(path).expect("a reader");
        writer.write_all(bytes).expect("written");
        let (packets, files) = stopped(&told, &count);
        assert_eq!((packets, &files[0].1), (expected, &None), "{name}");
        assert_eq!(files[0].0.packets, expected as u64);
        assert_eq!(count.bytes(), bytes.len() as u64);
    }
}

#[test]
fn while_frames_without_tcp_go_on_for_ever() {
    let (path, count) = (pipe("arp"), Count::default());
    let told = reading(vec![path.clone()], &count);
    let mut writer = OpenOptions::new().write(true).open(path).expect("a reader");
    let mut bytes = pcap(LITTLE, true, 1, &vec![(START, ethernet(0x0806, &[0; 46])); 1000]);
    let writing = thread::spawn(move || {
        while writer.write_all(&bytes).is_ok() {
            bytes.drain(..bytes.len() % 76);
        }
    });
    let (packets, files) = stopped(&told, &count);
    assert_eq!((packets, &files[0].1), (0, &None));
    assert!(files[0].0.frames > 1000);
    writing.join().expect("the pipe is closed");
}

#[test]
fn a_pipe_is_read_to_its_end() {
    let (path, count) = (pipe("whole"), Count::default());
    let told = reading(vec![path.clone()], &count);
    let mut writer = OpenOptions::new().write(true).open(path).expect("a reader");
    writer.write_all(&capture(2000)).expect("written");
    drop(writer);
    let (packets, files) = told.recv_timeout(SOON).expect("it ends").expect("no error");
    assert_eq!((packets, &files[0].1), (2000, &Some(End::Whole)));
}

#[test]
fn a_pipe_without_a_capture_is_refused() {
    for (name, bytes) in [("empty", &b""[..]), ("text", b"no capture, but longer than 24 bytes")] {
        let (path, count) = (pipe(name), Count::default());
        let told = reading(vec![path.clone()], &count);
        let mut writer = OpenOptions::new().write(true).open(path).expect("a reader");
        writer.write_all(bytes).expect("written");
        drop(writer);
        let error = told.recv_timeout(SOON).expect("it ends").expect_err("no capture");
        let empty = matches!(error, OpenError::Empty(_));
        assert!(empty == bytes.is_empty() && (empty || matches!(error, OpenError::Kind(_))));
    }
}

#[test]
fn a_file_is_not_read_after_the_stop() {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("regular.pcap");
    // This frame makes the buffer so large that it holds many packets.
    let mut frames = vec![(START, ethernet(0x0806, &[0; 5_000_000]))];
    frames.resize(20_001, (START, segment().ethernet()));
    std::fs::write(&path, pcap(LITTLE, true, 1, &frames)).expect("written");
    let count = Count::default();
    let mut files = Merge::open_with(std::slice::from_ref(&path), &count).expect("a capture");
    for _ in 0..5 {
        assert!(files.next().is_some());
    }
    count.stop();
    // At most the packets between two checks are still read.
    assert!(files.by_ref().count() < 4096);
    assert!(files.files().all(|(_, _, end)| end.is_none()));
    assert_eq!(Merge::open(&[path]).expect("a capture").count(), 20_000);
}
