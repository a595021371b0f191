//! The matches of an endpoint, joined from both engines. A matching endpoint that is on both
//! engines of a pair consists of two *twins*, one on each engine. The two twins count as one match.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use feros_engine::{BridgeMark, Gid, Match, QosProfile, twin};

use crate::announced::Announced;
use crate::later::Watch;
use crate::shared::Shared;

/// A matching endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Joined {
    /// The gid of the endpoint on the first engine, or on its only engine.
    pub(crate) identity: Gid,
    /// The gid of the endpoint on each engine.
    pub(crate) on: [Option<Gid>; 2],
    /// The announcement on the first engine, if the endpoint is there. Otherwise, the announcement
    /// on the second engine if the endpoint is a twin, and `None` if it is not.
    pub(crate) announcement: Option<Arc<str>>,
    pub(crate) qos: QosProfile,
}

impl Joined {
    pub(crate) fn to_match(&self) -> Match {
        Match { gid: self.identity, announcement: self.announcement.clone(), qos: self.qos }
    }
}

/// Joins the matches of both engines. A twin that only the second engine has found counts as a
/// match when `is_due` returns true for it.
pub(crate) fn join(lists: [Vec<Match>; 2], mut is_due: impl FnMut(Gid) -> bool) -> Vec<Joined> {
    let mut joined: Vec<Joined> = Vec::with_capacity(lists[0].len() + lists[1].len());
    let mut places = HashMap::with_capacity(lists[0].len());
    for (side, list) in lists.into_iter().enumerate() {
        for found in list {
            let said = Announced::of_messages(side, found.gid, found.announcement.as_ref());
            if let Some(place) = places.get(&said.identity) {
                // The data of the first engine take precedence, because the second engine may
                // report a change later.
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

/// Joins the matches of one endpoint whenever they have changed.
pub(crate) struct Joiner {
    shared: Arc<Shared>,
    pub(crate) watch: Arc<Watch>,
    /// The time at which each twin was first seen on the second engine, by the gid that its
    /// announcement names.
    since: HashMap<Gid, Instant>,
}

impl Joiner {
    pub(crate) fn new(shared: &Arc<Shared>, watch: Arc<Watch>) -> Self {
        Self { shared: shared.clone(), watch, since: HashMap::new() }
    }

    /// Like [`join`](Self::join), but for publishers and servers. Omits the endpoints of bridges
    /// that repeat the messages of one engine on the other engine, except publishers whose
    /// announcement names the original publisher.
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

    /// Joins the current matches. If a twin does not count as a match yet, the endpoint is notified
    /// when the wait for the first engine has ended.
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
                shared.later.notify_at(from + shared.settle, watch);
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

    /// A match as the test compares it: the identity, the gids and the announcement.
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
        // 1 and 11 are the twins of an endpoint whose process has the engines in the same order as
        // this process. 2 and 12 are twins from a process with the reverse order. 3 and 13 have no
        // twins. The endpoint 14 is the twin of 4, which the first engine has not found yet.
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
    fn late_announcements_of_the_second_engine_are_ignored() {
        let before = twin::announcement(Gid([1; 16]), "before");
        let joined = join([vec![found(1, "")], vec![found(11, &before)]], |_| true);
        assert_eq!(shown(&joined), [(1, [Some(1), Some(11)], None)]);
    }
}
