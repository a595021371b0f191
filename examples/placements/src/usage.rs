//! The resources that processes use: memory, threads, processor time, shared memory.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The unit of times in `/proc/<pid>/stat`, in units per second. Linux shows programs 100 units per
/// second, whatever unit it uses internally.
const TICKS_PER_SECOND: f64 = 100.0;

/// A process of a launched example.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// The process id.
    pub pid: u32,
    /// The command line.
    pub command_line: String,
}

/// The resources that processes have used up to a moment, and those in use at that moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    pids: Vec<u32>,
    ticks: u64,
    threads: usize,
    pss_bytes: u64,
}

/// The resources that processes use during a time.
#[derive(Debug, Clone, PartialEq)]
pub struct Cost {
    /// The number of processes.
    pub processes: usize,
    /// The number of the processes' threads.
    pub threads: usize,
    /// The memory of the processes; shared memory counts once.
    pub pss_bytes: u64,
    /// The processor time divided by the elapsed time: 1 is one core.
    pub cores: f64,
}

impl Sample {
    /// Samples the resources of these processes.
    ///
    /// # Panics
    /// If one of the processes has ended.
    pub fn of(processes: &[Process]) -> Self {
        let mut sample = Self { pids: Vec::new(), ticks: 0, threads: 0, pss_bytes: 0 };
        for Process { pid, command_line } in processes {
            let read = |file: &str| {
                fs::read_to_string(format!("/proc/{pid}/{file}"))
                    .unwrap_or_else(|error| panic!("{command_line} has ended: {error}"))
            };
            sample.pids.push(*pid);
            sample.ticks += ticks(&read("stat")).expect("the kernel writes what it documents");
            sample.pss_bytes +=
                pss_bytes(&read("smaps_rollup")).expect("the kernel writes what it documents");
            let tasks = fs::read_dir(format!("/proc/{pid}/task"));
            sample.threads += tasks.map_or(0, Iterator::count);
        }
        sample
    }

    /// The usage since an earlier sample of the same processes.
    ///
    /// # Panics
    /// If the processes are not the same.
    pub fn since(&self, earlier: &Self, elapsed: Duration) -> Cost {
        assert_eq!(self.pids, earlier.pids, "processes have come or gone meanwhile");
        let seconds = (self.ticks - earlier.ticks) as f64 / TICKS_PER_SECOND;
        Cost {
            processes: self.pids.len(),
            threads: self.threads,
            pss_bytes: self.pss_bytes,
            cores: seconds / elapsed.as_secs_f64(),
        }
    }
}

/// The user and system time in a line of `/proc/<pid>/stat`. The program's name, in brackets, may
/// contain any characters.
fn ticks(stat: &str) -> Option<u64> {
    let (_, behind_name) = stat.rsplit_once(')')?;
    let mut fields = behind_name.split_whitespace().skip(11);
    let (user, system): (u64, u64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some(user + system)
}

fn pss_bytes(rollup: &str) -> Option<u64> {
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? * 1024)
}

/// The processes that have a variable with this value, by process id.
pub(crate) fn processes_with(variable: &str, value: &str) -> Vec<Process> {
    let wanted = format!("{variable}={value}");
    let mut found: Vec<Process> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let environment = fs::read(entry.path().join("environ")).ok()?;
            environment.split(|byte| *byte == 0).find(|variable| *variable == wanted.as_bytes())?;
            let line = fs::read(entry.path().join("cmdline")).ok()?;
            let words: Vec<_> =
                line.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
            Some(Process { pid, command_line: words.join(" ").trim_end().to_owned() })
        })
        .collect();
    found.sort_by_key(|process| process.pid);
    found
}

/// The files of shared memory that a process has mapped, without those that all processes of a user
/// share.
pub(crate) fn shared_memory(pid: u32) -> BTreeSet<PathBuf> {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    let files =
        maps.lines().filter_map(|line| Some(PathBuf::from(&line[line.find("/dev/shm/")?..])));
    files.filter(|file| !is_of_user(file)).collect()
}

fn is_of_user(file: &Path) -> bool {
    let name = file.to_string_lossy();
    name.ends_with(".global_mgmt") || name.ends_with(".lock") || name.ends_with(" (deleted)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_the_kernel_are_read() {
        let stat = "12 (a) b (c) S 1 12 12 0 -1 4194560 9 0 0 0 250 50 7 8 20 0 4 0 100 1 2";
        assert_eq!(ticks(stat), Some(300));
        assert_eq!(
            pss_bytes("Rss:  9 kB\nPss:                2048 kB\nPss_Dirty: 1 kB\n"),
            Some(2048 * 1024)
        );
        assert_eq!((ticks(""), pss_bytes("")), (None, None));
    }

    #[test]
    fn a_process_knows_itself() {
        let own = Process { pid: std::process::id(), command_line: "test".to_owned() };
        let sample = Sample::of(&[own]);
        assert!(sample.pss_bytes > 100_000 && sample.threads >= 1, "{sample:?}");
        let transport = std::env::var("PATH").unwrap_or_default();
        assert!(
            processes_with("PATH", &transport)
                .iter()
                .any(|process| process.pid == std::process::id())
        );
    }
}
