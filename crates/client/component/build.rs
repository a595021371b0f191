//! Computes the build number of the compatibility stamp: a hash of everything that decides the
//! memory layout of Feros's types.
//!
//! The hash covers the compiler and its flags, the target, and the sources of the crates that a
//! component and its container share. A crate from a registry comes without the sources of the
//! other crates; the version of Feros in the stamp then stands for those sources.

#[path = "build/shared_crates.rs"]
mod shared_crates;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// The variables in which cargo passes the settings that change memory layouts or calling
/// conventions.
const SETTINGS: [&str; 6] = [
    "TARGET",
    "PROFILE",
    "CARGO_CFG_DEBUG_ASSERTIONS",
    "CARGO_CFG_PANIC",
    "CARGO_CFG_TARGET_FEATURE",
    "CARGO_ENCODED_RUSTFLAGS",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut hasher = DefaultHasher::new();
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(&rustc).arg("-vV").output()?;
    if !version.status.success() {
        return Err(format!("{} -vV failed", rustc.display()).into());
    }
    let version = String::from_utf8(version.stdout)?;
    version.hash(&mut hasher);
    for name in SETTINGS {
        env::var(name).ok().hash(&mut hasher);
    }
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or("run this with cargo")?);
    println!("cargo::rerun-if-changed=build.rs");
    let crates = here.ancestors().nth(2).ok_or("this crate does not lie in a folder")?;
    if crates.join("client/feros/Cargo.toml").is_file() {
        // The list of crates begins there; the crate itself is not in the list.
        println!("cargo::rerun-if-changed={}/client/shared/Cargo.toml", crates.display());
        for name in shared_crates::folders(crates)? {
            for part in ["Cargo.toml", "build.rs", "build", "engine", "patches", "shim", "src"] {
                hash_tree(&crates.join(&name).join(part), &mut hasher)?;
            }
        }
        // The versions of third-party crates.
        hash_tree(&crates.join("../Cargo.toml"), &mut hasher)?;
        hash_tree(&crates.join("../interfaces"), &mut hasher)?;
    }
    println!("cargo::rustc-env=FEROS_BUILD={:016x}", hasher.finish());
    println!("cargo::rerun-if-env-changed=FEROS_COMPONENT_CRATES");
    let crates = env::var("FEROS_COMPONENT_CRATES").unwrap_or_else(|_| "untold".to_owned());
    if !crates.chars().all(|c| c.is_ascii_alphanumeric()) {
        return Err(format!(
            "FEROS_COMPONENT_CRATES={crates:?} is not valid: only letters and digits are allowed"
        )
        .into());
    }
    println!("cargo::rustc-env=FEROS_CRATES={crates}");
    println!("cargo::rustc-env=FEROS_RUSTC={}", version.lines().next().unwrap_or_default());
    println!("cargo::rustc-env=FEROS_TARGET={}", env::var("TARGET")?);
    println!("cargo::rustc-env=FEROS_PROFILE={}", env::var("PROFILE")?);
    Ok(())
}

/// Hashes the names and contents of all files in a fixed order; a missing file or folder is
/// skipped.
fn hash_tree(path: &Path, hasher: &mut DefaultHasher) -> io::Result<()> {
    if path.is_dir() {
        println!("cargo::rerun-if-changed={}", path.display());
        let mut inside: Vec<PathBuf> =
            fs::read_dir(path)?.map(|entry| entry.map(|e| e.path())).collect::<Result<_, _>>()?;
        inside.sort();
        for path in inside {
            hash_tree(&path, hasher)?;
        }
    } else if path.is_file() {
        println!("cargo::rerun-if-changed={}", path.display());
        path.file_name().hash(hasher);
        fs::read(path)?.hash(hasher);
    }
    Ok(())
}
