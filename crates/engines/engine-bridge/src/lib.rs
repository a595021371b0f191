//! The bridge between engines. It connects topics and services of robots that use different engines
//! or domains and therefore cannot communicate directly.
//!
//! The bridge needs no types: it publishes the serialized bytes unchanged on the other side. A
//! *side* is a session on one engine. The bridge observes all its sides, and bridges each name that
//! is *offered* on one side and *wanted* on another side. A topic is offered by publishers and
//! wanted by subscriptions, and a service is offered by servers and wanted by clients. No message
//! returns to the side from which it was sent, and no message arrives twice.
//!
//! A side may have a [prefix](BridgeOptions::prefixes): the names of the other sides are below a
//! namespace there, so that many robots with the same names share one network.
//!
//! | module | content |
//! |---|---|
//! | `arrivals` | endpoints that may soon also appear on another side |
//! | `side`, `view` | a side, and its endpoints |
//! | `counts`, `bell` | counters and warnings, and what wakes a thread |
//! | `process` | the process of an endpoint |
//! | `options` | the options of a bridge |
//! | `plan` | the names to bridge, and warnings about names that cannot be bridged |
//! | `class` | quality of service across the bridge |
//! | `topic`, `service` | bridge one name between two sides, with one thread for each name |
//! | `topic_key` | the identity of a bridged topic |
//! | `mirror` | the publisher that represents an original publisher on the other side |
//!
//! # Invariants
//!
//! The crate does not depend on any engine or message type. A topic without a subscription is
//! bridged only with [`BridgeOptions::all_topics`]. Endpoints of a bridge are not bridged again,
//! and each name is handled by only one bridge.
#![forbid(unsafe_code)]

mod arrivals;
mod bell;
mod class;
mod counts;
mod mirror;
mod options;
mod plan;
mod process;
mod service;
mod side;
mod topic;
mod topic_key;
mod view;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::{Duration, Instant};

use feros_engine::{BridgeMark, CreateEndpointError, Session};

pub use counts::Counts;
pub use options::BridgeOptions;

use arrivals::Arrivals;
use bell::Bell;
use counts::{Counters, Warnings};
use plan::{Plan, PlannedService, PlannedTopic, Planner};
use service::ServiceKey;
use side::Side;
use topic::{Shared, TopicWay, Way};
use topic_key::TopicKey;
use view::View;

/// The reason why a bridge could not be created.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BridgeError {
    /// The bridge has fewer than two sides.
    #[error("a bridge has at least two sides, but {sides} are given")]
    Sides {
        /// The number of sides.
        sides: usize,
    },
    /// A prefix is given for a side that does not exist.
    #[error(
        "a prefix is given for side {side}, but the last of the {sides} sides is {}",
        sides - 1
    )]
    NoSide {
        /// The index of the side with the prefix.
        side: usize,
        /// The number of sides.
        sides: usize,
    },
    /// A side refused the bridge's node, or the subscription by which other bridges recognize this
    /// bridge.
    #[error("the bridge cannot join {side}: {error}")]
    Join {
        /// The side.
        side: String,
        /// The error of the engine.
        error: CreateEndpointError,
    },
}

/// A name that is bridged from one side to another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bridged {
    /// True for a service, and false for a topic. For a service, `from` is the side of the server.
    pub is_service: bool,
    /// The name, without the prefix of a side.
    pub name: String,
    /// The type.
    pub type_name: String,
    /// The side where the name is offered, as an index into the sessions given to [`Bridge::new`].
    pub from: usize,
    /// The side where the name is wanted.
    pub to: usize,
}

/// How long this bridge waits before it starts to bridge a name, for each other bridge that has
/// precedence.
const PRECEDENCE: Duration = Duration::from_secs(2);

/// The limit on bridged names. Each name has a thread.
const MOST_WAYS: usize = 2000;

/// The limit on the number of names that wait because other bridges have precedence. All further
/// names do not wait.
const MOST_WAITING: usize = 65_536;

/// A bridge. Call [`Bridge::update`] repeatedly, preferably after [`Bridge::wait_for_change`].
/// Dropping the bridge first forwards the messages that have arrived, and then withdraws all
/// endpoints.
pub struct Bridge {
    id: u64,
    options: BridgeOptions,
    began: Instant,
    arrivals: Arrivals,
    topics: BTreeMap<TopicKey, TopicWay>,
    services: BTreeMap<ServiceKey, Way>,
    /// Topics that are no longer bridged, but whose threads still forward their last messages.
    ending_topics: Vec<(TopicKey, TopicWay)>,
    ending_services: Vec<(ServiceKey, Way)>,
    /// The times at which names started to wait for a bridge with precedence.
    waiting: Waits,
    counters: BTreeMap<(usize, usize), Arc<Counters>>,
    warnings: Arc<Warnings>,
    bell: Arc<Bell>,
    /// This is dropped last, because the threads use the sides.
    sides: Vec<Side>,
}

/// The times at which names started to wait for a bridge with precedence. The key is (from, to,
/// name).
type Waits = BTreeMap<(usize, usize, String), Instant>;

/// Ends a call of [`Bridge::wait_for_change`] from another thread.
#[derive(Clone)]
pub struct Waker(Arc<Bell>);

impl Waker {
    /// Ends the current call of [`Bridge::wait_for_change`], or the next call if there is no
    /// current call.
    pub fn wake(&self) {
        self.0.ring();
    }
}

impl Bridge {
    /// Creates a bridge between sessions. Each session is given with its name for log messages.
    ///
    /// # Errors
    /// Returns an error if there are fewer than two sessions, if a prefix is for none of them, or
    /// if one of them refuses the bridge's node.
    pub fn new(
        sessions: Vec<(String, Arc<dyn Session>)>,
        options: BridgeOptions,
    ) -> Result<Self, BridgeError> {
        if sessions.len() < 2 {
            return Err(BridgeError::Sides { sides: sessions.len() });
        }
        if let Some(&side) = options.prefixes.keys().find(|side| **side >= sessions.len()) {
            return Err(BridgeError::NoSide { side, sides: sessions.len() });
        }
        // The standard library seeds this hash with random numbers from the system, so the id is
        // random.
        let id = RandomState::new().hash_one("feros bridge");
        let bell = Arc::<Bell>::default();
        let mut sides = Vec::new();
        for (from, (name, session)) in (0_u32..).zip(sessions) {
            let made = {
                let mark = BridgeMark { bridge: id, from };
                let prefix = options.prefixes.get(&sides.len());
                Side::new((name.clone(), session), (&options.node, prefix), mark, &bell)
            };
            sides.push(made.map_err(|error| BridgeError::Join { side: name, error })?);
        }
        Ok(Self {
            id,
            options,
            began: Instant::now(),
            arrivals: Arrivals::default(),
            topics: BTreeMap::new(),
            services: BTreeMap::new(),
            ending_topics: Vec::new(),
            ending_services: Vec::new(),
            waiting: BTreeMap::new(),
            counters: BTreeMap::new(),
            warnings: Arc::default(),
            bell,
            sides,
        })
    }

    /// Starts and ends bridging, so that exactly the names that are offered on one side and wanted
    /// on another are bridged.
    pub fn update(&mut self) {
        self.ending_topics.retain(|(_, topic)| !topic.way.has_ended());
        let going_on = self.ending_topics.extract_if(.., |(_, topic)| topic.goes_on());
        self.topics.extend(going_on);
        self.ending_services.retain(|(_, way)| !way.has_ended());
        let graphs: Vec<_> = self.sides.iter().map(|side| side.session.graph()).collect();
        let left_alone = self.arrivals.look(&graphs, self.options.settle, Instant::now());
        if self.began.elapsed() < self.options.settle {
            return;
        }
        let sides = graphs.iter().zip(&self.sides);
        let views: Vec<View<'_>> =
            sides.map(|(graph, side)| View::of(graph, side.prefix.as_ref(), &left_alone)).collect();
        let planner = Planner {
            own: self.id,
            options: &self.options,
            views: &views,
            sides: &self.sides,
            warnings: &self.warnings,
        };
        let plan = planner.plan();
        self.end_what_is_not_in(&plan, &views);
        self.begin(plan);
    }

    fn end_what_is_not_in(&mut self, plan: &Plan, views: &[View<'_>]) {
        let keeps = |key: &TopicKey| plan.topics.get(key).is_some_and(|planned| planned.keeps);
        for (key, topic) in take_out(&mut self.topics, |key| !keeps(key)) {
            let name = views[key.from].topics.get(key.topic.as_str());
            if name.is_none_or(|name| name.offers.is_empty()) {
                topic.end_deserted();
            } else {
                topic.way.end();
            }
            self.ending_topics.push((key, topic));
        }
        let keeps = |key: &ServiceKey| plan.services.get(key).is_some_and(|planned| planned.keeps);
        for (key, way) in take_out(&mut self.services, |key| !keeps(key)) {
            way.end();
            self.ending_services.push((key, way));
        }
    }

    fn begin(&mut self, plan: Plan) {
        let mut waits = BTreeMap::new();
        self.begin_topics(plan.topics, &mut waits);
        self.begin_services(plan.services, &mut waits);
        self.waiting = waits;
    }

    fn begin_topics(&mut self, planned: BTreeMap<TopicKey, PlannedTopic>, waits: &mut Waits) {
        for (key, planned) in planned {
            if let Some(topic) = self.topics.get(&key) {
                topic.leave(planned.left);
                continue;
            }
            let is_ending = self.ending_topics.iter().any(|(ending, _)| *ending == key);
            let place = (key.from, key.to, key.topic.clone());
            if is_ending || !self.may_begin(place, planned.begins_after, waits) {
                continue;
            }
            let shared = self.shared(key.from, key.to);
            let sides = (&self.sides[key.from], &self.sides[key.to]);
            match topic::carry(&key, (planned.hash, planned.left), sides, shared) {
                Ok(way) => drop(self.topics.insert(key, way)),
                Err(error) => self.report_not_bridged(&key.topic, &error),
            }
        }
    }

    fn begin_services(&mut self, planned: BTreeMap<ServiceKey, PlannedService>, waits: &mut Waits) {
        for (key, planned) in planned {
            let is_ending = self.ending_services.iter().any(|(ending, _)| *ending == key);
            let place = (key.from, key.to, key.service.clone());
            if self.services.contains_key(&key)
                || is_ending
                || !self.may_begin(place, planned.begins_after, waits)
            {
                continue;
            }
            let shared = self.shared(key.from, key.to);
            let sides = (&self.sides[key.from], &self.sides[key.to]);
            match service::carry(&key, planned.hashes, sides, shared) {
                Ok(way) => drop(self.services.insert(key, way)),
                Err(error) => self.report_not_bridged(&key.service, &error),
            }
        }
    }

    /// Whether a name has waited long enough. `rank` is the number of bridges with precedence.
    /// `None` means that another bridge already handles the name.
    fn may_begin(
        &self,
        place: (usize, usize, String),
        rank: Option<u32>,
        waits: &mut Waits,
    ) -> bool {
        let Some(rank) = rank else { return false };
        if self.topics.len() + self.services.len() >= MOST_WAYS {
            self.warnings.warn_once(format!(
                "no further names are bridged: the limit is {MOST_WAYS}; choose some with --topics and --services"
            ));
            return false;
        }
        if rank == 0 || waits.len() >= MOST_WAITING {
            return true;
        }
        let since = self.waiting.get(&place).copied().unwrap_or_else(Instant::now);
        waits.insert(place, since);
        since.elapsed() >= PRECEDENCE * rank
    }

    fn shared(&mut self, from: usize, to: usize) -> Shared {
        Shared {
            mark: BridgeMark { bridge: self.id, from: u32::try_from(from).unwrap_or(u32::MAX) },
            queue_len: self.options.queue_len,
            counters: self.counters.entry((from, to)).or_default().clone(),
            warnings: self.warnings.clone(),
        }
    }

    fn report_not_bridged(&self, name: &str, reason: &dyn Display) {
        self.warnings.warn_once(format!("{name} is not bridged: {reason}"));
    }

    /// Waits until an endpoint appears or leaves on any side, for at most `timeout`. May return
    /// early.
    pub fn wait_for_change(&self, timeout: Duration) {
        self.bell.wait(Some(timeout));
    }

    /// Returns a handle that ends a call of [`Bridge::wait_for_change`].
    #[must_use]
    pub fn waker(&self) -> Waker {
        Waker(self.bell.clone())
    }

    /// Returns the current counts, for each pair of sides (from, to) that has bridged names.
    #[must_use]
    pub fn counts(&self) -> BTreeMap<(usize, usize), Counts> {
        self.counters.iter().map(|(way, counters)| (*way, counters.read())).collect()
    }

    /// Returns the names that are currently bridged.
    #[must_use]
    pub fn bridged(&self) -> Vec<Bridged> {
        let topics = self.topics.keys().map(|key| Bridged {
            is_service: false,
            name: key.topic.clone(),
            type_name: key.type_name.clone(),
            from: key.from,
            to: key.to,
        });
        let services = self.services.keys().map(|key| Bridged {
            is_service: true,
            name: key.service.clone(),
            type_name: key.type_name.clone(),
            from: key.from,
            to: key.to,
        });
        let mut all: Vec<Bridged> = topics.chain(services).collect();
        all.sort();
        all.dedup();
        all
    }

    /// Returns the name that a topic or service, given without prefix, has on a side.
    ///
    /// # Panics
    /// Panics if there is no such side.
    #[must_use]
    pub fn name_on<'a>(&self, side: usize, name: &'a str) -> Cow<'a, str> {
        self.sides[side].name_here(name)
    }

    /// The number of other bridges that share at least two sides with this bridge.
    #[must_use]
    pub fn other_bridges(&self) -> usize {
        let mut seen = BTreeMap::<u64, usize>::new();
        for side in &self.sides {
            let graph = side.session.graph();
            for bridge in View::of(&graph, side.prefix.as_ref(), &BTreeSet::new()).bridges {
                *seen.entry(bridge).or_default() += 1;
            }
        }
        seen.into_iter().filter(|(bridge, sides)| *bridge != self.id && *sides > 1).count()
    }

    /// Forwards the messages that have arrived, withdraws all endpoints, and then returns the final
    /// counts.
    #[must_use]
    pub fn finish(mut self) -> BTreeMap<(usize, usize), Counts> {
        self.end_all();
        self.counts()
    }

    /// Ends all threads in parallel.
    fn end_all(&mut self) {
        let topics = self.topics.values().map(|topic| &topic.way);
        topics.chain(self.services.values()).for_each(Way::end);
        self.topics.clear();
        self.services.clear();
        self.ending_topics.clear();
        self.ending_services.clear();
    }
}

fn take_out<K: Ord + Clone, W>(
    ways: &mut BTreeMap<K, W>,
    is_wanted: impl Fn(&K) -> bool,
) -> Vec<(K, W)> {
    let keys: Vec<K> = ways.keys().filter(|key| is_wanted(key)).cloned().collect();
    keys.into_iter().filter_map(|key| ways.remove_entry(&key)).collect()
}

impl Drop for Bridge {
    fn drop(&mut self) {
        self.end_all();
    }
}
