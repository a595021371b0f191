//! The files that Fast DDS keeps in `/dev/shm`. A killed process leaves them behind, and no later
//! process removes them: segments with messages, which belong to one process, and ports, which the
//! processes of one domain share.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const FOLDER: &str = "/dev/shm";
/// The beginnings of the names: those of Fast DDS 3, as in Kilted, and of Fast DDS 2, as in Jazzy.
const FAMILIES: [&str; 2] = ["fastdds_", "fastrtps_"];
/// What follows in the name of a port, before its number.
const PORT: &str = "port";

/// The segments that existed before a process was started.
#[derive(Debug)]
pub(crate) struct SegmentsBefore(BTreeSet<PathBuf>);

impl SegmentsBefore {
    /// Notes the segments that exist now.
    pub(crate) fn now() -> Self {
        Self(files().filter(|file| is_segment(file)).collect())
    }

    /// The segments that a process has made since then: the segments that it maps or has open, and
    /// that did not exist before.
    pub(crate) fn made_by(&self, process: u32) -> BTreeSet<PathBuf> {
        let maps = fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
        let mapped = maps.lines().filter_map(|line| line.find(FOLDER).map(|at| line[at..].into()));
        let open = fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
        let open = open.filter_map(|file| fs::read_link(file.path()).ok());
        mapped
            .chain(open)
            .filter(|file: &PathBuf| is_segment(file) && !self.0.contains(file))
            .collect()
    }
}

/// Removes the segments of a process that was killed.
pub(crate) fn remove_segments(segments: &BTreeSet<PathBuf>) {
    segments.iter().for_each(|file| drop(fs::remove_file(file)));
}

/// Removes the ports of a domain in which no process is left. (DDSI-RTPS 2.5, 9.6.2.3, gives each
/// domain 250 ports, starting at 7400.)
pub(crate) fn remove_ports(domain: u16) {
    let first = 7400 + 250 * u32::from(domain);
    let is_of_domain = |file: &PathBuf| {
        let name = name_of(file);
        let port =
            rest_of(name.trim_start_matches("sem.")).and_then(|rest| rest.strip_prefix(PORT));
        let digits: String =
            port.unwrap_or_default().chars().take_while(char::is_ascii_digit).collect();
        digits.parse().is_ok_and(|port| (first..first + 250).contains(&port))
    };
    files().filter(is_of_domain).for_each(|file| drop(fs::remove_file(file)));
}

fn files() -> impl Iterator<Item = PathBuf> {
    fs::read_dir(FOLDER).into_iter().flatten().flatten().map(|file| file.path())
}

fn name_of(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn is_segment(file: &Path) -> bool {
    rest_of(&name_of(file)).is_some_and(|rest| !rest.starts_with(PORT))
}

/// The name of a file of Fast DDS without its beginning; `None` for another file.
fn rest_of(name: &str) -> Option<&str> {
    FAMILIES.iter().find_map(|family| name.strip_prefix(*family))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_of_both_versions_are_told_from_ports_and_other_files() {
        for segment in ["fastdds_c184c36e3699fd0e", "fastrtps_37e007d84acc324e_el"] {
            assert!(is_segment(&Path::new(FOLDER).join(segment)), "{segment}");
        }
        for other in ["fastdds_port25661", "fastrtps_port7000_el", "sem.fastrtps_x", "feros_1"] {
            assert!(!is_segment(&Path::new(FOLDER).join(other)), "{other}");
        }
    }
}
