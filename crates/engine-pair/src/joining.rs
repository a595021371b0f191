//! The matches of an endpoint, joined from both engines: twins count as one endpoint.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use feros_rmw::{BridgeMark, Gid, Match, QosProfile, twin};

use crate::announced::Announced;
use crate::later::Watch;
use crate::shared::Shared;

/// An endpoint that matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Joined {
    /// Its own gid: that on its only engine, or on its first one.
    pub(crate) identity: Gid,
    /// Its gid on each engine.
    pub(crate) on: [Option<Gid>; 2],
    /// Its announcement on the first engine, or that of a twin on the second.
    pub(crate) announcement: Option<Arc<str>>,
    pub(crate) qos: QosProfile,
}

impl Joined {
    pub(crate) fn to_match(&self) -> Match {
        Match { gid: self.identity, announcement: self.announcement.clone(), qos: self.qos }
    }
}

/// Joins the matches of both engines. `is_due` tells whether a twin that only the second engine has
/// found counts already.
pub(crate) fn join(lists: [Vec<Match>; 2], mut is_due: impl FnMut(Gid) -> bool) -> Vec<Joined> {
    let mut joined: Vec<Joined> = Vec::with_capacity(lists[0].len() + lists[1].len());
    let mut places = HashMap::with_capacity(lists[0].len());
    for (side, list) in lists.into_iter().enumerate() {
        for found in list {
            let said = Announced::of_messages(side, found.gid, found.announcement.as_ref());
            if let Some(place) = places.get(&said.identity) {
                // The first engine's data take precedence: the other may report a change later.
                let known: &mut Joined = &mut joined[*place];
                known.on[side] = Some(found.gid);
                continue;
            }
            if side == 1 && said.is_twin && !is_due(said.identity) {
                continue;
            }
            places.insert(said.identity, joined.len());
            let mut on = [None; 2];
            on[side] = Some(found.gid);
            let Announced { identity, announcement, .. } = said;
            joined.push(Joined { identity, on, announcement, qos: found.qos });
        }
    }
    joined
}

/// Joins the matches of one endpoint repeatedly.
pub(crate) struct Joiner {
    shared: Arc<Shared>,
    pub(crate) watch: Arc<Watch>,
    /// When twins were first seen.
    since: HashMap<Gid, Instant>,
}

impl Joiner {
    pub(crate) fn new(shared: &Arc<Shared>, watch: Arc<Watch>) -> Self {
        Self { shared: shared.clone(), watch, since: HashMap::new() }
    }

    /// Like [`join`](Self::join), for publishers and servers: leaves out endpoints that a bridge
    /// brings from one of the engines to the other without naming their origin.
    pub(crate) fn join_offers(&mut self, mut lists: [Vec<Match>; 2]) -> Vec<Joined> {
        for (side, list) in lists.iter_mut().enumerate() {
            list.retain(|found| {
                let announcement = found.announcement.as_deref();
                BridgeMark::origin(announcement).is_some()
                    || !self.shared.repeats_the_other(side, announcement)
            });
        }
        self.join(lists)
    }

    /// Joins the current matches. If a twin has to wait, the endpoint is notified when that is
    /// over.
    pub(crate) fn join(&mut self, lists: [Vec<Match>; 2]) -> Vec<Joined> {
        let Self { shared, watch, since } = self;
        let now = Instant::now();
        let mut known = HashMap::new();
        let twins = lists
            .iter()
            .flatten()
            .filter_map(|found| twin::read(found.announcement.as_deref().unwrap_or_default()).0);
        for twin in twins {
            known.insert(twin, since.get(&twin).copied().unwrap_or(now));
        }
        *since = known;
        join(lists, |twin| {
            let since = since.get(&twin).copied().unwrap_or(now);
            let has_waited = now.saturating_duration_since(since) >= shared.settle;
            let is_due = has_waited && !shared.first_shows(twin);
            if !is_due {
                let from = if has_waited { now } else { since };
                shared.later.tell_at(from + shared.settle, watch);
            }
            is_due
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(gid: u8, announcement: &str) -> Match {
        Match {
            gid: Gid([gid; 16]),
            announcement: (!announcement.is_empty()).then(|| announcement.into()),
            qos: QosProfile::default(),
        }
    }

    /// Identity, gids and announcement.
    type Shown<'a> = (u8, [Option<u8>; 2], Option<&'a str>);

    fn shown(joined: &[Joined]) -> Vec<Shown<'_>> {
        let on = |joined: &Joined| joined.on.map(|gid| gid.map(|gid| gid.0[0]));
        joined
            .iter()
            .map(|joined| (joined.identity.0[0], on(joined), joined.announcement.as_deref()))
            .collect()
    }

    #[test]
    fn twins_are_one_whichever_engine_is_their_first() {
        let of = |gid: u8, text: &str| twin::announcement(Gid([gid; 16]), text);
        // 1 and 11 are twins of a process with the same order of engines, 2 and 12 of one with the
        // other order; 3 and 13 are on one engine each; of 4 only the twin 14 is seen.
        let first = vec![found(1, "x"), found(2, &of(12, "y")), found(3, "z")];
        let second =
            vec![found(11, &of(1, "x")), found(12, "y"), found(13, "v"), found(14, &of(4, "w"))];
        let lists = [first, second];
        let joined = join(lists.clone(), |_| true);
        assert_eq!(
            shown(&joined),
            [
                (1, [Some(1), Some(11)], Some("x")),
                (12, [Some(2), Some(12)], Some("y")),
                (3, [Some(3), None], Some("z")),
                (13, [None, Some(13)], None),
                (4, [None, Some(14)], Some("w")),
            ]
        );
        let joined = join(lists, |_| false);
        assert_eq!(joined.len(), 4, "a twin waits for the first engine");
    }

    #[test]
    fn what_the_second_engine_says_late_is_not_believed() {
        let before = twin::announcement(Gid([1; 16]), "before");
        let joined = join([vec![found(1, "")], vec![found(11, &before)]], |_| true);
        assert_eq!(shown(&joined), [(1, [Some(1), Some(11)], None)]);
    }
}
