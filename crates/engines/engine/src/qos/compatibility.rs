//! Decides whether a publisher and a subscription match, by the request/offered rules of the DDS
//! specification 1.4, section 2.2.3.

use std::fmt;

use super::list::QosPolicy;
use super::policy::{Durability, Liveliness, QosDuration, Reliability};
use super::profile::QosProfile;

impl QosProfile {
    /// Returns the policies that prevent a publisher with the profile `self` from matching a
    /// subscription with the profile `requested`. The result is empty if the two match.
    ///
    /// System defaults are resolved on both sides before the comparison.
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
            &for_people(offered.deadline),
            &for_people(requested.deadline),
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
            &for_people(offered.liveliness_lease_duration),
            &for_people(requested.liveliness_lease_duration),
        );
        found
    }
}

/// Formats a duration for messages, such as `20 ms`. In contrast, the `Display` of [`QosDuration`]
/// counts nanoseconds, like the `ros2` command.
fn for_people(duration: QosDuration) -> String {
    match duration {
        QosDuration::Finite(duration) => feros_wording::duration(duration),
        other => other.to_string(),
    }
}

/// A policy, in the form in which events and messages name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum QosPolicyKind {
    /// The policy of [`QosProfile::durability`].
    Durability,
    /// The policy of [`QosProfile::deadline`].
    Deadline,
    /// The policy of [`QosProfile::liveliness`], which includes the lease.
    Liveliness,
    /// The policy of [`QosProfile::reliability`].
    Reliability,
    /// The policy of [`QosProfile::history`].
    History,
    /// The policy of [`QosProfile::lifespan`].
    Lifespan,
    /// The form in which data is serialized. In ROS 2, users cannot choose it.
    DataRepresentation,
    /// A policy unknown to ROS 2, with its number in the engine.
    Other(u32),
}

impl QosPolicyKind {
    /// The kind by which events and messages name a policy. It is `None` for a policy that does not
    /// exist on the wire.
    pub const fn of(policy: QosPolicy) -> Option<Self> {
        match policy {
            QosPolicy::History | QosPolicy::Depth => Some(Self::History),
            QosPolicy::Reliability => Some(Self::Reliability),
            QosPolicy::Durability => Some(Self::Durability),
            QosPolicy::Deadline => Some(Self::Deadline),
            QosPolicy::Lifespan => Some(Self::Lifespan),
            QosPolicy::Liveliness | QosPolicy::LivelinessLeaseDuration => Some(Self::Liveliness),
            QosPolicy::AvoidRosNamespaceConventions => None,
        }
    }
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

/// A policy that prevents two endpoints from matching, with the values of both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QosIncompatibility {
    /// The policy.
    pub policy: QosPolicyKind,
    /// The value that the publisher offers.
    pub offered: String,
    /// The value that the subscription requests.
    pub requested: String,
}

impl QosIncompatibility {
    /// How to solve the problem, as a sentence that contains the names of the two sides.
    pub fn cure(&self, publisher: &str, subscription: &str) -> String {
        let Self { policy, offered, requested } = self;
        match policy {
            QosPolicyKind::Reliability => {
                format!(
                    "let {publisher} publish reliably, or let {subscription} request best effort"
                )
            }
            QosPolicyKind::Durability => {
                format!(
                    "let {publisher} be transient local, or let {subscription} request volatile"
                )
            }
            _ => format!(
                "let {publisher} offer a {policy} of {requested}, or let {subscription} request \
                 {offered}"
            ),
        }
    }
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
