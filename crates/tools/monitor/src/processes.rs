//! The costs of this host's processes: processor time, memory and threads.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use procfs::process::Process;

/// The costs of a process.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProcessFigures {
    /// Processor time since the last reading, in percent of one processor; `None` for the first
    /// reading.
    pub cpu_percent: Option<f64>,
    /// Its resident memory, shared memory included.
    pub resident_bytes: u64,
    /// The number of its threads.
    pub threads: u64,
}

/// Measures the costs of processes, with a reading at each call.
#[derive(Debug, Default)]
pub struct ProcessMeter {
    /// For each process: the time of the last reading, its start (an id may be reused), and its
    /// processor time then.
    last: HashMap<u32, (Instant, u64, Duration)>,
}

impl ProcessMeter {
    /// Reads these processes of this host. Processes that have ended, or that this user may not
    /// inspect, are missing from the result.
    pub fn read(&mut self, pids: impl IntoIterator<Item = u32>) -> HashMap<u32, ProcessFigures> {
        let mut read = HashMap::new();
        let mut last = HashMap::new();
        for pid in pids {
            let stat = i32::try_from(pid).ok().and_then(|pid| Process::new(pid).ok()?.stat().ok());
            let Some(stat) = stat else { continue };
            let now = Instant::now();
            let ticks = Duration::from_secs(stat.utime + stat.stime);
            let spent = ticks.div_f64(procfs::ticks_per_second() as f64);
            let former = self.last.get(&pid).filter(|(_, started, _)| *started == stat.starttime);
            let cpu_percent = former.and_then(|(at, _, before)| {
                let time = now.saturating_duration_since(*at).as_secs_f64();
                (time > 0.0).then(|| spent.saturating_sub(*before).as_secs_f64() / time * 100.0)
            });
            let figures = ProcessFigures {
                cpu_percent,
                resident_bytes: stat.rss.saturating_mul(procfs::page_size()),
                threads: u64::try_from(stat.num_threads).unwrap_or_default(),
            };
            read.insert(pid, figures);
            last.insert(pid, (now, stat.starttime, spent));
        }
        self.last = last;
        read
    }
}

/// The proportional memory (PSS) of a process of this host: a page that `n` processes share counts
/// as one `n`th. `None` if the process has ended, or if this user may not inspect it.
///
/// The system adds up all pages of the process, which takes some milliseconds for a large one.
pub fn proportional_memory_bytes(pid: u32) -> Option<u64> {
    let process = Process::new(i32::try_from(pid).ok()?).ok()?;
    let maps = process.smaps_rollup().ok()?.memory_map_rollup;
    maps.0.first()?.extension.map.get("Pss").copied()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_process_that_works_has_processor_time_and_one_that_is_gone_nothing() {
        let own = std::process::id();
        let gone = u32::MAX;
        let mut meter = ProcessMeter::default();
        let first = meter.read([own, gone]);
        assert_eq!(first.len(), 1);
        assert_eq!(first[&own].cpu_percent, None);
        let proportional = proportional_memory_bytes(own).unwrap();
        assert!(proportional > 0 && proportional <= 2 * first[&own].resident_bytes);
        assert_eq!(proportional_memory_bytes(gone), None);
        assert!(first[&own].resident_bytes > 100_000 && first[&own].threads >= 1);
        let until = Instant::now() + Duration::from_millis(200);
        while Instant::now() < until {
            std::hint::spin_loop();
        }
        let cpu = meter.read([own])[&own].cpu_percent.unwrap();
        assert!(cpu > 0.0, "{cpu}");
    }
}
