//! Work that several threads may do, one at a time and without a lock held: the thread that has the
//! worker also does the work of the other threads.

use std::ops::{Deref, DerefMut};

use feros_sync::{AtomicBool, Mutex, Ordering};

/// A worker that threads take in turns.
pub(crate) struct Turns<W> {
    worker: Mutex<Option<Box<W>>>,
    /// Another thread came while a thread had the worker.
    is_wanted: AtomicBool,
}

impl<W> Turns<W> {
    pub(crate) fn new(worker: W) -> Self {
        Self { worker: Mutex::new(Some(Box::new(worker))), is_wanted: AtomicBool::new(false) }
    }

    /// Takes the worker, unless another thread has it: then that thread takes another turn when it
    /// is done, and finds the work that the caller added before this call.
    pub(crate) fn begin(&self) -> Option<Turn<'_, W>> {
        // This comes before the attempt to take the worker: if that fails, the thread with the
        // worker sees the flag after giving the worker back. If that thread clears the flag only
        // now, it has not begun to work, and finds the caller's work.
        self.is_wanted.store(true, Ordering::SeqCst);
        self.take()
    }

    /// Takes another turn if another thread came meanwhile; call it after each turn. It does not
    /// set the flag, so that two threads cannot keep each other going without work.
    pub(crate) fn begin_again(&self) -> Option<Turn<'_, W>> {
        if self.is_wanted() { self.take() } else { None }
    }

    fn take(&self) -> Option<Turn<'_, W>> {
        let worker = self.worker.lock().take()?;
        self.is_wanted.store(false, Ordering::SeqCst);
        Some(Turn { turns: self, worker: Some(worker) })
    }

    /// Whether a thread came while another had the worker, so that another turn is due.
    pub(crate) fn is_wanted(&self) -> bool {
        self.is_wanted.load(Ordering::SeqCst)
    }
}

/// The right to use the worker; dropping it gives the worker back, also during a panic.
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
