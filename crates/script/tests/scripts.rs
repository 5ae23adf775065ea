//! Every script of `scripts/` is a separate test. `build.rs` lists the scripts.

use incast_script::Script;

fn run(name: &str, text: &str) {
    if let Err(failure) = Script::parse(name, text).and_then(|script| script.run()) {
        panic!("{failure}");
    }
}

include!(concat!(env!("OUT_DIR"), "/scripts.rs"));
