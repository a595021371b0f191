//! The callback that a host program sets for one entity, to get the number of new items.
//!
//! The words in brackets in SAFETY comments are clauses of `contract`.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ThreadId};

use feros_sync::{Condvar, Mutex};

use crate::ffi::rmw_event_callback_t;

/// A function of the host program and its argument.
#[derive(Clone, Copy)]
struct Callback {
    function: unsafe extern "C" fn(*const c_void, usize),
    user_data: *const c_void,
}

// SAFETY: rmw requires that the function may be called with its data on any thread until another
// function is set.
unsafe impl Send for Callback {}

/// Holds the callback, if there is one. The callback is called without a lock, by one thread at a
/// time, and never after it has been replaced, so that the host program may then free the
/// callback's data.
#[derive(Default)]
pub(crate) struct Listener {
    state: Mutex<State>,
    has_ended: Condvar,
    is_set: AtomicBool,
}

#[derive(Default)]
struct State {
    callback: Option<Callback>,
    /// The thread that is calling the callback.
    caller: Option<ThreadId>,
}

impl Listener {
    /// Whether there is a callback.
    pub(crate) fn is_set(&self) -> bool {
        self.is_set.load(Ordering::Acquire)
    }

    /// Replaces the callback. If another thread is calling the old callback, waits until that call
    /// ends.
    ///
    /// # Safety
    /// Until the function is replaced, it may be called on any thread with `user_data`.
    pub(crate) unsafe fn set(&self, function: rmw_event_callback_t, user_data: *const c_void) {
        let mut state = self.state.lock();
        state.callback = function.map(|function| Callback { function, user_data });
        self.is_set.store(state.callback.is_some(), Ordering::Release);
        while state.caller.is_some_and(|caller| caller != thread::current().id()) {
            state = self.has_ended.wait(state);
        }
    }

    /// Removes the callback. Waits as [`Listener::set`] does.
    pub(crate) fn clear(&self) {
        // SAFETY: there is no function that could be called.
        unsafe { self.set(None, std::ptr::null()) };
    }

    /// Calls the callback with the result of `count`, unless the result is 0. `count` runs while no
    /// other thread calls the callback.
    pub(crate) fn tell(&self, count: impl FnOnce() -> usize) {
        let me = thread::current().id();
        let mut state = self.state.lock();
        while let Some(caller) = state.caller {
            if caller == me {
                return; // called from within the callback; a later call reports the news
            }
            state = self.has_ended.wait(state);
        }
        let Some(callback) = state.callback else { return };
        state.caller = Some(me);
        drop(state);
        let count = count();
        if count > 0 {
            // SAFETY: [callbacks] the function has not been replaced, and a replacement waits for
            // this call.
            unsafe { (callback.function)(callback.user_data, count) };
        }
        self.state.lock().caller = None;
        self.has_ended.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;
    use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

    use super::*;

    unsafe extern "C" fn add(user_data: *const c_void, count: usize) {
        // SAFETY: the tests pass a counter.
        unsafe { &*user_data.cast::<AtomicUsize>() }.fetch_add(count, Ordering::Relaxed);
    }

    #[test]
    fn news_are_told_to_whoever_is_set() {
        let (listener, counter) = (Listener::default(), AtomicUsize::new(0));
        listener.tell(|| unreachable!("nobody listens"));
        // SAFETY: the counter outlives the listener's use.
        unsafe { listener.set(Some(add), (&raw const counter).cast()) };
        listener.tell(|| 3);
        listener.tell(|| 0);
        listener.clear();
        assert!(!listener.is_set());
        listener.tell(|| unreachable!("nobody listens any longer"));
        assert_eq!(counter.load(Ordering::Relaxed), 3);
    }

    struct Gate {
        entered: SyncSender<()>,
        go_on: feros_sync::Mutex<Receiver<()>>,
    }

    unsafe extern "C" fn pass(user_data: *const c_void, _: usize) {
        // SAFETY: the test passes a gate.
        let gate = unsafe { &*user_data.cast::<Gate>() };
        gate.entered.send(()).expect("the test waits");
        gate.go_on.lock().recv().expect("the test opens the gate");
    }

    #[test]
    fn who_replaces_a_function_waits_for_its_call() {
        let listener = Arc::new(Listener::default());
        let ((entered, has_entered), (go_on, wait)) = (sync_channel(1), sync_channel(1));
        let gate = Gate { entered, go_on: feros_sync::Mutex::new(wait) };
        // SAFETY: the gate outlives the threads of the scope.
        unsafe { listener.set(Some(pass), (&raw const gate).cast()) };
        let cleared = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| listener.tell(|| 1));
            has_entered.recv().expect("the call begins");
            scope.spawn(|| {
                listener.clear();
                cleared.store(true, Ordering::Release);
            });
            while listener.is_set() {
                std::thread::yield_now();
            }
            assert!(!cleared.load(Ordering::Acquire), "the call still runs");
            go_on.send(()).expect("the call waits");
        });
        assert!(cleared.load(Ordering::Acquire));
    }
}
