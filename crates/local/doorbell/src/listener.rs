//! A callback that gets the number of times that an entity has been rung.

use feros_sync::{AtomicUsize, Ordering};

/// Calls a function with the number of new rings, one call at a time.
pub(crate) struct Listener {
    callback: Box<dyn Fn(usize) + Send + Sync>,
    /// The rings that the callback has not yet been told about, including those of a running call.
    unreported: AtomicUsize,
}

impl Listener {
    pub(crate) fn new(callback: impl Fn(usize) + Send + Sync + 'static) -> Self {
        Self { callback: Box::new(callback), unreported: AtomicUsize::new(0) }
    }

    /// Passes this many rings to the callback, or leaves them to the thread that is calling it now.
    pub(crate) fn report(&self, rings: usize) {
        // The thread that finds the count at zero calls the callback, and repeats this until no
        // other thread has added to the count meanwhile.
        if self.unreported.fetch_add(rings, Ordering::AcqRel) > 0 {
            return;
        }
        let mut unreported = rings;
        while unreported > 0 {
            (self.callback)(unreported);
            unreported = self.unreported.fetch_sub(unreported, Ordering::AcqRel) - unreported;
        }
    }
}
