//! A callback that gets the number of times that an entity has been rung.

use feros_sync::{AtomicUsize, Ordering};

/// Calls a function with the number of new rings, one call at a time.
pub(crate) struct Listener {
    callback: Box<dyn Fn(usize) + Send + Sync>,
    /// The rings that have not been passed to the callback, including those of a running call.
    untold: AtomicUsize,
}

impl Listener {
    pub(crate) fn new(callback: impl Fn(usize) + Send + Sync + 'static) -> Self {
        Self { callback: Box::new(callback), untold: AtomicUsize::new(0) }
    }

    /// Passes this number of rings to the callback. If another thread is calling the callback at
    /// this time, leaves this to that thread.
    pub(crate) fn tell(&self, rings: usize) {
        // The thread that finds the count at zero calls the callback, and calls it again until no
        // other thread has added to the count in the meantime.
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
