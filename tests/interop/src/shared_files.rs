//! The files that Fast DDS keeps in `/dev/shm`. A killed process leaves them behind, and no later
//! process removes them: segments with messages, which belong to one process, and ports, which the
//! processes of one domain share.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const FOLDER: &str = "/dev/shm";
const SEGMENT: &str = "fastdds_";
const PORT: &str = "fastdds_port";

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
        let port = name.trim_start_matches("sem.").strip_prefix(PORT).unwrap_or_default();
        let digits: String = port.chars().take_while(char::is_ascii_digit).collect();
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
    let name = name_of(file);
    name.starts_with(SEGMENT) && !name.starts_with(PORT)
}
