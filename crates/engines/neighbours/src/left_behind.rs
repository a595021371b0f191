//! Removes what killed processes have left behind. The system releases the locks of a process that
//! ends, and refuses datagrams to its sockets.

use std::collections::HashSet;
use std::fs::{self, File};
use std::path::Path;

use rustix::fs::FlockOperation;

use crate::bells;
use crate::folder::{Entry, FileId, Folder};

/// Whether the owner of the log is gone, so that the log may be removed. `file` was opened at this
/// path. Its lock is kept until it is closed.
pub(crate) fn is_left_behind(file: &File, path: &Path) -> bool {
    // The owner locks a log before it gets its name, and keeps the lock until another file has the
    // name. So nobody owns a file that is unlocked and has the name, and nobody will replace it.
    rustix::fs::flock(file, FlockOperation::NonBlockingLockShared).is_ok()
        && file.metadata().is_ok_and(|found| FileId::of(&found).is_at(path))
}

/// Removes what is unfinished, and what belongs to no bell. If it still has an owner, the owner
/// begins again.
pub(crate) fn sweep(folder: &Folder, entries: &[Entry]) {
    let is_bell = |entry: &&Entry| matches!(entry, Entry::Bell(_));
    let bells: HashSet<&Entry> = entries.iter().filter(is_bell).collect();
    for &entry in entries {
        match entry {
            Entry::NewLog(_) => remove_unlocked(folder, entry),
            Entry::NewBell(_) if !bells::answers(folder, entry) => folder.remove(entry),
            // A neighbourhood makes the bell first and removes it last.
            Entry::Read(name) => {
                let bell = Entry::Bell(name);
                if !bells.contains(&bell) && folder.lacks(bell) {
                    folder.remove(entry);
                }
            }
            _ => (),
        }
    }
}

/// Removes the folder after the last neighbourhood has left it.
pub(crate) fn remove_folder(folder: &Folder) {
    let entries = folder.list().unwrap_or_default();
    sweep(folder, &entries);
    for entry in entries.into_iter().filter(|entry| matches!(entry, Entry::Log(_))) {
        remove_unlocked(folder, entry);
    }
    folder.remove_if_empty();
}

/// Removes the folders of other domains whose processes were all killed.
pub(crate) fn remove_other_folders(folder: &Folder) {
    for other in folder.others() {
        let entries = other.list().unwrap_or_default();
        let bells = entries.iter().filter_map(|entry| match entry {
            Entry::Bell(name) => Some(*name),
            _ => None,
        });
        // One process that is alive cleans up behind the others.
        if bells.clone().all(|name| bells::remove_if_gone(&other, name)) {
            remove_folder(&other);
        }
    }
}

fn remove_unlocked(folder: &Folder, entry: Entry) {
    let path = folder.path(entry);
    let Ok(file) = feros_files::open(&path) else { return };
    if is_left_behind(&file, &path) {
        let _ = fs::remove_file(&path); // another process may be faster
    }
}
