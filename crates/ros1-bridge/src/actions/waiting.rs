//! Waits in place for what is awaited otherwise, and looks meanwhile whether that is in vain.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Duration;

/// How often is looked.
const LOOK_EVERY: Duration = Duration::from_millis(250);

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// What comes of a future; `None` where `is_over` before.
pub(super) fn wait<F: Future>(future: F, is_over: impl Fn() -> bool) -> Option<F::Output> {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut task = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut task) {
            return Some(output);
        }
        if is_over() {
            return None;
        }
        std::thread::park_timeout(LOOK_EVERY);
    }
}
