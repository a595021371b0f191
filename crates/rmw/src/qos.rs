//! Quality of service, with the policies, profiles and rules of stock ROS 2.
//!
//! Sources: the profiles of `rmw/qos_profiles.h`, the request/offered rules of the DDS
//! specification 1.4 section 2.2.3, and the resolution of best-available as in `rmw_dds_common`.

use std::fmt;
use std::time::Duration;

/// How many samples an endpoint keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum History {
    /// The engine's default, which is keep-last with depth 1 or more.
    SystemDefault,
    /// The newest `depth` samples.
    #[default]
    KeepLast,
    /// All samples until they are delivered, within the engine's limits.
    KeepAll,
    /// Of another's endpoint that does not announce it, as those of Fast DDS; for one's own as
    /// [`History::SystemDefault`].
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
    /// Resolved when the endpoint is made, to match the most endpoints.
    BestAvailable,
}

/// Whether subscriptions that join late receive earlier samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Durability {
    /// The engine's default: volatile.
    SystemDefault,
    /// The publisher keeps its history for late subscriptions.
    TransientLocal,
    /// Only samples published after the match are received.
    #[default]
    Volatile,
    /// Resolved when the endpoint is made, to match the most endpoints.
    BestAvailable,
}

/// How a publisher shows that it is alive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Liveliness {
    /// The engine's default: automatic.
    #[default]
    SystemDefault,
    /// The engine shows it as long as the process lives.
    Automatic,
    /// The publisher shows it by publishing or by asserting its liveliness.
    ManualByTopic,
    /// Resolved when the endpoint is made, to match the most endpoints.
    BestAvailable,
}

/// A duration in a QoS policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum QosDuration {
    /// No limit; also what stock ROS 2 calls unspecified.
    #[default]
    Infinite,
    /// A limit.
    Finite(Duration),
    /// Resolved when the endpoint is made, to match the most endpoints.
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

    fn nanos_or_max(self) -> u128 {
        self.finite().map_or(u128::MAX, |duration| duration.as_nanos())
    }
}

impl From<Duration> for QosDuration {
    /// A zero duration is unspecified, as in stock ROS 2.
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

macro_rules! display_policy {
    ($policy:ty { $($variant:ident => $text:literal),* $(,)? }) => {
        /// The word that the `ros2` command prints.
        impl fmt::Display for $policy {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(Self::$variant => $text),* })
            }
        }

        impl std::str::FromStr for $policy {
            type Err = ParsePolicyError;

            /// Reads the word that the `ros2` command takes, in either case.
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

/// A text that names no value of a policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no value of this policy: it takes {allowed}")]
pub struct ParsePolicyError {
    text: String,
    allowed: String,
}

display_policy!(History { SystemDefault => "SYSTEM_DEFAULT", KeepLast => "KEEP_LAST", KeepAll => "KEEP_ALL",
    Unknown => "UNKNOWN",
});
display_policy!(Reliability {
    SystemDefault => "SYSTEM_DEFAULT", Reliable => "RELIABLE", BestEffort => "BEST_EFFORT",
    BestAvailable => "BEST_AVAILABLE",
});
display_policy!(Durability {
    SystemDefault => "SYSTEM_DEFAULT", TransientLocal => "TRANSIENT_LOCAL", Volatile => "VOLATILE",
    BestAvailable => "BEST_AVAILABLE",
});
display_policy!(Liveliness {
    SystemDefault => "SYSTEM_DEFAULT", Automatic => "AUTOMATIC", ManualByTopic => "MANUAL_BY_TOPIC",
    BestAvailable => "BEST_AVAILABLE",
});

/// The policies of one endpoint, with the names and defaults of `rmw_qos_profile_t`.
///
/// ```
/// use feros_rmw::{Durability, QosProfile};
/// let latched = QosProfile::keep_last(1).transient_local();
/// assert_eq!(latched.durability, Durability::TransientLocal);
/// let ten: QosProfile = 10.into(); // as in rclcpp: a number is the depth of the default profile
/// assert_eq!(ten, QosProfile::default());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct QosProfile {
    /// How many samples are kept.
    pub history: History,
    /// Number of samples with [`History::KeepLast`]; 0 stands for the engine's default, which is 1.
    pub depth: usize,
    /// Whether lost samples are sent again.
    pub reliability: Reliability,
    /// Whether late subscriptions receive earlier samples.
    pub durability: Durability,
    /// Longest time between two samples that is expected (subscription) or promised (publisher).
    pub deadline: QosDuration,
    /// Age at which a sample is no longer delivered.
    pub lifespan: QosDuration,
    /// How a publisher shows that it is alive.
    pub liveliness: Liveliness,
    /// Time after which a publisher that did not show that it is alive counts as gone.
    pub liveliness_lease_duration: QosDuration,
    /// The name goes to the wire as it is, without the prefixes of ROS.
    pub avoid_ros_namespace_conventions: bool,
}

impl Default for QosProfile {
    /// `rmw_qos_profile_default`: keep last 10, reliable, volatile.
    fn default() -> Self {
        Self {
            history: History::KeepLast,
            depth: 10,
            reliability: Reliability::Reliable,
            durability: Durability::Volatile,
            deadline: QosDuration::Infinite,
            lifespan: QosDuration::Infinite,
            liveliness: Liveliness::SystemDefault,
            liveliness_lease_duration: QosDuration::Infinite,
            avoid_ros_namespace_conventions: false,
        }
    }
}

impl From<usize> for QosProfile {
    fn from(depth: usize) -> Self {
        Self::keep_last(depth)
    }
}

impl QosProfile {
    /// The default profile with this depth.
    pub fn keep_last(depth: usize) -> Self {
        Self { depth, ..Self::default() }
    }

    /// The default profile with all samples kept.
    pub fn keep_all() -> Self {
        Self { history: History::KeepAll, ..Self::default() }
    }

    /// `rmw_qos_profile_sensor_data`: keep last 5, best effort.
    pub fn sensor_data() -> Self {
        Self::keep_last(5).best_effort()
    }

    /// `rmw_qos_profile_parameters`: keep last 1000, reliable.
    pub fn parameters() -> Self {
        Self::keep_last(1000)
    }

    /// `rmw_qos_profile_services_default`: keep last 10, reliable, volatile.
    pub fn services_default() -> Self {
        Self::default()
    }

    /// `rmw_qos_profile_parameter_events`: keep last 1000, reliable.
    pub fn parameter_events() -> Self {
        Self::keep_last(1000)
    }

    /// `rmw_qos_profile_rosout_default`: keep last 1000, reliable, transient local, lifespan 10 s.
    pub fn rosout_default() -> Self {
        Self::keep_last(1000).transient_local().lifespan(Duration::from_secs(10))
    }

    /// `rclcpp::ClockQoS`, which subscriptions of `/clock` use: keep last 1, best effort.
    pub fn clock() -> Self {
        Self::keep_last(1).best_effort()
    }

    /// `rcl_action_qos_profile_status_default`: keep last 1, reliable, transient local.
    pub fn action_status_default() -> Self {
        Self::keep_last(1).transient_local()
    }

    /// `rmw_qos_profile_system_default`: everything left to the engine.
    pub fn system_default() -> Self {
        Self {
            history: History::SystemDefault,
            depth: 0,
            reliability: Reliability::SystemDefault,
            durability: Durability::SystemDefault,
            ..Self::default()
        }
    }

    /// `rmw_qos_profile_best_available`: resolved when the endpoint is made, to match the most
    /// endpoints.
    pub fn best_available() -> Self {
        Self {
            reliability: Reliability::BestAvailable,
            durability: Durability::BestAvailable,
            deadline: QosDuration::BestAvailable,
            liveliness: Liveliness::BestAvailable,
            liveliness_lease_duration: QosDuration::BestAvailable,
            ..Self::default()
        }
    }

    /// This profile, reliable.
    pub fn reliable(self) -> Self {
        Self { reliability: Reliability::Reliable, ..self }
    }

    /// This profile, best effort.
    pub fn best_effort(self) -> Self {
        Self { reliability: Reliability::BestEffort, ..self }
    }

    /// This profile, transient local.
    pub fn transient_local(self) -> Self {
        Self { durability: Durability::TransientLocal, ..self }
    }

    /// This profile, volatile.
    pub fn volatile(self) -> Self {
        Self { durability: Durability::Volatile, ..self }
    }

    /// This profile with a deadline; zero is none.
    pub fn deadline(self, deadline: Duration) -> Self {
        Self { deadline: deadline.into(), ..self }
    }

    /// This profile with a lifespan; zero is none.
    pub fn lifespan(self, lifespan: Duration) -> Self {
        Self { lifespan: lifespan.into(), ..self }
    }

    /// This profile with a kind of liveliness and its lease; a zero lease is none.
    pub fn liveliness(self, kind: Liveliness, lease: Duration) -> Self {
        Self { liveliness: kind, liveliness_lease_duration: lease.into(), ..self }
    }

    /// This profile with the name left as it is on the wire.
    pub fn avoid_ros_namespace_conventions(self) -> Self {
        Self { avoid_ros_namespace_conventions: true, ..self }
    }

    /// Replaces what is left to the engine by the value that Feros's engines use: keep last,
    /// reliable, volatile, automatic; a depth of 0 becomes 1.
    pub fn with_system_defaults_resolved(mut self) -> Self {
        if matches!(self.history, History::SystemDefault | History::Unknown) {
            self.history = History::KeepLast;
        }
        if self.reliability == Reliability::SystemDefault {
            self.reliability = Reliability::Reliable;
        }
        if self.durability == Durability::SystemDefault {
            self.durability = Durability::Volatile;
        }
        if self.liveliness == Liveliness::SystemDefault {
            self.liveliness = Liveliness::Automatic;
        }
        self.depth = self.depth.max(1);
        self
    }

    /// Resolves best-available for a subscription, given the publishers that are known now: the
    /// strictest policy that all of them satisfy.
    pub fn resolved_for_subscription<'a>(
        mut self,
        publishers: impl Iterator<Item = &'a QosProfile> + Clone,
    ) -> Self {
        let any = publishers.clone().next().is_some();
        if self.reliability == Reliability::BestAvailable {
            let all = any && publishers.clone().all(|p| p.reliability == Reliability::Reliable);
            self.reliability = if all { Reliability::Reliable } else { Reliability::BestEffort };
        }
        if self.durability == Durability::BestAvailable {
            let all = any && publishers.clone().all(|p| p.durability == Durability::TransientLocal);
            self.durability = if all { Durability::TransientLocal } else { Durability::Volatile };
        }
        if self.liveliness == Liveliness::BestAvailable {
            let all = any && publishers.clone().all(|p| p.liveliness == Liveliness::ManualByTopic);
            self.liveliness = if all { Liveliness::ManualByTopic } else { Liveliness::Automatic };
        }
        let largest = |of: fn(&QosProfile) -> QosDuration| {
            publishers
                .clone()
                .map(of)
                .max_by_key(|d| d.nanos_or_max())
                .unwrap_or(QosDuration::Infinite)
        };
        if self.deadline == QosDuration::BestAvailable {
            self.deadline = largest(|p| p.deadline);
        }
        if self.liveliness_lease_duration == QosDuration::BestAvailable {
            self.liveliness_lease_duration = largest(|p| p.liveliness_lease_duration);
        }
        self
    }

    /// Resolves best-available for a publisher, given the subscriptions that are known now: the
    /// highest promise that the policy can make, so that all of them match.
    pub fn resolved_for_publisher<'a>(
        mut self,
        subscriptions: impl Iterator<Item = &'a QosProfile> + Clone,
    ) -> Self {
        if self.reliability == Reliability::BestAvailable {
            self.reliability = Reliability::Reliable;
        }
        if self.durability == Durability::BestAvailable {
            self.durability = Durability::TransientLocal;
        }
        if self.liveliness == Liveliness::BestAvailable {
            let manual = subscriptions.clone().any(|s| s.liveliness == Liveliness::ManualByTopic);
            self.liveliness =
                if manual { Liveliness::ManualByTopic } else { Liveliness::Automatic };
        }
        let smallest = |of: fn(&QosProfile) -> QosDuration| {
            subscriptions
                .clone()
                .map(of)
                .min_by_key(|d| d.nanos_or_max())
                .unwrap_or(QosDuration::Infinite)
        };
        if self.deadline == QosDuration::BestAvailable {
            self.deadline = smallest(|s| s.deadline);
        }
        if self.liveliness_lease_duration == QosDuration::BestAvailable {
            self.liveliness_lease_duration = smallest(|s| s.liveliness_lease_duration);
        }
        self
    }

    /// What keeps a publisher with `self` from matching a subscription with `requested`; empty when
    /// they match.
    ///
    /// System defaults are resolved first on both sides.
    pub fn incompatibilities(&self, requested: &QosProfile) -> Vec<QosIncompatibility> {
        let offered = self.with_system_defaults_resolved();
        let requested = requested.with_system_defaults_resolved();
        let mut found = Vec::new();
        let mut check =
            |bad: bool, policy, offered: &dyn fmt::Display, requested: &dyn fmt::Display| {
                if bad {
                    found.push(QosIncompatibility {
                        policy,
                        offered: offered.to_string(),
                        requested: requested.to_string(),
                    });
                }
            };
        check(
            offered.reliability == Reliability::BestEffort
                && requested.reliability == Reliability::Reliable,
            QosPolicyKind::Reliability,
            &offered.reliability,
            &requested.reliability,
        );
        check(
            offered.durability == Durability::Volatile
                && requested.durability == Durability::TransientLocal,
            QosPolicyKind::Durability,
            &offered.durability,
            &requested.durability,
        );
        check(
            offered.deadline.nanos_or_max() > requested.deadline.nanos_or_max(),
            QosPolicyKind::Deadline,
            &offered.deadline,
            &requested.deadline,
        );
        check(
            offered.liveliness == Liveliness::Automatic
                && requested.liveliness == Liveliness::ManualByTopic,
            QosPolicyKind::Liveliness,
            &offered.liveliness,
            &requested.liveliness,
        );
        check(
            offered.liveliness_lease_duration.nanos_or_max()
                > requested.liveliness_lease_duration.nanos_or_max(),
            QosPolicyKind::Liveliness,
            &offered.liveliness_lease_duration,
            &requested.liveliness_lease_duration,
        );
        found
    }
}

/// A policy, as events and messages name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum QosPolicyKind {
    /// [`QosProfile::durability`]
    Durability,
    /// [`QosProfile::deadline`]
    Deadline,
    /// [`QosProfile::liveliness`] and its lease
    Liveliness,
    /// [`QosProfile::reliability`]
    Reliability,
    /// [`QosProfile::history`]
    History,
    /// [`QosProfile::lifespan`]
    Lifespan,
    /// The form in which data are serialized, which ROS 2 does not let users choose.
    DataRepresentation,
    /// A policy that ROS 2 does not know, by its number in the engine.
    Other(u32),
}

impl fmt::Display for QosPolicyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Durability => f.write_str("DURABILITY"),
            Self::Deadline => f.write_str("DEADLINE"),
            Self::Liveliness => f.write_str("LIVELINESS"),
            Self::Reliability => f.write_str("RELIABILITY"),
            Self::History => f.write_str("HISTORY"),
            Self::Lifespan => f.write_str("LIFESPAN"),
            Self::DataRepresentation => f.write_str("DATA_REPRESENTATION"),
            Self::Other(number) => write!(f, "policy {number}"),
        }
    }
}

/// One policy that keeps two endpoints from matching, with what each side says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QosIncompatibility {
    /// The policy.
    pub policy: QosPolicyKind,
    /// What the publisher offers.
    pub offered: String,
    /// What the subscription requests.
    pub requested: String,
}

impl fmt::Display for QosIncompatibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: the publisher offers {}, the subscription requests {}",
            self.policy, self.offered, self.requested
        )
    }
}

#[cfg(test)]
mod tests;
