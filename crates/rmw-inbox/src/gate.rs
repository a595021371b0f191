//! A notification that can be closed for good: after closing, it runs no longer.

use feros_rmw::Notify;
use feros_sync::Mutex;

/// Calls a notification until it is closed.
pub struct Gate(Mutex<Option<Notify>>);

impl Gate {
    /// A gate without a notification is closed from the beginning.
    #[must_use]
    pub fn new(notify: Option<Notify>) -> Self {
        Self(Mutex::new(notify))
    }

    /// Calls the notification, if the gate is not closed.
    pub fn notify(&self) {
        // Held so that closing waits for this call, which only marks something as ready.
        if let Some(notify) = &*self.0.lock() {
            notify();
        }
    }

    /// Closes the gate, and waits for a running call; later calls do nothing.
    pub fn close(&self) {
        let notify = self.0.lock().take();
        drop(notify);
    }
}
