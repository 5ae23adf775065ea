//! Makes every script of `scripts/` a separate test. `tests/scripts.rs` includes the list.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=scripts");
    let mut tests = String::new();
    for behaviour in entries(Path::new("scripts"))? {
        println!("cargo:rerun-if-changed={}", behaviour.display());
        writeln!(tests, "mod {} {{", stem(&behaviour)).expect("a string takes it");
        for script in entries(&behaviour)? {
            let (name, path) = (stem(&script), script.display());
            let text = format!("concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/{path}\")");
            writeln!(
                tests,
                "    #[test]\n    fn {name}() {{\n        \
                 super::run(\"{path}\", include_str!({text}));\n    }}"
            )
            .expect("a string takes it");
        }
        tests.push_str("}\n");
    }
    let out = env::var("OUT_DIR").expect("cargo sets it");
    fs::write(Path::new(&out).join("scripts.rs"), tests)
}

/// The entries of a folder, in an order that does not depend on the file system.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| entry.map(|one| one.path())).collect::<Result<_, _>>()?;
    found.sort();
    Ok(found)
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
