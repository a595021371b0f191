//! Chooses the processors on which the threads of one executor compute, so that no thread waits for
//! the processor of another thread while a free processor is available.
//!
//! The kernel chooses a processor when it wakes a thread. If no processor is idle at that moment,
//! the kernel may choose the processor of another thread of the executor. Both threads then share
//! that processor for many callbacks, even after another processor has become idle
//! (docs/measurements/0003, "Containers"). So before each callback, a thread checks which processor
//! it is on, and moves away if another thread has just begun to compute there. The kernel prefers
//! the processor on which a thread ran last, so a thread that has moved usually stays on its new
//! processor.

use rustix::thread::{sched_getaffinity, sched_getcpu, sched_setaffinity};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A note of this age or older is ignored, because the thread may have moved since then: the kernel
/// balances the load with each tick of its clock.
const MOMENT: Duration = Duration::from_millis(4);

/// The notes in which the threads of an executor record the processors on which they compute.
#[derive(Debug)]
pub(crate) struct Processors {
    epoch: Instant,
    /// The notes by thread number: 0 while the thread does not compute, otherwise a [`note`].
    notes: Box<[AtomicU64]>,
}

/// Makes a note. The low bits are the processor's number plus one, and the other bits are the time
/// in microseconds.
fn note(processor: usize, micros: u64) -> u64 {
    micros << 16 | (processor as u64 + 1) & 0xffff
}

impl Processors {
    pub(crate) fn new(threads: usize) -> Self {
        let notes = (0..threads).map(|_| AtomicU64::new(0)).collect();
        Self { epoch: Instant::now(), notes }
    }

    /// Records that the calling thread, which has this number, computes until the result is
    /// dropped. Call this before a callback.
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

    /// Whether another thread has just begun to compute on this processor.
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

/// Clears the thread's note when dropped.
pub(crate) struct Computing<'a>(Option<&'a AtomicU64>);

impl Drop for Computing<'_> {
    fn drop(&mut self) {
        if let Some(own) = self.0 {
            own.store(0, Ordering::Relaxed);
        }
    }
}

/// Moves the calling thread to another processor, if the thread may use another. To make the kernel
/// move the thread, the set of its allowed processors is changed for a short time.
fn leave(processor: usize) {
    let Ok(allowed) = sched_getaffinity(None) else { return };
    let mut others = allowed;
    others.unset(processor);
    if others.count() > 0 && sched_setaffinity(None, &others).is_ok() {
        // All of these processors were allowed before, so a refusal can only mean that fewer are
        // allowed now.
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
    fn a_computing_thread_takes_its_processor_for_a_moment() {
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

    /// The test repeats the move, because the kernel may move the thread back at any time.
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
