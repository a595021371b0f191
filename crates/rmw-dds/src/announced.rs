//! The announcement of an endpoint in its USER_DATA, which can change during its life.

use std::sync::Arc;

use feros_rmw::announcement::check_announcement;
use feros_rmw::dds::user_data::EndpointData;
use feros_rmw::{AnnounceError, TypeHash};

use crate::library::Endpoint;

/// A checked announcement as USER_DATA holds it; `None` for the empty text.
pub(crate) fn announcement(text: &str) -> Option<Arc<str>> {
    (!text.is_empty()).then(|| text.into())
}

/// The USER_DATA of a topic's endpoint with a checked announcement.
pub(crate) fn topic_data(type_hash: Option<TypeHash>, text: &str) -> EndpointData {
    EndpointData { type_hash, announcement: announcement(text), ..EndpointData::default() }
}

/// Announces another text. The library sends the endpoint's discovery data again, and other
/// participants update theirs.
pub(crate) fn change(
    endpoint: &impl Endpoint,
    type_hash: Option<TypeHash>,
    text: &str,
) -> Result<(), AnnounceError> {
    let topic = || endpoint.names().ros.clone();
    check_announcement(text).map_err(|reason| AnnounceError::Text { topic: topic(), reason })?;
    endpoint
        .set_data(&topic_data(type_hash, text))
        .map_err(|code| AnnounceError::Engine { topic: topic(), code })
}
