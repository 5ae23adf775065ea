//! Reads captures and prints only the answer, so that `time` measures the reading.
//!
//! `cargo run --release -p incast-diagnose --example speed FILE...`

use std::path::PathBuf;

use incast_capture::read::Merge;
use incast_diagnose::{Analysis, Options};

fn main() {
    let paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    match Merge::open(&paths) {
        Ok(mut files) => {
            let mut analysis = Analysis::new(Options::default());
            for packet in &mut files {
                analysis.take(&packet);
            }
            println!("{}", analysis.finish(&files).why);
        }
        Err(error) => eprintln!("{error}"),
    }
}
