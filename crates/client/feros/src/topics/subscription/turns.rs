//! Lets several threads use one worker, one thread at a time and without holding a lock. The thread
//! that has the worker also does the work that other threads add in the meantime.

use std::ops::{Deref, DerefMut};

use feros_sync::{AtomicBool, Mutex, Ordering};

/// A worker that threads use by turns.
pub(crate) struct Turns<W> {
    worker: Mutex<Option<Box<W>>>,
    /// Whether a thread has asked for the worker, so that the thread that has the worker takes
    /// another turn.
    is_wanted: AtomicBool,
}

impl<W> Turns<W> {
    pub(crate) fn new(worker: W) -> Self {
        Self { worker: Mutex::new(Some(Box::new(worker))), is_wanted: AtomicBool::new(false) }
    }

    /// Takes the worker. Returns `None` if another thread has it; that thread then takes another
    /// turn when it is done, and finds the work that the caller added before this call.
    pub(crate) fn begin(&self) -> Option<Turn<'_, W>> {
        // The flag is set before the attempt to take the worker. If the attempt fails, the thread
        // with the worker sees the flag after it has given the worker back. If that thread clears
        // the flag after this store, it has yet to begin its work, and will find the caller's work.
        self.is_wanted.store(true, Ordering::SeqCst);
        self.take()
    }

    /// Takes another turn if a thread has asked for the worker in the meantime. Must be called
    /// after each turn. This function does not set the flag, so that two threads cannot keep each
    /// other busy without work.
    pub(crate) fn begin_again(&self) -> Option<Turn<'_, W>> {
        if self.is_wanted() { self.take() } else { None }
    }

    fn take(&self) -> Option<Turn<'_, W>> {
        let worker = self.worker.lock().take()?;
        self.is_wanted.store(false, Ordering::SeqCst);
        Some(Turn { turns: self, worker: Some(worker) })
    }

    /// Whether a thread has asked for the worker since the last turn began, so that another turn is
    /// due.
    pub(crate) fn is_wanted(&self) -> bool {
        self.is_wanted.load(Ordering::SeqCst)
    }
}

/// The right to use the worker. Dropping it gives the worker back, even during a panic.
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
