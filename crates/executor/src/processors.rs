//! On which processors the threads of one executor compute, so that none of them waits for the
//! processor of another while a further one could be had.
//!
//! The kernel chooses a processor when it wakes a thread. Where none is idle at that moment, it may
//! choose that of another thread of the executor: both then run there in turn, for many callbacks,
//! although a processor has become idle meanwhile (docs/measurements/0003, "Containers"). So a
//! thread looks before each callback where it is, and goes elsewhere if another thread has begun to
//! compute there a moment ago. The kernel remembers where a thread ran last: a thread that has gone
//! mostly stays away.

use rustix::thread::{sched_getaffinity, sched_getcpu, sched_setaffinity};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Who began longer ago may be elsewhere by now: the kernel divides work by itself, as often as its
/// clock ticks.
const MOMENT: Duration = Duration::from_millis(4);

/// What the threads of an executor note of themselves.
#[derive(Debug)]
pub(crate) struct Processors {
    epoch: Instant,
    /// By number of the thread: 0 while it does not compute, else a [`note`].
    notes: Box<[AtomicU64]>,
}

/// The low bits are the processor's number and one, the others when it was, in microseconds.
fn note(processor: usize, micros: u64) -> u64 {
    micros << 16 | (processor as u64 + 1) & 0xffff
}

impl Processors {
    pub(crate) fn new(threads: usize) -> Self {
        let notes = (0..threads).map(|_| AtomicU64::new(0)).collect();
        Self { epoch: Instant::now(), notes }
    }

    /// To be called before a callback by the thread of this number, which computes until the result
    /// is dropped.
    pub(crate) fn enter(&self, thread: usize) -> Computing<'_> {
        let now = self.epoch.elapsed().as_micros() as u64;
        let mut here = sched_getcpu();
        if self.is_taken(thread, here, now) {
            leave(here);
            here = sched_getcpu();
        }
        let own = self.notes.get(thread);
        if let Some(own) = own {
            own.store(note(here, now), Ordering::Relaxed);
        }
        Computing(own)
    }

    /// Whether another thread has begun to compute on this processor a moment ago.
    fn is_taken(&self, thread: usize, processor: usize, now: u64) -> bool {
        let moment = MOMENT.as_micros() as u64;
        self.notes.iter().enumerate().any(|(number, noted)| {
            let noted = noted.load(Ordering::Relaxed);
            number != thread
                && noted & 0xffff == note(processor, 0)
                && now.saturating_sub(noted >> 16) < moment
        })
    }
}

/// As long as this lives, a thread computes.
pub(crate) struct Computing<'a>(Option<&'a AtomicU64>);

impl Drop for Computing<'_> {
    fn drop(&mut self) {
        if let Some(own) = self.0 {
            own.store(0, Ordering::Relaxed);
        }
    }
}

/// Has the calling thread go on elsewhere, if it may run elsewhere. Where it may run stays as it
/// is: it is told to keep off for as long as the kernel takes to move it.
fn leave(processor: usize) {
    let Ok(allowed) = sched_getaffinity(None) else { return };
    let mut others = allowed;
    others.unset(processor);
    if others.count() > 0 && sched_setaffinity(None, &others).is_ok() {
        // It was allowed before; a refusal can only mean that fewer processors are now.
        let _ = sched_setaffinity(None, &allowed);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use feros_test_support::{eventually, skip};
    use rustix::thread::CpuSet;

    #[test]
    fn a_processor_is_taken_for_a_moment_by_who_computes_there() {
        let processors = Processors::new(2);
        let later = MOMENT.as_micros() as u64 + 7;
        assert!(!processors.is_taken(0, 3, 7));
        processors.notes[1].store(note(3, 7), Ordering::Relaxed);
        assert!(processors.is_taken(0, 3, 7) && processors.is_taken(0, 3, later - 1));
        assert!(!processors.is_taken(1, 3, 7), "by itself");
        assert!(!processors.is_taken(0, 2, 7), "another processor");
        assert!(!processors.is_taken(0, 3, later), "the kernel has had time");
        drop(Computing(processors.notes.get(1)));
        assert!(!processors.is_taken(0, 3, 7), "it has ended");
    }

    /// Nobody else keeps the thread off: the kernel may move it back, hence the repetition.
    #[test]
    fn a_thread_leaves_the_processor_of_another_that_computes() {
        let allowed = sched_getaffinity(None).unwrap();
        if allowed.count() < 2 {
            return skip("this process may use one processor only; let it use two (taskset)");
        }
        let first = (0..CpuSet::MAX_CPU).find(|&it| allowed.is_set(it)).unwrap();
        let mut only = CpuSet::new();
        only.set(first);
        eventually(|| {
            let processors = Processors::new(2);
            sched_setaffinity(None, &only).unwrap();
            sched_setaffinity(None, &allowed).unwrap();
            let _other = processors.enter(1);
            let here = sched_getcpu();
            let _own = processors.enter(0);
            assert_eq!(sched_getaffinity(None).unwrap(), allowed, "it may run where it could");
            if sched_getcpu() == here { Err("the thread is where it was") } else { Ok(()) }
        });
    }
}
