//! A received message as memory that Python reads without a copy. Arrays of the message point into
//! this memory, and keep it alive.

use std::ffi::c_int;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use feros::SerializedMessage;
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;

/// Counts the messages of one subscription that Python keeps in the memory in which they arrived.
/// That memory belongs to the publisher's pool, which is finite, so beyond `limit` messages are
/// copied.
pub(crate) struct Pins {
    limit: usize,
    held: AtomicUsize,
    copied: AtomicU64,
}

impl Pins {
    /// `limit` is the number of messages that the subscription may keep.
    pub(crate) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self { limit, held: AtomicUsize::new(0), copied: AtomicU64::new(0) })
    }

    /// The number of messages that are kept now.
    pub(crate) fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    /// The number of messages that have been copied because too many were kept.
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

/// A serialized message that Python reads through the buffer protocol.
#[pyclass(frozen, module = "feros._feros")]
pub(crate) struct Block(Memory);

impl Block {
    /// Keeps the message in the memory in which it arrived, or copies it if too many messages are
    /// already kept.
    pub(crate) fn new(message: SerializedMessage, pins: &Arc<Pins>) -> Self {
        if pins.held.fetch_add(1, Ordering::Relaxed) < pins.limit {
            return Self(Memory::Pinned { message, pins: pins.clone() });
        }
        pins.held.fetch_sub(1, Ordering::Relaxed);
        let copied = pins.copied.fetch_add(1, Ordering::Relaxed) + 1;
        if copied.is_power_of_two() {
            tracing::warn!(
                "{} messages are kept in the memory in which they arrived, so {copied} further \
                 messages have been copied so far: release arrays of old messages, copy the arrays \
                 that you keep, or raise `max_pinned`",
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
    /// Only Python calls this function, with a view that the function fills in.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let bytes = slf.get().bytes();
        let Ok(size) = ffi::Py_ssize_t::try_from(bytes.len()) else {
            return Err(PyBufferError::new_err("the message is too large for Python"));
        };
        // SAFETY: the view comes from Python. It gets a reference to this object, which never
        // changes and whose bytes do not move. The view is read-only.
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
