//! The names of the three paths, which of them are allowed, and why a match does not take the
//! shortest one.

use std::fmt;
use std::str::FromStr;

/// A way for a message to get from a publisher to a subscription, the shortest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Path {
    /// A pointer, within a process.
    Process,
    /// Shared memory, between processes of one host.
    Host,
    /// The engine.
    Network,
}

impl Path {
    /// All paths, the shortest first.
    pub const ALL: [Self; 3] = [Self::Process, Self::Host, Self::Network];

    /// The path's name, as [`Display`](fmt::Display) and [`FromStr`] have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Host => "host",
            Self::Network => "network",
        }
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Path {
    type Err = ParsePathsError;

    fn from_str(text: &str) -> Result<Self, ParsePathsError> {
        Self::ALL
            .into_iter()
            .find(|path| path.name() == text)
            .ok_or_else(|| ParsePathsError::UnknownPath { word: text.to_owned() })
    }
}

/// Paths that may be used. The default is all of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PathSet(u8);

impl PathSet {
    /// Every path.
    pub const ALL: Self = Self(0b111);
    /// No path at all; nothing can be delivered.
    pub const NONE: Self = Self(0);
    /// The environment variable that restricts the paths of all endpoints of a process.
    pub const ENVIRONMENT_VARIABLE: &'static str = "FEROS_PATHS";

    /// What [`PathSet::ENVIRONMENT_VARIABLE`] allows; all paths if it is not set.
    ///
    /// # Errors
    /// The variable's value is not a list of paths, or not Unicode.
    pub fn from_env() -> Result<Self, ParsePathsError> {
        match std::env::var_os(Self::ENVIRONMENT_VARIABLE) {
            None => Ok(Self::ALL),
            Some(value) => value.to_string_lossy().parse(),
        }
    }

    /// Whether `path` is among them.
    pub const fn contains(self, path: Path) -> bool {
        self.0 & (1 << path as u8) != 0
    }

    /// These paths and `path`.
    #[must_use]
    pub const fn with(self, path: Path) -> Self {
        Self(self.0 | path.bit())
    }

    /// These paths without `path`.
    #[must_use]
    pub const fn without(self, path: Path) -> Self {
        Self(self.0 & !path.bit())
    }

    /// The paths that both sets allow.
    #[must_use]
    pub fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Whether no path is allowed.
    pub fn is_empty(self) -> bool {
        self == Self::NONE
    }

    /// The allowed paths, the shortest first.
    pub fn iter(self) -> impl Iterator<Item = Path> {
        Path::ALL.into_iter().filter(move |&path| self.contains(path))
    }
}

impl Default for PathSet {
    fn default() -> Self {
        Self::ALL
    }
}

impl FromIterator<Path> for PathSet {
    fn from_iter<I: IntoIterator<Item = Path>>(paths: I) -> Self {
        paths.into_iter().fold(Self::NONE, Self::with)
    }
}

impl From<Path> for PathSet {
    fn from(path: Path) -> Self {
        Self::NONE.with(path)
    }
}

/// The names separated by commas, as [`FromStr`] takes them.
impl fmt::Display for PathSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.iter().map(Path::name).collect::<Vec<_>>().join(","))
    }
}

impl fmt::Debug for PathSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// Lower-case names separated by commas; blanks around them do not matter.
impl FromStr for PathSet {
    type Err = ParsePathsError;

    fn from_str(text: &str) -> Result<Self, ParsePathsError> {
        if text.trim().is_empty() {
            return Err(ParsePathsError::Empty);
        }
        text.split(',').map(|word| word.trim().parse::<Path>()).collect()
    }
}

/// A text that should list paths does not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParsePathsError {
    /// A word is not the name of a path.
    #[error("`{word}` is not a path: write process, host or network, several separated by commas")]
    UnknownPath {
        /// The word.
        word: String,
    },
    /// There is no word at all.
    #[error(
        "no path is named, so nothing could be delivered: write process, host or network, several separated by commas"
    )]
    Empty,
}

/// One end of a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// The end that sends.
    Publisher,
    /// The end that receives.
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

/// Why shared memory cannot be used for an endpoint. It travels as a short code in the endpoint's
/// [`Announcement`](crate::Announcement), so that the other side can tell its user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Obstacle {
    /// The system refuses anonymous shared memory to the process.
    NoMemory,
    /// `/proc` is missing or hidden, so that processes cannot find each other's memory.
    NoProc,
    /// `/dev/shm` is missing or cannot be written to.
    NoDevShm,
    /// `/dev/shm` is full.
    Full,
    /// Access to the shared memory is denied.
    Denied,
    /// A table of the process's shared memory is full.
    TableFull,
    /// The process was forked from one that had shared memory already.
    Forked,
    /// The history of the subscription is longer than the queues in shared memory.
    LongHistory,
    /// The process cannot map the other's shared memory.
    NotMapped,
    /// Shared memory is turned off.
    Off,
    /// Something that this version does not know.
    Other,
}

impl Obstacle {
    const CODES: [(Self, &'static str); 11] = [
        (Self::NoMemory, "no-mem"),
        (Self::NoProc, "no-proc"),
        (Self::NoDevShm, "no-shm"),
        (Self::Full, "full"),
        (Self::Denied, "denied"),
        (Self::TableFull, "table"),
        (Self::Forked, "forked"),
        (Self::LongHistory, "long"),
        (Self::NotMapped, "no-map"),
        (Self::Off, "off"),
        (Self::Other, "other"),
    ];

    /// The code in announcements.
    pub fn code(self) -> &'static str {
        Self::CODES.iter().find(|(obstacle, _)| *obstacle == self).map_or("other", |(_, code)| code)
    }

    /// The obstacle of this code; [`Obstacle::Other`] for codes of later versions.
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
            Self::LongHistory => "its history is longer than queues in shared memory may be",
            Self::NotMapped => "its process cannot map that of the other side",
            Self::Off => "it is turned off there",
            Self::Other => "for a reason that only its process knows",
        })
    }
}

/// Why a match does not take the shortest path, for the user to read.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// One side announces no paths: it is no Feros endpoint.
    StockPeer {
        /// That side.
        side: Side,
    },
    /// One side's announcement cannot be read.
    UnreadableAnnouncement {
        /// That side.
        side: Side,
    },
    /// The sides run on two hosts.
    OtherHost,
    /// The sides belong to two users, whose memory is closed to each other.
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
    /// One side does not allow the shorter path.
    NotAllowed {
        /// The path.
        path: Path,
        /// The side.
        by: Side,
    },
    /// Shared memory cannot be used on one side.
    SharedMemoryUnavailable {
        /// That side.
        by: Side,
        /// What is in the way.
        why: Obstacle,
    },
    /// The shorter path is being set up.
    Pending,
    /// The publisher serves as many subscriptions by shared memory as it can.
    TooManySubscriptions {
        /// So many.
        limit: usize,
    },
    /// The subscription hears as many publishers by shared memory as it can.
    TooManyPublishers {
        /// So many.
        limit: usize,
    },
    /// The publisher's process or its shared memory is gone.
    PublisherGone,
    /// The subscription's process or its entry is gone.
    SubscriptionGone,
    /// Nobody spins the subscription's node on a doorbell that other processes can ring.
    NoDoorbell,
    /// No path is possible: the shortest is not because of `shorter`, and the network is not
    /// allowed.
    NoPath {
        /// Why not a shorter path.
        shorter: Box<Reason>,
        /// Who does not allow the network.
        by: Side,
    },
}

/// One clause, to stand after "because".
impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StockPeer { side } => write!(f, "{side} is not a Feros endpoint"),
            Self::UnreadableAnnouncement { side } => {
                write!(f, "{side} announces its paths in a form that cannot be read")
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
                "publisher and subscription do not share /dev/shm, as in different containers",
            ),
            Self::IncompatibleVersion { publisher, subscription } => write!(
                f,
                "the shared memory formats differ (publisher {publisher}, subscription {subscription})"
            ),
            Self::NotAllowed { path, by } => write!(f, "{by} does not allow the {path} path"),
            Self::SharedMemoryUnavailable { by, why } => {
                write!(f, "{by} cannot use shared memory: {why}")
            }
            Self::Pending => f.write_str("shared memory is being set up"),
            Self::TooManySubscriptions { limit } => {
                write!(
                    f,
                    "the publisher serves {limit} subscriptions by shared memory already, its limit"
                )
            }
            Self::TooManyPublishers { limit } => {
                write!(
                    f,
                    "the subscription hears {limit} publishers by shared memory already, its limit"
                )
            }
            Self::PublisherGone => {
                f.write_str("the publisher's process or its shared memory is gone")
            }
            Self::SubscriptionGone => {
                f.write_str("the subscription's process or its shared memory is gone")
            }
            Self::NoDoorbell => {
                f.write_str("the subscription is on no executor that other processes can wake up")
            }
            Self::NoPath { shorter, by } => {
                write!(f, "{shorter}, and {by} does not allow the network path")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_the_names_that_users_write() {
        for path in Path::ALL {
            assert_eq!(path.to_string().parse(), Ok(path));
        }
        assert_eq!(Path::Host.to_string(), "host");
        assert!("Host".parse::<Path>().is_err());
        assert!(Path::Process < Path::Host && Path::Host < Path::Network);
    }

    #[test]
    fn a_set_is_read_and_written_as_a_list() {
        let set: PathSet = " host , network".parse().unwrap();
        assert_eq!(set, PathSet::from_iter([Path::Network, Path::Host]));
        assert_eq!(set.to_string(), "host,network");
        assert_eq!("network,network".parse(), Ok(PathSet::from(Path::Network)));
        assert_eq!(PathSet::default().to_string(), "process,host,network");
        assert_eq!("".parse::<PathSet>(), Err(ParsePathsError::Empty));
        assert_eq!(
            "host,shm".parse::<PathSet>(),
            Err(ParsePathsError::UnknownPath { word: "shm".to_owned() })
        );
        assert!("host,".parse::<PathSet>().is_err());
    }

    #[test]
    fn sets_are_sets() {
        let set = PathSet::ALL.without(Path::Host);
        assert!(
            set.contains(Path::Process) && !set.contains(Path::Host) && set.contains(Path::Network)
        );
        assert_eq!(set.with(Path::Host), PathSet::ALL);
        assert_eq!(set.intersection(PathSet::from(Path::Host)), PathSet::NONE);
        assert!(PathSet::NONE.is_empty() && !set.is_empty());
        assert_eq!(format!("{set:?}"), "{Process, Network}");
    }

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
        let reason = Reason::NoPath {
            shorter: Box::new(Reason::OtherUser { publisher_uid: 0, subscription_uid: 1001 }),
            by: Side::Subscription,
        };
        assert_eq!(
            reason.to_string(),
            "publisher (uid 0) and subscription (uid 1001) belong to different users, \
             and the subscription does not allow the network path"
        );
        let reason = Reason::SharedMemoryUnavailable { by: Side::Publisher, why: Obstacle::Full };
        assert_eq!(
            reason.to_string(),
            "the publisher cannot use shared memory: its /dev/shm is full"
        );
    }
}
