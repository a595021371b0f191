//! Endpoints that announce two engines but have been found on only one engine so far. If such
//! endpoints were bridged immediately, a subscription that is about to match them directly would
//! receive their messages twice.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use feros_engine::{EndpointInfo, Gid, GraphSnapshot, twin};

/// The times at which endpoints on two engines were first seen.
#[derive(Default)]
pub(crate) struct Arrivals {
    /// The times, by the gid on the first engine.
    since: BTreeMap<Gid, Instant>,
}

impl Arrivals {
    /// Returns the endpoints that must not be bridged yet, because their twin may still appear on
    /// another side. The twin is the same endpoint on its other engine. If no twin has appeared
    /// after `settle`, the other engine is assumed not to be a side of this bridge.
    pub(crate) fn look(
        &mut self,
        graphs: &[Arc<GraphSnapshot>],
        settle: Duration,
        now: Instant,
    ) -> BTreeSet<Gid> {
        let mut since = BTreeMap::new();
        let mut halves: BTreeMap<Gid, BTreeSet<Gid>> = BTreeMap::new();
        let endpoints = graphs.iter().flat_map(|graph| &graph.endpoints);
        for (identity, endpoint) in endpoints.filter_map(of_two) {
            since.insert(identity, self.since.get(&identity).copied().unwrap_or(now));
            halves.entry(identity).or_default().insert(endpoint.gid);
        }
        self.since = since;
        let is_new = |identity: &Gid| now.saturating_duration_since(self.since[identity]) < settle;
        let alone =
            halves.into_iter().filter(|(identity, seen)| seen.len() == 1 && is_new(identity));
        alone.flat_map(|(_, seen)| seen).collect()
    }
}

/// Returns the endpoint and its gid on the first engine, if it is an endpoint on two engines.
fn of_two(endpoint: &EndpointInfo) -> Option<(Gid, &EndpointInfo)> {
    let text = endpoint.announcement.as_deref()?;
    let named = twin::read(text).0;
    let identity = named.or_else(|| twin::is_first(text).then_some(endpoint.gid))?;
    Some((identity, endpoint))
}

#[cfg(test)]
mod tests {
    use super::*;
    use feros_engine::graph::EndpointNode;
    use feros_engine::{EndpointKind, QosProfile};

    const FIRST: Gid = Gid([1; 16]);
    const SECOND: Gid = Gid([2; 16]);
    const OTHER: Gid = Gid([3; 16]);

    fn graph(endpoints: &[(Gid, &str)]) -> Arc<GraphSnapshot> {
        let endpoint = |(gid, text): &(Gid, &str)| EndpointInfo {
            gid: *gid,
            kind: EndpointKind::Publisher,
            name: "/chatter".into(),
            is_ros: true,
            type_name: "std_msgs/msg/String".into(),
            type_hash: None,
            qos: QosProfile::default(),
            node: EndpointNode::Unknown,
            announcement: Some((*text).into()),
            buffer_backends: None,
        };
        Arc::new(GraphSnapshot {
            endpoints: endpoints.iter().map(endpoint).collect(),
            ..GraphSnapshot::default()
        })
    }

    #[test]
    fn half_of_a_twin_is_ignored_until_the_other_half_comes_or_time_is_over() {
        let [first, second] = [twin::first_announcement("x"), twin::announcement(FIRST, "x")];
        let settle = Duration::from_secs(1);
        let began = Instant::now();
        let none = BTreeSet::new();
        for (gid, text) in [(FIRST, &*first), (SECOND, &*second)] {
            let mut arrivals = Arrivals::default();
            let mut look = |sides: [&[(Gid, &str)]; 2], after: f32| {
                arrivals.look(&sides.map(graph), settle, began + settle.mul_f32(after))
            };
            let half: &[_] = &[(gid, text)];
            assert_eq!(look([half, &[(OTHER, "x")]], 0.0), BTreeSet::from([gid]));
            assert_eq!(look([half, &[]], 0.9), BTreeSet::from([gid]));
            assert_eq!(look([&[(FIRST, &first)], &[(SECOND, &second)]], 0.95), none);
            // The endpoint has been seen before, so nothing is delayed when one engine loses it.
            assert_eq!(look([half, &[]], 1.1), none);
            // An endpoint that disappears and appears again counts as new.
            assert_eq!(look([&[], &[]], 1.2), none);
            assert_eq!(look([half, &[]], 1.3), BTreeSet::from([gid]));
            assert_eq!(look([half, &[]], 2.4), none);
        }
    }
}
