//! Load of the processors by others, while a cell is measured.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Others that want the processors: a thread on each that is busy for a share of its time.
pub(super) struct ProcessorLoad {
    done: Arc<AtomicBool>,
    threads: Vec<thread::JoinHandle<()>>,
}

/// A thread is busy, then idle, within this time.
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
