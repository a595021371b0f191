//! A received message as memory that Python reads in place: arrays of a message point into it, and
//! keep it for as long as they live.

use std::ffi::c_int;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use feros::SerializedMessage;
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;

/// How many messages of one subscription Python keeps in the memory that they came in. The pool of
/// the publisher is finite: beyond `limit` they are copied out.
pub(crate) struct Pins {
    limit: usize,
    held: AtomicUsize,
    copied: AtomicU64,
}

impl Pins {
    /// For a subscription that may keep this many.
    pub(crate) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self { limit, held: AtomicUsize::new(0), copied: AtomicU64::new(0) })
    }

    /// Messages that are kept now.
    pub(crate) fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    /// Messages that were copied out so far, because there were too many.
    pub(crate) fn copied(&self) -> u64 {
        self.copied.load(Ordering::Relaxed)
    }
}

enum Memory {
    Pinned { message: SerializedMessage, pins: Arc<Pins> },
    Own(Vec<u8>),
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Self::Pinned { pins, .. } = self {
            pins.held.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// A serialized message, to be read by the buffer protocol.
#[pyclass(frozen, module = "feros._feros")]
pub(crate) struct Block(Memory);

impl Block {
    /// Keeps the message where it is, or copies it where too many are kept already.
    pub(crate) fn new(message: SerializedMessage, pins: &Arc<Pins>) -> Self {
        if pins.held.fetch_add(1, Ordering::Relaxed) < pins.limit {
            return Self(Memory::Pinned { message, pins: pins.clone() });
        }
        pins.held.fetch_sub(1, Ordering::Relaxed);
        let copied = pins.copied.fetch_add(1, Ordering::Relaxed) + 1;
        if copied.is_power_of_two() {
            tracing::warn!(
                "{} messages are kept in the memory that they came in, so that {copied} so far were copied: let arrays of old messages go, copy what is kept, or raise `max_pinned`",
                pins.limit
            );
        }
        Self(Memory::Own(message.to_vec()))
    }

    /// The message.
    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.0 {
            Memory::Pinned { message, .. } => message,
            Memory::Own(bytes) => bytes,
        }
    }
}

impl Deref for Block {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.bytes()
    }
}

#[pymethods]
impl Block {
    /// # Safety
    /// For Python alone, which passes a view to be filled in.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let bytes = slf.get().bytes();
        let Ok(size) = ffi::Py_ssize_t::try_from(bytes.len()) else {
            return Err(PyBufferError::new_err("the message is too large for Python"));
        };
        // SAFETY: the view is Python's. The bytes lie still in this object, which nobody changes
        // and to which the view takes a reference; the view may not be written to.
        let result = unsafe {
            let start = bytes.as_ptr().cast_mut().cast();
            ffi::PyBuffer_FillInfo(view, slf.as_ptr(), start, size, 1, flags)
        };
        if result == 0 { Ok(()) } else { Err(PyErr::fetch(slf.py())) }
    }

    fn __len__(&self) -> usize {
        self.bytes().len()
    }
}
