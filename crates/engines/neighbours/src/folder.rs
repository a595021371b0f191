//! The folder of the neighbours, and the names of the files in it. The first process makes the
//! folder, and the last one removes it.

use std::fmt;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::FallocateFlags;
use rustix::io::Errno;
use rustix::process::{Resource, geteuid, getrlimit};

use crate::Prefix;
use crate::error::JoinError;
use crate::host;

/// How many times to make a file again whose folder another process was just removing.
const MAX_ATTEMPTS: u32 = 100;

/// The folder of the processes of one user that can be neighbours.
#[derive(Debug)]
pub(crate) struct Folder {
    base: PathBuf,
    of_user: PathBuf,
    path: PathBuf,
}

impl Folder {
    /// Names the folder, and makes nothing.
    pub(crate) fn new(base: &Path, domain_id: u32, circumstances: &str) -> Result<Self, JoinError> {
        let of_user = base.join(format!("feros-{}-neighbours-1", geteuid().as_raw()));
        let path = of_user.join(format!("{domain_id}-{:016x}", host::number(circumstances)?));
        Ok(Self { base: base.to_owned(), of_user, path })
    }

    /// The folders of this user for other domains and other circumstances.
    pub(crate) fn others(&self) -> Vec<Self> {
        let Ok(names) = fs::read_dir(&self.of_user) else { return Vec::new() };
        let paths = names.flatten().map(|name| name.path()).filter(|path| *path != self.path);
        let of = |path| Self { base: self.base.clone(), of_user: self.of_user.clone(), path };
        paths.map(of).collect()
    }

    /// Makes a file in the folder, which is made if it is missing. If `make` does not find the
    /// folder or its own unfinished file, another process has removed it meanwhile, and `make`
    /// runs again.
    pub(crate) fn make_file<T>(
        &self,
        mut make: impl FnMut() -> io::Result<T>,
    ) -> Result<T, JoinError> {
        for _ in 0..MAX_ATTEMPTS {
            if !self.make()? {
                continue;
            }
            match make() {
                Err(error) if error.kind() == io::ErrorKind::NotFound => (),
                made => return made.map_err(|cause| self.failed(&cause)),
            }
        }
        let cause = format!("it was removed {MAX_ATTEMPTS} times while a file was made in it");
        Err(JoinError::Folder { folder: self.path.clone(), cause })
    }

    /// Makes the folder, or checks that only this user has access to an existing folder. After
    /// that, no other user can replace it: `/dev/shm` is a sticky folder, in which only the owner
    /// of an entry may replace it. Returns `false` if another process removed it meanwhile.
    fn make(&self) -> Result<bool, JoinError> {
        let base = fs::metadata(&self.base).map_err(|cause| failed(&self.base, &cause))?;
        if base.mode() & 0o022 != 0 && base.mode() & 0o1000 == 0 {
            let mode = base.mode() & 0o7777;
            let why =
                format!("lies in a folder whose entries any user may replace (mode {mode:o})");
            return Err(JoinError::NotTrusted { folder: self.of_user.clone(), why });
        }
        Ok(make_or_check(&self.of_user)? && make_or_check(&self.path)?)
    }

    /// Removes the folder if it is empty, and the folder of the user if that is empty then.
    pub(crate) fn remove_if_empty(&self) {
        // Usually this fails because other processes use the folder.
        let _ = fs::remove_dir(&self.path).and_then(|()| fs::remove_dir(&self.of_user));
    }

    pub(crate) fn path(&self, entry: Entry) -> PathBuf {
        self.path.join(entry.to_string())
    }

    /// Whether the file is missing for sure. After any other error, it may be there.
    pub(crate) fn lacks(&self, entry: Entry) -> bool {
        let found = fs::symlink_metadata(self.path(entry));
        found.is_err_and(|error| is_missing(&error))
    }

    /// Whether there is a file. If the system does not tell, there may be one.
    pub(crate) fn may_have(&self, entry: Entry) -> bool {
        let found = fs::symlink_metadata(self.path(entry));
        found.map_or_else(|error| !is_missing(&error), |found| found.is_file())
    }

    /// Removes the file, which may be missing.
    pub(crate) fn remove(&self, entry: Entry) {
        if let Err(error) = fs::remove_file(self.path(entry))
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::debug!(
                target: "feros::engine",
                "{} cannot be removed: {error}",
                self.path(entry).display()
            );
        }
    }

    /// The files of neighbours. The list is empty if the folder is missing. A file that is renamed
    /// meanwhile may be missing in the list.
    pub(crate) fn list(&self) -> io::Result<Vec<Entry>> {
        let names = match fs::read_dir(&self.path) {
            Err(error) if is_missing(&error) => return Ok(Vec::new()),
            names => names?,
        };
        let mut entries = Vec::new();
        for name in names {
            entries.extend(name?.file_name().to_str().and_then(Entry::of));
        }
        Ok(entries)
    }

    /// When a file in the folder was last made or removed, in seconds and nanoseconds. `None` if
    /// the folder is missing.
    pub(crate) fn modified(&self) -> Option<(i64, i64)> {
        let found = fs::symlink_metadata(&self.path).ok()?;
        Some((found.mtime(), found.mtime_nsec()))
    }

    pub(crate) fn failed(&self, cause: &io::Error) -> JoinError {
        failed(&self.path, cause)
    }
}

/// Whether there is no such file, or no such folder.
fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn failed(folder: &Path, cause: &io::Error) -> JoinError {
    JoinError::Folder { folder: folder.to_owned(), cause: cause.to_string() }
}

/// Returns `false` if the folder, or the one around it, was removed meanwhile.
fn make_or_check(folder: &Path) -> Result<bool, JoinError> {
    let not_trusted = |why: String| Err(JoinError::NotTrusted { folder: folder.to_owned(), why });
    match fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(failed(folder, &error));
        }
        _ => (),
    }
    let found = match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        found => found.map_err(|cause| failed(folder, &cause))?,
    };
    let me = geteuid().as_raw();
    if !found.is_dir() {
        return not_trusted("is not a folder".to_owned());
    }
    if found.uid() != me {
        return not_trusted(format!("belongs to user {}, not to {me}", found.uid()));
    }
    if found.mode() & 0o077 != 0 {
        let mode = found.mode() & 0o777;
        return not_trusted(format!("gives other users access (mode {mode:o}, not 700)"));
    }
    Ok(true)
}

/// Fails if a file may not become so large (RLIMIT_FSIZE). Writing it, and on a memory file system
/// also reserving memory for it, would end the process by a signal.
pub(crate) fn check_limit(bytes: u64) -> io::Result<()> {
    match getrlimit(Resource::Fsize).current {
        Some(limit) if limit < bytes => Err(Errno::FBIG.into()),
        _ => Ok(()),
    }
}

/// Takes memory for a file in advance, so that writing these bytes cannot fail later. The size of
/// the file stays.
pub(crate) fn reserve(file: &File, from: u64, bytes: u64) -> io::Result<()> {
    check_limit(from + bytes)?;
    match rustix::fs::fallocate(file, FallocateFlags::KEEP_SIZE, from, bytes) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()), // a base that is no memory file system
        reserved => Ok(reserved?),
    }
}

/// Tells a file from all others that exist at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    pub(crate) fn of(found: &Metadata) -> Self {
        Self { device: found.dev(), inode: found.ino() }
    }

    /// Whether the path leads to this file.
    pub(crate) fn is_at(self, path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok_and(|found| Self::of(&found) == self)
    }
}

/// A file in the folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Entry {
    /// The announcements of a participant.
    Log(Prefix),
    /// A log that is not complete yet. Only its owner uses it.
    NewLog(Prefix),
    /// The socket at which a neighbourhood is told to look.
    Bell(u64),
    /// A bell at which its owner does not listen yet.
    NewBell(u64),
    /// What a neighbourhood has processed.
    Read(u64),
}

impl Entry {
    /// The entry with this name. Foreign files are `None`.
    fn of(name: &str) -> Option<Self> {
        let (stem, ending) = name.split_once('.')?;
        let number = || u64::from_str_radix(stem, 16).ok();
        let entry = match (stem.len(), ending) {
            (24, "log") => Self::Log(prefix_of(stem)?),
            (24, "new") => Self::NewLog(prefix_of(stem)?),
            (16, "bell") => Self::Bell(number()?),
            (16, "new") => Self::NewBell(number()?),
            (16, "read") => Self::Read(number()?),
            _ => return None,
        };
        // Numbers may also be written in other ways, such as with large letters.
        (entry.to_string() == name).then_some(entry)
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Log(prefix) => write!(f, "{}.log", digits(prefix)),
            Self::NewLog(prefix) => write!(f, "{}.new", digits(prefix)),
            Self::Bell(name) => write!(f, "{name:016x}.bell"),
            Self::NewBell(name) => write!(f, "{name:016x}.new"),
            Self::Read(name) => write!(f, "{name:016x}.read"),
        }
    }
}

/// The prefix in hexadecimal digits.
pub(crate) fn digits(prefix: &Prefix) -> String {
    // Every look at a log needs its name, and formatting each byte took a tenth of its time.
    let halves = prefix.iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
    halves.filter_map(|half| char::from_digit(u32::from(half), 16)).collect()
}

fn prefix_of(digits: &str) -> Option<Prefix> {
    let number = u128::from_str_radix(digits, 16).ok()?;
    number.to_be_bytes().last_chunk().copied()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn make_in(base: &Path) -> Result<Folder, JoinError> {
        let folder = Folder::new(base, 7, "test")?;
        folder.make_file(|| Ok(())).map(|()| folder)
    }

    #[test]
    fn names_lead_to_entries_and_back() {
        let prefix = [0x01, 0x10, 0xab, 4, 5, 6, 7, 8, 9, 10, 11, 12];
        let entries = [
            (Entry::Log(prefix), "0110ab0405060708090a0b0c.log"),
            (Entry::NewLog(prefix), "0110ab0405060708090a0b0c.new"),
            (Entry::Bell(0xab), "00000000000000ab.bell"),
            (Entry::NewBell(0xab), "00000000000000ab.new"),
            (Entry::Read(0xab), "00000000000000ab.read"),
        ];
        for (entry, name) in entries {
            assert_eq!(entry.to_string(), name);
            assert_eq!(Entry::of(name), Some(entry));
        }
        for foreign in ["", "a.log", "00000000000000AB.bell", "+0000000000000ab.read", "x.bell"] {
            assert_eq!(Entry::of(foreign), None, "{foreign}");
        }
    }

    #[test]
    fn the_folder_is_made_for_this_user_only_and_removed() {
        let base = tempfile::tempdir().unwrap();
        let folder = make_in(base.path()).unwrap();
        for made in [&folder.of_user, &folder.path] {
            assert_eq!(fs::metadata(made).unwrap().mode() & 0o777, 0o700);
        }
        fs::write(folder.path(Entry::Read(1)), "").unwrap();
        fs::write(folder.path.join("foreign"), "").unwrap();
        assert_eq!(folder.list().unwrap(), [Entry::Read(1)]);
        folder.remove_if_empty();
        assert!(folder.path.exists());
        folder.remove(Entry::Read(1));
        fs::remove_file(folder.path.join("foreign")).unwrap();
        folder.remove_if_empty();
        assert!(!folder.of_user.exists());
        assert!(folder.list().unwrap().is_empty());
    }

    #[test]
    fn a_folder_to_which_others_have_access_is_refused() {
        let base = tempfile::tempdir().unwrap();
        let folder = make_in(base.path()).unwrap();
        for open in [&folder.path, &folder.of_user] {
            fs::set_permissions(open, fs::Permissions::from_mode(0o750)).unwrap();
            let error = make_in(base.path()).unwrap_err();
            assert!(error.to_string().contains("mode 750"), "{error}");
            fs::set_permissions(open, fs::Permissions::from_mode(0o700)).unwrap();
        }
        make_in(base.path()).unwrap();
        fs::set_permissions(base.path(), fs::Permissions::from_mode(0o777)).unwrap();
        assert!(matches!(make_in(base.path()), Err(JoinError::NotTrusted { .. })));
        fs::set_permissions(base.path(), fs::Permissions::from_mode(0o1777)).unwrap();
        make_in(base.path()).unwrap();
    }

    #[test]
    fn a_link_and_a_file_are_no_folder() {
        let (base, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let folder = Folder::new(base.path(), 7, "test").unwrap();
        symlink(elsewhere.path(), &folder.of_user).unwrap();
        let error = make_in(base.path()).unwrap_err();
        assert!(error.to_string().contains("is not a folder"), "{error}");
        fs::remove_file(&folder.of_user).unwrap();
        fs::write(&folder.of_user, "").unwrap();
        assert!(matches!(make_in(base.path()), Err(JoinError::NotTrusted { .. })));
    }

    #[test]
    fn a_file_is_made_again_if_its_folder_was_removed() {
        let base = tempfile::tempdir().unwrap();
        let folder = Folder::new(base.path(), 7, "test").unwrap();
        let mut attempts = 0;
        let made = folder.make_file(|| {
            attempts += 1;
            if attempts < 3 {
                folder.remove_if_empty();
            }
            fs::write(folder.path(Entry::Read(1)), "")
        });
        assert_eq!((made, attempts), (Ok(()), 3));
        let error = folder.make_file(|| fs::read(base.path().join("missing"))).unwrap_err();
        assert!(error.to_string().contains("100 times"), "{error}");
    }
}
