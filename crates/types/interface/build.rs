//! Puts the definition files of `interfaces/` and of its folders of packages into one text file
//! each, which `shipped.rs` includes, and the table of words where `words.rs` includes it.
//! `interfaces/` is the folder in the repository, or the copy in a released crate.

use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    let manifest_dir =
        PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let released = manifest_dir.join("interfaces");
    let interfaces =
        if released.is_dir() { released } else { manifest_dir.join("../../../interfaces") };
    println!("cargo::rerun-if-changed={}", interfaces.display());
    println!("cargo::rerun-if-changed=build.rs");
    let out_dir = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    for (folder, file) in [
        (interfaces.clone(), "standard.txt"),
        (interfaces.join("robots"), "robots.txt"),
        (interfaces.join("robots_of_jazzy"), "robots_of_jazzy.txt"),
    ] {
        let all = join(&folder);
        assert!(
            !all.is_empty(),
            "no definitions in {}: neither a released crate nor inside the Feros repository",
            folder.display()
        );
        let out = out_dir.join(file);
        fs::write(&out, all).unwrap_or_else(|e| panic!("{}: {e}", out.display()));
    }
    let words = interfaces.join("words.tsv");
    fs::copy(&words, out_dir.join("words.tsv"))
        .unwrap_or_else(|e| panic!("{}: {e}", words.display()));
}

/// Joins the definitions of the packages in a folder.
fn join(folder: &Path) -> String {
    let part = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut all = String::new();
    for package in entries(folder) {
        for namespace in ["msg", "srv", "action"] {
            for file in entries(&package.join(namespace)) {
                if file.extension().is_none_or(|extension| extension != namespace) {
                    continue;
                }
                let text =
                    fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
                all.push_str(&format!(
                    "\u{1}{}/{namespace}/{}\n{text}",
                    part(&package),
                    part(&file)
                ));
            }
        }
    }
    all
}

/// The sorted entries of a folder. The result is empty if the path is not a folder.
fn entries(dir: &Path) -> Vec<PathBuf> {
    let Ok(read) = fs::read_dir(dir) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = read.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    paths
}
