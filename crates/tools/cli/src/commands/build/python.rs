//! Builds Python packages: the package's own build backend makes a wheel, which is unpacked into a
//! folder that has the form of a prefix. A package whose files have not changed is not built again.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash as _, Hasher as _};
use std::io::pipe;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::UNIX_EPOCH;

use feros_process::{ChildGroup, EndSignals, Followed, python_interpreter};
use serde::Deserialize;
use toml::Value;

use super::error::PackageFault;
use super::files::{self, Item};
use super::find::Package;
use super::manifest::toml_in;
use crate::notices;

/// The program that builds a package.
const BUILDER: &str = include_str!("../../python/build_package.py");

/// The backend of packages that do not name one.
const DEFAULT_BACKEND: &str = "setuptools.build_meta:__legacy__";

/// The limit on the bytes of a result and of a stamp.
const MOST_BYTES: u64 = 64 << 20;

/// Folders among the sources into which build tools write.
const WRITTEN: [&str; 4] = ["build", "dist", "install", "log"];

/// The result that the program writes to the file `result`.
#[derive(Default, Deserialize)]
struct Answer {
    refused: Option<String>,
    /// Modules and entry points that cannot work.
    #[serde(default)]
    warnings: Vec<String>,
}

impl Answer {
    /// Reads the result of the last build in a folder; `None` if the program wrote none.
    fn read(work: &Path) -> Option<Self> {
        serde_json::from_slice(&feros_files::read(&work.join("result"), MOST_BYTES).ok()?).ok()
    }
}

/// Builds a package in a folder of its own below `builds`, and returns its files. `None` if a
/// signal arrived.
pub(super) fn build(
    package: &Package,
    builds: &Path,
    signals: &EndSignals,
) -> Result<Option<Vec<Item>>, PackageFault> {
    let mut hasher = DefaultHasher::new();
    package.folder.hash(&mut hasher);
    let work = builds.join(format!("{}-{:016x}", package.name, hasher.finish()));
    let (stage, stamp_file) = (work.join("stage"), work.join("stamp"));
    let python = python_interpreter();
    let stamp = stamp(package, &python);
    let built = feros_files::read_to_string(&stamp_file, MOST_BYTES);
    if built.ok().as_deref() != Some(&stamp) {
        let fault = |error| PackageFault::file(&work, error);
        if work.exists() {
            fs::remove_dir_all(&work).map_err(fault)?;
        }
        fs::create_dir_all(&stage).map_err(fault)?;
        let refused = |reason| PackageFault::Python { python: python.clone(), reason };
        let command = command(package, &work, &stage, &python)?;
        let Some(output) = output_of(command, signals).map_err(&refused)? else { return Ok(None) };
        let reason = match Answer::read(&work) {
            Some(answer) => answer.refused,
            None => Some("it ended early; its output is above".to_owned()),
        };
        if let Some(reason) = reason {
            notices::note(String::from_utf8_lossy(&output).trim_end());
            return Err(refused(reason));
        }
        feros_files::write(&stamp_file, &stamp).map_err(fault)?;
    }
    for warning in Answer::read(&work).unwrap_or_default().warnings {
        notices::warn(format!("{}: {warning}", package.name));
    }
    let mut items = files::at(&stage, Path::new(""));
    if !stage.join("share").exists() {
        items.extend(files::usual(package));
    }
    Ok(Some(items))
}

/// The command that builds the package.
fn command(
    package: &Package,
    work: &Path,
    stage: &Path,
    python: &str,
) -> Result<Command, PackageFault> {
    let system = toml_in(&package.folder, "pyproject.toml")?.unwrap_or_default();
    let system = system.get("build-system");
    let backend = system.and_then(|system| system.get("build-backend")?.as_str());
    let folders = system.and_then(|system| system.get("backend-path")?.as_array());
    let folders = folders.into_iter().flatten().filter_map(Value::as_str);
    let folders: Vec<PathBuf> = folders.map(|folder| package.folder.join(folder)).collect();
    let task = serde_json::json!({
        "folder": package.folder, "package": package.name, "work": work, "stage": stage,
        "result": work.join("result"), "backend": backend.unwrap_or(DEFAULT_BACKEND),
        "backend_path": folders,
    });
    let mut command = Command::new(python);
    command.args(["-c", BUILDER, &task.to_string()]).current_dir(&package.folder);
    Ok(command)
}

/// Waits for the command, and returns all of its output. `None` if a signal arrived.
fn output_of(mut command: Command, signals: &EndSignals) -> Result<Option<Vec<u8>>, String> {
    let said = |error: std::io::Error| format!("it cannot be started: {error}");
    let (reader, writer) = pipe().map_err(said)?;
    command.stdin(Stdio::null()).stderr(writer.try_clone().map_err(said)?).stdout(writer);
    let mut child = ChildGroup::spawn(&mut command).map_err(said)?;
    drop(command); // it holds an end of the pipe, which must close
    let mut output = Vec::new();
    let followed = signals.follow(&mut child, reader, |bytes| {
        output.extend_from_slice(bytes);
        ControlFlow::Continue(())
    });
    match followed.map_err(said)? {
        Followed::Signalled(_) => Ok(None),
        Followed::Ended(_) | Followed::Refused => Ok(Some(output)),
    }
}

/// Names the state of the sources: the time and size of each file.
fn stamp(package: &Package, python: &str) -> String {
    let mut hasher = DefaultHasher::new();
    (BUILDER, python, &package.name).hash(&mut hasher);
    for file in files::below(&package.folder) {
        let is_written = file.components().next().is_some_and(|first| {
            let name = first.as_os_str().to_string_lossy();
            WRITTEN.contains(&&*name) || name.ends_with(".egg-info")
        });
        if is_written {
            continue;
        }
        let Ok(metadata) = package.folder.join(&file).metadata() else { continue };
        let time = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        (file, metadata.len(), time).hash(&mut hasher);
    }
    format!("{:016x}", hasher.finish())
}
