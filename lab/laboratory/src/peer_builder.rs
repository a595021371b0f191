//! Builds the programs of systems under test, and reports which systems are missing and how to
//! install them.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use feros_process::{ChildGroup, Signal};

use crate::contract::EXIT_NOT_INSTALLED;
use crate::peer::{Peer, SystemRef};
use crate::record::Missing;

/// The time after which a running build is reported. The report is repeated after each `AGAIN`.
const FIRST_WORD: Duration = Duration::from_secs(1);
const AGAIN: Duration = Duration::from_secs(30);
/// The limit on the bytes of the reason why a build failed, and on its output.
const MOST_BYTES: u64 = 64 << 20;
/// How often to check for an interruption.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);

/// The folder in which programs are built, and the state of each build.
pub struct PeerBuilder {
    cache: PathBuf,
    /// The states, by the name of the peer or of its configuration.
    states: BTreeMap<String, PeerState>,
}

/// Whether a system can be measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PeerState {
    /// The system's programs are in this folder.
    Ready(PathBuf),
    /// The system cannot be measured.
    Missing(Missing),
}

/// The reason why no program could be built.
#[derive(Debug, thiserror::Error)]
pub enum PeerBuildError {
    /// The folder for programs cannot be used.
    #[error("the folder for programs {} cannot be used: {error}; FEROS_LAB_CACHE names another", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
    /// The user interrupted the build.
    #[error("interrupted while {0} was built")]
    Interrupted(String),
}

impl PeerBuilder {
    /// Creates a builder in `FEROS_LAB_CACHE`, in cargo's target folder, or in the user's cache.
    pub fn new() -> Self {
        Self::at(default_cache())
    }

    /// Creates a builder in this folder.
    pub fn at(cache: PathBuf) -> Self {
        Self { cache, states: BTreeMap::new() }
    }

    /// The folder in which programs are built.
    pub fn cache(&self) -> &Path {
        &self.cache
    }

    /// The state that is known from builds by this or an earlier process, without building
    /// anything.
    pub fn known(&self, system: SystemRef<'_>) -> Option<PeerState> {
        let peer = system.peer;
        if let Some(reason) = &peer.manifest.unavailable {
            return Some(PeerState::Missing(Missing { reason: reason.clone(), install: None }));
        }
        let mut state = None;
        for made in made(system) {
            let known = self.states.get(&made.name).cloned().or_else(|| {
                let mark = self.cache.join(&peer.name).join(made.mark);
                match feros_files::read_to_string(&mark, MOST_BYTES).ok()?.trim() {
                    "" => Some(PeerState::Ready(self.cache.join(&peer.name))),
                    reason => Some(PeerState::Missing(missing(peer, reason))),
                }
            })?;
            if matches!(known, PeerState::Missing(_)) {
                return Some(known);
            }
            state = Some(known);
        }
        state
    }

    /// Builds the programs of a system, which takes a long time at first; calls `waits` during that
    /// time.
    ///
    /// # Errors
    /// If the folder cannot be used, or the user interrupts the build. A missing peer is not an
    /// error.
    pub fn prepare(
        &mut self,
        system: SystemRef<'_>,
        interrupted: &AtomicBool,
        waits: &mut dyn FnMut(&str),
    ) -> Result<PeerState, PeerBuildError> {
        let peer = system.peer;
        if let Some(reason) = &peer.manifest.unavailable {
            return Ok(PeerState::Missing(Missing { reason: reason.clone(), install: None }));
        }
        let mut state = PeerState::Ready(self.cache.join(&peer.name));
        for made in made(system) {
            state = match self.states.get(&made.name) {
                Some(state) => state.clone(),
                None => self.build(peer, &made, interrupted, waits)?,
            };
            self.states.insert(made.name, state.clone());
            if matches!(state, PeerState::Missing(_)) {
                break;
            }
        }
        Ok(state)
    }

    fn build(
        &self,
        peer: &Peer,
        made: &Made<'_>,
        interrupted: &AtomicBool,
        waits: &mut dyn FnMut(&str),
    ) -> Result<PeerState, PeerBuildError> {
        let out = self.cache.join(&peer.name);
        let failed = |error| PeerBuildError::Folder { path: out.clone(), error };
        std::fs::create_dir_all(&out).map_err(failed)?;
        let reason = match made.build {
            [] => None,
            [program, arguments @ ..] => {
                let log = out.join("build.log");
                let file = feros_files::create(&log).map_err(failed)?;
                let program =
                    if program.contains('/') { peer.folder.join(program) } else { program.into() };
                let mut command = Command::new(&program);
                command
                    .args(arguments)
                    .current_dir(&peer.folder)
                    .env("FEROS_LAB_OUT", &out)
                    .stdin(Stdio::null())
                    .stdout(file.try_clone().map_err(failed)?)
                    .stderr(file);
                let code = run(&mut command, interrupted, &mut |time| {
                    let (name, seconds, log) = (&made.name, time.as_secs(), log.display());
                    waits(&format!("builds {name}, {seconds} s so far; its output is in {log}"));
                });
                let said = std::fs::read_to_string(&log).unwrap_or_default();
                let last =
                    said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
                match code {
                    Ok(Some(0)) => None,
                    Ok(Some(EXIT_NOT_INSTALLED)) => Some(last.trim().to_owned()),
                    Ok(None) => return Err(PeerBuildError::Interrupted(made.name.clone())),
                    Ok(Some(_)) => {
                        Some(format!("its build failed, see {}: {}", log.display(), last.trim()))
                    }
                    Err(error) => {
                        Some(format!("its build {} cannot be started: {error}", program.display()))
                    }
                }
            }
        };
        let said = reason.as_deref().unwrap_or_default();
        feros_files::write(&out.join(&made.mark), said).map_err(failed)?;
        Ok(reason.map_or_else(
            || PeerState::Ready(out.clone()),
            |reason| PeerState::Missing(missing(peer, &reason)),
        ))
    }
}

impl Default for PeerBuilder {
    fn default() -> Self {
        Self::new()
    }
}

/// A build for a system, into its peer's folder.
struct Made<'a> {
    name: String,
    build: &'a [String],
    /// The file with the reason why the build is missing; an empty file means that it is complete.
    mark: String,
}

/// The builds of a system: the peer's programs, and the programs that the configuration needs in
/// addition.
fn made(system: SystemRef<'_>) -> Vec<Made<'_>> {
    let peer = system.peer;
    let own =
        Made { name: peer.name.clone(), build: &peer.manifest.build, mark: "missing".to_owned() };
    let of_variant = system.variant.filter(|variant| !variant.build.is_empty()).map(|variant| {
        let mark = format!("missing.{}", variant.name);
        Made { name: system.name(), build: &variant.build, mark }
    });
    std::iter::once(own).chain(of_variant).collect()
}

fn missing(peer: &Peer, reason: &str) -> Missing {
    Missing { reason: reason.to_owned(), install: peer.manifest.install.clone() }
}

/// Runs a build and returns its exit code; -1 if a signal ended it; `None` if the user interrupted
/// it.
fn run(
    command: &mut Command,
    interrupted: &AtomicBool,
    waits: &mut dyn FnMut(Duration),
) -> std::io::Result<Option<i32>> {
    let (mut child, began, mut next) = (ChildGroup::spawn(command)?, Instant::now(), FIRST_WORD);
    loop {
        if let Some(status) = child.wait_until(Instant::now() + LOOK_INTERVAL)? {
            // A terminal's signal reaches a child that does not have a process group of its own
            // yet.
            let endings = [Signal::INT, Signal::TERM, Signal::HUP].map(Signal::as_raw);
            let is_interrupted = status.signal().is_some_and(|signal| endings.contains(&signal));
            return Ok((!is_interrupted).then(|| status.code().unwrap_or(-1)));
        }
        if interrupted.load(Ordering::Relaxed) {
            // Dropping the build kills also the compilers that it started.
            return Ok(None);
        }
        if began.elapsed() >= next {
            waits(began.elapsed());
            next += AGAIN;
        }
    }
}

fn default_cache() -> PathBuf {
    let variable =
        |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    cache(variable, &repository(), std::env::home_dir())
}

/// The folder for builds. Programs are started from it, so it is never in a folder that other users
/// can write to.
fn cache(
    variable: impl Fn(&str) -> Option<PathBuf>,
    repository: &Path,
    home: Option<PathBuf>,
) -> PathBuf {
    variable("FEROS_LAB_CACHE")
        .or_else(|| variable("CARGO_TARGET_DIR").map(|target| target.join("lab")))
        .or_else(|| repository.join("Cargo.toml").is_file().then(|| repository.join("target/lab")))
        .or_else(|| variable("XDG_CACHE_HOME").map(|cache| cache.join("feros-lab")))
        .unwrap_or_else(|| home.unwrap_or_else(|| "/".into()).join(".cache/feros-lab"))
}

/// The repository that this laboratory was built from.
pub(crate) fn repository() -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    path.canonicalize().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;
    use std::sync::atomic::AtomicBool;

    use super::{cache, run};

    #[test]
    fn a_build_that_a_signal_ends_is_interrupted_unless_it_was_killed() {
        let ended = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            run(&mut command, &AtomicBool::new(false), &mut |_| ()).unwrap()
        };
        for signal in ["INT", "TERM", "HUP"] {
            assert_eq!(ended(&format!("kill -{signal} $$")), None, "{signal}");
        }
        assert_eq!(ended("kill -KILL $$"), Some(-1));
        assert_eq!(ended("exit 3"), Some(3));
    }

    #[test]
    fn programs_are_never_started_from_a_folder_of_everybody() {
        let elsewhere = Path::new("/nonexistent");
        let of_root = cache(|_| None, elsewhere, None);
        assert_eq!(of_root, Path::new("/.cache/feros-lab"));
        let of_user = cache(|_| None, elsewhere, Some("/home/me".into()));
        assert_eq!(of_user, Path::new("/home/me/.cache/feros-lab"));
    }
}
