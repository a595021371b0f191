//! A function that is told how often an entity was rung.

use feros_sync::{AtomicUsize, Ordering};

/// Calls a function with numbers of rings, never twice at a time.
pub(crate) struct Listener {
    callback: Box<dyn Fn(usize) + Send + Sync>,
    /// Rings that the callback was not told of, or is being told of.
    untold: AtomicUsize,
}

impl Listener {
    pub(crate) fn new(callback: impl Fn(usize) + Send + Sync + 'static) -> Self {
        Self { callback: Box::new(callback), untold: AtomicUsize::new(0) }
    }

    /// Tells the callback of so many rings, or leaves that to the thread that tells it of others.
    pub(crate) fn tell(&self, rings: usize) {
        // Whoever finds the count at zero tells; it goes on until nobody has added to it meanwhile.
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
