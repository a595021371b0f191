//! What an endpoint announces in its USER_DATA, which can change while it lives.

use std::sync::Arc;

use feros_rmw::announcement::check_announcement;
use feros_rmw::dds::user_data::EndpointData;
use feros_rmw::{AnnounceError, TypeHash};

use crate::dds::Entity;

/// An announcement that never changes, as USER_DATA holds it; none for the empty text. It was
/// checked.
pub(crate) fn announced(text: &str) -> Option<Arc<str>> {
    (!text.is_empty()).then(|| text.into())
}

/// The parts of an endpoint's USER_DATA that stay.
pub(crate) struct Announced {
    type_hash: Option<TypeHash>,
}

impl Announced {
    pub(crate) fn new(type_hash: Option<TypeHash>) -> Self {
        Self { type_hash }
    }

    /// The USER_DATA with this announcement, which was checked.
    pub(crate) fn user_data(&self, announcement: &str) -> String {
        let announcement = announced(announcement);
        EndpointData { type_hash: self.type_hash, announcement, ..EndpointData::default() }.encode()
    }

    /// Announces another text. The engine writes the endpoint's discovery data again, and others
    /// update theirs.
    pub(crate) fn change(
        &self,
        entity: &Entity,
        topic: &str,
        announcement: &str,
    ) -> Result<(), AnnounceError> {
        let topic = || topic.to_owned();
        check_announcement(announcement)
            .map_err(|reason| AnnounceError::Text { topic: topic(), reason })?;
        entity
            .set_user_data(&self.user_data(announcement))
            .map_err(|code| AnnounceError::Engine { topic: topic(), code: code.to_string() })
    }
}
