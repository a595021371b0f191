//! A function that gets the numbers of rings of an entity.

use feros_sync::{AtomicUsize, Ordering};

/// Calls a function with numbers of rings, one call at a time.
pub(crate) struct Listener {
    callback: Box<dyn Fn(usize) + Send + Sync>,
    /// Rings that the callback did not get yet, or is getting.
    untold: AtomicUsize,
}

impl Listener {
    pub(crate) fn new(callback: impl Fn(usize) + Send + Sync + 'static) -> Self {
        Self { callback: Box::new(callback), untold: AtomicUsize::new(0) }
    }

    /// Passes this many rings to the callback, or leaves that to the thread that is passing others.
    pub(crate) fn tell(&self, rings: usize) {
        // The thread that finds the count at zero calls the callback, until no thread has added to
        // the count meanwhile.
        if self.untold.fetch_add(rings, Ordering::AcqRel) > 0 {
            return;
        }
        let mut untold = rings;
        while untold > 0 {
            (self.callback)(untold);
            untold = self.untold.fetch_sub(untold, Ordering::AcqRel) - untold;
        }
    }
}
