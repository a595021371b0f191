//! Runs the program as another user.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use super::{Place, program};

pub(crate) const NOBODY: u32 = 65_534;

/// A copy of the program that another user can run, even if that user cannot read the build folder.
pub(crate) struct Copy {
    folder: PathBuf,
    uid: u32,
}

impl Copy {
    /// Makes a copy for the user with this id.
    pub(crate) fn of(uid: u32) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("feros-crash-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        std::os::unix::fs::chown(&folder, Some(uid), Some(uid)).unwrap();
        std::fs::copy(program(), folder.join("crash-peer")).unwrap();
        Self { folder, uid }
    }

    /// The path of the copy.
    pub(crate) fn program(&self) -> PathBuf {
        self.folder.join("crash-peer")
    }

    /// A command that runs the copy as that user.
    pub(crate) fn command(&self, place: &Place) -> Command {
        let mut command = place.command(&self.program());
        command.uid(self.uid).gid(self.uid).current_dir(&self.folder);
        command.env("HOME", &self.folder).env("USER", "nobody").env_remove("XDG_RUNTIME_DIR");
        command
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
