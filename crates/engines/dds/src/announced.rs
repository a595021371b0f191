//! The announcement of an endpoint, which is stored in its USER_DATA and can change while the
//! endpoint exists.

use std::sync::Arc;

use feros_engine::announcement::check_announcement;
use feros_engine::dds::user_data::EndpointData;
use feros_engine::{AnnounceError, TypeHash};

use crate::library::Endpoint;

/// Converts a valid announcement to the form that [`EndpointData`] contains. The empty string
/// becomes `None`.
pub(crate) fn announcement(text: &str) -> Option<Arc<str>> {
    (!text.is_empty()).then(|| text.into())
}

/// Returns the USER_DATA for a topic's endpoint with a valid announcement.
pub(crate) fn topic_data(type_hash: Option<TypeHash>, text: &str) -> EndpointData {
    EndpointData { type_hash, announcement: announcement(text), ..EndpointData::default() }
}

/// Changes the announcement. The library sends the discovery data of the endpoint again, and other
/// participants update their copies.
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
