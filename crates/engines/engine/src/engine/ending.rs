//! The knowledge that a program is about to end a session.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a session is about to end as a whole. Clones refer to the same session.
///
/// From that moment on, an engine may keep the end of a single node or endpoint to itself, and tell
/// other participants only that the whole session has left. They then remove all its nodes and
/// endpoints at once. Without this, the end of many nodes would cost each participant one message
/// for each endpoint.
///
/// ```
/// use feros_engine::Ending;
/// let ending = Ending::default();
/// let same = ending.clone();
/// ending.begin();
/// assert!(same.has_begun());
/// ```
#[derive(Debug, Clone)]
pub struct Ending(Vec<Arc<AtomicBool>>);

impl Default for Ending {
    /// The ending of one session, before it begins.
    fn default() -> Self {
        Self(vec![Arc::default()])
    }
}

impl Ending {
    /// The common ending of a session that consists of several sessions.
    pub fn of_all(sessions: impl IntoIterator<Item = Self>) -> Self {
        Self(sessions.into_iter().flat_map(|ending| ending.0).collect())
    }

    /// Tells the engine that the program ends the session. The session works as before until it is
    /// dropped.
    pub fn begin(&self) {
        self.0.iter().for_each(|has_begun| has_begun.store(true, Ordering::Release));
    }

    /// Whether the session is about to end.
    pub fn has_begun(&self) -> bool {
        self.0.iter().all(|has_begun| has_begun.load(Ordering::Acquire))
    }
}

#[cfg(test)]
mod tests {
    use super::Ending;

    #[test]
    fn a_common_ending_begins_in_each_session_and_has_begun_when_each_has() {
        let (one, other) = (Ending::default(), Ending::default());
        let all = Ending::of_all([one.clone(), other.clone()]);
        one.begin();
        assert!(one.has_begun() && !all.has_begun() && !other.has_begun());
        all.begin();
        assert!(all.has_begun() && other.has_begun());
    }
}
