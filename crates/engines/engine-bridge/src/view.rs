//! The endpoints on a side that offer or want a name, without the endpoints of bridges. Names are
//! those without the prefix of the side.
//!
//! Publishers offer a topic, and subscriptions want it. Servers offer a service, and clients want
//! it. A bridge *takes* a name from one side and *brings* it to another side. All its endpoints for
//! this name have the same *mark* in their announcements ([`BridgeMark`]).

use std::collections::{BTreeMap, BTreeSet};

use feros_engine::{
    BridgeMark, EndpointInfo, EndpointKind, Gid, GraphSnapshot, NamePrefix, TypeHash, twin,
};

use crate::process::process;

/// A topic or a service on one side.
#[derive(Debug, Default)]
pub(crate) struct Name<'a> {
    pub(crate) offers: Vec<&'a EndpointInfo>,
    pub(crate) wants: Vec<&'a EndpointInfo>,
    /// The marks of the bridges that take the name from this side to another side.
    pub(crate) taken: BTreeSet<BridgeMark>,
    /// The marks of the bridges that bring the name from another side to this side.
    pub(crate) brought: BTreeSet<BridgeMark>,
}

/// A snapshot of the endpoints on one side.
#[derive(Debug, Default)]
pub(crate) struct View<'a> {
    pub(crate) topics: BTreeMap<&'a str, Name<'a>>,
    pub(crate) services: BTreeMap<&'a str, Name<'a>>,
    /// The bridges that are on this side.
    pub(crate) bridges: BTreeSet<u64>,
}

impl<'a> View<'a> {
    /// Sorts the endpoints of a side by name. Omits the endpoints whose gids are in `left_alone`,
    /// and those whose names are not below the prefix of the side.
    pub(crate) fn of(
        graph: &'a GraphSnapshot,
        prefix: Option<&NamePrefix>,
        left_alone: &BTreeSet<Gid>,
    ) -> Self {
        let mut view = Self::default();
        let is_seen =
            |endpoint: &&EndpointInfo| endpoint.is_ros && !left_alone.contains(&endpoint.gid);
        for endpoint in graph.endpoints.iter().filter(is_seen) {
            let (names, is_offer) = match endpoint.kind {
                EndpointKind::Publisher => (&mut view.topics, true),
                EndpointKind::Subscription => (&mut view.topics, false),
                EndpointKind::Service => (&mut view.services, true),
                EndpointKind::Client => (&mut view.services, false),
            };
            let name = match prefix {
                None => &*endpoint.name,
                Some(prefix) => match prefix.strip(&endpoint.name) {
                    Some(name) => name,
                    None => continue,
                },
            };
            let name = names.entry(name).or_default();
            match (BridgeMark::read(endpoint.announcement.as_deref()), is_offer) {
                (None, true) => name.offers.push(endpoint),
                (None, false) => name.wants.push(endpoint),
                (Some(mark), _) => {
                    view.bridges.insert(mark.bridge);
                    let marks = if is_offer { &mut name.brought } else { &mut name.taken };
                    marks.insert(mark);
                }
            }
        }
        view
    }
}

/// Returns the other bridges that take a name from the first side to the second side.
pub(crate) fn carriers(from: &Name<'_>, to: &Name<'_>, own: u64) -> BTreeSet<u64> {
    let others = from.taken.intersection(&to.brought).map(|mark| mark.bridge);
    others.filter(|bridge| *bridge != own).collect()
}

/// Returns the `endpoints` that have no twin among the `others` and whose process has no endpoint
/// among the `others`. The other endpoints reach both sides without a bridge.
pub(crate) fn without_processes_of<'a>(
    endpoints: &[&'a EndpointInfo],
    others: &[&EndpointInfo],
) -> Vec<&'a EndpointInfo> {
    let there: BTreeSet<&str> = others.iter().filter_map(|other| process_of(other)).collect();
    let is_apart = |endpoint: &&EndpointInfo| {
        process_of(endpoint).is_none_or(|process| !there.contains(process))
    };
    without_twins_of(endpoints, others).into_iter().filter(is_apart).collect()
}

/// Returns the `endpoints` that have no twin among the `others`.
pub(crate) fn without_twins_of<'a>(
    endpoints: &[&'a EndpointInfo],
    others: &[&EndpointInfo],
) -> Vec<&'a EndpointInfo> {
    let twins: BTreeSet<Gid> = others.iter().map(|other| identity_of(other)).collect();
    let is_apart = |endpoint: &&&EndpointInfo| !twins.contains(&identity_of(endpoint));
    endpoints.iter().filter(is_apart).copied().collect()
}

fn process_of(endpoint: &EndpointInfo) -> Option<&str> {
    process(endpoint.announcement.as_deref())
}

/// Returns the gid that identifies an endpoint. For an endpoint on two engines, this is its gid on
/// its first engine. Otherwise, it is the endpoint's own gid.
fn identity_of(endpoint: &EndpointInfo) -> Gid {
    twin::read(endpoint.announcement.as_deref().unwrap_or_default()).0.unwrap_or(endpoint.gid)
}

/// Returns the types of the endpoints.
pub(crate) fn types<'a>(endpoints: &[&'a EndpointInfo]) -> BTreeSet<&'a str> {
    endpoints.iter().map(|endpoint| &*endpoint.type_name).collect()
}

/// Returns the hashes that the endpoints with this type announce.
pub(crate) fn hashes(endpoints: &[&EndpointInfo], type_name: &str) -> Vec<TypeHash> {
    let of_type = endpoints.iter().filter(|endpoint| endpoint.type_name == type_name);
    let mut hashes: Vec<TypeHash> = of_type.filter_map(|endpoint| endpoint.type_hash).collect();
    hashes.sort_unstable_by_key(|hash| hash.0);
    hashes.dedup();
    hashes
}
