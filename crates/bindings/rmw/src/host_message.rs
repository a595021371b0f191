//! The messages of the host program that are sent: published messages, requests and responses.
//!
//! The words in brackets in SAFETY comments are clauses of `contract`.

use std::ffi::c_void;

use feros_engine::FillAborted;
use feros_transport::Outgoing;
use feros_typesupport::{EncodeError, MessageProgram};

use crate::error::Failure;

/// A message of the host program. It is encoded once, into the memory from which it is sent;
/// subscriptions of this process share the encoded bytes.
pub(crate) struct HostMessage<'a> {
    program: &'a MessageProgram,
    message: *const c_void,
    size_bytes: usize,
    /// The reason why the message could not be encoded.
    pub(crate) failure: Option<EncodeError>,
}

impl<'a> HostMessage<'a> {
    /// # Safety
    /// `message` is an initialized message of the type of `program`, and nobody writes it as long
    /// as this value lives.
    pub(crate) unsafe fn new(
        program: &'a MessageProgram,
        message: *const c_void,
    ) -> Result<Self, EncodeError> {
        // SAFETY: [messages] the message has the type of the program, and nobody writes it as long
        // as this value lives.
        let size_bytes = unsafe { program.serialized_len(message) }?;
        Ok(Self { program, message, size_bytes, failure: None })
    }

    /// The failure to send this message, after the transport has refused it with `error`.
    pub(crate) fn refused(self, error: impl std::fmt::Display) -> Failure {
        self.failure.map_or_else(|| Failure::error(error), Failure::error)
    }
}

impl Outgoing for HostMessage<'_> {
    fn size_bytes(&self) -> usize {
        self.size_bytes
    }

    fn fill(&mut self, memory: &mut [u8]) -> Result<(), FillAborted> {
        // SAFETY: [messages] the message has the type of the program, and nobody writes it as long
        // as `self` lives.
        let encoded = unsafe { self.program.encode(self.message, memory) };
        encoded.map(|_| ()).map_err(|error| {
            self.failure = Some(error);
            FillAborted
        })
    }
}
