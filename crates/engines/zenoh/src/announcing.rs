//! Announcements of this session's endpoints. They are additional liveliness tokens, which
//! `rmw_zenoh` does not have. When an announcement changes, a new token replaces the old token.

use std::sync::Arc;

use feros_engine::AnnounceError;
use feros_engine::announcement::check_announcement;
use feros_sync::Mutex;
use zenoh::Wait as _;
use zenoh::liveliness::LivelinessToken;

use crate::session_state::SessionState;
use crate::wire::announcement::AnnouncementToken;

#[derive(Default)]
struct Said {
    version: u64,
    declared: Option<LivelinessToken>,
}

/// The announcement of one endpoint. Dropping this value withdraws the announcement.
pub(crate) struct Announced {
    shared: Arc<SessionState>,
    name: String,
    entity: u64,
    said: Mutex<Said>,
}

impl Announced {
    pub(crate) fn new(
        shared: &Arc<SessionState>,
        (name, entity): (&str, u64),
        text: &str,
    ) -> Result<Self, zenoh::Error> {
        let (shared, name) = (shared.clone(), name.to_owned());
        let announced = Self { shared, name, entity, said: Mutex::default() };
        announced.say(text)?;
        Ok(announced)
    }

    pub(crate) fn change(&self, topic: &str, text: &str) -> Result<(), AnnounceError> {
        let topic = || topic.to_owned();
        check_announcement(text)
            .map_err(|reason| AnnounceError::Text { topic: topic(), reason })?;
        self.say(text)
            .map_err(|error| AnnounceError::Engine { topic: topic(), code: error.to_string() })
    }

    /// Declares the new text before it withdraws the old text, so that the endpoint always has an
    /// announcement.
    fn say(&self, text: &str) -> Result<(), zenoh::Error> {
        let mut said = self.said.lock();
        let (before, version) = (said.version, said.version + 1);
        let token = AnnouncementToken {
            domain_id: self.shared.domain_id,
            zid: self.shared.zid.to_string(),
            name: self.name.clone(),
            entity: self.entity,
            version,
            text: text.to_owned(),
        };
        let declared = self.shared.session.liveliness().declare_token(token.encode()).wait()?;
        let graph = &self.shared.graph;
        graph.announced(&self.shared.zid, self.entity, version, Some(text.into()));
        said.version = version;
        if said.declared.replace(declared).is_some() {
            graph.announced(&self.shared.zid, self.entity, before, None);
        }
        Ok(())
    }
}

impl Drop for Announced {
    fn drop(&mut self) {
        let said = self.said.get_mut();
        if said.declared.take().is_some() {
            self.shared.graph.announced(&self.shared.zid, self.entity, said.version, None);
        }
    }
}
