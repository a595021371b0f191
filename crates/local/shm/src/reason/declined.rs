//! The connections that a subscription could not open, with the reasons, in the form in which the
//! subscription announces them.
//!
//! An obstacle of the endpoint itself applies to all its matches. An obstacle to the shared memory
//! of one publisher does not, so it is announced with the id of that publisher. Each such
//! connection is written as `<publisher>!<code>` in the announcement. Several connections are
//! joined by `+`.

use super::{Obstacle, Reason, Side};

/// The limit on announced connections, because the discovery data of an endpoint has little room.
/// Of more connections, the first ones are announced.
pub const MAX_DECLINED: usize = 8;

/// A publisher whose shared memory a subscription does not use, although both announcements would
/// allow it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Declined {
    /// The publisher's random id.
    pub publisher: u64,
    /// The obstacle.
    pub why: ConnectionObstacle,
}

/// The reason why a subscription cannot open one connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionObstacle {
    /// The publisher already serves the largest number of subscriptions that it may serve.
    TooManySubscriptions {
        /// The largest number of subscriptions.
        limit: u32,
    },
    /// The subscription already receives from the largest number of publishers that it may receive
    /// from.
    TooManyPublishers {
        /// The largest number of publishers.
        limit: u32,
    },
    /// The subscription's process cannot use the shared memory.
    Unavailable(Obstacle),
}

const TOO_MANY_SUBSCRIPTIONS: &str = "subs-";
const TOO_MANY_PUBLISHERS: &str = "pubs-";

impl ConnectionObstacle {
    /// The reason that is shown to users.
    pub fn reason(self) -> Reason {
        let number = |limit| usize::try_from(limit).unwrap_or(usize::MAX);
        match self {
            Self::TooManySubscriptions { limit } => {
                Reason::TooManySubscriptions { limit: number(limit) }
            }
            Self::TooManyPublishers { limit } => Reason::TooManyPublishers { limit: number(limit) },
            Self::Unavailable(why) => {
                Reason::SharedMemoryUnavailable { by: Side::Subscription, why }
            }
        }
    }
}

impl Declined {
    pub(crate) fn encode(self) -> String {
        let publisher = self.publisher;
        match self.why {
            ConnectionObstacle::TooManySubscriptions { limit } => {
                format!("{publisher:x}!{TOO_MANY_SUBSCRIPTIONS}{limit:x}")
            }
            ConnectionObstacle::TooManyPublishers { limit } => {
                format!("{publisher:x}!{TOO_MANY_PUBLISHERS}{limit:x}")
            }
            ConnectionObstacle::Unavailable(obstacle) => {
                format!("{publisher:x}!{}", obstacle.code())
            }
        }
    }

    /// Parses an entry. Returns `None` if this version does not know the entry's form.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (publisher, code) = text.split_once('!')?;
        let limit = |prefix| code.strip_prefix(prefix).map(|digits| hex(digits)?.try_into().ok());
        let why = if let Some(limit) = limit(TOO_MANY_SUBSCRIPTIONS) {
            ConnectionObstacle::TooManySubscriptions { limit: limit? }
        } else if let Some(limit) = limit(TOO_MANY_PUBLISHERS) {
            ConnectionObstacle::TooManyPublishers { limit: limit? }
        } else {
            ConnectionObstacle::Unavailable(Obstacle::from_code(code))
        };
        Some(Self { publisher: hex(publisher)?, why })
    }
}

/// Parses a hexadecimal number that consists only of digits. (The standard library's function would
/// also accept a sign.)
pub(crate) fn hex(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_number.then(|| u64::from_str_radix(text, 16).ok()).flatten()
}
