//! Finds the commit that the command is built from, for `feros --version`. It asks the repository
//! of the sources or, in a package of a registry, the file in which cargo records the commit when
//! it packs. Nothing else goes into the program, so two builds of one commit are equal.
//!
//! A debug build has no commit: its sources may have changed since, and each commit would make
//! cargo compile the command and all its tests again.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let folder = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let is_debug = std::env::var_os("PROFILE").is_some_and(|profile| profile == "debug");
    let found = if is_debug {
        "unknown (a debug build)".to_owned()
    } else {
        let watched = files_to_watch(&folder);
        watched.iter().for_each(|file| println!("cargo::rerun-if-changed={}", file.display()));
        commit(&folder).unwrap_or_else(|| "unknown (not built from a git repository)".to_owned())
    };
    println!("cargo::rustc-env=FEROS_COMMIT={found}");
}

/// The commit that the package in `folder` comes from.
pub(crate) fn commit(folder: &Path) -> Option<String> {
    if let Ok(packed) = std::fs::read_to_string(folder.join(".cargo_vcs_info.json")) {
        return recorded(&packed);
    }
    is_in_own_repository(folder).then(|| git(folder, &["rev-parse", "HEAD"]))?
}

/// The commit in cargo's record, which is `{"git": {"sha1": "..."}, ...}`.
fn recorded(record: &str) -> Option<String> {
    let (_, after) = record.split_once("\"sha1\"")?;
    let commit = after.split('"').nth(1)?;
    let is_hash = commit.len() >= 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| commit.to_owned())
}

/// Whether the repository is that of Feros, and not one into which somebody has copied the package.
fn is_in_own_repository(folder: &Path) -> bool {
    let root = folder.join("../../..").canonicalize().ok();
    let top = git(folder, &["rev-parse", "--show-toplevel"]);
    root.is_some() && root == top.and_then(|top| Path::new(&top).canonicalize().ok())
}

/// The files of the repository that change with its commit.
pub(crate) fn files_to_watch(folder: &Path) -> Vec<PathBuf> {
    if !is_in_own_repository(folder) {
        return Vec::new();
    }
    let branch = git(folder, &["rev-parse", "--symbolic-full-name", "HEAD"]);
    let names = ["HEAD".to_owned(), "logs/HEAD".to_owned()].into_iter().chain(branch);
    let paths = names.filter_map(|name| git(folder, &["rev-parse", "--git-path", &name]));
    // Cargo would repeat every build for the sake of a file that does not exist.
    paths.map(|path| folder.join(path)).filter(|path| path.is_file()).collect()
}

fn git(folder: &Path, words: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(folder).args(words).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let answer = text.trim();
    (output.status.success() && !answer.is_empty()).then(|| answer.to_owned())
}
