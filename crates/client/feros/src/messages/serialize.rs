//! Writes serialized messages into memory that the engine lends, and distinguishes errors of the
//! message from errors of the engine.

use feros_engine::{FillAborted, copied};
use feros_message::Message;

use crate::publish_error::PublishError;

/// Serializes a message into the memory that `send` lends. Fails with the error of the message or
/// of the engine.
pub(crate) fn serialize_into<M: Message, R>(
    message: &M,
    name: &str,
    send: impl FnOnce(usize, feros_engine::engine::Fill<'_>) -> Result<R, feros_engine::PublishError>,
) -> Result<R, PublishError> {
    let mut failure = None;
    let sent = send(feros_message::encoded_size(message), &mut |buffer| {
        feros_message::encode_into(message, buffer).map(drop).map_err(|error| {
            failure = Some(error);
            FillAborted
        })
    });
    match failure {
        Some(source) => Err(PublishError::Encode { topic: name.to_owned(), source }),
        None => Ok(sent?),
    }
}

/// Checks the header of serialized bytes, and copies the bytes into the memory that `send` lends.
pub(crate) fn copy_into<R>(
    bytes: &[u8],
    name: &str,
    send: impl FnOnce(usize, feros_engine::engine::Fill<'_>) -> Result<R, feros_engine::PublishError>,
) -> Result<R, PublishError> {
    check_header(bytes, name)?;
    Ok(send(bytes.len(), &mut copied(bytes))?)
}

/// Fails if the length or the header of `bytes` cannot be that of a serialized message.
pub(crate) fn check_header(bytes: &[u8], name: &str) -> Result<(), PublishError> {
    match header_fault(bytes) {
        None => Ok(()),
        Some(reason) => Err(PublishError::NotSerialized { topic: name.to_owned(), reason }),
    }
}

/// Returns the reason why `bytes` cannot be a serialized message; `None` if the length and the
/// header are plausible.
pub(crate) fn header_fault(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0, 0 | 1, _, _, _, ..] => None,
        [_, _, _, _, _, ..] => Some(
            "its header is neither that of little-endian CDR (00 01) nor that of big-endian CDR \
             (00 00)",
        ),
        _ => Some("it is shorter than 5 bytes, the size of a header and the smallest message"),
    }
}
