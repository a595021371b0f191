//! A user's home: a command that was installed without containers, packages, and a data folder with
//! the default prefix.

use std::cell::Cell;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use feros_interop::Domain;
use feros_test_support::eventually;

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../..");

pub(crate) struct Home {
    folder: tempfile::TempDir,
    domain: Domain,
    command: PathBuf,
    builds: Cell<u32>,
}

impl Home {
    pub(crate) fn new() -> Self {
        // A link elsewhere, since the folder where cargo puts the command may also contain
        // containers.
        let bin = Path::new(env!("CARGO_TARGET_TMPDIR")).join("component_build_bin");
        fs::create_dir_all(&bin).unwrap();
        let folder = tempfile::tempdir().unwrap();
        // Tests of one process have different folders.
        let number = folder.path().file_name().unwrap().to_str().unwrap();
        let command = bin.join(format!("feros-{number}"));
        fs::hard_link(env!("CARGO_BIN_EXE_feros"), &command).unwrap();
        let domain = Domain::reserve_without_ros2();
        Self { folder, domain, command, builds: Cell::new(0) }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn prefix(&self) -> PathBuf {
        self.folder().join("data/feros")
    }

    /// The example as a package outside of the repository.
    pub(crate) fn copy_of_example(&self) -> PathBuf {
        let example = Path::new(REPOSITORY).join("examples/own_component");
        let folder = self.folder().join("own_component");
        fs::create_dir_all(folder.join("src")).unwrap();
        fs::copy(example.join("src/lib.rs"), folder.join("src/lib.rs")).unwrap();
        let manifest = fs::read_to_string(example.join("Cargo.toml")).unwrap();
        let crates = Path::new(REPOSITORY).canonicalize().unwrap().join("crates");
        let changed = manifest.replace("../../crates", crates.to_str().unwrap());
        assert_ne!(manifest, changed);
        fs::write(folder.join("Cargo.toml"), changed).unwrap();
        folder
    }

    /// Creates a package with one more dependency.
    pub(crate) fn package(&self, name: &str, dependency: &str, source: &str) -> PathBuf {
        let folder = self.folder().join(name);
        fs::create_dir_all(folder.join("src")).unwrap();
        fs::write(folder.join("src/lib.rs"), source).unwrap();
        let crates = Path::new(REPOSITORY).canonicalize().unwrap().join("crates/client");
        let crates = crates.display();
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n\
             feros = {{ path = \"{crates}/feros\" }}\nferos-component = {{ path = \"{crates}/component\" }}\n{dependency}\n"
        );
        fs::write(folder.join("Cargo.toml"), manifest).unwrap();
        folder
    }

    /// The folder of packages `examples/bringup`, outside of the repository.
    pub(crate) fn copy_of_bringup(&self) -> PathBuf {
        let (example, folder) =
            (Path::new(REPOSITORY).join("examples/bringup"), self.folder().join("robot"));
        copy_all(&example, &folder);
        for package in ["robot_base", "robot_odometry"] {
            let manifest = folder.join(package).join("Cargo.toml");
            let text = fs::read_to_string(&manifest).unwrap();
            let changed = text.replace("../../../crates", &format!("{}/crates", repository()));
            assert_ne!(text, changed);
            fs::write(manifest, changed).unwrap();
        }
        folder
    }

    /// A program in the domain of this home, without the variables of this process.
    pub(crate) fn confined(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        self.domain.confine(&mut command);
        for variable in ["FEROS_PREFIX_PATH", "LD_LIBRARY_PATH", "RUSTFLAGS", "RUSTC_WRAPPER"] {
            command.env_remove(variable);
        }
        command
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.confined(&self.command);
        command.args(arguments);
        command.env("XDG_DATA_HOME", self.folder().join("data")).env("CARGO_NET_OFFLINE", "true");
        if arguments.starts_with(&["component", "build"]) || arguments.starts_with(&["build"]) {
            let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("component_build");
            command.arg("--build-dir").arg(folder);
            // A user's shells may differ in this setting, which makes cargo treat a crate as
            // another one.
            let number = self.builds.replace(self.builds.get() + 1);
            command.env("CARGO_INCREMENTAL", (number % 2).to_string());
        }
        command
    }

    /// The output of a command that must succeed.
    pub(crate) fn feros(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", said(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The error of a command that must fail.
    pub(crate) fn error(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {}", said(&output));
        said(&output)
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    pub(crate) fn start(&self, arguments: &[&str]) -> Running {
        Self::start_command(self.command(arguments))
    }

    pub(crate) fn start_command(mut command: Command) -> Running {
        Running(command.stdout(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // The result of the test matters more than a file that cannot be removed.
        drop(fs::remove_file(&self.command));
    }
}

/// The path of the repository, without `..`.
pub(crate) fn repository() -> String {
    Path::new(REPOSITORY).canonicalize().unwrap().to_str().unwrap().to_owned()
}

fn copy_all(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        match entry.file_name().to_str() {
            Some("target" | "install" | "Cargo.lock" | "__pycache__") => {}
            _ if source.is_dir() => copy_all(&source, &target),
            _ => drop(fs::copy(&source, &target).unwrap()),
        }
    }
}

pub(crate) fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A command that runs until it is interrupted.
pub(crate) struct Running(Child);

impl Running {
    pub(crate) fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Sends the signal of Ctrl-C; the command must succeed.
    pub(crate) fn interrupt(mut self) {
        assert!(self.signal());
        let status = eventually(|| self.0.try_wait().unwrap().ok_or("its end"));
        assert!(status.success(), "{status}");
    }

    fn signal(&self) -> bool {
        let pid = self.0.id().to_string();
        Command::new("kill").args(["-INT", &pid]).status().is_ok_and(|status| status.success())
    }

    fn has_ended(&mut self) -> bool {
        self.0.try_wait().ok().flatten().is_some()
    }
}

impl Drop for Running {
    /// A launch that is killed leaves its processes behind, so a failed test first asks it to end.
    fn drop(&mut self) {
        if !self.has_ended() {
            self.signal();
        }
        for _ in 0..100 {
            if self.has_ended() {
                return;
            }
            thread::sleep(Duration::from_millis(100));
        }
        drop(self.0.kill());
        drop(self.0.wait());
    }
}
