//! Stores finished builds of the library. A build of Feros with another profile or other flags of
//! Rust needs the same library again, and to compile the library takes most of a minute.
//!
//! The variable `FEROS_CYCLONEDDS_CACHE` names a folder. Without this variable, no build is stored.

use std::collections::hash_map::DefaultHasher;
use std::ffi::OsString;
use std::hash::{Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io, process};

const VARIABLE: &str = "FEROS_CYCLONEDDS_CACHE";
/// The variables on which the library depends, in addition to its source.
const MADE_WITH: &[&str] =
    &["TARGET", "CC", "CFLAGS", "CMAKE", "CMAKE_GENERATOR", "CMAKE_TOOLCHAIN_FILE"];
/// The parts of an installed library that are kept.
const KEPT: &[&str] = &["include", "lib"];

/// Returns the folder in which the library of this source is installed. This is the folder in the
/// cache if it exists, and otherwise the folder that `build` returns. `options` are the options of
/// the build.
pub(crate) fn installed(
    source: &Path,
    options: &[&str],
    build: impl FnOnce() -> PathBuf,
) -> io::Result<PathBuf> {
    println!("cargo::rerun-if-env-changed={VARIABLE}");
    let Some(cache) = env::var_os(VARIABLE).filter(|folder| !folder.is_empty()) else {
        return Ok(build());
    };
    let kept = PathBuf::from(cache).join(format!("{:016x}", key(source, options)?));
    if kept.is_dir() {
        println!("cargo::rerun-if-changed={}", kept.display());
        return Ok(kept);
    }
    // The folder in the cache is newer than this run of the build script, so cargo would regard it
    // as a change. Therefore, this run returns the folder of the build.
    let installed = build();
    keep(&installed, &kept)?;
    Ok(installed)
}

/// Copies an installed library to the cache. Another process may do the same at the same time.
fn keep(installed: &Path, kept: &Path) -> io::Result<()> {
    let unfinished = kept.with_extension(process::id().to_string());
    for part in KEPT {
        copy(&installed.join(part), &unfinished.join(part))?;
    }
    match fs::rename(&unfinished, kept) {
        Err(_) if kept.is_dir() => fs::remove_dir_all(&unfinished),
        result => result,
    }
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if !from.is_dir() {
        return fs::copy(from, to).map(drop);
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let name = entry?.file_name();
        copy(&from.join(&name), &to.join(&name))?;
    }
    Ok(())
}

fn key(source: &Path, options: &[&str]) -> io::Result<u64> {
    let mut hasher = DefaultHasher::new();
    options.hash(&mut hasher);
    let variables = MADE_WITH.iter().map(env::var_os);
    variables.collect::<Vec<Option<OsString>>>().hash(&mut hasher);
    let compiler = Command::new(env::var_os("CC").unwrap_or_else(|| "cc".into()));
    version(compiler).hash(&mut hasher);
    hash(source, &mut hasher)?;
    Ok(hasher.finish())
}

/// The version text of a compiler. It is empty if the compiler does not run.
fn version(mut compiler: Command) -> Vec<u8> {
    compiler.arg("--version").output().map(|output| output.stdout).unwrap_or_default()
}

/// Hashes the names and contents of all files below a path.
fn hash(path: &Path, hasher: &mut DefaultHasher) -> io::Result<()> {
    path.file_name().hash(hasher);
    if !path.is_dir() {
        fs::read(path)?.hash(hasher);
        return Ok(());
    }
    let mut entries = fs::read_dir(path)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    entries.iter().try_for_each(|entry| hash(&entry.path(), hasher))
}
