//! Stops reading from another thread, since a hostile file can make a query or a scan take long.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::ReadError;

/// Stops the reading of a bag, even while the bag is being opened. Clones share one flag.
///
/// ```
/// use feros_bag::{Interrupt, ReaderOptions};
/// let interrupt = Interrupt::default();
/// let options = ReaderOptions { interrupt: interrupt.clone(), ..ReaderOptions::default() };
/// interrupt.set(); // from a thread that handles signals, while another one reads
/// assert!(options.interrupt.is_set());
/// ```
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Stops the reader: it fails with [`ReadError::Interrupted`].
    pub fn set(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether reading is to stop.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    /// Fails if reading is to stop.
    pub(crate) fn check(&self, path: &Path) -> Result<(), ReadError> {
        match self.is_set() {
            true => Err(ReadError::Interrupted { path: path.to_owned() }),
            false => Ok(()),
        }
    }
}

impl From<Arc<AtomicBool>> for Interrupt {
    /// Uses a flag that exists already: reading stops when it becomes true.
    fn from(flag: Arc<AtomicBool>) -> Self {
        Self(flag)
    }
}

/// Any two interrupts are equal, so that options that hold one can be compared.
impl PartialEq for Interrupt {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Interrupt {}
