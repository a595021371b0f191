//! A notification that can be ended for good: whoever ends it knows that it runs no more.

use feros_rmw::Notify;
use feros_sync::Mutex;

/// Calls a notification until it is closed.
pub struct Gate(Mutex<Option<Notify>>);

impl Gate {
    /// Without a notification it is closed from the beginning.
    #[must_use]
    pub fn new(notify: Option<Notify>) -> Self {
        Self(Mutex::new(notify))
    }

    /// Calls it, if it is not closed.
    pub fn notify(&self) {
        // Held so that closing waits for this call, which only marks something as ready.
        if let Some(notify) = &*self.0.lock() {
            notify();
        }
    }

    /// Waits for a call that runs now; later ones find nothing.
    pub fn close(&self) {
        let notify = self.0.lock().take();
        drop(notify);
    }
}
