//! Opens and writes files that users or other files name, such as definitions, parameter files and
//! launch files. Opening a file never blocks, not even on a pipe without a writer. The crate also
//! finds the prefixes under which packages are installed.
//!
//! # Invariants
//!
//! Only regular files are opened, and opening never waits.
#![forbid(unsafe_code)]

mod prefixes;

pub use prefixes::{
    PREFIX_VARIABLES, default_prefix, listed_prefixes, named_prefixes, paths_of_variable,
    searched_prefixes,
};

use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

/// Opens a regular file for reading, and follows symbolic links.
///
/// # Errors
/// The system refuses, or the path leads to a pipe, a device or a folder and not to a regular file.
pub fn open(path: &Path) -> Result<File, Error> {
    open_with(OpenOptions::new().read(true), path)
}

/// Opens an existing regular file for writing, and follows symbolic links.
///
/// # Errors
/// The same errors as for [`open`].
pub fn open_for_writing(path: &Path) -> Result<File, Error> {
    open_with(OpenOptions::new().write(true), path)
}

/// Opens a file with these options, and refuses everything but a regular file. Custom flags of the
/// options are replaced.
///
/// # Errors
/// The same errors as for [`open`].
pub fn open_with(options: &mut OpenOptions, path: &Path) -> Result<File, Error> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = options.custom_flags(flags).open(path).map_err(|error| {
        // The error for writing to a pipe without a reader, and for a socket.
        let is_refused = error.raw_os_error() == Some(Errno::NXIO.raw_os_error());
        if is_refused { not_regular() } else { error }
    })?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(not_regular()) }
}

/// Writes a regular file, which is created or replaces its old content.
///
/// # Errors
/// The same errors as for [`open`], and an error if the content cannot be written.
pub fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<(), Error> {
    create(path)?.write_all(content.as_ref())
}

/// Creates a regular file for writing, or empties an existing one, and follows symbolic links.
///
/// # Errors
/// The same errors as for [`open`].
pub fn create(path: &Path) -> Result<File, Error> {
    // A file that is refused must not be emptied.
    let file = open_with(OpenOptions::new().write(true).create(true).truncate(false), path)?;
    file.set_len(0)?;
    Ok(file)
}

/// Reads a whole regular file.
///
/// # Errors
/// The same errors as for [`open`], and an error if the file has more than `most_bytes` bytes.
pub fn read(path: &Path, most_bytes: u64) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    open(path)?.take(most_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most_bytes {
        let what = format!("it is larger than {most_bytes} bytes, the limit for this kind of file");
        return Err(Error::new(ErrorKind::FileTooLarge, what));
    }
    Ok(bytes)
}

/// Reads a text file, like [`read`].
///
/// # Errors
/// The same errors as for [`read`], and an error if the file is not UTF-8.
pub fn read_to_string(path: &Path, most_bytes: u64) -> Result<String, Error> {
    let not_utf8 = |_| Error::new(ErrorKind::InvalidData, "it is not UTF-8 text");
    String::from_utf8(read(path, most_bytes)?).map_err(not_utf8)
}

fn not_regular() -> Error {
    let what = "it is not a regular file, but a pipe, a device or a folder";
    Error::new(ErrorKind::InvalidInput, what)
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
            assert!(error.to_string().contains("not a regular file"), "{error}");
            assert!(super::open_for_writing(path).is_err());
            assert!(super::create(path).is_err() && super::write(path, "text").is_err());
            assert!(super::read(path, 9).is_err() && super::read_to_string(path, 9).is_err());
        }
    }

    #[test]
    fn the_error_for_a_pipe_without_a_reader_says_what_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let error = super::create(&pipe).unwrap_err();
        assert!(error.to_string().contains("not a regular file"), "{error}");
    }

    #[test]
    fn a_file_is_created_or_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        for text in ["a long text", "text"] {
            super::write(&file, text).unwrap();
            assert_eq!(super::read_to_string(&file, 99).unwrap(), text);
        }
    }

    #[test]
    fn a_file_above_the_limit_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "text").unwrap();
        assert_eq!(super::read_to_string(&file, 4).unwrap(), "text");
        let error = super::read_to_string(&file, 3).unwrap_err();
        assert!(error.to_string().contains("larger than 3 bytes"), "{error}");
        std::fs::write(&file, [0xff]).unwrap();
        assert!(super::read_to_string(&file, 4).unwrap_err().to_string().contains("UTF-8"));
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
