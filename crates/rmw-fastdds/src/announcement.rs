//! What an endpoint announces in its USER_DATA, which can change while it lives.

use std::sync::Arc;

use feros_rmw::announcement::check_announcement;
use feros_rmw::dds::user_data::EndpointData;
use feros_rmw::{AnnounceError, QosProfile, TypeHash};

use crate::qos;

/// An announcement as USER_DATA holds it; none for the empty text. It was checked.
pub(crate) fn announced(text: &str) -> Option<Arc<str>> {
    (!text.is_empty()).then(|| text.into())
}

/// The parts of an endpoint's USER_DATA that stay.
pub(crate) struct Announced {
    type_hash: Option<TypeHash>,
    extras: String,
}

impl Announced {
    pub(crate) fn new(
        type_hash: Option<TypeHash>,
        profile: &QosProfile,
        ignores_local: bool,
    ) -> Self {
        Self { type_hash, extras: qos::extras(profile, ignores_local) }
    }

    /// The USER_DATA with this announcement, which was checked.
    pub(crate) fn user_data(&self, announcement: &str) -> String {
        let announcement = announced(announcement);
        let data =
            EndpointData { type_hash: self.type_hash, announcement, ..EndpointData::default() };
        data.encode() + &self.extras
    }

    /// Announces another text by `set`, which returns the code of Fast DDS.
    pub(crate) fn change(
        &self,
        topic: &str,
        announcement: &str,
        set: impl FnOnce(&str) -> i32,
    ) -> Result<(), AnnounceError> {
        let topic = || topic.to_owned();
        check_announcement(announcement)
            .map_err(|reason| AnnounceError::Text { topic: topic(), reason })?;
        match set(&self.user_data(announcement)) {
            0 => Ok(()),
            code => Err(AnnounceError::Engine { topic: topic(), code: code.to_string() }),
        }
    }
}
