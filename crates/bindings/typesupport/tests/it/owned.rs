//! A message struct of a type that is known only at run time.

use std::ffi::c_void;

use feros_typesupport::{DecodeError, EncodeError, MessageProgram};

/// An initialized message that owns its memory. It is finalized when this value is dropped.
pub(crate) struct Owned<'p> {
    program: &'p MessageProgram,
    memory: Vec<u128>, // aligned for any struct
}

impl<'p> Owned<'p> {
    pub(crate) fn new(program: &'p MessageProgram) -> Self {
        // The memory is not zeroed, so that a test notices bytes that `init` does not set.
        let memory =
            vec![u128::from_ne_bytes([0xa5; 16]); program.size_of().div_ceil(size_of::<u128>())];
        let mut message = Self { program, memory };
        // SAFETY: the memory has the size of the struct, and nobody else uses it.
        assert!(unsafe { program.init(message.as_mut_ptr()) });
        message
    }

    pub(crate) fn as_ptr(&self) -> *const c_void {
        self.memory.as_ptr().cast()
    }

    pub(crate) fn as_mut_ptr(&mut self) -> *mut c_void {
        self.memory.as_mut_ptr().cast()
    }

    pub(crate) fn decode(&mut self, bytes: &[u8]) -> Result<(), DecodeError> {
        // SAFETY: the message has the program's type, and nobody else uses it.
        unsafe { self.program.decode(bytes, self.as_mut_ptr()) }
    }

    pub(crate) fn serialized_len(&self) -> Result<usize, EncodeError> {
        // SAFETY: the message has the program's type.
        unsafe { self.program.serialized_len(self.as_ptr()) }
    }

    /// Serializes the message into a buffer of exactly the right size.
    pub(crate) fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        let mut bytes = vec![0xff; self.serialized_len()?];
        // SAFETY: the message has the program's type.
        let written = unsafe { self.program.encode(self.as_ptr(), &mut bytes) }?;
        assert_eq!(written, bytes.len(), "{}", self.program.ros_type_name());
        Ok(bytes)
    }
}

impl Drop for Owned<'_> {
    fn drop(&mut self) {
        // SAFETY: the message has the program's type, and is not used again.
        unsafe { self.program.fini(self.as_mut_ptr()) };
    }
}
