//! Profiles, which contain a value for each policy, and the predefined profiles of stock ROS 2
//! (`rmw/qos_profiles.h`).

use std::time::Duration;

use super::policy::{Durability, History, Liveliness, QosDuration, Reliability};

/// The policies of one endpoint, with the names and defaults of `rmw_qos_profile_t`.
///
/// ```
/// use feros_engine::{Durability, QosProfile};
/// let latched = QosProfile::keep_last(1).transient_local();
/// assert_eq!(latched.durability, Durability::TransientLocal);
/// let ten: QosProfile = 10.into(); // as in rclcpp: a number is the depth of the default profile
/// assert_eq!(ten, QosProfile::default());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct QosProfile {
    /// The number of samples that the endpoint keeps.
    pub history: History,
    /// The number of samples to keep with [`History::KeepLast`]. 0 means the engine's default,
    /// which is 1.
    pub depth: usize,
    /// Whether lost samples are sent again.
    pub reliability: Reliability,
    /// Whether late subscriptions receive earlier samples.
    pub durability: Durability,
    /// The longest time between two samples. A publisher promises it, and a subscription expects
    /// it.
    pub deadline: QosDuration,
    /// The age at which a sample expires and is no longer delivered.
    pub lifespan: QosDuration,
    /// How a publisher signals that it is alive.
    pub liveliness: Liveliness,
    /// The time after which a publisher counts as not alive if it has not signalled its liveliness.
    pub liveliness_lease_duration: QosDuration,
    /// Whether the name is used on the wire as it is, without the ROS prefixes.
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
    /// The default profile with the given depth.
    pub fn keep_last(depth: usize) -> Self {
        Self { depth, ..Self::default() }
    }

    /// The default profile, but with a history that keeps all samples.
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

    /// `rclcpp::ClockQoS`, which subscriptions to `/clock` use: keep last 1, best effort.
    pub fn clock() -> Self {
        Self::keep_last(1).best_effort()
    }

    /// `rcl_action_qos_profile_status_default`: keep last 1, reliable, transient local.
    pub fn action_status_default() -> Self {
        Self::keep_last(1).transient_local()
    }

    /// `rmw_qos_profile_system_default`: leaves every policy to the engine.
    pub fn system_default() -> Self {
        Self {
            history: History::SystemDefault,
            depth: 0,
            reliability: Reliability::SystemDefault,
            durability: Durability::SystemDefault,
            ..Self::default()
        }
    }

    /// `rmw_qos_profile_best_available`: the policies are resolved when the endpoint is created, so
    /// that it matches as many endpoints as possible.
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

    /// Changes the reliability to reliable.
    pub fn reliable(self) -> Self {
        Self { reliability: Reliability::Reliable, ..self }
    }

    /// Changes the reliability to best effort.
    pub fn best_effort(self) -> Self {
        Self { reliability: Reliability::BestEffort, ..self }
    }

    /// Changes the durability to transient local.
    pub fn transient_local(self) -> Self {
        Self { durability: Durability::TransientLocal, ..self }
    }

    /// Changes the durability to volatile.
    pub fn volatile(self) -> Self {
        Self { durability: Durability::Volatile, ..self }
    }

    /// Changes the deadline. Zero means that there is no deadline.
    pub fn deadline(self, deadline: Duration) -> Self {
        Self { deadline: deadline.into(), ..self }
    }

    /// Changes the lifespan. Zero means that samples never expire.
    pub fn lifespan(self, lifespan: Duration) -> Self {
        Self { lifespan: lifespan.into(), ..self }
    }

    /// Changes the kind of liveliness and the lease. A lease of zero means that the lease never
    /// expires.
    pub fn liveliness(self, kind: Liveliness, lease: Duration) -> Self {
        Self { liveliness: kind, liveliness_lease_duration: lease.into(), ..self }
    }

    /// Whether the policies require that the engine writes each message of a publisher, even if no
    /// match of the engine needs the message. The engine gives late subscriptions the history, and
    /// its writes show that the publisher keeps its deadline and is alive.
    pub fn requires_each_write(&self) -> bool {
        // The pattern lists all fields, so the code does not compile until a new policy is
        // considered here.
        let Self {
            history: _,
            depth: _,
            reliability: _,
            durability,
            deadline,
            lifespan: _,
            liveliness,
            liveliness_lease_duration: _,
            avoid_ros_namespace_conventions: _,
        } = *self;
        durability == Durability::TransientLocal
            || deadline.finite().is_some()
            || liveliness == Liveliness::ManualByTopic
    }

    /// Uses the name on the wire as it is.
    pub fn avoid_ros_namespace_conventions(self) -> Self {
        Self { avoid_ros_namespace_conventions: true, ..self }
    }
}
