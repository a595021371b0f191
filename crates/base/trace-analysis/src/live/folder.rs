//! The folder of traces: finds the files that grow, and those that are not traces.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use feros_trace::{EndpointName, Event, FILE_EXTENSION};

use super::file::GrowingFile;
use crate::read::ReadError;

/// The limit on the folder's entries that are checked.
const MOST_ENTRIES: usize = 10_000;
/// The limit on files that are followed; these are the files written last.
const MOST_FILES: usize = 256;
/// The limits on bytes read per look, from all files together and from each file.
const MOST_BYTES: u64 = 16 << 20;
const MOST_BYTES_OF_FILE: u64 = 4 << 20;
/// A file that was not written to for this long is not followed: its program has ended, or has no
/// events.
const STALE: Duration = Duration::from_secs(30);
/// The limit on problems that are reported.
const MOST_PROBLEMS: usize = 8;

/// The identity of a file, which does not change when the file is renamed.
type Inode = (u64, u64);

#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    boot: String,
    files: HashMap<Inode, Known>,
    /// A problem with the folder itself.
    problem: Option<String>,
}

#[derive(Debug)]
struct Known {
    path: PathBuf,
    /// The position up to which the file has been read, or its size when it was refused.
    bytes: u64,
    is_fresh: bool,
    state: State,
}

#[derive(Debug)]
enum State {
    /// The file has not been read yet. A fresh file is read once it has content, and any other file
    /// once its size changes.
    Still,
    /// The file has been read up to `bytes`.
    Read(GrowingFile),
    /// The file cannot be read; this is the reason.
    Refused(String),
}

impl Folder {
    pub(super) fn new(path: &Path) -> Self {
        let boot = feros_trace::boot_id().unwrap_or_default();
        Self { path: path.to_owned(), boot, files: HashMap::new(), problem: None }
    }

    /// Passes the events since the last look to `tell`.
    pub(super) fn look(&mut self, mut tell: impl FnMut(Event, &Arc<EndpointName>)) {
        let mut grown = Vec::new();
        let mut files = HashMap::new();
        for Found { path, inode, bytes, is_fresh, .. } in self.list() {
            let mut known = self.files.remove(&inode).unwrap_or_else(|| {
                let bytes = if is_fresh { 0 } else { bytes };
                Known { path: path.clone(), bytes, is_fresh, state: State::Still }
            });
            (known.path, known.is_fresh) = (path, is_fresh);
            // If a refused file has become smaller, it may be another file.
            let is_refused = matches!(known.state, State::Refused(_)) && bytes >= known.bytes;
            if bytes != known.bytes && !is_refused {
                grown.push(inode);
            }
            files.insert(inode, known);
        }
        self.files = files;
        let budget = MOST_BYTES_OF_FILE.min(MOST_BYTES / grown.len().max(1) as u64);
        for inode in grown {
            if let Some(known) = self.files.get_mut(&inode) {
                known.read(inode, &self.boot, budget, &mut tell);
            }
        }
    }

    /// The number of programs that have written lately. A program that has just begun a new file
    /// counts once.
    pub(super) fn programs(&self) -> usize {
        let is_read = |known: &&Known| known.is_fresh && matches!(known.state, State::Read(_));
        let files = self.files.values().filter(is_read);
        let stem = |known: &Known| Some(PathBuf::from(known.path.file_stem()?).with_extension(""));
        files.filter_map(stem).collect::<BTreeSet<_>>().len()
    }

    /// The problems, to show to people.
    pub(super) fn problems(&self) -> Vec<String> {
        let refused = self.files.values().filter_map(|known| match &known.state {
            State::Refused(why) => Some((&known.path, why)),
            State::Still | State::Read(_) => None,
        });
        let refused: BTreeMap<_, _> = refused.collect();
        self.problem.iter().chain(refused.into_values()).take(MOST_PROBLEMS).cloned().collect()
    }

    /// The trace files: first the followed files, then the others, with the last written file
    /// first. Links are left out, since they could lead anywhere.
    fn list(&mut self) -> Vec<Found> {
        let mut found = Vec::new();
        self.problem = None;
        let entries = match std::fs::read_dir(&self.path) {
            Ok(entries) => entries,
            // No program has started yet.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return found,
            Err(error) => {
                self.problem = Some(format!("{} cannot be read: {error}", self.path.display()));
                return found;
            }
        };
        let now = SystemTime::now();
        let mut entries = entries.flatten();
        for path in entries.by_ref().take(MOST_ENTRIES).map(|entry| entry.path()) {
            if path.extension().is_some_and(|extension| extension == FILE_EXTENSION)
                && let Ok(metadata) = path.symlink_metadata()
                && metadata.is_file()
            {
                found.push(Found::new(path, &metadata, now));
            }
        }
        let is_read = |found: &Found| {
            let known = self.files.get(&found.inode);
            found.is_fresh && known.is_some_and(|known| matches!(known.state, State::Read(_)))
        };
        found.sort_by_key(|found| (!is_read(found), found.age));
        if entries.next().is_some() || found.get(MOST_FILES).is_some_and(|next| next.is_fresh) {
            self.problem = Some(format!(
                "{} has more files than can be read ({MOST_FILES} of running programs, {MOST_ENTRIES} in all): remove \
                 the files of programs that have ended, or trace fewer programs",
                self.path.display()
            ));
        }
        found.truncate(MOST_FILES);
        found
    }
}

/// A file in the folder.
struct Found {
    path: PathBuf,
    inode: Inode,
    bytes: u64,
    age: Duration,
    is_fresh: bool,
}

impl Found {
    fn new(path: PathBuf, metadata: &Metadata, now: SystemTime) -> Self {
        let written = metadata.modified().ok();
        let age = written.and_then(|at| now.duration_since(at).ok()).unwrap_or_default();
        let bytes = metadata.len();
        Self { path, inode: inode(metadata), bytes, age, is_fresh: age <= STALE }
    }
}

fn inode(metadata: &Metadata) -> Inode {
    (metadata.dev(), metadata.ino())
}

impl Known {
    /// Reads the new part of the file, or notes why it cannot be read.
    fn read(
        &mut self,
        inode_of_it: Inode,
        boot: &str,
        budget: u64,
        tell: impl FnMut(Event, &Arc<EndpointName>),
    ) {
        let opened = feros_files::open(&self.path).and_then(|file| Ok((file.metadata()?, file)));
        let (bytes, read) = match opened {
            // The file has just been renamed.
            Ok((metadata, _)) if inode(&metadata) != inode_of_it => return,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return,
            Err(source) => (self.bytes, Err(ReadError::Io { file: self.path.clone(), source })),
            Ok((metadata, mut file)) => {
                let mut growing = match std::mem::replace(&mut self.state, State::Still) {
                    State::Read(growing) => growing,
                    State::Still | State::Refused(_) => GrowingFile::new(&self.path, boot),
                };
                let read = growing.read(&mut file, metadata.len(), budget, tell);
                (metadata.len(), read.map(|()| growing))
            }
        };
        (self.bytes, self.state) = match read {
            Ok(growing) => (growing.read_bytes(), State::Read(growing)),
            Err(error) => (bytes, State::Refused(error.to_string())),
        };
    }
}
