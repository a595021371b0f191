//! What a process costs: processor time, threads, memory, wake-ups; read from `/proc`.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::payload::{monotonic_nanos, process_cpu_nanos};

/// What a process costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Usage {
    /// Processor time as a part of the time that passed; 100 is one processor.
    pub(super) cpu_percent: f64,
    /// Its threads.
    pub(super) threads: usize,
    /// Memory, what it shares with others divided by their number; absent where the system does not
    /// tell.
    pub(super) pss_bytes: Option<u64>,
}

/// Measures the processor time of this process from one moment on.
#[derive(Clone, Copy, Debug)]
pub(super) struct CpuMeter {
    began_nanos: u64,
    cpu_nanos: u64,
}

impl CpuMeter {
    /// From now on.
    pub(super) fn start() -> Self {
        Self { began_nanos: monotonic_nanos(), cpu_nanos: process_cpu_nanos() }
    }

    /// Until now; 100 is one processor.
    pub(super) fn cpu_percent(&self) -> f64 {
        let passed = monotonic_nanos().saturating_sub(self.began_nanos).max(1);
        percent(process_cpu_nanos().saturating_sub(self.cpu_nanos), passed)
    }

    /// What this process costs: its processor time until now, its threads and memory now.
    pub(super) fn usage(&self) -> Usage {
        let process = Process::this();
        Usage {
            cpu_percent: self.cpu_percent(),
            threads: process.threads().len(),
            pss_bytes: process.pss_bytes(),
        }
    }
}

/// A part of a time in percent, with two decimals.
pub(super) fn percent(part_nanos: u64, of_nanos: u64) -> f64 {
    (part_nanos as f64 * 10_000.0 / of_nanos.max(1) as f64).round() / 100.0
}

/// A process that is looked at from outside.
#[derive(Clone, Debug)]
pub(super) struct Process(PathBuf);

/// What a thread has done since it began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Activity {
    pub(super) name: String,
    /// How often it gave the processor away because it had to wait: each is a later wake-up.
    pub(super) voluntary: u64,
    /// How often the processor was taken from it.
    pub(super) involuntary: u64,
    /// How long it ran; 0 where the system does not tell.
    pub(super) cpu_nanos: u64,
}

impl Process {
    /// The process with this id.
    pub(super) fn of(id: u32) -> Self {
        Self(PathBuf::from(format!("/proc/{id}")))
    }

    /// This process.
    pub(super) fn this() -> Self {
        Self(PathBuf::from("/proc/self"))
    }

    /// Memory, what it shares with others divided by their number.
    pub(super) fn pss_bytes(&self) -> Option<u64> {
        let text = fs::read_to_string(self.0.join("smaps_rollup")).ok()?;
        number_after(&text, "Pss:").map(|kibibytes| kibibytes * 1024)
    }

    /// Its threads by id. One that ends meanwhile is left out.
    pub(super) fn threads(&self) -> BTreeMap<u32, Activity> {
        let entries = fs::read_dir(self.0.join("task")).into_iter().flatten().flatten();
        entries
            .filter_map(|entry| {
                Some((entry.file_name().to_str()?.parse().ok()?, activity(&entry.path())?))
            })
            .collect()
    }
}

/// Pages of shared memory (`/dev/shm`, memfds) that these processes hold open or have mapped, each
/// file counted once and whether its pages are mapped or not.
pub(super) fn shared_memory_bytes(processes: &[Process]) -> u64 {
    let mut files = HashMap::new();
    for Process(folder) in processes {
        let descriptors = fs::read_dir(folder.join("fd")).into_iter().flatten().flatten();
        let open = descriptors
            .filter(|entry| {
                fs::read_link(entry.path()).is_ok_and(|target| is_shared_memory(&target))
            })
            .map(|entry| entry.path());
        let maps = fs::read_to_string(folder.join("maps")).unwrap_or_default();
        let mapped =
            maps.lines().filter_map(|line| line.split_whitespace().nth(5).map(PathBuf::from));
        let mapped = mapped.filter(|transport| transport.starts_with("/dev/shm"));
        for metadata in open.chain(mapped).filter_map(|path| fs::metadata(path).ok()) {
            files.insert((metadata.dev(), metadata.ino()), metadata.blocks() * 512);
        }
    }
    files.values().sum()
}

fn is_shared_memory(target: &Path) -> bool {
    let name = target.to_string_lossy();
    name.starts_with("/memfd:") || name.starts_with("/dev/shm/")
}

fn activity(task: &Path) -> Option<Activity> {
    let status = fs::read_to_string(task.join("status")).ok()?;
    let name = status.lines().find_map(|line| line.strip_prefix("Name:"))?.trim().to_owned();
    let scheduler = fs::read_to_string(task.join("schedstat")).unwrap_or_default();
    Some(Activity {
        name,
        voluntary: number_after(&status, "voluntary_ctxt_switches:")?,
        involuntary: number_after(&status, "nonvoluntary_ctxt_switches:")?,
        cpu_nanos: scheduler
            .split_whitespace()
            .next()
            .and_then(|word| word.parse().ok())
            .unwrap_or(0),
    })
}

/// The number on the line that begins with `key`.
fn number_after(text: &str, key: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(key))?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_seen() {
        let meter = CpuMeter::start();
        while process_cpu_nanos() < meter.cpu_nanos + 2_000_000 {
            std::hint::spin_loop();
        }
        let usage = meter.usage();
        assert!(usage.threads >= 1 && usage.cpu_percent > 0.0, "{usage:?}");
        assert!(usage.pss_bytes.is_none_or(|bytes| bytes > 100_000), "{usage:?}");
    }

    #[test]
    fn threads_are_known_by_name_and_count_their_waits() {
        let (send, receive) = std::sync::mpsc::sync_channel::<()>(1);
        let thread = std::thread::Builder::new()
            .name("perf-test".into())
            .spawn(move || while receive.recv().is_ok() {})
            .unwrap();
        let waits = || {
            let threads = Process::of(std::process::id()).threads();
            threads
                .values()
                .find(|thread| thread.name == "perf-test")
                .map(|thread| thread.voluntary)
        };
        // Each message finds the thread asleep at last, or else this goes on; a watchdog ends a
        // test that hangs.
        let first = loop {
            if let Some(waits) = waits().filter(|waits| *waits > 0) {
                break waits;
            }
            std::thread::yield_now();
        };
        while waits().unwrap() < first + 3 {
            send.send(()).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        drop(send);
        thread.join().unwrap();
    }

    #[test]
    fn fields_of_proc_are_not_confused() {
        let status = "Name:\tx\nvoluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t3\n";
        assert_eq!(number_after(status, "voluntary_ctxt_switches:"), Some(12));
        assert_eq!(number_after(status, "nonvoluntary_ctxt_switches:"), Some(3));
        assert_eq!(number_after("Pss_Dirty: 4 kB\nPss:   7 kB\n", "Pss:"), Some(7));
        assert_eq!(number_after("", "Pss:"), None);
    }

    #[test]
    fn shared_memory_counts_once_and_with_the_pages_that_exist() {
        use rustix::fs::{MemfdFlags, memfd_create};
        use std::io::Write as _;

        let mut file = fs::File::from(memfd_create("perf-test", MemfdFlags::CLOEXEC).unwrap());
        file.set_len(1 << 20).unwrap();
        file.write_all(&[1; 10_000]).unwrap();
        // It waits at the pipe of its input, with the file as its error output.
        let (input, errors) = (std::process::Stdio::piped(), file.try_clone().unwrap());
        let mut child =
            std::process::Command::new("cat").stdin(input).stderr(errors).spawn().unwrap();
        let twice = [Process::of(child.id()), Process::of(child.id())];
        let bytes = shared_memory_bytes(&twice);
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!((10_000..1 << 20).contains(&bytes), "{bytes}");
    }

    #[test]
    fn a_process_that_is_gone_has_nothing() {
        let process = Process(PathBuf::from("/proc/nonexistent"));
        assert!(process.threads().is_empty());
        assert_eq!(process.pss_bytes(), None);
    }
}
