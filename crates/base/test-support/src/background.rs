//! Threads that end when the test ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// Starts a thread with this name.
///
/// # Panics
///
/// When the system cannot start a thread.
pub fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    let thread = thread::Builder::new().name(name.to_owned()).spawn(work);
    thread.expect("the system starts a thread")
}

/// A thread that works until this value is dropped. An example is a thread that spins an executor.
pub struct Background {
    stop: Option<Box<dyn FnOnce() + Send>>,
    thread: Option<JoinHandle<()>>,
}

impl Background {
    /// Runs `work` on a thread with this name. Calling `stop` must make `work` return.
    ///
    /// # Panics
    ///
    /// When the system cannot start a thread.
    pub fn start(
        name: &str,
        work: impl FnOnce() + Send + 'static,
        stop: impl FnOnce() + Send + 'static,
    ) -> Self {
        Self { stop: Some(Box::new(stop)), thread: Some(spawn(name, work)) }
    }

    /// Makes `work` return, and waits until it has returned.
    ///
    /// # Panics
    ///
    /// Panics if `work` has panicked. Dropping the value panics in the same case, unless the test
    /// is already panicking.
    pub fn stop(self) {}
}

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            stop();
        }
        let ended = self.thread.take().map(JoinHandle::join);
        if let Some(Err(panic)) = ended
            && !thread::panicking()
        {
            std::panic::resume_unwind(panic);
        }
    }
}

impl std::fmt::Debug for Background {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Background").field("thread", &self.thread).finish_non_exhaustive()
    }
}

/// Dropping this value sets a flag, even while the thread panics. A scope waits for all its threads
/// before it propagates a panic, so its other threads must check this flag and end when it is set.
#[derive(Debug)]
pub struct SetAtEnd<'a>(pub &'a AtomicBool);

impl Drop for SetAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::sync_channel;

    #[test]
    fn the_work_ends_with_its_owner_and_its_panic_is_passed_on() {
        let (stop, stopped) = sync_channel(1);
        let work = move || stopped.recv().unwrap_or_default();
        Background::start("work", work, move || drop(stop)).stop();
        let panics = || drop(Background::start("work", || panic!("the work's"), || {}));
        assert!(std::panic::catch_unwind(panics).is_err());
    }

    #[test]
    fn a_scope_ends_when_its_owner_panics() {
        let done = AtomicBool::new(false);
        let scope = || {
            thread::scope(|scope| {
                let _end = SetAtEnd(&done);
                scope.spawn(|| {
                    while !done.load(Ordering::Acquire) {
                        thread::yield_now();
                    }
                });
                panic!("the owner's");
            })
        };
        assert!(std::panic::catch_unwind(scope).is_err());
    }
}
