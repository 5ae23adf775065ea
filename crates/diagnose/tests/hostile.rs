//! Files that were made to break a reader. Reading must end, whatever the bytes are.

#[path = "../../capture/tests/builder/mod.rs"]
mod builder;

use std::io::Cursor;
use std::path::PathBuf;

use builder::{Order, Segment, pcap, pcapng};
use incast_capture::read::{Count, File, Merge};
use incast_diagnose::{Analysis, Options, Vantage};

const FILES: u32 = 400_000;

/// A random number generator of three lines (Marsaglia's xorshift).
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most.max(1) as u64) as usize
    }
}

/// Reads bytes as a capture, and diagnoses it.
fn read(bytes: &[u8]) {
    let input = Box::new(Cursor::new(bytes.to_vec()));
    let Ok(file) = File::from_bytes(input, 0) else { return };
    let mut files = Merge::of(vec![(file, PathBuf::from("x"))], Count::default());
    let mut analysis = Analysis::new(Options::default());
    for packet in &mut files {
        analysis.take(&packet);
    }
    let report = analysis.finish(&files);
    let from_the_first = |time: f64| time >= 0.0;
    assert!(report.stalls.iter().all(|stall| stall.duration_s >= 0.0));
    assert!(report.stalls.iter().all(|stall| from_the_first(stall.start_s)));
    assert!(report.episodes.iter().all(|episode| from_the_first(episode.start_s)));
    // No verdict contradicts the rest of the report.
    if report.incast == Some(true) {
        assert!(!report.episodes.is_empty());
        assert_ne!(report.vantage, Some(Vantage::Server));
    }
    if !report.incomplete.is_empty() {
        assert_ne!(report.incast, Some(false));
    }
    assert!(serde_json::to_string(&report).is_ok());
}

/// Files with holes, retransmissions, timeouts and other link types, in both formats.
fn corpus() -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    let mut time = 1_700_000_000_000_000_000;
    for host in 2..6 {
        for (seq, wait) in
            [(1, 1), (1461, 1), (4381, 1), (2921, 250_000), (5841, 1), (5841, 400_000)]
        {
            time += wait * 1000;
            let data = Segment { id: seq as u16, ..Segment::new(host, 1, seq, 1, 1460) };
            frames.push((time, data.ethernet()));
            let sack = vec![1, 1, 5, 10, 0, 0, 17, 29, 0, 0, 22, 209];
            let ports = (6000, 5000);
            let ack = Segment { ports, options: sack, ..Segment::new(1, host, 1, seq + 1460, 0) };
            frames.push((time + 10_000, ack.ethernet()));
        }
    }
    let six = frames
        .iter()
        .map(|(time, _)| (*time, Segment::new(1, 2, 5, 6, 7).v6()))
        .collect::<Vec<_>>();
    let made = vec![
        pcap(Order { big: false }, true, 1, &frames),
        pcapng(Order { big: true }, 1, &frames),
        pcap(Order { big: true }, false, 101, &six),
    ];
    made.into_iter().chain(kept()).collect()
}

/// The files with which the fuzzer begins.
fn kept() -> Vec<Vec<u8>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../capture/fuzz/corpus/read");
    let entries = std::fs::read_dir(folder).expect("the corpus of the fuzzer");
    let files = entries.map(|entry| std::fs::read(entry.expect("a file").path()).expect("bytes"));
    files.collect()
}

#[test]
fn random_changes_of_good_files() {
    let mut dice = Dice(0x1ca5_7000_0001);
    let corpus = corpus();
    for bytes in &corpus {
        read(bytes);
    }
    for _ in 0..FILES {
        let mut bytes = corpus[dice.below(corpus.len())].clone();
        for _ in 0..=dice.below(24) {
            let at = dice.below(bytes.len());
            match dice.below(5) {
                0 => bytes.truncate(at.max(24)),
                1 => bytes[at] = [0, 1, 127, 128, 255][dice.below(5)],
                2 => bytes[at] ^= 1 << dice.below(8),
                3 => {
                    let from = dice.below(bytes.len());
                    let part = bytes[from..(from + dice.below(200)).min(bytes.len())].to_vec();
                    bytes.splice(at..at, part);
                }
                _ => bytes[at] = dice.below(256) as u8,
            }
        }
        read(&bytes);
    }
}
