//! The systems that can be measured, and what each needs to be there.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use feros_rmw::{DiscoveryRange, SessionOptions};
use feros_rmw_cyclonedds::config::{Circumstances, configuration, interfaces};

use crate::child::{RunError, Running};

/// The floors of the host: futex, UDP loopback, memcpy.
pub const FLOORS: &str = env!("FEROS_BENCH_FLOORS");

/// The program that calls the C API of Cyclone DDS directly.
pub const CYCLONEDDS_LATENCY: &str = env!("FEROS_BENCH_CYCLONEDDS_LATENCY");

/// The engine configuration of the C program on Cyclone DDS: the very one that Feros makes for
/// itself on this host when the discovery range is LOCALHOST, so that only the layers above the
/// engine differ.
pub fn cyclonedds_uri() -> String {
    let options =
        SessionOptions { discovery_range: DiscoveryRange::Localhost, ..SessionOptions::default() };
    configuration(&Circumstances {
        options: &options,
        interfaces: &interfaces(),
        user_configuration: None,
        process_id: std::process::id(),
    })
}

/// A system that is not there, and how to get it.
#[derive(Clone, Debug)]
pub struct NotInstalled {
    /// The command that installs it.
    pub install_with: &'static str,
    /// What was looked for and not found, or what went wrong with it.
    pub reason: String,
}

/// The root of the repository, where `.venv` and `scripts` are.
pub fn repository() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().and_then(Path::parent).unwrap_or(here).to_owned()
}

/// Finds the command `feros` in its release build.
///
/// # Errors
/// [`NotInstalled`] when it has not been built.
pub fn feros() -> Result<PathBuf, NotInstalled> {
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| repository().join("target"), PathBuf::from);
    let program = target.join("release/feros");
    if program.is_file() {
        return Ok(program);
    }
    Err(NotInstalled {
        install_with: "cargo build --release -p feros-cli",
        reason: format!("there is no {}", program.display()),
    })
}

/// Builds, when it is older than its source, the program that measures stock ROS 2 through `rcl`,
/// and returns it.
///
/// # Errors
/// [`NotInstalled`] when the ROS 2 wheels are not in `.venv`, or the program cannot be built
/// against them.
pub fn rcl_latency() -> Result<PathBuf, NotInstalled> {
    let venv = repository().join(".venv");
    let missing = |reason: String| NotInstalled { install_with: "scripts/setup.sh --test", reason };
    if !venv.join("lib/librcl.so").is_file() {
        return Err(missing(format!("there is no {}", venv.join("lib/librcl.so").display())));
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/rcl_latency.c");
    let program = Path::new(FLOORS).with_file_name("rcl_latency");
    if is_newer(&program, &source) && is_newer(&program, &venv.join(".feros-requirements")) {
        return Ok(program);
    }
    let include = subfolders(&venv.join("include"), |_| true);
    let libraries = library_path(&venv);
    let mut compiler = Command::new("cc");
    compiler
        .args(["-std=gnu11", "-O2", "-Wall", "-Wextra", "-rdynamic"])
        .args(include.iter().map(|folder| format!("-I{}", folder.display())))
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .arg(format!("-L{}", venv.join("lib").display()))
        // Old-style RPATH, because it also serves the libraries' own dependencies; lazy binding,
        // see rcl_latency.c.
        .arg("-Wl,-z,lazy,--unresolved-symbols=ignore-in-shared-libs,--disable-new-dtags")
        .arg(format!("-Wl,-rpath,{libraries},-rpath-link,{libraries}"))
        .args(["-lrcl", "-lrmw", "-lrcutils", "-lrosidl_runtime_c"])
        .args(["-lstd_msgs__rosidl_generator_c", "-lstd_msgs__rosidl_typesupport_c"]);
    let built =
        Running::start(&mut compiler).and_then(|running| running.finish(Duration::from_secs(120)));
    built
        .map(|_| program)
        .map_err(|error: RunError| missing(format!("rcl_latency.c could not be built: {error}")))
}

fn is_newer(file: &Path, than: &Path) -> bool {
    let changed = |path: &Path| path.metadata().and_then(|metadata| metadata.modified());
    matches!((changed(file), changed(than)), (Ok(file), Ok(than)) if file > than)
}

/// The wheels spread their libraries over `lib` and folders named after packages.
fn library_path(venv: &Path) -> String {
    let mut folders = vec![venv.join("lib")];
    for python in subfolders(&venv.join("lib"), |name| name.starts_with("python")) {
        let packages = python.join("site-packages");
        folders.extend(subfolders(&packages, |name| {
            name.starts_with("ros_") && name.ends_with(".libs")
        }));
    }
    folders.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(":")
}

fn subfolders(folder: &Path, wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.path().is_dir() && wanted(&entry.file_name().to_string_lossy()))
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}
