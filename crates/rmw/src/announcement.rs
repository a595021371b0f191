//! The announcement of an endpoint beyond DDS: a short text that travels with its discovery and is
//! opaque to engines.
//!
//! It says how a Feros endpoint can be reached besides the engine. Other implementations ignore it.

use std::sync::Arc;

use crate::gid::Gid;
use crate::qos::QosProfile;
use crate::twin;

/// The longest announcement, in bytes: the discovery data of an endpoint must fit into one
/// datagram.
pub const MAX_ANNOUNCEMENT_BYTES: usize = 512;

/// Why a text cannot be announced.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnnouncementError {
    /// The text is too long.
    #[error("it has {size_bytes} bytes, more than {MAX_ANNOUNCEMENT_BYTES}; shorten it")]
    TooLong {
        /// The size.
        size_bytes: usize,
    },
    /// The text holds a character that would end or spoil the entry in USER_DATA.
    #[error("it holds {character:?} at byte {at}; leave out `;` and control characters")]
    Character {
        /// The character.
        character: char,
        /// The position of the character, in bytes.
        at: usize,
    },
}

/// Checks that a text can be announced; the empty text announces nothing. The part about a [`twin`]
/// does not count towards the size.
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

/// Why an announcement was not changed; the earlier announcement stays.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnnounceError {
    /// The text cannot be announced.
    #[error("the announcement of an endpoint of {topic} was not changed: {reason}")]
    Text {
        /// Name of the topic.
        topic: String,
        /// The reason why the text cannot be announced.
        reason: AnnouncementError,
    },
    /// The engine failed, and gave only a code.
    #[error("the announcement of an endpoint of {topic} was not changed: the engine says {code}")]
    Engine {
        /// Name of the topic.
        topic: String,
        /// The engine's description of the failure.
        code: String,
    },
}

/// An endpoint that currently matches another endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// The identity.
    pub gid: Gid,
    /// The announcement; `None` for endpoints that announce nothing, such as those of stock ROS 2.
    pub announcement: Option<Arc<str>>,
    /// The policies that were announced.
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
