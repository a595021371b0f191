//! Files that others name: definitions, parameter files, launch files. Whatever lies under such a
//! name, opening it does not wait, as a pipe without a writer would. And where installed ones lie.
#![forbid(unsafe_code)]

mod prefixes;

pub use prefixes::{PREFIX_VARIABLES, default_prefix, named_prefixes, paths_of_variable};

use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

/// Opens a regular file for reading; links to one are followed.
///
/// # Errors
/// When the system refuses, and of what is no regular file: a pipe, a device, a folder.
pub fn open(path: &Path) -> Result<File, Error> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(Error::new(ErrorKind::InvalidInput, "it is no regular file (a pipe, device or folder)"))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::io::Read as _;
    use std::process::Command;

    #[test]
    fn pipes_devices_and_folders_are_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for path in [pipe.as_path(), "/dev/zero".as_ref(), folder.path()] {
            let error = super::open(path).unwrap_err();
            assert!(error.to_string().contains("no regular file"), "{error}");
        }
    }

    #[test]
    fn a_file_is_read_also_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        std::fs::write(&file, "text").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let mut text = String::new();
        super::open(&link).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "text");
    }
}
