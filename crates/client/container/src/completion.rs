//! An event that happens once: the end of a failed component. While the component still ends on
//! another thread, a client may already unload it; the response then waits for this event.

use feros_sync::Mutex;

type Then = Box<dyn FnOnce() + Send>;

/// An event that happens once, with the closures that run after it.
#[derive(Default)]
pub(crate) struct Completion(Mutex<State>);

#[derive(Default)]
struct State {
    has_happened: bool,
    waiting: Vec<Then>,
}

impl Completion {
    /// Runs `then` after the event, or immediately if the event has already happened.
    pub(crate) fn then(&self, then: impl FnOnce() + Send + 'static) {
        {
            let mut state = self.0.lock();
            if !state.has_happened {
                return state.waiting.push(Box::new(then));
            }
        }
        then();
    }

    /// Records that the event has happened, and runs the waiting closures.
    pub(crate) fn finish(&self) {
        let waiting = {
            let mut state = self.0.lock();
            state.has_happened = true;
            std::mem::take(&mut state.waiting)
        };
        waiting.into_iter().for_each(|then| then());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn continuations_run_after_the_event_and_later_ones_at_once() {
        let (completion, count) = (Completion::default(), Arc::new(AtomicU32::new(0)));
        let note = || {
            let count = count.clone();
            move || {
                count.fetch_add(1, Ordering::Relaxed);
            }
        };
        completion.then(note());
        completion.then(note());
        assert_eq!(count.load(Ordering::Relaxed), 0);
        completion.finish();
        assert_eq!(count.load(Ordering::Relaxed), 2);
        completion.then(note());
        assert_eq!(count.load(Ordering::Relaxed), 3);
    }
}
