//! A notification that can be closed. After it has been closed, it never runs again.

use feros_engine::Notify;
use feros_sync::Mutex;

/// Calls a notification until it is closed.
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

    /// Closes the gate, and waits until a running call has returned. Later calls have no effect.
    pub fn close(&self) {
        let notify = self.0.lock().take();
        drop(notify);
    }
}
