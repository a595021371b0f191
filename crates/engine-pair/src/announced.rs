//! What an endpoint on one of the engines announces of itself.

use std::sync::Arc;

use feros_rmw::{BridgeMark, Gid, twin};

/// What an endpoint on one of the engines says of itself.
pub(crate) struct Announced {
    pub(crate) identity: Gid,
    pub(crate) is_twin: bool,
    /// What is left of its announcement. How an endpoint is reached without an engine is arranged
    /// between endpoints that know each other by one gid: on the second engine those are twins
    /// alone.
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

    /// As [`new`](Self::new), of what a publisher's messages are: those that a bridge passes on are
    /// their publisher's.
    pub(crate) fn of_messages(side: usize, gid: Gid, announcement: Option<&Arc<str>>) -> Self {
        let said = Self::new(side, gid, announcement);
        match BridgeMark::origin(announcement.map(AsRef::as_ref)) {
            Some(origin) => Self { identity: origin, ..said },
            None => said,
        }
    }
}
