//! What an endpoint on one of the engines announces of itself.

use std::sync::Arc;

use feros_rmw::{Gid, twin};

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
        let announcement = match named {
            None if side == 0 => announcement.cloned(),
            None => None,
            Some(_) => (!text.is_empty()).then(|| Arc::from(text)),
        };
        Self { identity: named.unwrap_or(gid), is_twin: named.is_some(), announcement }
    }
}
