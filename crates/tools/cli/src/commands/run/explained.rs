//! Lets a program in Python say what to do about a module that it lacks, although `feros run` has
//! become that program and no longer exists.
//!
//! Python imports the module `sitecustomize` when it starts. An archive in memory, which the
//! program inherits as a descriptor and finds on `PYTHONPATH`, contains a module of this name,
//! which asks this command after a traceback. So there is no second process while the program runs,
//! and no file is left behind.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write as _;
use std::os::fd::IntoRawFd as _;
use std::path::Path;

use feros_launch::told_of_error;
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::Errno;

use crate::notices;
use crate::python::wheel_has;

const MODULE: &str = include_str!("sitecustomize.py");
const NAME: &str = "sitecustomize.py";

/// The entry of `PYTHONPATH` that makes the program with this file explain its end. `None` if the
/// system refuses it, or if a path is not UTF-8; then the program explains nothing.
pub(super) fn archive(program: Option<&Path>) -> Option<String> {
    let program = program.unwrap_or(Path::new("")).to_str()?;
    let command = std::env::current_exe().ok()?;
    // A list of strings in JSON is a list of Python.
    let words = serde_json::json!([command.to_str()?, program]).to_string();
    let bytes = zipped(NAME, MODULE.replace("COMMAND_WORDS", &words).as_bytes())?;
    // The descriptor has no CLOEXEC, since the program reads it. Older kernels do not know the flag
    // `NOEXEC_SEAL`.
    let file = memfd_create("feros-run", MemfdFlags::NOEXEC_SEAL)
        .or_else(|errno| match errno {
            Errno::INVAL => memfd_create("feros-run", MemfdFlags::empty()),
            other => Err(other),
        })
        .ok()?;
    let mut file = File::from(file);
    file.write_all(&bytes).ok()?;
    Some(format!("/proc/self/fd/{}", file.into_raw_fd()))
}

/// `PYTHONPATH` with this entry before the present ones.
pub(super) fn python_path(archive: &str) -> OsString {
    let mut path = OsString::from(archive);
    if let Some(rest) = std::env::var_os("PYTHONPATH").filter(|rest| !rest.is_empty()) {
        path.push(":");
        path.push(rest);
    }
    path
}

/// Says what to do about the last line of a traceback, if it is about a missing module.
pub(super) fn explain(program: &str, error: &str) {
    let program = Some(Path::new(program)).filter(|program| !program.as_os_str().is_empty());
    if let Some(text) = told_of_error(error, program, wheel_has) {
        notices::error(text);
    }
}

/// An archive (ZIP) with one file, which is not compressed: Python then needs no library for it.
fn zipped(name: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    const VERSION: u16 = 10;
    const FIRST_DAY: u16 = 1 << 5 | 1; // the first of January 1980
    let size = u32::try_from(bytes.len()).ok()?;
    let name_size = u16::try_from(name.len()).ok()?;
    let mut facts = Vec::new();
    // Version, flags, method, time, date; checksum, two sizes; length of the name, of extras.
    for number in [VERSION, 0, 0, 0, FIRST_DAY] {
        facts.extend(number.to_le_bytes());
    }
    for number in [crc32fast::hash(bytes), size, size] {
        facts.extend(number.to_le_bytes());
    }
    for number in [name_size, 0] {
        facts.extend(number.to_le_bytes());
    }
    let file = [b"PK\x03\x04", facts.as_slice(), name.as_bytes(), bytes].concat();
    // The rest of the entry: comment, disk, attributes, and the position of the file, all 0.
    let entry = [b"PK\x01\x02", &VERSION.to_le_bytes()[..], &facts, &[0; 14], name.as_bytes()];
    let directory = entry.concat();
    let mut end = b"PK\x05\x06\0\0\0\0\x01\0\x01\0".to_vec();
    end.extend(u32::try_from(directory.len()).ok()?.to_le_bytes());
    end.extend(u32::try_from(file.len()).ok()?.to_le_bytes());
    end.extend([0; 2]);
    Some([file, directory, end].concat())
}
