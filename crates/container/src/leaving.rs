//! The end of what has failed, which takes its time on another thread: who unloads it waits for
//! that.

use feros_sync::Mutex;

type Then = Box<dyn FnOnce() + Send>;

/// Something that is coming to its end.
#[derive(Default)]
pub(crate) struct Leaving(Mutex<State>);

#[derive(Default)]
struct State {
    is_over: bool,
    waiting: Vec<Then>,
}

impl Leaving {
    /// Runs `then` when the end has come: at once if it has.
    pub(crate) fn then(&self, then: impl FnOnce() + Send + 'static) {
        {
            let mut state = self.0.lock();
            if !state.is_over {
                return state.waiting.push(Box::new(then));
            }
        }
        then();
    }

    /// The end has come.
    pub(crate) fn finish(&self) {
        let waiting = {
            let mut state = self.0.lock();
            state.is_over = true;
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
    fn who_waits_hears_of_the_end_and_who_comes_later_does_not_wait() {
        let (leaving, heard) = (Leaving::default(), Arc::new(AtomicU32::new(0)));
        let note = || {
            let heard = heard.clone();
            move || {
                heard.fetch_add(1, Ordering::Relaxed);
            }
        };
        leaving.then(note());
        leaving.then(note());
        assert_eq!(heard.load(Ordering::Relaxed), 0);
        leaving.finish();
        assert_eq!(heard.load(Ordering::Relaxed), 2);
        leaving.then(note());
        assert_eq!(heard.load(Ordering::Relaxed), 3);
    }
}
