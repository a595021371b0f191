//! The reasons why a match does not use a more direct transport, in a form for users, and the
//! obstacles that prevent an endpoint from using shared memory.

pub(crate) mod declined;

use std::fmt;

use feros_trace::Transport;

/// One side of a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// The side that sends.
    Publisher,
    /// The side that receives.
    Subscription,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Publisher => "the publisher",
            Self::Subscription => "the subscription",
        })
    }
}

/// The reason why an endpoint cannot use shared memory. The endpoint's
/// [`Announcement`](crate::Announcement) contains the obstacle as a short code, so that the other
/// side can show it to users.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Obstacle {
    /// The system refuses to give anonymous shared memory to the process.
    NoMemory,
    /// `/proc` is missing or hidden, so that processes cannot find each other's memory.
    NoProc,
    /// `/dev/shm` is missing or cannot be written to.
    NoDevShm,
    /// `/dev/shm` is full.
    Full,
    /// Access to the shared memory is denied.
    Denied,
    /// One of the tables in the process's shared memory is full.
    TableFull,
    /// The process was forked from a process that already had shared memory.
    Forked,
    /// The history depth of the subscription is larger than the queues in shared memory.
    LongHistory,
    /// The process cannot map the other side's shared memory.
    NotMapped,
    /// The process has reached its limit on open files.
    OpenFilesLimit,
    /// The process is not permitted to make files of the required size.
    FileSizeLimit,
    /// Shared memory is turned off.
    Off,
    /// An obstacle that this version does not know.
    Other,
}

impl Obstacle {
    const CODES: [(Self, &'static str); 13] = [
        (Self::NoMemory, "no-mem"),
        (Self::NoProc, "no-proc"),
        (Self::NoDevShm, "no-shm"),
        (Self::Full, "full"),
        (Self::Denied, "denied"),
        (Self::TableFull, "table"),
        (Self::Forked, "forked"),
        (Self::LongHistory, "long"),
        (Self::NotMapped, "no-map"),
        (Self::OpenFilesLimit, "files"),
        (Self::FileSizeLimit, "fsize"),
        (Self::Off, "off"),
        (Self::Other, "other"),
    ];

    /// The code of the obstacle in announcements.
    pub fn code(self) -> &'static str {
        Self::CODES.iter().find(|(obstacle, _)| *obstacle == self).map_or("other", |(_, code)| code)
    }

    /// The obstacle with this code, or [`Obstacle::Other`] for codes of later versions.
    pub fn from_code(code: &str) -> Self {
        Self::CODES
            .iter()
            .find(|(_, known)| *known == code)
            .map_or(Self::Other, |(obstacle, _)| *obstacle)
    }
}

/// A clause about the endpoint's process, such as "its /dev/shm is full".
impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoMemory => "the system gives its process no shared memory",
            Self::NoProc => "its process cannot use /proc",
            Self::NoDevShm => "/dev/shm is missing or read-only for its process",
            Self::Full => "its /dev/shm is full",
            Self::Denied => "access to its shared memory is denied",
            Self::TableFull => "a table in the shared memory of its process is full",
            Self::Forked => "its process was forked from one that used shared memory",
            Self::LongHistory => "its history is longer than a queue in shared memory may be",
            Self::NotMapped => "its process cannot map the other side's shared memory",
            Self::OpenFilesLimit => {
                "its process has reached its limit on open files (RLIMIT_NOFILE)"
            }
            Self::FileSizeLimit => "its process may not make files of that size (RLIMIT_FSIZE)",
            Self::Off => "it is turned off there",
            Self::Other => "only its process knows the reason",
        })
    }
}

/// The reason why a match does not use the most direct transport, in a form for users.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// One side announces no transports, so it is not a Feros endpoint.
    StockPeer {
        /// The side that announces no transports.
        side: Side,
    },
    /// One side's announcement cannot be read.
    UnreadableAnnouncement {
        /// The side whose announcement cannot be read.
        side: Side,
    },
    /// The sides are on different hosts.
    OtherHost,
    /// The sides belong to different users, who cannot access each other's memory.
    OtherUser {
        /// The user of the publisher's process.
        publisher_uid: u32,
        /// The user of the subscription's process.
        subscription_uid: u32,
    },
    /// The sides cannot see each other's processes, as in two containers.
    OtherPidNamespace,
    /// The sides have different user namespaces, as in two containers.
    OtherUserNamespace,
    /// The sides have different folders `/dev/shm`, as in two containers.
    OtherDevShm,
    /// The sides have different formats of shared memory.
    IncompatibleVersion {
        /// The publisher's format.
        publisher: u32,
        /// The subscription's format.
        subscription: u32,
    },
    /// One side does not allow the more direct transport.
    NotAllowed {
        /// The transport that is not allowed.
        transport: Transport,
        /// The side that does not allow it.
        by: Side,
    },
    /// Shared memory cannot be used on one side.
    SharedMemoryUnavailable {
        /// The side that cannot use shared memory.
        by: Side,
        /// The obstacle.
        why: Obstacle,
    },
    /// The more direct transport is being set up.
    Pending,
    /// The publisher already serves the largest number of subscriptions that it may serve through
    /// shared memory.
    TooManySubscriptions {
        /// The largest number of subscriptions.
        limit: usize,
    },
    /// The subscription already receives from the largest number of publishers that it may receive
    /// from through shared memory.
    TooManyPublishers {
        /// The largest number of publishers.
        limit: usize,
    },
    /// The publisher's process has ended, or its shared memory has been removed.
    PublisherGone,
    /// The subscription's process has ended, or its entry has been removed.
    SubscriptionGone,
    /// No transport is possible. `shorter` is the reason why the more direct transports cannot be
    /// used, and the network transport is not allowed.
    NoTransport {
        /// The reason why the more direct transports cannot be used.
        shorter: Box<Reason>,
        /// The side that does not allow the network transport.
        by: Side,
    },
}

impl Reason {
    /// The same clause, but with the client and the server of a service where this clause has a
    /// publisher and a subscription.
    pub fn of_service(&self) -> String {
        let clause = self.to_string().replace("publisher", "client");
        clause.replace("subscription", "server")
    }
}

/// A clause that fits after "because".
impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StockPeer { side } => write!(f, "{side} is not a Feros endpoint"),
            Self::UnreadableAnnouncement { side } => {
                write!(f, "{side} announces its transports in a form that cannot be read")
            }
            Self::OtherHost => f.write_str("publisher and subscription are on different hosts"),
            Self::OtherUser { publisher_uid, subscription_uid } => write!(
                f,
                "publisher (uid {publisher_uid}) and subscription (uid {subscription_uid}) belong to different users"
            ),
            Self::OtherPidNamespace => f.write_str(
                "publisher and subscription are in different containers (PID namespaces)",
            ),
            Self::OtherUserNamespace => f.write_str(
                "publisher and subscription are in different containers (user namespaces)",
            ),
            Self::OtherDevShm => f.write_str(
                "publisher and subscription do not share /dev/shm, as when they are in different \
                 containers",
            ),
            Self::IncompatibleVersion { publisher, subscription } => write!(
                f,
                "the shared memory formats differ (publisher {publisher}, subscription {subscription})"
            ),
            Self::NotAllowed { transport, by } => {
                write!(f, "{by} does not allow the {transport} transport")
            }
            Self::SharedMemoryUnavailable { by, why } => {
                write!(f, "{by} cannot use shared memory: {why}")
            }
            Self::Pending => f.write_str("shared memory is being set up"),
            Self::TooManySubscriptions { limit } => {
                write!(
                    f,
                    "the publisher already serves {limit} subscriptions through shared memory, its \
                     limit"
                )
            }
            Self::TooManyPublishers { limit } => {
                write!(
                    f,
                    "the subscription already receives from {limit} publishers through shared \
                     memory, its limit"
                )
            }
            Self::PublisherGone => {
                f.write_str("the publisher's process or its shared memory is gone")
            }
            Self::SubscriptionGone => {
                f.write_str("the subscription's process or its shared memory is gone")
            }
            Self::NoTransport { shorter, by } => {
                write!(f, "{shorter}, and {by} does not allow the network transport")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn obstacles_have_codes_fit_for_announcements() {
        for (obstacle, code) in Obstacle::CODES {
            assert_eq!(Obstacle::from_code(obstacle.code()), obstacle);
            assert!(
                code.len() <= 7
                    && code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
            );
        }
        assert_eq!(Obstacle::from_code("of a later version"), Obstacle::Other);
    }

    #[test]
    fn reasons_are_clauses() {
        let reason = Reason::NoTransport {
            shorter: Box::new(Reason::OtherUser { publisher_uid: 0, subscription_uid: 1001 }),
            by: Side::Subscription,
        };
        assert_eq!(
            reason.to_string(),
            "publisher (uid 0) and subscription (uid 1001) belong to different users, \
             and the subscription does not allow the network transport"
        );
        let reason = Reason::SharedMemoryUnavailable { by: Side::Publisher, why: Obstacle::Full };
        assert_eq!(
            reason.to_string(),
            "the publisher cannot use shared memory: its /dev/shm is full"
        );
    }
}
