//! Lent messages. Only messages whose struct has the same bytes as the body of the serialized
//! message can be lent.

use std::ffi::c_void;
use std::sync::Arc;

use feros_engine::Payload;
use feros_transport::Received;
use feros_typesupport::{MessageProgram, PlainLayout};

use crate::error::Failure;

/// The header of a serialized message, in the byte order of this machine.
pub(crate) const HEADER: [u8; 4] =
    if cfg!(target_endian = "little") { [0, 1, 0, 0] } else { [0, 0, 0, 0] };
/// The alignment of message bodies in the memory of the transports.
const BODY_ALIGNMENT: usize = 8;

/// The layout of a type, if its messages can be lent. The struct must end where the body ends, so
/// that the struct lies within the message's memory.
pub(crate) fn layout(program: &MessageProgram) -> Option<PlainLayout> {
    let plain = program.plain()?;
    (plain.size == plain.body_len && plain.align <= BODY_ALIGNMENT).then_some(plain)
}

/// Whether messages of this type can be lent.
pub(crate) fn can_be_lent(program: &MessageProgram) -> bool {
    layout(program).is_some()
}

/// A message that a subscription lent.
pub(crate) enum LentMessage {
    /// The message is in the memory in which it arrived.
    InPlace(Payload),
    /// The message was decoded, because it arrived in another byte order or at another alignment,
    /// or because it has a `bool` field, for which not every received byte is valid.
    Decoded(DecodedMessage),
}

/// A message in memory of this library.
pub(crate) struct DecodedMessage {
    /// The memory consists of words, so that it has the alignment of a body.
    memory: Vec<u64>,
    program: Arc<MessageProgram>,
}

impl DecodedMessage {
    fn new(program: &Arc<MessageProgram>, bytes: &[u8]) -> Result<Self, Failure> {
        let words = program.size_of().div_ceil(size_of::<u64>()).max(1);
        let mut memory = vec![0_u64; words];
        // SAFETY: the memory has the size and the alignment of the type.
        unsafe { program.init(memory.as_mut_ptr().cast()) };
        let mut message = Self { memory, program: Arc::clone(program) };
        // SAFETY: the message was just initialized.
        let decoded = unsafe { program.decode(bytes, message.memory.as_mut_ptr().cast()) };
        decoded.map_err(Failure::error)?;
        Ok(message)
    }
}

impl Drop for DecodedMessage {
    fn drop(&mut self) {
        // SAFETY: the message is initialized, and is not used afterwards.
        unsafe { self.program.fini(self.memory.as_mut_ptr().cast()) };
    }
}

impl LentMessage {
    pub(crate) fn new(
        program: &Arc<MessageProgram>,
        message: Received<Payload>,
    ) -> Result<Self, Failure> {
        let payload = message.into_object();
        let fits = layout(program).is_some_and(|plain| {
            !plain.has_bools
                && payload.len() >= HEADER.len() + plain.body_len
                && payload[..2] == HEADER[..2]
                && payload.as_ptr().wrapping_add(HEADER.len()).addr().is_multiple_of(plain.align)
        });
        if fits {
            return Ok(Self::InPlace(payload));
        }
        Ok(Self::Decoded(DecodedMessage::new(program, &payload)?))
    }

    /// The address at which the host program reads the message.
    pub(crate) fn pointer(&mut self) -> *mut c_void {
        match self {
            Self::InPlace(payload) => payload[HEADER.len()..].as_ptr().cast_mut().cast(),
            Self::Decoded(message) => message.memory.as_mut_ptr().cast(),
        }
    }
}
