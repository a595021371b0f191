//! The topics of tf2 and their policies, as `tf2_ros` has them.

use feros::QosProfile;

/// The topic of transforms that change.
pub const TOPIC: &str = "/tf";

/// The topic of transforms that hold at any time.
pub const STATIC_TOPIC: &str = "/tf_static";

/// How `tf2_ros` publishes on [`TOPIC`]: reliable, the last 100.
#[must_use]
pub fn broadcaster_qos() -> QosProfile {
    QosProfile::keep_last(100)
}

/// How `tf2_ros` listens to [`TOPIC`]: reliable, the last 100.
#[must_use]
pub fn dynamic_listener_qos() -> QosProfile {
    QosProfile::keep_last(100)
}

/// How `tf2_ros` publishes on and listens to [`STATIC_TOPIC`]: reliable, and who comes late gets
/// what was said. A publisher says all of its transforms at once, so `depth` is 1 there; listeners
/// have 100.
#[must_use]
pub fn static_qos(depth: usize) -> QosProfile {
    QosProfile::keep_last(depth).transient_local()
}
