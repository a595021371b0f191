//! Programs that do with stock ROS 2's `rcl` what Feros does, to be measured in the same run. They
//! are built from their source, which is part of this program, each time they are wanted: so they
//! always fit the installation that is there.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Names the Python of stock ROS 2 where it is none of the usual ones, as for `feros demo`.
const VARIABLE: &str = "FEROS_ROS2_PYTHON";

/// A program against `rcl`; dropping it removes it.
pub(super) struct Peer {
    folder: PathBuf,
    program: PathBuf,
}

impl Peer {
    /// Builds `source`, or says why that is not possible and what to do.
    pub(super) fn build(name: &str, source: &str) -> Result<Self, String> {
        let advice = "install stock ROS 2 with scripts/setup.sh --test";
        let prefix = installation().ok_or(format!("it is not installed: {advice}"))?;
        let folder = std::env::temp_dir().join(format!("feros-perf-{}-{name}", std::process::id()));
        std::fs::create_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let peer = Self { program: folder.join(name), folder };
        let code = peer.folder.join("peer.c");
        std::fs::write(&code, source).map_err(|error| format!("{}: {error}", code.display()))?;
        let built = compiler(&prefix, &code, &peer.program).stdin(Stdio::null()).output();
        let built =
            built.map_err(|error| format!("there is no C compiler `cc` ({error}): {advice}"))?;
        if built.status.success() {
            return Ok(peer);
        }
        let errors = String::from_utf8_lossy(&built.stderr);
        let reason =
            errors.lines().find(|line| line.contains("error")).unwrap_or("the compiler failed");
        Err(format!("its program cannot be built against {}: {reason}", prefix.display()))
    }

    /// A call of it.
    pub(super) fn command(&self) -> Command {
        Command::new(&self.program)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.folder) {
            eprintln!("warning: {} cannot be removed: {error}", self.folder.display());
        }
    }
}

/// Says on the side that there is nothing to compare with: the table stays a table of what was
/// measured.
pub(super) fn or_note(peer: Result<Peer, String>) -> Option<Peer> {
    peer.inspect_err(|reason| eprintln!("note: stock ROS 2 is not measured beside Feros: {reason}"))
        .ok()
}

/// Where the wheels of stock ROS 2 are: libraries in `lib`, headers in `include`.
fn installation() -> Option<PathBuf> {
    let named = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
    let candidates: Vec<PathBuf> = match named {
        Some(python) => {
            python.parent().and_then(Path::parent).map(Path::to_owned).into_iter().collect()
        }
        None => {
            let folders = [std::env::current_dir().ok(), std::env::current_exe().ok()];
            folders
                .iter()
                .flatten()
                .flat_map(|folder| folder.ancestors())
                .map(|f| f.join(".venv"))
                .collect()
        }
    };
    candidates.into_iter().find(|prefix| prefix.join("lib/librcl.so").is_file())
}

fn compiler(prefix: &Path, code: &Path, program: &Path) -> Command {
    let libraries = library_path(prefix);
    let mut compiler = Command::new("cc");
    compiler
        .args(["-std=gnu11", "-O2", "-rdynamic"])
        .args(
            subfolders(&prefix.join("include"), |_| true)
                .iter()
                .map(|folder| format!("-I{}", folder.display())),
        )
        .arg(code)
        .arg("-o")
        .arg(program)
        .arg(format!("-L{}", prefix.join("lib").display()))
        // Old-style RPATH, because it also serves the libraries' own dependencies; lazy binding,
        // because librcl.so of the wheels refers to functions of Python that nothing calls here.
        .arg("-Wl,-z,lazy,--unresolved-symbols=ignore-in-shared-libs,--disable-new-dtags")
        .arg(format!("-Wl,-rpath,{libraries},-rpath-link,{libraries}"))
        .args(["-lrcl", "-lrmw", "-lrcutils", "-lrosidl_runtime_c"])
        .args(["-lrcl_interfaces__rosidl_generator_c", "-lrcl_interfaces__rosidl_typesupport_c"]);
    compiler
}

/// The wheels spread their libraries over `lib` and folders named after packages.
fn library_path(prefix: &Path) -> String {
    let mut folders = vec![prefix.join("lib")];
    for python in subfolders(&prefix.join("lib"), |name| name.starts_with("python")) {
        let packages = python.join("site-packages");
        folders.extend(subfolders(&packages, |name| {
            name.starts_with("ros_") && name.ends_with(".libs")
        }));
    }
    folders.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(":")
}

fn subfolders(folder: &Path, wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let wanted = entries
        .filter(|entry| entry.path().is_dir() && wanted(&entry.file_name().to_string_lossy()));
    let mut found: Vec<PathBuf> = wanted.map(|entry| entry.path()).collect();
    found.sort();
    found
}
