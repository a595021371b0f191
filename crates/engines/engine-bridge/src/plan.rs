//! Decides which names to bridge, and warns about names that cannot be bridged.

use std::collections::{BTreeMap, BTreeSet};

use feros_engine::{EndpointInfo, Gid, TypeHash};

use crate::class::Class;
use crate::counts::Warnings;
use crate::options::BridgeOptions;
use crate::service::ServiceKey;
use crate::side::Side;
use crate::topic_key::TopicKey;
use crate::view::{Name, View, carriers, hashes, types, without_processes_of, without_twins_of};

/// A topic that is offered on one side and wanted on another.
#[derive(Debug)]
pub(crate) struct PlannedTopic {
    pub(crate) hash: Option<TypeHash>,
    /// Publishers that are not bridged because their processes also publish on the other side.
    pub(crate) left: BTreeSet<Gid>,
    /// Whether this bridge continues with the topic if it already bridges it.
    pub(crate) keeps: bool,
    /// The number of bridges that have precedence in starting to bridge the topic, or `None` if
    /// another bridge already bridges it.
    pub(crate) begins_after: Option<u32>,
}

/// A service that is offered on one side and wanted on another. The hashes are those that the
/// servers and the clients announce.
#[derive(Debug)]
pub(crate) struct PlannedService {
    pub(crate) hashes: [Option<TypeHash>; 2],
    pub(crate) keeps: bool,
    pub(crate) begins_after: Option<u32>,
}

#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) topics: BTreeMap<TopicKey, PlannedTopic>,
    pub(crate) services: BTreeMap<ServiceKey, PlannedService>,
}

/// The inputs of a plan.
pub(crate) struct Planner<'a> {
    pub(crate) own: u64,
    pub(crate) options: &'a BridgeOptions,
    pub(crate) views: &'a [View<'a>],
    pub(crate) sides: &'a [Side],
    pub(crate) warnings: &'a Warnings,
}

/// A name, and the two sides between which it may be bridged.
struct Between<'a> {
    from: usize,
    to: usize,
    name: &'a str,
    here: &'a Name<'a>,
    there: &'a Name<'a>,
    /// The endpoints that offer the name on the side `from`, except those whose processes also
    /// offer it on the side `to`.
    offers: Vec<&'a EndpointInfo>,
    /// The endpoints that want the name on the side `to`, except those whose processes also want it
    /// on the side `from`.
    wants: Vec<&'a EndpointInfo>,
}

impl<'a> Between<'a> {
    fn new(
        (from, to): (usize, usize),
        name: &'a str,
        (here, there): (&'a Name<'a>, &'a Name<'a>),
    ) -> Self {
        let offers = without_processes_of(&here.offers, &there.offers);
        let wants = without_processes_of(&there.wants, &here.wants);
        Self { from, to, name, here, there, offers, wants }
    }
}

impl Planner<'_> {
    pub(crate) fn plan(&self) -> Plan {
        let mut plan = Plan::default();
        let empty = Name::default();
        for from in 0..self.views.len() {
            for to in (0..self.views.len()).filter(|to| *to != from) {
                let [view, other] = [from, to].map(|side| &self.views[side]);
                for (name, here) in &view.topics {
                    let there = other.topics.get(name).unwrap_or(&empty);
                    if self.options.topics.has(name) && !here.offers.is_empty() {
                        let mut at = Between::new((from, to), name, (here, there));
                        // A publisher that is on several sides is bridged only from the first of
                        // these sides.
                        for view in
                            self.views[..from].iter().filter_map(|view| view.topics.get(name))
                        {
                            at.offers = without_twins_of(&at.offers, &view.offers);
                        }
                        self.plan_topic(&at, &mut plan);
                    }
                }
                for (name, here) in &view.services {
                    let there = other.services.get(name).unwrap_or(&empty);
                    if self.options.services.has(name) && !here.offers.is_empty() {
                        let at = Between::new((from, to), name, (here, there));
                        self.plan_service(&at, &mut plan);
                    }
                }
            }
        }
        plan
    }

    fn plan_topic(&self, at: &Between<'_>, plan: &mut Plan) {
        let (offered, wanted) = (types(&at.offers), types(&at.wants));
        if !wanted.is_empty() && offered.is_disjoint(&wanted) {
            return self.report_different_types("topic", at, &offered, &wanted);
        }
        for type_name in offered {
            if !wanted.contains(type_name) && !self.options.all_topics {
                continue;
            }
            let Some(hash) = self.common_hash(at, type_name) else { continue };
            let (keeps, begins_after) = self.precedence(at);
            let of_type = at.offers.iter().filter(|offer| offer.type_name == type_name);
            let classes: BTreeSet<Class> = of_type.map(|offer| Class::of(&offer.qos)).collect();
            let is_left =
                |offer: &&&EndpointInfo| !at.offers.iter().any(|one| one.gid == offer.gid);
            let left: BTreeSet<Gid> =
                at.here.offers.iter().filter(is_left).map(|offer| offer.gid).collect();
            for class in classes {
                let key = TopicKey {
                    from: at.from,
                    to: at.to,
                    topic: at.name.to_owned(),
                    type_name: type_name.to_owned(),
                    class,
                };
                let left = left.clone();
                plan.topics.insert(key, PlannedTopic { hash, left, keeps, begins_after });
            }
        }
    }

    fn plan_service(&self, at: &Between<'_>, plan: &mut Plan) {
        if at.wants.is_empty() || at.offers.is_empty() {
            return;
        }
        if !at.there.offers.is_empty() {
            return self.warnings.warn_once(format!(
                "the service {} of {} is not bridged to {}: it also has a server there",
                at.name, self.sides[at.from].name, self.sides[at.to].name
            ));
        }
        let is_served = |view: &View<'_>| {
            view.services.get(at.name).is_some_and(|found| !found.offers.is_empty())
        };
        if self.views[..at.from].iter().any(is_served) {
            return; // the first side with a server responds
        }
        let (served, called) = (types(&at.offers), types(&at.wants));
        let Some(type_name) = served.intersection(&called).next() else {
            return self.report_different_types("service", at, &served, &called);
        };
        let first = |of: &[&EndpointInfo]| hashes(of, type_name).first().copied();
        let (keeps, begins_after) = self.precedence(at);
        let key = ServiceKey {
            from: at.from,
            to: at.to,
            service: at.name.to_owned(),
            type_name: (*type_name).to_owned(),
        };
        let hashes = [first(&at.offers), first(&at.wants)];
        plan.services.insert(key, PlannedService { hashes, keeps, begins_after });
    }

    /// Returns the type hash that both sides share. Returns `Some(None)` if neither side announces
    /// a hash, and `None` if the sides use different definitions of the type.
    fn common_hash(&self, at: &Between<'_>, type_name: &str) -> Option<Option<TypeHash>> {
        let offered = hashes(&at.offers, type_name);
        let wanted = hashes(&at.wants, type_name);
        let (Some(first), Some(other)) = (offered.first(), wanted.first()) else {
            return Some(offered.first().or(wanted.first()).copied());
        };
        let common = offered.iter().find(|hash| wanted.contains(hash)).copied();
        if common.is_none() {
            self.warnings.warn_once(format!(
                "the topic {} is not bridged from {} to {}: both sides use {type_name}, but were built from different \
                 definitions ({first} and {other}); rebuild one of them with the other's definition",
                at.name, self.sides[at.from].name, self.sides[at.to].name
            ));
        }
        common.map(Some)
    }

    /// Returns whether to continue bridging a name, and how many bridges have precedence in
    /// starting to bridge it.
    ///
    /// A bridge continues with the names that it already bridges. If two bridges start to bridge a
    /// name at the same time, they discover each other, and only the bridge with the lower id
    /// continues. Before a bridge starts with a name, it gives bridges with lower ids time to start
    /// first.
    fn precedence(&self, at: &Between<'_>) -> (bool, Option<u32>) {
        let carried_by = carriers(at.here, at.there, self.own);
        let keeps = carried_by.iter().all(|other| self.own < *other);
        let both = self.views[at.from].bridges.intersection(&self.views[at.to].bridges);
        let rank = both.filter(|other| **other < self.own).count();
        let begins_after = carried_by.is_empty().then(|| u32::try_from(rank).unwrap_or(u32::MAX));
        (keeps, begins_after)
    }

    fn report_different_types(
        &self,
        kind: &str,
        at: &Between<'_>,
        offered: &BTreeSet<&str>,
        wanted: &BTreeSet<&str>,
    ) {
        let list = |types: &BTreeSet<&str>| types.iter().copied().collect::<Vec<_>>().join(", ");
        let [from, to] = [at.from, at.to].map(|side| &self.sides[side].name);
        self.warnings.warn_once(format!(
            "the {kind} {} is not bridged from {from} to {to}: its type is {} on {from}, but {} on {to}; give both sides one \
             type",
            at.name,
            list(offered),
            list(wanted)
        ));
    }
}
