//! Calls cargo and the compiler, and reads their output.

use std::ffi::OsString;
use std::io::{Read, pipe, stderr};
use std::ops::ControlFlow;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use feros_component::library::{needed_libraries, shared_feros};
use feros_component::stamp::CRATES_VARIABLE;
use feros_process::{ChildGroup, EndSignals, Followed, Lines};
use serde::Deserialize;

use super::error::BuildError;

/// A longer line of cargo's messages counts as several lines, and is not understood.
const LONGEST_MESSAGE_BYTES: usize = 64 << 20;

/// Calls cargo as a user's shell does in a folder: with that folder's configuration and toolchain.
/// If one of the signals arrives, the call ends together with the compilers that it started.
pub(crate) struct Cargo {
    folder: PathBuf,
    signals: EndSignals,
}

/// One or several files that cargo made, as its option `--message-format json` reports them.
#[derive(Deserialize)]
pub(crate) struct Artifact {
    /// The package, as `cargo metadata` names it.
    pub(crate) package_id: String,
    pub(crate) target: Target,
    filenames: Vec<PathBuf>,
    pub(crate) executable: Option<PathBuf>,
}

/// A program or library of a package.
#[derive(Deserialize)]
pub(crate) struct Target {
    pub(crate) name: String,
    /// Such as `bin` or `lib`.
    #[serde(default)]
    pub(crate) kind: Vec<String>,
}

#[derive(Deserialize)]
struct Message {
    reason: String,
}

/// The settings of a build.
pub(crate) struct Call<'a> {
    pub(crate) manifest: &'a Path,
    /// Cargo's target folder.
    pub(crate) target: &'a Path,
    pub(crate) release: bool,
    /// The number of the list of crates, if libraries for containers are built.
    pub(crate) crates: Option<&'a str>,
}

impl Call<'_> {
    fn add_to(&self, command: &mut Command) {
        command.arg("--target-dir").arg(self.target);
        if self.release {
            command.arg("--release");
        }
        // Cargo's incremental mode is part of the identity of a crate: like a feature, it must not
        // depend on who runs the build.
        command.env("CARGO_INCREMENTAL", "0");
        if let Some(crates) = self.crates {
            command.env(CRATES_VARIABLE, crates);
        }
    }
}

/// The files to install.
pub(crate) struct Built {
    /// The shared Feros, and the shared form of the standard library.
    pub(crate) shared: Vec<PathBuf>,
    pub(crate) containers: Vec<PathBuf>,
    /// One library for each package, in the order of the packages.
    pub(crate) libraries: Vec<PathBuf>,
}

impl Cargo {
    pub(crate) fn in_folder(folder: &Path, signals: &EndSignals) -> Self {
        Self { folder: folder.to_owned(), signals: signals.clone() }
    }

    /// The packages of a workspace and all their dependencies, for this machine's platform.
    pub(crate) fn metadata(&self, manifest: &Path) -> Result<String, BuildError> {
        let rustc = self.answer(self.rustc().arg("-vV"))?;
        let host = rustc.lines().find_map(|line| line.strip_prefix("host: "));
        let mut command = self.command("metadata", manifest);
        command.args(["--format-version", "1"]);
        if let Some(host) = host {
            // Dependencies of other platforms are not even downloaded.
            command.args(["--filter-platform", host]);
        }
        self.answer(&mut command)
    }

    /// The crates that a build would compile, each with its features.
    pub(crate) fn tree(&self, manifest: &Path) -> Result<String, BuildError> {
        let mut command = self.command("tree", manifest);
        let form = ["--prefix", "depth", "--format", "{p} {f}"];
        self.answer(command.args(["--workspace", "--edges", "normal,build"]).args(form))
    }

    /// Builds the whole workspace of this manifest. The compiler's messages go to the terminal.
    pub(crate) fn build(&self, call: &Call<'_>) -> Result<Vec<Artifact>, BuildError> {
        let (artifacts, end) = self.artifacts(call, &[]);
        end.map(|()| artifacts)
    }

    /// Builds as much of the workspace as can be built. Returns what was made, and whether that is
    /// everything.
    pub(crate) fn build_most(&self, call: &Call<'_>) -> Result<(Vec<Artifact>, bool), BuildError> {
        match self.artifacts(call, &["--keep-going"]) {
            (artifacts, Ok(())) => Ok((artifacts, true)),
            (artifacts, Err(BuildError::Failed { .. })) => Ok((artifacts, false)),
            (_, Err(error)) => Err(error),
        }
    }

    /// Runs the tests of the whole workspace, since cargo compiles dependencies with other features
    /// for a part of it. The output goes to standard error. Returns whether all tests passed.
    pub(crate) fn test(&self, call: &Call<'_>) -> Result<bool, BuildError> {
        let mut command = self.command("test", call.manifest);
        command.args(["--workspace", "--no-fail-fast"]);
        call.add_to(&mut command);
        // The results are to stand among the lines that cargo itself writes to standard error.
        let output = stderr().as_fd().try_clone_to_owned();
        let output = output.map_err(|source| not_started(&command, source))?;
        let (nothing, _) = pipe().map_err(|source| not_started(&command, source))?;
        command.stdout(output);
        let child = spawn(&mut command)?;
        match self.wait(&command, child, nothing, |_| ControlFlow::Continue(())) {
            Ok(()) => Ok(true),
            Err(BuildError::Failed { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn artifacts(&self, call: &Call<'_>, more: &[&str]) -> (Vec<Artifact>, Result<(), BuildError>) {
        let mut command = self.command("build", call.manifest);
        command.arg("--workspace").args(more);
        command.args(["--message-format", "json-render-diagnostics"]);
        call.add_to(&mut command);
        let mut lines = Lines::new(LONGEST_MESSAGE_BYTES);
        let (mut artifacts, mut bad) = (Vec::new(), None);
        let end = self.follow(&mut command, |bytes| {
            lines.add(bytes, |line| match artifact(line) {
                Ok(artifact) => artifacts.extend(artifact),
                Err(error) => bad = Some(error),
            });
            if bad.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let end = end.and_then(|()| match bad {
            None => Ok(()),
            Some(error) => {
                Err(BuildError::Answer { command: name(&command), reason: error.to_string() })
            }
        });
        (artifacts, end)
    }

    /// The compiler with the settings that the environment gives it, in one line.
    pub(crate) fn compiler(&self) -> Result<String, BuildError> {
        let version = self.answer(self.rustc().arg("--version"))?;
        let is_setting = |name: &str| name == "RUSTFLAGS" || name.starts_with("CARGO_PROFILE_");
        let settings = std::env::vars_os().filter_map(|(name, value)| {
            let name = name.into_string().ok().filter(|name| is_setting(name))?;
            Some(format!(" {name}={}", value.to_string_lossy()))
        });
        let mut settings: Vec<String> = settings.collect();
        settings.sort();
        Ok(format!("{}{}", version.trim(), settings.concat()))
    }

    /// A library that comes with the compiler.
    fn library_of_rustc(&self, name: &str) -> Result<PathBuf, BuildError> {
        let folder = self.answer(self.rustc().args(["--print", "target-libdir"]))?;
        let file = Path::new(folder.trim()).join(name);
        if file.is_file() {
            Ok(file)
        } else {
            Err(BuildError::file(
                file,
                "the compiler does not have this file: build for this machine",
            ))
        }
    }

    /// The output of a command that must succeed; its errors go to the terminal.
    fn answer(&self, command: &mut Command) -> Result<String, BuildError> {
        let mut output = Vec::new();
        self.follow(command, |bytes| {
            output.extend_from_slice(bytes);
            ControlFlow::Continue(())
        })?;
        String::from_utf8(output).map_err(|error| BuildError::Answer {
            command: name(command),
            reason: error.to_string(),
        })
    }

    /// Passes the output of a command to `take`. The command must succeed, unless `take` wants no
    /// more; its errors go to the terminal.
    fn follow(
        &self,
        command: &mut Command,
        take: impl FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<(), BuildError> {
        command.stdout(Stdio::piped());
        let mut child = spawn(command)?;
        let (_, output, _) = child.take_pipes();
        let output = output.expect("standard output was asked to be a pipe");
        self.wait(command, child, output, take)
    }

    /// Takes what comes out of `output` until the command has ended.
    fn wait(
        &self,
        command: &Command,
        mut child: ChildGroup,
        output: impl Read + AsFd,
        take: impl FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<(), BuildError> {
        match self.signals.follow(&mut child, output, take) {
            Ok(Followed::Ended(status)) if !status.success() => {
                Err(BuildError::Failed { command: name(command), status })
            }
            Ok(Followed::Ended(_) | Followed::Refused) => Ok(()),
            Ok(Followed::Signalled(signal)) => Err(BuildError::Signal(signal)),
            Err(error) => {
                Err(BuildError::Answer { command: name(command), reason: error.to_string() })
            }
        }
    }

    fn command(&self, verb: &str, manifest: &Path) -> Command {
        let mut command = Command::new(program("CARGO", "cargo"));
        command.arg(verb).arg("--manifest-path").arg(manifest).current_dir(&self.folder);
        command
    }

    fn rustc(&self) -> Command {
        let mut command = Command::new(program("RUSTC", "rustc"));
        command.current_dir(&self.folder);
        command
    }
}

impl Built {
    /// Finds the files to install among those that cargo made. `libraries` are the crates that
    /// become libraries, one for each package.
    pub(crate) fn new(
        artifacts: &[Artifact],
        libraries: &[String],
        cargo: &Cargo,
    ) -> Result<Self, BuildError> {
        let missing = |what: &str| BuildError::Answer {
            command: "cargo build".to_owned(),
            reason: format!("it did not produce the {what}"),
        };
        let files = |wanted: &dyn Fn(&Artifact, &Path) -> bool| -> Option<PathBuf> {
            let all = artifacts.iter().flat_map(|a| a.filenames.iter().map(move |file| (a, file)));
            let mut fitting = all.filter(|(artifact, file)| wanted(artifact, file));
            fitting.next().map(|(_, file)| file.clone())
        };
        let is_container = |artifact: &&Artifact| artifact.target.name.starts_with("component_");
        let containers = artifacts.iter().filter(is_container);
        let containers: Vec<_> = containers.filter_map(|a| a.executable.clone()).collect();
        let container = containers.first().ok_or_else(|| missing("container"))?;

        let needed = needed_libraries(container)?;
        let std = needed.iter().find(|name| name.starts_with("libstd-"));
        let std = cargo.library_of_rustc(std.ok_or_else(|| missing("shared standard library"))?)?;
        let name = shared_feros(needed).ok_or_else(|| missing("libferos_shared"))?;
        let is_shared = |artifact: &Artifact, file: &Path| {
            artifact.target.name == "feros_shared" && file.extension() == Some("so".as_ref())
        };
        let shared = files(&is_shared).and_then(|file| library_named(&file, &name));
        let shared = shared.ok_or_else(|| missing(&name))?;

        let library = |name: &String| {
            files(&|artifact, file| {
                artifact.target.name == *name && file.extension() == Some("so".as_ref())
            })
            .ok_or_else(|| missing(name))
        };
        let libraries = libraries.iter().map(library).collect::<Result<_, _>>()?;
        Ok(Self { shared: vec![std, shared], containers, libraries })
    }
}

/// The file of a library under the name by which programs need it. For a crate of a registry, cargo
/// reports only a copy without the hash in its name, beside the folder `deps` that has the library.
fn library_named(reported: &Path, name: &str) -> Option<PathBuf> {
    let beside = [reported.with_file_name(name), reported.with_file_name("deps").join(name)];
    beside.into_iter().find(|file| file.is_file())
}

/// The program that a variable such as `RUSTC` names, as for cargo itself; `name` by default.
fn program(variable: &str, name: &str) -> OsString {
    std::env::var_os(variable).filter(|value| !value.is_empty()).unwrap_or_else(|| name.into())
}

/// The artifact that a line of cargo's messages reports, if it reports one.
fn artifact(line: &[u8]) -> Result<Option<Artifact>, serde_json::Error> {
    let message: Message = serde_json::from_slice(line)?;
    if message.reason == "compiler-artifact" {
        serde_json::from_slice(line).map(Some)
    } else {
        Ok(None)
    }
}

fn spawn(command: &mut Command) -> Result<ChildGroup, BuildError> {
    command.stdin(Stdio::null());
    ChildGroup::spawn(command).map_err(|source| not_started(command, source))
}

fn not_started(command: &Command, source: std::io::Error) -> BuildError {
    BuildError::Start { program: command.get_program().to_string_lossy().into_owned(), source }
}

/// Returns the program and the verb of a command, such as `cargo build`.
fn name(command: &Command) -> String {
    let verb = command.get_args().next().unwrap_or_default();
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    format!("{} {}", program.to_string_lossy(), verb.to_string_lossy())
}
