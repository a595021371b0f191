//! The announcement of a Feros endpoint: a short string that is sent with the discovery data of the
//! endpoint, and that engines do not interpret.
//!
//! It tells how the endpoint can be reached without the engine, for example through shared memory.
//! Other implementations of ROS 2 ignore it.

use std::sync::Arc;

use crate::gid::Gid;
use crate::qos::QosProfile;
use crate::twin;

/// The size limit of an announcement, in bytes. The discovery data of an endpoint must fit into one
/// datagram.
pub const MAX_ANNOUNCEMENT_BYTES: usize = 512;

/// The reason why a string cannot be an announcement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnnouncementError {
    /// The string is too long.
    #[error(
        "it has {size_bytes} bytes, more than the limit of {MAX_ANNOUNCEMENT_BYTES}; shorten it"
    )]
    TooLong {
        /// The size of the string.
        size_bytes: usize,
    },
    /// The string contains a character that would end or corrupt the announcement's entry in
    /// USER_DATA.
    #[error("it holds {character:?} at byte {at}; leave out `;` and control characters")]
    Character {
        /// The character.
        character: char,
        /// The byte offset of the character.
        at: usize,
    },
}

/// Checks that a string can be an announcement. The empty string is valid and announces nothing.
/// The part that names a [`twin`] does not count towards the size.
///
/// # Errors
/// See [`AnnouncementError`].
pub fn check_announcement(text: &str) -> Result<(), AnnouncementError> {
    let (_, text) = twin::read(text);
    if text.len() > MAX_ANNOUNCEMENT_BYTES {
        return Err(AnnouncementError::TooLong { size_bytes: text.len() });
    }
    match text.char_indices().find(|(_, c)| *c == ';' || c.is_control()) {
        Some((at, character)) => Err(AnnouncementError::Character { character, at }),
        None => Ok(()),
    }
}

/// The reason why an announcement could not be changed. The previous announcement remains in
/// effect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnnounceError {
    /// The string cannot be an announcement.
    #[error("the announcement of an endpoint of {topic} was not changed: {reason}")]
    Text {
        /// The name of the topic.
        topic: String,
        /// The reason why the string cannot be an announcement.
        reason: AnnouncementError,
    },
    /// The engine failed and reported only a code.
    #[error("the announcement of an endpoint of {topic} was not changed: the engine says {code}")]
    Engine {
        /// The name of the topic.
        topic: String,
        /// The engine's description of the failure.
        code: String,
    },
}

/// An endpoint that matches an endpoint of this process at present.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// The gid of the matching endpoint.
    pub gid: Gid,
    /// The announcement of the endpoint, or `None` if it announces nothing, as the endpoints of
    /// stock ROS 2 do.
    pub announcement: Option<Arc<str>>,
    /// The policies that the endpoint announced.
    pub qos: QosProfile,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_checked() {
        assert_eq!(check_announcement(""), Ok(()));
        assert_eq!(check_announcement("host=ü,pid=7 = yes"), Ok(()));
        assert_eq!(check_announcement(&"x".repeat(512)), Ok(()));
        let error = check_announcement(&"ü".repeat(257)).expect_err("514 bytes");
        assert_eq!(error, AnnouncementError::TooLong { size_bytes: 514 });
        for bad in ["a;b", "a\0b", "a\nb", "a\u{85}b"] {
            let error = check_announcement(bad).expect_err("refused");
            assert!(matches!(error, AnnouncementError::Character { at: 1, .. }), "{error}");
        }
    }
}
