//! The remote endpoints that match an endpoint. They are given as [`Match`] for users, and with
//! their USER_DATA for services and clients. The list with USER_DATA is cached, and is read again
//! only after a change.

use std::sync::Arc;

use feros_engine::{Gid, Match};

use crate::dds::MatchedEndpoint;
use feros_dds::announced_qos::as_announced;
use feros_engine::dds::user_data::EndpointData;
use feros_sync::Mutex;

/// Converts a matched endpoint to a [`Match`].
pub(crate) fn as_match(endpoint: &MatchedEndpoint) -> Match {
    let announcement = EndpointData::parse(&endpoint.user_data()).announcement;
    let gid = endpoint.gid();
    Match { gid, announcement, qos: as_announced(&gid, endpoint.profile()) }
}

/// Returns the data of a matched endpoint that services and clients need.
pub(crate) fn with_data(endpoint: &MatchedEndpoint) -> (Gid, EndpointData) {
    (endpoint.gid(), EndpointData::parse(&endpoint.user_data()))
}

pub(crate) type Matches = Arc<[(Gid, EndpointData)]>;

#[derive(Default)]
pub(crate) struct MatchCache(Mutex<Option<(u64, Matches)>>);

impl MatchCache {
    /// Returns the result of `list`. If the `generation` of the matches has not changed, the result
    /// is from the cache.
    pub(crate) fn get(
        &self,
        generation: u64,
        list: impl FnOnce() -> Vec<(Gid, EndpointData)>,
    ) -> Matches {
        // The generation was read first, so a change during the listing makes the list outdated.
        if let Some((cached, matches)) = &*self.0.lock()
            && *cached == generation
        {
            return matches.clone();
        }
        let matches = Matches::from(list());
        *self.0.lock() = Some((generation, matches.clone()));
        matches
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_once_per_generation() {
        let (cache, mut calls) = (MatchCache::default(), 0);
        for (now, expected) in [(0, 1), (0, 1), (1, 2), (1, 2)] {
            cache.get(now, || {
                calls += 1;
                Vec::new()
            });
            assert_eq!(calls, expected);
        }
    }
}
