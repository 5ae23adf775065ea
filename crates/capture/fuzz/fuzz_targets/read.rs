//! Reads bytes as a capture, and diagnoses it. This must not panic, run forever, or use more memory
//! than an input of this size needs.

#![no_main]

use std::io::Cursor;
use std::path::PathBuf;

use incast_capture::read::{Count, File, Merge};
use incast_diagnose::{Analysis, Options};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(file) = File::from_bytes(Box::new(Cursor::new(bytes.to_vec())), 0) else { return };
    let mut files = Merge::of(vec![(file, PathBuf::from("x"))], Count::default());
    let mut analysis = Analysis::new(Options::default());
    for packet in &mut files {
        analysis.take(&packet);
    }
    let _ = analysis.finish(&files);
});
