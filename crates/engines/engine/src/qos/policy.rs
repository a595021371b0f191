//! The quality-of-service policies and their values.

use std::fmt;
use std::time::Duration;

/// The limit on the samples that a subscription keeps with [`History::KeepAll`], which does not set
/// a depth. The limit exists because every queue must be bounded. An engine also limits the bytes
/// of the samples.
pub const KEEP_ALL_LIMIT: usize = 1024;

/// The number of samples that an endpoint keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum History {
    /// The engine's default, which is keep-last with a depth of at least 1.
    SystemDefault,
    /// The newest `depth` samples.
    #[default]
    KeepLast,
    /// All samples until they are delivered, up to [`KEEP_ALL_LIMIT`]. At this limit, a reliable
    /// publisher waits, and the messages of other publishers are lost.
    KeepAll,
    /// The history of a remote endpoint that does not announce its history, such as an endpoint of
    /// Fast DDS. For a local endpoint, this value means [`History::SystemDefault`].
    Unknown,
}

/// Whether lost samples are sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Reliability {
    /// The engine's default: reliable.
    SystemDefault,
    /// Samples are sent again until they arrive.
    #[default]
    Reliable,
    /// Samples may be lost.
    BestEffort,
    /// The value is chosen when the endpoint is created, so that it matches as many endpoints as
    /// possible.
    BestAvailable,
}

/// Whether subscriptions that join late receive earlier samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Durability {
    /// The engine's default: volatile.
    SystemDefault,
    /// The publisher keeps its history for late subscriptions.
    TransientLocal,
    /// Subscriptions receive only samples that are published after the match.
    #[default]
    Volatile,
    /// The value is chosen when the endpoint is created, so that it matches as many endpoints as
    /// possible.
    BestAvailable,
}

/// How a publisher signals that it is alive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Liveliness {
    /// The engine's default: automatic.
    #[default]
    SystemDefault,
    /// The engine signals that the publisher is alive while the process exists.
    Automatic,
    /// The publisher signals that it is alive by publishing, or by asserting its liveliness.
    ManualByTopic,
    /// The value is chosen when the endpoint is created, so that it matches as many endpoints as
    /// possible.
    BestAvailable,
}

/// A duration in a QoS policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum QosDuration {
    /// No limit, which stock ROS 2 also calls unspecified.
    #[default]
    Infinite,
    /// A limit.
    Finite(Duration),
    /// The value is chosen when the endpoint is created, so that it matches as many endpoints as
    /// possible.
    BestAvailable,
}

impl QosDuration {
    /// The limit, if there is one.
    pub fn finite(self) -> Option<Duration> {
        match self {
            Self::Finite(duration) => Some(duration),
            Self::Infinite | Self::BestAvailable => None,
        }
    }

    pub(super) fn nanos_or_max(self) -> u128 {
        self.finite().map_or(u128::MAX, |duration| duration.as_nanos())
    }
}

impl From<Duration> for QosDuration {
    /// A zero duration means unspecified, as in stock ROS 2 (`rmw/time.h`).
    fn from(duration: Duration) -> Self {
        if duration.is_zero() { Self::Infinite } else { Self::Finite(duration) }
    }
}

impl fmt::Display for QosDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Infinite => f.write_str("Infinite"),
            Self::Finite(duration) => write!(f, "{} nanoseconds", duration.as_nanos()),
            Self::BestAvailable => f.write_str("BestAvailable"),
        }
    }
}

/// Defines the numbers and the words of a policy's values.
macro_rules! policy_values {
    ($policy:ty { $($variant:ident = $number:literal => $text:literal),* $(,)? }) => {
        impl $policy {
            /// The number of the value in `rmw/types.h`.
            pub fn number(self) -> u8 {
                match self { $(Self::$variant => $number),* }
            }

            /// The value with this number in `rmw/types.h`.
            pub fn from_number(number: u8) -> Option<Self> {
                match number { $($number => Some(Self::$variant),)* _ => None }
            }
        }

        /// Writes the word that the `ros2` command prints for the value.
        impl fmt::Display for $policy {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(Self::$variant => $text),* })
            }
        }

        impl std::str::FromStr for $policy {
            type Err = ParsePolicyError;

            /// Reads the word that the `ros2` command accepts for the value, in upper or lower
            /// case.
            fn from_str(text: &str) -> Result<Self, ParsePolicyError> {
                $(if text.eq_ignore_ascii_case($text) { return Ok(Self::$variant); })*
                Err(ParsePolicyError {
                    text: text.chars().take(64).collect(),
                    allowed: [$($text),*].map(str::to_lowercase).join(", "),
                })
            }
        }
    };
}

/// The error for a string that is not a value of a policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a value of this policy: it takes {allowed}")]
pub struct ParsePolicyError {
    text: String,
    allowed: String,
}

policy_values!(History {
    SystemDefault = 0 => "SYSTEM_DEFAULT", KeepLast = 1 => "KEEP_LAST", KeepAll = 2 => "KEEP_ALL",
    Unknown = 3 => "UNKNOWN",
});
policy_values!(Reliability {
    SystemDefault = 0 => "SYSTEM_DEFAULT", Reliable = 1 => "RELIABLE",
    BestEffort = 2 => "BEST_EFFORT", BestAvailable = 4 => "BEST_AVAILABLE",
});
policy_values!(Durability {
    SystemDefault = 0 => "SYSTEM_DEFAULT", TransientLocal = 1 => "TRANSIENT_LOCAL",
    Volatile = 2 => "VOLATILE", BestAvailable = 4 => "BEST_AVAILABLE",
});
policy_values!(Liveliness {
    SystemDefault = 0 => "SYSTEM_DEFAULT", Automatic = 1 => "AUTOMATIC",
    ManualByTopic = 3 => "MANUAL_BY_TOPIC", BestAvailable = 5 => "BEST_AVAILABLE",
});
