//! Adds a hash of the sources to the engine's version. Builds with different code must not share
//! stored results, even if they have the same version number.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The crates that determine results.
const CRATES: [&str; 8] =
    ["engine", "net", "tcp", "remedies", "host", "traffic", "scenario", "lab"];

fn main() -> io::Result<()> {
    let crates = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("..");
    let mut hash = Fnv::default();
    for name in CRATES {
        let folder = crates.join(name).join("src");
        println!("cargo:rerun-if-changed={}", folder.display());
        for file in sources(&folder)? {
            let place = file.strip_prefix(&crates).expect("it is in there");
            hash.update(place.to_string_lossy().replace('\\', "/").as_bytes());
            hash.update(&fs::read(&file)?);
        }
    }
    let version = env::var("CARGO_PKG_VERSION").expect("cargo sets it");
    println!("cargo:rustc-env=INCAST_ENGINE={version}+{:016x}", hash.0);
    Ok(())
}

/// The Rust files in a folder and its subfolders, in an order that does not depend on the file
/// system.
fn sources(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(sources(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// The hash of Fowler, Noll and Vo (FNV-1a, 64 bits), which does not depend on machine and
/// toolchain.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn update(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
