//! The state of the processors during a cell: loaded by other programs, or kept from halting
//! between messages.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use feros_process::ChildGroup;

/// Load on the processors: on each processor, a thread that is busy for a share of the time.
pub(super) struct ProcessorLoad {
    done: Arc<AtomicBool>,
    threads: Vec<thread::JoinHandle<()>>,
}

/// The period in which a thread is first busy, then idle.
const LOAD_PERIOD: Duration = Duration::from_millis(10);

impl ProcessorLoad {
    pub(super) fn begin(percent: f64) -> std::io::Result<Self> {
        let mut load = Self { done: Arc::default(), threads: Vec::new() };
        let busy = LOAD_PERIOD.mul_f64(percent / 100.0);
        let processors = thread::available_parallelism().map_or(1, usize::from);
        for _ in 0..if percent > 0.0 { processors } else { 0 } {
            let done = Arc::clone(&load.done);
            let work = move || {
                while !done.load(Ordering::Relaxed) {
                    let began = Instant::now();
                    while began.elapsed() < busy {
                        std::hint::spin_loop();
                    }
                    thread::sleep(LOAD_PERIOD.saturating_sub(began.elapsed()));
                }
            };
            load.threads.push(thread::Builder::new().name("lab-load".into()).spawn(work)?);
        }
        Ok(load)
    }
}

impl Drop for ProcessorLoad {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Keeps processors from halting while idle: each processor runs a program of the scheduling class
/// that yields to all others. A processor that has halted resumes with empty caches, and the cost
/// of a message then consists mostly of fetching code and data.
pub(super) struct AwakeProcessors {
    spinning: Vec<ChildGroup>,
}

impl AwakeProcessors {
    pub(super) fn begin(is_asked: bool) -> std::io::Result<Self> {
        let mut awake = Self { spinning: Vec::new() };
        let processors = thread::available_parallelism().map_or(1, usize::from);
        for processor in 0..if is_asked { processors } else { 0 } {
            let mut command = Command::new("setpriv");
            command
                .args(["--pdeathsig", "KILL", "chrt", "--idle", "0"])
                .args(["taskset", "--cpu-list", &processor.to_string()])
                .args(["sh", "-c", "while :; do :; done"])
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            awake.spinning.push(ChildGroup::spawn(&mut command)?);
        }
        Ok(awake)
    }
}

#[cfg(test)]
mod tests {
    use super::AwakeProcessors;

    #[test]
    fn who_keeps_processors_awake_ends_with_the_cell() {
        let awake = AwakeProcessors::begin(true).unwrap();
        let pids: Vec<u32> = awake.spinning.iter().map(|child| child.id()).collect();
        drop(awake);
        assert!(!pids.is_empty());
        assert!(pids.iter().all(|pid| !std::path::Path::new(&format!("/proc/{pid}")).exists()));
        assert!(AwakeProcessors::begin(false).unwrap().spinning.is_empty());
    }
}
