//! Lets a thread wait for a future without an executor.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use crate::watchdog::WATCHDOG;

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Blocks the calling thread until a future is ready.
///
/// # Panics
///
/// Panics if nothing wakes the future within the time of [`WATCHDOG`].
pub fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    let until = std::time::Instant::now() + WATCHDOG;
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        let rest = until.saturating_duration_since(std::time::Instant::now());
        assert!(!rest.is_zero(), "the watchdog bit: the awaited operation does not end");
        thread::park_timeout(rest);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::background::spawn;

    #[test]
    fn a_thread_sleeps_until_its_future_is_woken() {
        let is_done = Arc::new(AtomicBool::new(false));
        let mut other = None;
        let future = std::future::poll_fn(|task| {
            if is_done.load(Ordering::Acquire) {
                return Poll::Ready(42);
            }
            let (waker, is_done) = (task.waker().clone(), Arc::clone(&is_done));
            other.get_or_insert_with(|| {
                spawn("wakes", move || {
                    is_done.store(true, Ordering::Release);
                    waker.wake();
                })
            });
            Poll::Pending
        });
        assert_eq!(block_on(future), 42);
    }
}
