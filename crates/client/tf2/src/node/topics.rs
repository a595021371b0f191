//! The topics of tf2 and their policies, as in `tf2_ros/include/tf2_ros/qos.hpp`.

use feros::QosProfile;

/// The topic of transforms that change.
pub const TOPIC: &str = "/tf";

/// The topic of transforms that hold at any time.
pub const STATIC_TOPIC: &str = "/tf_static";

/// The policies of `tf2_ros` for publishers on [`TOPIC`]: reliable, the last 100 messages.
#[must_use]
pub fn broadcaster_qos() -> QosProfile {
    QosProfile::keep_last(100)
}

/// The policies of `tf2_ros` for subscriptions to [`TOPIC`]: reliable, the last 100 messages.
#[must_use]
pub fn dynamic_listener_qos() -> QosProfile {
    QosProfile::keep_last(100)
}

/// The policies of `tf2_ros` for publishers and subscriptions of [`STATIC_TOPIC`]: reliable, with
/// earlier messages for late subscriptions. A publisher sends all of its transforms in one message,
/// so its `depth` is 1. Listeners have a `depth` of 100.
#[must_use]
pub fn static_qos(depth: usize) -> QosProfile {
    QosProfile::keep_last(depth).transient_local()
}
