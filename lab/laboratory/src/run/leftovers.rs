//! Leftovers of a cell: processes that outlived it, and shared memory that no process uses.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use rustix::process::{Pid, Signal};

use crate::usage::numbers_in;

/// The environment variable that identifies the processes of a cell.
pub(super) const CELL_MARK: &str = "FEROS_LAB_CELL";

/// Kills the processes of a cell that outlived it, by process id.
pub(super) fn kill_what_is_left(mark: &str) -> usize {
    let wanted = format!("{CELL_MARK}={mark}");
    let own = std::process::id();
    let mut killed = 0;
    for number in numbers_in("/proc") {
        if number == own {
            continue;
        }
        let environment = std::fs::read(format!("/proc/{number}/environ")).unwrap_or_default();
        if environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
            && let Some(pid) = i32::try_from(number).ok().and_then(Pid::from_raw)
            && rustix::process::kill_process(pid, Signal::KILL).is_ok()
        {
            killed += 1;
        }
    }
    killed
}

const SHARED_MEMORY: &str = "/dev/shm";

/// The pattern for a file that is named after the user's group. RouDi names its memory for payloads
/// in this way.
const OF_GROUP: &str = "{group}";

/// Finds the name of a group in the text of `/etc/group`.
fn group_name(groups: &str, number: u32) -> Option<&str> {
    groups.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (name, _, id) = (fields.next()?, fields.next()?, fields.next()?);
        (id.parse() == Ok(number) && !name.is_empty()).then_some(name)
    })
}

/// Whether a name matches a pattern: a prefix, a suffix after a leading `*`, or the name of the
/// group.
fn is_named(name: &str, pattern: &str, group: Option<&str>) -> bool {
    if pattern == OF_GROUP {
        return group == Some(name);
    }
    match pattern.strip_prefix('*') {
        Some(end) => !end.is_empty() && name.ends_with(end),
        None => !pattern.is_empty() && name.starts_with(pattern),
    }
}

/// Removes the files in `/dev/shm` that match these patterns and that no process uses, and returns
/// the number of removed files.
///
/// A pattern is a prefix, a suffix after a leading `*`, or `{group}`, the whole name of the user's
/// group, as in `shared_memory` of a peer's manifest.
pub fn remove_shared_memory(patterns: &[String]) -> usize {
    let own = rustix::process::geteuid().as_raw();
    let groups = std::fs::read_to_string("/etc/group").unwrap_or_default();
    let group = group_name(&groups, rustix::process::getegid().as_raw());
    let left: Vec<PathBuf> = std::fs::read_dir(SHARED_MEMORY)
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            patterns.iter().any(|pattern| is_named(&name, pattern, group))
        })
        .filter(|entry| entry.metadata().is_ok_and(|file| file.is_file() && file.uid() == own))
        .map(|entry| entry.path())
        .collect();
    if left.is_empty() {
        return 0;
    }
    let used = used_files();
    left.iter().filter(|path| !used.contains(*path) && std::fs::remove_file(path).is_ok()).count()
}

/// Files of shared memory that any process has open or mapped.
fn used_files() -> BTreeSet<PathBuf> {
    let mut used = BTreeSet::new();
    for pid in numbers_in("/proc") {
        // Open files come before mapped ones: a process that begins to use a file opens it, maps
        // it, and closes it.
        for file in numbers_in(format!("/proc/{pid}/fd")) {
            if let Ok(target) = std::fs::read_link(format!("/proc/{pid}/fd/{file}"))
                && target.starts_with(SHARED_MEMORY)
            {
                used.insert(target);
            }
        }
        let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
        used.extend(
            maps.lines().filter_map(|line| Some(PathBuf::from(&line[line.find(SHARED_MEMORY)?..]))),
        );
    }
    used
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_is_found_by_its_number_alone() {
        let groups = "root:x:0:\nbroken\n:x:7:\nrobots:x:1000:anna,root\n";
        assert_eq!(group_name(groups, 1000), Some("robots"));
        assert_eq!(group_name(groups, 0), Some("root"));
        assert_eq!(group_name(groups, 7), None);
        assert_eq!(group_name(groups, 100), None);
    }

    #[test]
    fn names_of_shared_memory_are_beginnings_ends_or_the_group() {
        assert!(is_named("iox2_17", "iox2_", None) && !is_named("my_iox2_17", "iox2_", None));
        assert!(is_named("17.zenoh", "*.zenoh", None) && !is_named(".zenoh.17", "*.zenoh", None));
        assert!(is_named("robots", "{group}", Some("robots")));
        assert!(
            !is_named("robots_2", "{group}", Some("robots"))
                && !is_named("{group}", "{group}", None)
        );
        assert!(!is_named("anything", "", None) && !is_named("anything", "*", None));
    }
}
