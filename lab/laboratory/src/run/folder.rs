//! The folder of a run: it has only one writer, an interrupted run in it can be continued, and no
//! result in it gets lost.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use super::error::RunError;
use super::lock::{LockError, lock};
use super::raw;
use crate::plan::{Cell, Plan};
use crate::record::{FORMAT, Record, Run};

/// With less space than this, the next cell does not begin.
const SPACE_NEEDED_BYTES: u64 = 32 << 20;

/// The limit on the bytes of `run.json` and `plan.json`.
const MOST_BYTES: u64 = 64 << 20;

/// An open folder; no other process writes into it.
pub(super) struct Folder {
    path: PathBuf,
    pub(super) run: Run,
    cells: File,
    good_length: u64,
    done: HashSet<String>,
    /// The results that the folder had when it was opened.
    pub(super) resumed: Option<Resumed>,
    _locks: [File; 2],
}

/// The results of an earlier attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Resumed {
    pub(super) cells: usize,
    pub(super) interrupted: usize,
}

impl Folder {
    /// Opens a folder for a plan: a new folder, or one with an unfinished run of the same plan.
    pub(super) fn open(path: &Path, plan: &Plan, new_run: Run) -> Result<Self, RunError> {
        let failed = |error| RunError::Folder { path: path.to_owned(), error };
        let machine = taken(&std::env::temp_dir().join("feros-lab.lock"), None)?;
        super::program::remove_left_scratch();
        // This comes before any change, so that a folder that does not belong to a run stays as it
        // is.
        refuse_strangers(path)?;
        std::fs::create_dir_all(path.join("raw"))
            .map_err(|error| RunError::writing(path, 0, error))?;
        let own = taken(&path.join("lock"), Some(path))?;
        let cells = plan.steps.iter().map(|step| &step.cell).collect::<Vec<_>>();
        let stored = text_of(&path.join("run.json"))?;
        let run = match &stored {
            Some(text) => {
                let run = continued(path, text, &new_run)?;
                if !same_plan(path, &cells)? {
                    return Err(RunError::OtherContent {
                        path: path.to_owned(),
                        what: format!(
                            "an unfinished run of {} with other cells: its scenarios or this machine's peers have changed since",
                            run.grid
                        ),
                    });
                }
                run
            }
            None => {
                let text = serde_json::to_string(&cells).map_err(|error| failed(error.into()))?;
                replace(&path.join("plan.json"), &text)
                    .map_err(|error| RunError::writing(path, 0, error))?;
                new_run
            }
        };
        let cells_path = path.join("cells.jsonl");
        let options = &mut OpenOptions::new();
        options.create(true).read(true).append(true);
        let mut file = feros_files::open_with(options, &cells_path)
            .map_err(|error| RunError::Folder { path: cells_path, error })?;
        let (done, good_length) = read_cells(path, &mut file)?;
        let interrupted = raw::keep_interrupted(&path.join("raw"))
            .map_err(|error| RunError::writing(path, done.len(), error))?;
        let resumed = stored.map(|_| Resumed { cells: done.len(), interrupted });
        let folder = Self {
            path: path.to_owned(),
            run,
            cells: file,
            good_length,
            done,
            resumed,
            _locks: [machine, own],
        };
        folder.write_run()?;
        Ok(folder)
    }

    pub(super) fn raw(&self) -> PathBuf {
        self.path.join("raw")
    }

    pub(super) fn is_done(&self, cell: &Cell) -> bool {
        self.done.contains(&key(&cell.scenario, cell.repetition, &cell.dimensions()))
    }

    /// The number of records in the folder.
    pub(super) fn records(&self) -> usize {
        self.done.len()
    }

    /// Writes `run.json` completely or not at all.
    pub(super) fn write_run(&self) -> Result<(), RunError> {
        let text =
            serde_json::to_string_pretty(&self.run).map_err(|error| self.failed(error.into()))?;
        replace(&self.path.join("run.json"), &text).map_err(|error| self.failed(error))
    }

    /// Adds a record; once this returns, the record survives a crash of the machine.
    pub(super) fn append(&mut self, record: &Record) -> Result<(), RunError> {
        let mut line = serde_json::to_vec(record).map_err(|error| self.failed(error.into()))?;
        line.push(b'\n');
        if let Err(error) = self.cells.write_all(&line).and_then(|()| self.cells.sync_data()) {
            // Half a line would make the next line unreadable.
            let _ = self.cells.set_len(self.good_length);
            return Err(self.failed(error));
        }
        self.good_length += line.len() as u64;
        self.done.insert(key(&record.scenario, record.repetition, &record.dimensions));
        Ok(())
    }

    /// Refuses to begin a cell if there is no space for its result.
    pub(super) fn check_space(&self) -> Result<(), RunError> {
        let Ok(space) = rustix::fs::statvfs(&self.path) else { return Ok(()) };
        if space.f_bavail.saturating_mul(space.f_frsize) < SPACE_NEEDED_BYTES {
            return Err(RunError::DiskFull { path: self.path.clone(), kept: self.records() });
        }
        Ok(())
    }

    /// Wraps an error of writing.
    pub(super) fn failed(&self, error: std::io::Error) -> RunError {
        RunError::writing(&self.path, self.records(), error)
    }
}

/// Refuses a folder that contains other files and no run.
fn refuse_strangers(path: &Path) -> Result<(), RunError> {
    if path.join("run.json").exists() {
        return Ok(());
    }
    let entries = match std::fs::read_dir(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(|error| RunError::Folder { path: path.to_owned(), error })?,
    };
    // Files that end with `new` are from a laboratory that was killed while it wrote.
    let known = ["raw", "lock", "plan.json", "cells.jsonl", "plan.new", "run.new"];
    let mut names = entries.filter_map(Result::ok).map(|entry| entry.file_name());
    match names.find(|name| known.iter().all(|known| name != *known)) {
        Some(other) => Err(RunError::OtherContent {
            path: path.to_owned(),
            what: format!("no run, but `{}`", other.to_string_lossy()),
        }),
        None => Ok(()),
    }
}

/// The run in a folder, if it may be continued as the new run.
fn continued(path: &Path, text: &str, new: &Run) -> Result<Run, RunError> {
    let other = |what: String| RunError::OtherContent { path: path.to_owned(), what };
    let run: Run = serde_json::from_str(text)
        .map_err(|error| other(format!("a run.json that cannot be read: {error}")))?;
    if run.format != FORMAT {
        return Err(other(format!(
            "a run of format {}, but this laboratory writes format {FORMAT}",
            run.format
        )));
    }
    if run.grid != new.grid {
        return Err(other(format!("a run of {}, not of {}", run.grid, new.grid)));
    }
    if run.ended_unix_seconds.is_some() {
        return Err(other(format!("a finished run of {}; feros lab report shows it", run.grid)));
    }
    Ok(run)
}

/// The text of a file of the folder; `None` if there is no such file.
fn text_of(file: &Path) -> Result<Option<String>, RunError> {
    match feros_files::read_to_string(file, MOST_BYTES) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        text => text.map(Some).map_err(|error| RunError::Folder { path: file.to_owned(), error }),
    }
}

fn same_plan(path: &Path, cells: &[&Cell]) -> Result<bool, RunError> {
    let text = text_of(&path.join("plan.json"))?.unwrap_or_default();
    let stored: Vec<Cell> = serde_json::from_str(&text).unwrap_or_default();
    // A skipped cell is listed once and not in each repetition, and it may have become possible
    // since.
    let first = |cells: &mut dyn Iterator<Item = &Cell>| {
        cells.filter(|cell| cell.repetition == 0).cloned().collect::<Vec<_>>()
    };
    Ok(first(&mut stored.iter()) == first(&mut cells.iter().copied()))
}

/// Reads the cells that are done, and cuts off the rest of an interrupted write at the end.
fn read_cells(path: &Path, file: &mut File) -> Result<(HashSet<String>, u64), RunError> {
    let failed = |error| RunError::Folder { path: path.to_owned(), error };
    let mut text = String::new();
    file.seek(SeekFrom::Start(0)).map_err(failed)?;
    file.read_to_string(&mut text).map_err(failed)?;
    let (mut done, mut good_length) = (HashSet::new(), 0);
    for (index, line) in text.split_inclusive('\n').enumerate() {
        match serde_json::from_str::<Record>(line) {
            Ok(record) if line.ends_with('\n') => {
                done.insert(key(&record.scenario, record.repetition, &record.dimensions));
                good_length += line.len() as u64;
            }
            Ok(_) | Err(_) if !line.ends_with('\n') => break,
            Ok(_) => break,
            Err(error) => {
                return Err(RunError::OtherContent {
                    path: path.to_owned(),
                    what: format!("cells.jsonl whose line {} cannot be read: {error}", index + 1),
                });
            }
        }
    }
    file.set_len(good_length).map_err(failed)?;
    Ok((done, good_length))
}

fn key(
    scenario: &str,
    repetition: u32,
    dimensions: &std::collections::BTreeMap<String, crate::record::Value>,
) -> String {
    let dimensions = serde_json::to_string(dimensions).unwrap_or_default();
    format!("{scenario} {repetition} {dimensions}")
}

/// Writes a file so that its content is always either the old or the new content, whatever happens.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let new = path.with_extension("new");
    let written = (|| {
        let mut file = feros_files::create(&new)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&new, path)
    })();
    if written.is_err() {
        let _ = std::fs::remove_file(&new);
    }
    written
}

/// Takes the lock on a folder of results, or on the machine.
fn taken(file: &Path, folder: Option<&Path>) -> Result<File, RunError> {
    lock(file).map_err(|error| match error {
        LockError::Held(by) => RunError::Busy { path: folder.map(Path::to_owned), by },
        LockError::Unusable(error) => RunError::Folder { path: file.to_owned(), error },
    })
}
