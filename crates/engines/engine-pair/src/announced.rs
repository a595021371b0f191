//! The announcement of an endpoint, in the form in which it was found on one of the two engines. An
//! endpoint on both engines consists of two *twins*. The announcement of the twin on the second
//! engine names the gid of the twin on the first engine.

use std::sync::Arc;

use feros_engine::announcement::check_announcement;
use feros_engine::{AnnounceError, BridgeMark, Gid, twin};
use feros_sync::Mutex;

/// The content of an endpoint's announcement on one of the two engines.
pub(crate) struct Announced {
    pub(crate) identity: Gid,
    pub(crate) is_twin: bool,
    /// The announcement without the part about a twin, if the endpoint can be reached over
    /// transports without engines. These transports require that both sides know an endpoint by the
    /// same gid. On the second engine, this is true only for twins.
    pub(crate) announcement: Option<Arc<str>>,
}

impl Announced {
    pub(crate) fn new(side: usize, gid: Gid, announcement: Option<&Arc<str>>) -> Self {
        let (named, text) = announcement.map_or((None, ""), |text| twin::read(text));
        let may_be_reached = side == 0 || named.is_some();
        let announcement = announcement.filter(|_| may_be_reached && !text.is_empty());
        let as_it_is = announcement.filter(|all| all.len() == text.len()).cloned();
        let announcement = as_it_is.or_else(|| announcement.map(|_| Arc::from(text)));
        Self { identity: named.unwrap_or(gid), is_twin: named.is_some(), announcement }
    }

    /// Like [`new`](Self::new), but for the messages of a publisher. If the publisher belongs to a
    /// bridge, the identity is that of the original publisher.
    pub(crate) fn of_messages(side: usize, gid: Gid, announcement: Option<&Arc<str>>) -> Self {
        let said = Self::new(side, gid, announcement);
        match BridgeMark::origin(announcement.map(AsRef::as_ref)) {
            Some(origin) => Self { identity: origin, ..said },
            None => said,
        }
    }
}

/// Changes the announcement of a publisher or subscription on both engines, by `announce`.
pub(crate) fn change(
    (topic, on_first): (&str, Gid),
    current: &Mutex<String>,
    announcement: &str,
    announce: impl Fn(usize, &str) -> Result<(), AnnounceError>,
) -> Result<(), AnnounceError> {
    check_announcement(announcement)
        .map_err(|reason| AnnounceError::Text { topic: topic.to_owned(), reason })?;
    let mut current = current.lock();
    announce(0, &twin::first_announcement(announcement))?;
    if let Err(error) = announce(1, &twin::announcement(on_first, announcement)) {
        // If this call also fails, this function still returns the second engine's error.
        let _ = announce(0, &twin::first_announcement(&current));
        return Err(error);
    }
    announcement.clone_into(&mut current);
    Ok(())
}
