//! The temporary files with the parameters of processes. A launch that is killed cannot remove its
//! files, so the next launch of the user does.
//!
//! Each file is locked as long as its launch runs. The system releases the lock when the launch
//! ends, in whatever way, so a file that can be locked is left over. Unlike a process id, a lock
//! also means the same in containers that share the folder.

use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

use tempfile::NamedTempFile;

/// Stock ROS 2 calls its files `launch_params_...`, and does not lock them.
const PREFIX: &str = "feros_launch_params_";
const SUFFIX: &str = ".yaml";

/// Writes a file with this text to a folder. The file exists as long as the returned value.
pub(super) fn write(folder: &Path, text: &str) -> io::Result<NamedTempFile> {
    loop {
        let mut file =
            tempfile::Builder::new().prefix(PREFIX).suffix(SUFFIX).tempfile_in(folder)?;
        match file.as_file().lock() {
            // No file can be locked there, so no launch removes the files of others.
            Err(error) if error.kind() == ErrorKind::Unsupported => {}
            locked => locked?,
        }
        // Before the lock, another launch may have taken the file for a leftover.
        if file.path().exists() {
            file.write_all(text.as_bytes())?;
            return Ok(file);
        }
    }
}

/// Removes the files that ended launches have left in a folder, as far as this user may.
pub(super) fn remove_leftovers(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_ours = name.to_str().is_some_and(|name| {
            name.strip_prefix(PREFIX).is_some_and(|rest| rest.ends_with(SUFFIX))
        });
        if is_ours && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            // A file that cannot be opened or removed belongs to somebody else.
            let _ = remove_if_left(&entry.path());
        }
    }
}

fn remove_if_left(path: &Path) -> io::Result<()> {
    let file = feros_files::open(path)?;
    if file.try_lock().is_ok() {
        fs::remove_file(path)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_ended_launches_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let used = write(folder.path(), "a: 1\n").unwrap();
        let left = path("feros_launch_params_AbC123.yaml");
        let others = ["launch_params_x", "feros_launch_params_x", "feros_launch_params_x.yaml~"];
        for name in [&left].into_iter().chain(&others.map(path)) {
            fs::write(name, "").unwrap();
        }
        let link = path("feros_launch_params_link.yaml");
        std::os::unix::fs::symlink(path("launch_params_x"), &link).unwrap();
        fs::create_dir(path("feros_launch_params_folder.yaml")).unwrap();

        remove_leftovers(folder.path());
        assert!(!left.exists());
        assert_eq!(fs::read_to_string(used.path()).unwrap(), "a: 1\n");
        let kept = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(kept, 1 + others.len() + 2, "the used one, others, a link and a folder");
        drop(used);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), kept - 1);
        remove_leftovers(Path::new("/nothing/here"));
    }
}
