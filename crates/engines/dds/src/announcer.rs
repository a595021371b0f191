//! Announcements of which only the newest counts, with pauses between them. Like stock ROS 2, a
//! process announces its whole table of nodes whenever a node or an endpoint is added, and each
//! announcement costs every other participant a datagram and its acknowledgement. When many
//! processes start together, the pauses merge most of these announcements.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use feros_sync::{Condvar, Mutex};

/// Announces values. A value that is given during a pause is announced at the end of the pause,
/// unless a newer value replaces it. Dropping the announcer waits for its thread, and forgets a
/// value that still waits.
pub(crate) struct Announcer<T>(Arc<Shared<T>>);

struct Shared<T> {
    announce: Box<dyn Fn(&T) + Send + Sync>,
    /// Returns the pause after the last announcement; it may change during the pause.
    pause: Box<dyn Fn() -> Duration + Send + Sync>,
    state: Mutex<State<T>>,
    /// Notified when the announcer is closed.
    closed: Condvar,
}

struct State<T> {
    waiting: Option<T>,
    /// The time of the last announcement.
    last: Option<Instant>,
    is_closed: bool,
    /// Whether the thread that announces at the end of a pause is running.
    is_running: bool,
    /// The handle of the last such thread.
    thread: Option<JoinHandle<()>>,
}

impl<T: Clone + Send + 'static> Announcer<T> {
    pub(crate) fn new(
        announce: impl Fn(&T) + Send + Sync + 'static,
        pause: impl Fn() -> Duration + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(Shared {
            announce: Box::new(announce),
            pause: Box::new(pause),
            state: Mutex::new(State {
                waiting: None,
                last: None,
                is_closed: false,
                is_running: false,
                thread: None,
            }),
            closed: Condvar::new(),
        }))
    }

    /// Announces `value` now, or at the end of the pause. The value replaces a value that waits.
    pub(crate) fn announce(&self, value: &T) {
        let mut state = self.0.state.lock();
        if self.0.rest(&state).is_zero() {
            self.0.send(&mut state, value);
            return;
        }
        state.waiting = Some(value.clone());
        if state.is_running {
            return;
        }
        let shared = self.0.clone();
        match thread::Builder::new().name("feros-nodes".into()).spawn(move || shared.run()) {
            Ok(thread) => (state.thread, state.is_running) = (Some(thread), true),
            // Without a thread, announcing too often is better than not at all.
            Err(_) => self.0.send_waiting(&mut state),
        }
    }
}

impl<T> Shared<T> {
    /// The rest of the pause.
    fn rest(&self, state: &State<T>) -> Duration {
        state.last.map_or(Duration::ZERO, |last| (self.pause)().saturating_sub(last.elapsed()))
    }

    /// Sends an announcement. The lock is held, so that announcements are sent in their order.
    fn send(&self, state: &mut State<T>, value: &T) {
        state.waiting = None;
        (self.announce)(value);
        state.last = Some(Instant::now());
    }

    fn send_waiting(&self, state: &mut State<T>) {
        if let Some(value) = state.waiting.take() {
            self.send(state, &value);
        }
    }

    /// The thread: waits for the end of the pause, and sends the newest value.
    fn run(&self) {
        let mut state = self.state.lock();
        while state.waiting.is_some() && !state.is_closed {
            let rest = self.rest(&state);
            if rest.is_zero() {
                self.send_waiting(&mut state);
            } else {
                state = self.closed.wait_timeout(state, rest);
            }
        }
        state.is_running = false;
    }
}

impl<T> Drop for Announcer<T> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.is_closed = true;
        let thread = state.thread.take();
        drop(state);
        self.0.closed.notify_all();
        if let Some(thread) = thread {
            drop(thread.join()); // a panic has already been reported
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, sync_channel};

    use super::*;

    const CHANGES: u32 = 100;

    /// Announces the numbers below [`CHANGES`], and returns what was announced meanwhile and later.
    fn announced(pause: Duration) -> (Announcer<u32>, Receiver<u32>) {
        let (sender, receiver) = sync_channel(CHANGES as usize);
        let announcer = Announcer::new(move |&value| sender.send(value).unwrap(), move || pause);
        (0..CHANGES).for_each(|value| announcer.announce(&value));
        (announcer, receiver)
    }

    #[test]
    fn without_a_pause_each_value_is_announced() {
        let (announcer, receiver) = announced(Duration::ZERO);
        drop(announcer);
        assert!(receiver.iter().eq(0..CHANGES));
    }

    #[test]
    fn values_of_a_pause_are_merged_into_the_newest() {
        let (announcer, receiver) = announced(Duration::from_millis(50));
        let mut values = Vec::new();
        while values.last() != Some(&(CHANGES - 1)) {
            values.push(receiver.recv().unwrap());
        }
        drop(announcer);
        assert_eq!(values[0], 0);
        assert!(values.is_sorted());
        assert_eq!(receiver.try_recv().ok(), None);
    }

    #[test]
    fn an_announcer_that_is_dropped_does_not_wait_for_the_end_of_a_pause() {
        let (announcer, receiver) = announced(Duration::MAX);
        drop(announcer);
        assert!(receiver.iter().eq(0..1), "only the first value");
    }
}
