//! The list of policies. Profiles have several representations: in DDS, Zenoh, rmw, bags, the
//! command line, parameters and Python. Each representation has a test that uses [`QosPolicy::ALL`]
//! and names the policies that the representation does not have, with the reason.

use std::time::Duration;

use super::{Durability, History, Liveliness, QosDuration, QosProfile, Reliability};

/// A policy of a [`QosProfile`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum QosPolicy {
    /// `history`
    History,
    /// `depth`, in messages
    Depth,
    /// `reliability`
    Reliability,
    /// `durability`
    Durability,
    /// `deadline`, a duration
    Deadline,
    /// `lifespan`, a duration, which only publishers have
    Lifespan,
    /// `liveliness`
    Liveliness,
    /// `liveliness_lease_duration`, a duration
    LivelinessLeaseDuration,
    /// `avoid_ros_namespace_conventions`, a flag
    AvoidRosNamespaceConventions,
}

impl QosPolicy {
    /// All policies, in the order of stock ROS 2.
    pub const ALL: [Self; 9] = [
        Self::History,
        Self::Depth,
        Self::Reliability,
        Self::Durability,
        Self::Deadline,
        Self::Lifespan,
        Self::Liveliness,
        Self::LivelinessLeaseDuration,
        Self::AvoidRosNamespaceConventions,
    ];

    /// The name in parameters and files, which is the name of the field in `rmw_qos_profile_t`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::History => "history",
            Self::Depth => "depth",
            Self::Reliability => "reliability",
            Self::Durability => "durability",
            Self::Deadline => "deadline",
            Self::Lifespan => "lifespan",
            Self::Liveliness => "liveliness",
            Self::LivelinessLeaseDuration => "liveliness_lease_duration",
            Self::AvoidRosNamespaceConventions => "avoid_ros_namespace_conventions",
        }
    }

    /// Whether the value is a duration.
    pub const fn is_duration(self) -> bool {
        matches!(self, Self::Deadline | Self::Lifespan | Self::LivelinessLeaseDuration)
    }

    /// A resolved profile that differs from the default profile only in this policy.
    pub fn varied(self) -> QosProfile {
        let mut qos = QosProfile::default().with_system_defaults_resolved();
        match self {
            Self::History => qos.history = History::KeepAll,
            Self::Depth => qos.depth = 7,
            Self::Reliability => qos.reliability = Reliability::BestEffort,
            Self::Durability => qos.durability = Durability::TransientLocal,
            Self::Deadline => qos.deadline = seconds(3),
            Self::Lifespan => qos.lifespan = seconds(4),
            Self::Liveliness => qos.liveliness = Liveliness::ManualByTopic,
            Self::LivelinessLeaseDuration => qos.liveliness_lease_duration = seconds(5),
            Self::AvoidRosNamespaceConventions => qos.avoid_ros_namespace_conventions = true,
        }
        qos
    }

    /// The policies that a representation does not preserve. `form` converts a profile to the
    /// representation and back. An empty list means that the representation is complete.
    pub fn lost_in(form: impl Fn(&QosProfile) -> QosProfile) -> Vec<Self> {
        let is_lost = |policy: &Self| {
            let given = policy.varied();
            policy.differs(&given, &form(&given))
        };
        Self::ALL.into_iter().filter(is_lost).collect()
    }

    fn differs(self, one: &QosProfile, other: &QosProfile) -> bool {
        // The pattern lists all fields, so the code does not compile if a new field has no policy.
        let QosProfile {
            history,
            depth,
            reliability,
            durability,
            deadline,
            lifespan,
            liveliness,
            liveliness_lease_duration,
            avoid_ros_namespace_conventions,
        } = *other;
        match self {
            Self::History => one.history != history,
            Self::Depth => one.depth != depth,
            Self::Reliability => one.reliability != reliability,
            Self::Durability => one.durability != durability,
            Self::Deadline => one.deadline != deadline,
            Self::Lifespan => one.lifespan != lifespan,
            Self::Liveliness => one.liveliness != liveliness,
            Self::LivelinessLeaseDuration => {
                one.liveliness_lease_duration != liveliness_lease_duration
            }
            Self::AvoidRosNamespaceConventions => {
                one.avoid_ros_namespace_conventions != avoid_ros_namespace_conventions
            }
        }
    }
}

fn seconds(seconds: u64) -> QosDuration {
    Duration::from_secs(seconds).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_policy_varies_alone() {
        let default = QosProfile::default().with_system_defaults_resolved();
        for policy in QosPolicy::ALL {
            let varied = policy.varied();
            let differing: Vec<_> = QosPolicy::ALL
                .into_iter()
                .filter(|other| other.differs(&varied, &default))
                .collect();
            assert_eq!(differing, [policy]);
        }
        assert_eq!(QosPolicy::lost_in(|_| default), QosPolicy::ALL);
        assert_eq!(QosPolicy::lost_in(|qos| *qos), []);
    }
}
