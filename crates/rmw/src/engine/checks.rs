//! What engines look at before they make an endpoint: what they refuse, and what they say they do
//! not keep.

use super::{CreateEndpointError, LOG_TARGET, ServiceOptions};
use crate::qos::{Liveliness, QosProfile};

/// Checks a name by the rules of ROS 2.
///
/// # Errors
/// [`CreateEndpointError::Name`].
pub fn check_ros_name(name: &str) -> Result<(), CreateEndpointError> {
    crate::name::validate_full_topic_name(name).map_err(|error| refused(name, error.reason))
}

/// Refuses a name outside of ROS's conventions that is not what the engine's wire has, in the words
/// of `expected`.
///
/// # Errors
/// [`CreateEndpointError::Name`].
pub fn check_wire_name(name: &str, fits: bool, expected: &str) -> Result<(), CreateEndpointError> {
    fits.then_some(()).ok_or_else(|| refused(name, expected.to_owned()))
}

fn refused(name: &str, reason: String) -> CreateEndpointError {
    CreateEndpointError::Name { name: name.chars().take(300).collect(), reason }
}

/// Checks an announcement for the wire.
///
/// # Errors
/// [`CreateEndpointError::Announcement`].
pub fn check_announcement(name: &str, text: &str) -> Result<(), CreateEndpointError> {
    crate::announcement::check_announcement(text)
        .map_err(|reason| CreateEndpointError::Announcement { name: name.to_owned(), reason })
}

/// Checks that a depth can be kept.
///
/// # Errors
/// [`CreateEndpointError::Qos`].
pub fn check_depth(name: &str, profile: &QosProfile) -> Result<(), CreateEndpointError> {
    if i32::try_from(profile.depth).is_ok() {
        return Ok(());
    }
    let reason = format!("depth {} is more than {}; use keep_all", profile.depth, i32::MAX);
    Err(CreateEndpointError::Qos { name: name.to_owned(), reason })
}

/// Warns who asks for a deadline or liveliness of an engine that keeps neither; `instead` says what
/// the engine does with them.
pub fn warn_of_unkept_times(name: &str, profile: &QosProfile, instead: &str) {
    let mut unkept = Vec::new();
    if profile.deadline.finite().is_some() {
        unkept.push("missed deadlines are not reported");
    }
    if profile.liveliness == Liveliness::ManualByTopic
        || profile.liveliness_lease_duration.finite().is_some()
    {
        unkept.push("a publisher counts as alive as long as it is connected");
    }
    if !unkept.is_empty() {
        tracing::warn!(
            target: LOG_TARGET,
            "{name}: {instead}: {}; leave the deadline and liveliness out, or use a DDS engine (FEROS_ENGINE)",
            unkept.join("; ")
        );
    }
}

/// Refuses a service that is to be called from this host alone, for engines that are not told where
/// a request comes from: who counts on it is not to be served all. `cure` says so, and what helps.
///
/// # Errors
/// [`CreateEndpointError::Engine`].
pub fn refuse_local_requests_only(
    options: &ServiceOptions<'_>,
    cure: &str,
) -> Result<(), CreateEndpointError> {
    if !options.local_requests_only {
        return Ok(());
    }
    Err(CreateEndpointError::Engine {
        name: options.service.to_owned(),
        operation: "ignoring the requests of other hosts",
        code: cure.to_owned(),
    })
}
