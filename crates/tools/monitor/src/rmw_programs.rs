//! Programs of stock ROS 2 on this host, and the rmw implementation that each has loaded.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;

use procfs::process::{MMapPath, Process};

use crate::program_name::program_name;

/// Libraries whose names begin like those of implementations, but which are not implementations.
const NO_IMPLEMENTATIONS: [&str; 5] = [
    "rmw_implementation",
    "rmw_dds_common",
    "rmw_security_common",
    "rmw_fastrtps_shared_cpp",
    "rmw_implementation_cmake",
];
const OURS: &str = "rmw_feros";

/// A program that has loaded an rmw implementation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RmwProgram {
    /// The process.
    pub pid: u32,
    /// The program's name, or that of the script that an interpreter runs.
    pub name: String,
    /// The implementation that it runs on, such as `rmw_fastrtps_cpp`.
    pub rmw: String,
    /// The implementation that `RMW_IMPLEMENTATION` named when the program started.
    pub wanted: Option<String>,
}

/// The programs of this user (of all users, for root) that have loaded an rmw implementation, in
/// the order of their process ids.
///
/// The memory maps of a process show which libraries it has loaded. A process may have loaded two
/// implementations, because the `librcl.so` of the wheels is itself linked to one. `rmw_feros` has
/// precedence then, since it is loaded only if the user asks for it.
pub fn rmw_programs() -> Vec<RmwProgram> {
    let Ok(processes) = procfs::process::all_processes() else { return Vec::new() };
    let mut found: Vec<_> = processes.flatten().filter_map(|process| program(&process)).collect();
    found.sort();
    found
}

/// `None` if the process has loaded no implementation, has ended, or may not be inspected.
fn program(process: &Process) -> Option<RmwProgram> {
    let maps = process.maps().ok()?;
    let loaded: BTreeSet<String> = maps
        .iter()
        .filter_map(|map| match &map.pathname {
            MMapPath::Path(path) => implementation(path),
            _ => None,
        })
        .collect();
    let wanted = process.environ().ok().and_then(|environment| {
        let value = environment.get(OsStr::new("RMW_IMPLEMENTATION"))?;
        Some(value.to_string_lossy().into_owned()).filter(|value| !value.is_empty())
    });
    let of_variable = wanted.iter().filter(|wanted| loaded.contains(*wanted));
    let rmw = loaded.get(OURS).into_iter().chain(of_variable).chain(&loaded).next()?.clone();
    let words = process.cmdline().unwrap_or_default();
    Some(RmwProgram { pid: process.pid.unsigned_abs(), name: program_name(&words), rmw, wanted })
}

/// The name of the implementation in a library: `rmw_feros` for `/usr/lib/librmw_feros.so` and for
/// `librmw_feros.so.1`.
fn implementation(library: &Path) -> Option<String> {
    let name = library.file_name()?.to_str()?.strip_prefix("lib")?;
    let (name, _) = name.split_once(".so")?;
    let is_one = name.starts_with("rmw_") && !NO_IMPLEMENTATIONS.contains(&name);
    (is_one && !name.contains("__")).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn implementations_are_told_from_other_libraries() {
        let of = |path: &str| implementation(Path::new(path));
        assert_eq!(of("/venv/lib/librmw_feros.so").as_deref(), Some("rmw_feros"));
        assert_eq!(
            of("/opt/lib/librmw_cyclonedds_cpp.so.2").as_deref(),
            Some("rmw_cyclonedds_cpp")
        );
        for other in [
            "/lib/librmw.so",
            "/lib/librmw_implementation.so",
            "/lib/librmw_dds_common.so",
            "/lib/librmw_dds_common__rosidl_typesupport_cpp.so",
            "/lib/librmw_fastrtps_shared_cpp.so",
            "/lib/libc.so.6",
            "/lib/librmw_of_a_folder",
        ] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
