//! The cost of processes and their descendants, measured from outside with /proc.

use std::collections::{BTreeMap, HashMap};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::record::{Distribution, ThreadActivity};

/// Watches a process and its descendants, from `begin` until they have ended.
#[derive(Default)]
pub(crate) struct UsageWatch {
    pid: u32,
    /// The activity of each thread when it was last seen.
    threads: BTreeMap<(u32, u32), ThreadActivity>,
    /// The activity of each thread when the measured time began.
    threads_before: BTreeMap<(u32, u32), ThreadActivity>,
    began: Option<Moment>,
    last: Option<Moment>,
    /// The processor time between each two samples, in percent.
    percents: Vec<f64>,
    values: BTreeMap<String, f64>,
}

#[derive(Clone, Copy)]
struct Moment {
    at: Instant,
    cpu_nanos: u64,
    switches: u64,
    wakeups: u64,
}

impl UsageWatch {
    pub(crate) fn new(pid: u32) -> Self {
        Self { pid, ..Self::default() }
    }

    /// Begins the measured time.
    pub(crate) fn begin(&mut self) {
        self.began = self.look();
        self.last = self.began;
        self.threads_before.clone_from(&self.threads);
        let locked = |pid| kilobytes(&format!("/proc/{pid}/status"), "VmLck:");
        let bytes: u64 = process_tree(self.pid).into_iter().map(locked).sum();
        if bytes > 0 {
            self.values.insert("locked_bytes".into(), bytes as f64);
        }
    }

    /// The processor time of the live threads until [`Self::begin`].
    pub(crate) fn nanos_before(&self) -> u64 {
        self.began.map_or(0, |moment| moment.cpu_nanos)
    }

    /// Takes another sample; changes nothing if the process has ended.
    pub(crate) fn sample(&mut self) {
        let Some(now) = self.look() else { return };
        if let Some(last) = self.last {
            let elapsed = now.at.duration_since(last.at);
            if elapsed > Duration::from_millis(20) {
                let used = now.cpu_nanos.saturating_sub(last.cpu_nanos);
                self.percents.push(100.0 * used as f64 / elapsed.as_nanos() as f64);
            }
        }
        self.last = Some(now);
    }

    fn look(&mut self) -> Option<Moment> {
        let at = Instant::now();
        let mut alive = 0;
        for pid in process_tree(self.pid) {
            for tid in numbers_in(format!("/proc/{pid}/task")) {
                let Some(seen) = activity(&format!("/proc/{pid}/task/{tid}")) else { continue };
                self.threads.insert((pid, tid), seen);
                alive += 1;
            }
        }
        if alive == 0 {
            return None;
        }
        let threads = self.values.entry("threads".into()).or_default();
        *threads = threads.max(f64::from(alive));
        let sum = |of: fn(&ThreadActivity) -> u64| self.threads.values().map(of).sum();
        Some(Moment {
            at,
            cpu_nanos: sum(|thread| thread.cpu_nanos),
            switches: sum(|thread| thread.voluntary_switches + thread.involuntary_switches),
            wakeups: sum(|thread| thread.voluntary_switches),
        })
    }

    /// Measures memory and code. If the process requests memory during the measurement, it has to
    /// wait.
    pub(crate) fn look_at_memory(&mut self) {
        let (mut memory, mut code) = (BTreeMap::<&str, u64>::new(), Code::default());
        let mut descriptors = 0;
        let processes = process_tree(self.pid);
        memory.insert("shared_memory_bytes", shared_memory_bytes(&processes));
        for pid in processes {
            let folder = format!("/proc/{pid}");
            descriptors += numbers_in(format!("{folder}/fd")).len();
            for (name, key) in [("pss_bytes", "Pss:"), ("private_bytes", "Private_Dirty:")] {
                *memory.entry(name).or_default() +=
                    kilobytes(&format!("{folder}/smaps_rollup"), key);
            }
            for (name, key) in [("resident_bytes", "VmRSS:"), ("virtual_bytes", "VmSize:")] {
                *memory.entry(name).or_default() += kilobytes(&format!("{folder}/status"), key);
            }
            code.add(&folder);
        }
        if memory.values().all(|bytes| *bytes == 0) {
            return;
        }
        for (name, bytes) in memory {
            self.values.insert(name.into(), bytes as f64);
        }
        self.values.insert("descriptors".into(), descriptors as f64);
        self.values.insert("code_bytes".into(), code.mapped_bytes as f64);
        self.values.insert("code_file_bytes".into(), code.files.values().sum::<u64>() as f64);
    }

    /// The activity of each thread in the measured time; for a new thread, all of its activity
    /// counts.
    pub(crate) fn thread_activity(&self) -> Vec<ThreadActivity> {
        let since = |(id, now): (&(u32, u32), &ThreadActivity)| {
            let before = self.threads_before.get(id).cloned().unwrap_or_default();
            ThreadActivity {
                name: now.name.clone(),
                voluntary_switches: now
                    .voluntary_switches
                    .saturating_sub(before.voluntary_switches),
                involuntary_switches: now
                    .involuntary_switches
                    .saturating_sub(before.involuntary_switches),
                cpu_nanos: now.cpu_nanos.saturating_sub(before.cpu_nanos),
            }
        };
        self.threads.iter().map(since).collect()
    }

    /// All measured values.
    pub(crate) fn finish(mut self) -> BTreeMap<String, f64> {
        if let (Some(began), Some(last)) = (self.began, self.last) {
            let nanos = last.at.duration_since(began.at).as_nanos() as f64;
            if nanos > 0.0 {
                let cpu = last.cpu_nanos.saturating_sub(began.cpu_nanos) as f64;
                self.values.insert("cpu_percent".into(), 100.0 * cpu / nanos);
                let switches = last.switches.saturating_sub(began.switches) as f64;
                self.values.insert("context_switches_per_second".into(), switches * 1e9 / nanos);
                let wakeups = last.wakeups.saturating_sub(began.wakeups) as f64;
                self.values.insert("wakeups_per_second".into(), wakeups * 1e9 / nanos);
            }
        }
        // The numbers are thousandths of a percent, so that they are integers.
        let thousandths: Vec<u64> =
            self.percents.iter().map(|percent| (percent * 1e3) as u64).collect();
        if let Some(percents) = Distribution::of(&thousandths, 0) {
            self.values.insert("cpu_percent_p50".into(), percents.p50 / 1e3);
            self.values.insert("cpu_percent_p95".into(), percents.p95 / 1e3);
        }
        self.values
    }
}

/// The bytes of mapped code; each file counts once.
#[derive(Default)]
struct Code {
    mapped_bytes: u64,
    files: BTreeMap<String, u64>,
}

impl Code {
    fn add(&mut self, folder: &str) {
        let Ok(maps) = std::fs::read_to_string(format!("{folder}/maps")) else { return };
        for line in maps.lines() {
            let mut fields = line.split_ascii_whitespace();
            let (Some(range), Some(rights)) = (fields.next(), fields.next()) else { continue };
            let Some(path) = fields.nth(3).filter(|path| path.starts_with('/')) else { continue };
            if !rights.contains('x') {
                continue;
            }
            let ends = range.split_once('-').map(|(from, to)| (hexadecimal(from), hexadecimal(to)));
            if let Some((Some(from), Some(to))) = ends {
                self.mapped_bytes += to.saturating_sub(from);
            }
            let size = || std::fs::metadata(path).map_or(0, |file| file.len());
            self.files.entry(path.to_owned()).or_insert_with(size);
        }
    }
}

fn hexadecimal(text: &str) -> Option<u64> {
    u64::from_str_radix(text, 16).ok()
}

/// A process and its live descendants.
pub(crate) fn process_tree(pid: u32) -> Vec<u32> {
    let mut found = vec![pid];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        next += 1;
        for tid in numbers_in(format!("/proc/{parent}/task")) {
            let children = std::fs::read_to_string(format!("/proc/{parent}/task/{tid}/children"));
            found.extend(
                children
                    .unwrap_or_default()
                    .split_ascii_whitespace()
                    .filter_map(|child| child.parse::<u32>().ok()),
            );
        }
        if found.len() > 10_000 {
            break;
        }
    }
    found
}

/// The entries of a folder whose names are numbers.
pub(crate) fn numbers_in(folder: impl AsRef<Path>) -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

/// The processor time of a thread.
fn run_nanos(task: &str) -> Option<u64> {
    if let Ok(text) = std::fs::read_to_string(format!("{task}/schedstat")) {
        return text.split_ascii_whitespace().next()?.parse().ok();
    }
    // A kernel without schedstat has only hundredths of a second.
    let text = std::fs::read_to_string(format!("{task}/stat")).ok()?;
    let mut fields = text.rsplit_once(')')?.1.split_ascii_whitespace().skip(11);
    let ticks: u64 = fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?;
    Some(ticks * 10_000_000)
}

/// The activity of a thread since it began.
fn activity(task: &str) -> Option<ThreadActivity> {
    let cpu_nanos = run_nanos(task)?;
    let status = std::fs::read_to_string(format!("{task}/status")).ok()?;
    let after = |key: &str| status.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
    let number = |key: &str| after(key).and_then(|text| text.parse().ok()).unwrap_or(0);
    Some(ThreadActivity {
        name: after("Name:")?.to_owned(),
        voluntary_switches: number("voluntary_ctxt_switches:"),
        involuntary_switches: number("nonvoluntary_ctxt_switches:"),
        cpu_nanos,
    })
}

/// The bytes of shared memory (`/dev/shm`, memfds) that these processes hold open or have mapped.
/// Each file counts once, with all its pages, whether they are mapped or not.
fn shared_memory_bytes(processes: &[u32]) -> u64 {
    let mut files = HashMap::new();
    for pid in processes {
        let descriptors = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten();
        let open = descriptors.flatten().map(|entry| entry.path()).filter(|path| {
            std::fs::read_link(path).is_ok_and(|target| {
                let target = target.to_string_lossy();
                target.starts_with("/memfd:") || target.starts_with("/dev/shm/")
            })
        });
        let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
        let mapped =
            maps.lines().filter_map(|line| line.split_whitespace().nth(5).map(PathBuf::from));
        let mapped = mapped.filter(|path| path.starts_with("/dev/shm"));
        for file in open.chain(mapped).filter_map(|path| std::fs::metadata(path).ok()) {
            files.insert((file.dev(), file.ino()), file.blocks() * 512);
        }
    }
    files.values().sum()
}

fn kilobytes(file: &str, key: &str) -> u64 {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(key));
    line.and_then(|rest| rest.split_ascii_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0)
        * 1024
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    use super::{UsageWatch, process_tree};

    #[test]
    fn a_busy_process_is_seen_with_its_child() {
        let mut shell = Command::new("sh")
            .args(["-c", "sh -c 'while :; do :; done' & echo started; read line; kill $!"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let patience = Instant::now() + Duration::from_secs(30);
        while process_tree(shell.id()).len() < 2 {
            assert!(Instant::now() < patience, "the child was never seen");
            std::thread::sleep(Duration::from_millis(5));
        }
        let mut watch = UsageWatch::new(shell.id());
        watch.begin();
        let mut values = watch.values.clone();
        while watch.percents.iter().all(|percent| *percent < 1.0) {
            assert!(Instant::now() < patience, "the busy child costs nothing: {values:?}");
            std::thread::sleep(Duration::from_millis(50));
            watch.sample();
            values.clone_from(&watch.values);
        }
        watch.look_at_memory();
        drop(shell.stdin.take());
        shell.wait().unwrap();
        watch.sample();
        let values = watch.finish();
        assert!(values["cpu_percent"] > 0.0, "{values:?}");
        assert!(values["threads"] >= 2.0, "{values:?}");
        assert!(
            values["pss_bytes"] > 1e4 && values["resident_bytes"] >= values["pss_bytes"],
            "{values:?}"
        );
        // Standard input, output and errors of the shell and of its child.
        assert!(values["descriptors"] >= 6.0, "{values:?}");
        assert!(values["code_file_bytes"] >= 1e4 && values["code_bytes"] > 1e3, "{values:?}");
    }
}
