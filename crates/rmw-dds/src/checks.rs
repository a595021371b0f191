//! Checks of what endpoints are made of, before an engine sees it.

use feros_rmw::{CreateEndpointError, QosProfile};

/// Checks a name for the wire.
///
/// # Errors
/// [`CreateEndpointError::Name`].
pub fn check_name(name: &str, as_it_is: bool) -> Result<(), CreateEndpointError> {
    let refused = |reason: String| CreateEndpointError::Name {
        name: name.chars().take(300).collect(),
        reason,
    };
    if !as_it_is {
        return feros_rmw::name::validate_full_topic_name(name)
            .map_err(|error| refused(error.reason));
    }
    let fits = (1..=255).contains(&name.len()) && !name.contains('\0');
    fits.then_some(()).ok_or_else(|| refused("it must have 1 to 255 bytes and no NUL".into()))
}

/// Checks an announcement for the wire.
///
/// # Errors
/// [`CreateEndpointError::Announcement`].
pub fn check_announcement(name: &str, text: &str) -> Result<(), CreateEndpointError> {
    feros_rmw::announcement::check_announcement(text)
        .map_err(|reason| CreateEndpointError::Announcement { name: name.to_owned(), reason })
}

/// Checks that a depth can be kept.
///
/// # Errors
/// [`CreateEndpointError::Qos`].
pub fn check_qos(name: &str, profile: &QosProfile) -> Result<(), CreateEndpointError> {
    if i32::try_from(profile.depth).is_ok() {
        return Ok(());
    }
    let reason = format!("depth {} is more than {}; use keep_all", profile.depth, i32::MAX);
    Err(CreateEndpointError::Qos { name: name.to_owned(), reason })
}
