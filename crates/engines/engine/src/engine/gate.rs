//! A notification that can be closed, and the notifications of a graph's changes.

use std::sync::Arc;

use feros_sync::Mutex;

use super::notify::{GraphChangeGuard, Notify};

/// Calls a notification until it is closed. A closed notification never runs again.
pub struct Gate(Mutex<Option<Notify>>);

impl Gate {
    /// Creates a gate. Without a notification, the gate is closed from the beginning.
    #[must_use]
    pub fn new(notify: Option<Notify>) -> Self {
        Self(Mutex::new(notify))
    }

    /// Calls the notification, if the gate is not closed.
    pub fn notify(&self) {
        // The lock is held during the call so that `close` waits for the call. The notification
        // only marks something as ready.
        if let Some(notify) = &*self.0.lock() {
            notify();
        }
    }

    /// Closes the gate, and waits until a running call has returned. Later calls do nothing.
    pub fn close(&self) {
        let notify = self.0.lock().take();
        drop(notify); // after the lock has been released
    }
}

/// The notifications of a graph's changes.
#[derive(Default)]
pub struct GraphListeners(Arc<Mutex<Vec<Arc<Gate>>>>);

impl GraphListeners {
    /// Adds a notification until the returned guard is dropped.
    pub fn add(&self, notify: Notify) -> GraphChangeGuard {
        let gate = Arc::new(Gate::new(Some(notify)));
        self.0.lock().push(gate.clone());
        let all = Arc::downgrade(&self.0);
        GraphChangeGuard::new(move || {
            gate.close();
            if let Some(all) = all.upgrade() {
                all.lock().retain(|other| !Arc::ptr_eq(other, &gate));
            }
        })
    }

    /// Calls all notifications.
    pub fn notify(&self) {
        let gates = self.0.lock().clone();
        gates.iter().for_each(|gate| gate.notify());
    }

    /// Closes all notifications.
    pub fn close(&self) {
        let gates = std::mem::take(&mut *self.0.lock());
        gates.iter().for_each(|gate| gate.close());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn a_notification_ends_with_its_guard_and_with_the_graph() {
        let (listeners, calls) = (GraphListeners::default(), Arc::new(AtomicUsize::new(0)));
        let counting = || {
            let calls = calls.clone();
            listeners.add(Arc::new(move || {
                calls.fetch_add(1, Ordering::Relaxed);
            }))
        };
        let guards = [counting(), counting()];
        listeners.notify();
        assert_eq!(calls.load(Ordering::Relaxed), 2);
        drop(guards);
        assert!(listeners.0.lock().is_empty());
        let _guard = counting();
        listeners.close();
        listeners.notify();
        assert_eq!(calls.load(Ordering::Relaxed), 2);
    }
}
