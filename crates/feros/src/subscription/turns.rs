//! Work that several threads may do, one at a time and without a lock held: whoever has it also
//! does what the others came for.

use std::ops::{Deref, DerefMut};

use feros_sync::{AtomicBool, Mutex, Ordering};

/// A worker that threads take in turns.
pub(crate) struct Turns<W> {
    worker: Mutex<Option<Box<W>>>,
    /// Somebody came while another had the worker.
    is_wanted: AtomicBool,
}

impl<W> Turns<W> {
    pub(crate) fn new(worker: W) -> Self {
        Self { worker: Mutex::new(Some(Box::new(worker))), is_wanted: AtomicBool::new(false) }
    }

    /// The worker, unless another thread has it: then that one works on once it is done, and finds
    /// what the caller put there before.
    pub(crate) fn begin(&self) -> Option<Turn<'_, W>> {
        // Before the look: if it finds nothing, whoever has the worker sees this after giving it
        // back. If that one clears it only now, it has not begun to work, and finds what there is.
        self.is_wanted.store(true, Ordering::SeqCst);
        self.take()
    }

    /// Another turn for those who came meanwhile, if there were any; to be asked after each turn.
    /// Nothing is announced by it, so that two threads cannot keep each other going without work.
    pub(crate) fn begin_again(&self) -> Option<Turn<'_, W>> {
        if self.is_wanted() { self.take() } else { None }
    }

    fn take(&self) -> Option<Turn<'_, W>> {
        let worker = self.worker.lock().take()?;
        self.is_wanted.store(false, Ordering::SeqCst);
        Some(Turn { turns: self, worker: Some(worker) })
    }

    /// Whether somebody came while another had the worker, for whom another turn is due.
    pub(crate) fn is_wanted(&self) -> bool {
        self.is_wanted.load(Ordering::SeqCst)
    }
}

/// The right to use the worker; given back when dropped, by a panic too.
pub(crate) struct Turn<'a, W> {
    turns: &'a Turns<W>,
    worker: Option<Box<W>>,
}

impl<W> Deref for Turn<'_, W> {
    type Target = W;

    fn deref(&self) -> &W {
        self.worker.as_ref().expect("it is there until it is given back")
    }
}

impl<W> DerefMut for Turn<'_, W> {
    fn deref_mut(&mut self) -> &mut W {
        self.worker.as_mut().expect("it is there until it is given back")
    }
}

impl<W> Drop for Turn<'_, W> {
    fn drop(&mut self) {
        *self.turns.worker.lock() = self.worker.take();
    }
}
