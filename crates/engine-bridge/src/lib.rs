//! The bridge between engines: topics and services of robots that talk by different engines, or in
//! different domains, and would not hear each other.
//!
//! It knows no type: what is serialized on one side is published as it is on the other. It looks
//! who is there on all sides, and carries what somebody offers on one and somebody wants on
//! another.
//! Nothing is kept for nobody, nothing comes back, and nothing comes twice: what a bridge made is
//! not bridged again, and of several bridges between the same sides one carries each name.
//!
//! | module | holds |
//! |---|---|
//! | `arrivals` | who may be about to show itself on another side too |
//! | `view` | who is on a side |
//! | `process` | which process an endpoint is of |
//! | `plan` | what is to be carried, and what not and why |
//! | `class` | quality of service on the way |
//! | `topic`, `service` | a name's way from one side to another, each with a thread |
//! | `topic_key` | which topic it is, from where to where |
//! | `mirror` | what stands for a publisher on the other side |
#![forbid(unsafe_code)]

mod arrivals;
mod bell;
mod class;
mod counts;
mod mirror;
mod plan;
mod process;
mod service;
mod side;
mod topic;
mod topic_key;
mod view;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::{Duration, Instant};

use feros_rmw::{BridgeMark, CreateEndpointError, NodeName, Selection, Session};

pub use counts::Counts;

use arrivals::Arrivals;
use bell::Bell;
use counts::{Counters, Warnings};
use plan::{Plan, PlannedService, PlannedTopic, Planner};
use service::ServiceKey;
use side::Side;
use topic::{Shared, TopicWay, Way};
use topic_key::TopicKey;
use view::View;

/// What a bridge is asked for.
#[derive(Clone, Debug)]
pub struct BridgeOptions {
    /// The bridge's node on all sides.
    pub node: NodeName,
    /// Which topics.
    pub topics: Selection,
    /// Which services.
    pub services: Selection,
    /// Topics are there on all sides before anybody subscribes to them.
    pub all_topics: bool,
    /// Most messages of a topic that wait for the bridge.
    pub queue_len: usize,
    /// So long the bridge looks who is there before it carries anything: for other bridges to be
    /// seen.
    pub settle: Duration,
}

impl Default for BridgeOptions {
    /// All topics and services, as far as somebody wants them; 100 messages.
    fn default() -> Self {
        Self {
            node: NodeName::announced("/", "feros_bridge"),
            topics: Selection::all(),
            services: Selection::all(),
            all_topics: false,
            queue_len: 100,
            settle: Duration::from_secs(1),
        }
    }
}

/// Why a bridge could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BridgeError {
    /// There is nothing to bridge.
    #[error("a bridge has at least two sides; these are {sides}")]
    Sides {
        /// How many there were.
        sides: usize,
    },
    /// A side refused what shows that the bridge is there.
    #[error("the bridge cannot join {side}: {error}")]
    Join {
        /// The side.
        side: String,
        /// What the engine said.
        error: CreateEndpointError,
    },
}

/// What is carried from one side to another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bridged {
    /// Whether it is a service: then `from` is the server's side. Else a topic.
    pub is_service: bool,
    /// The name.
    pub name: String,
    /// The type.
    pub type_name: String,
    /// The side that it is taken from, as given to [`Bridge::new`].
    pub from: usize,
    /// The side that it is brought to.
    pub to: usize,
}

/// When another bridge between the same sides comes first, it is given so long to carry a name.
const PRECEDENCE: Duration = Duration::from_secs(2);

/// Each name that is carried has a thread.
const MOST_WAYS: usize = 2000;

/// Names that wait for another bridge are forgotten when there are so many.
const MOST_WAITING: usize = 65_536;

/// A bridge. [`Bridge::update`] is called again and again, at best after
/// [`Bridge::wait_for_change`]. Dropping it passes on what has arrived, and withdraws all.
pub struct Bridge {
    id: u64,
    options: BridgeOptions,
    began: Instant,
    arrivals: Arrivals,
    topics: BTreeMap<TopicKey, TopicWay>,
    services: BTreeMap<ServiceKey, Way>,
    /// What passes on the last messages of a name.
    ending_topics: Vec<(TopicKey, TopicWay)>,
    ending_services: Vec<(ServiceKey, Way)>,
    /// Since when names wait for another bridge to carry them.
    waiting: Waits,
    counters: BTreeMap<(usize, usize), Arc<Counters>>,
    warnings: Arc<Warnings>,
    bell: Arc<Bell>,
    /// Last: their ways need them.
    sides: Vec<Side>,
}

/// Since when a name waits for another bridge, by the sides from and to which it would go.
type Waits = BTreeMap<(usize, usize, String), Instant>;

/// Ends a wait of [`Bridge::wait_for_change`] from another thread.
#[derive(Clone)]
pub struct Waker(Arc<Bell>);

impl Waker {
    /// Ends the wait, or the next one.
    pub fn wake(&self) {
        self.0.ring();
    }
}

impl Bridge {
    /// A bridge between sessions, each with a name for messages.
    ///
    /// # Errors
    /// When there are fewer than two, or one refuses the bridge's node.
    pub fn new(
        sessions: Vec<(String, Arc<dyn Session>)>,
        options: BridgeOptions,
    ) -> Result<Self, BridgeError> {
        if sessions.len() < 2 {
            return Err(BridgeError::Sides { sides: sessions.len() });
        }
        // The keys of the standard library's maps come from the system's randomness.
        let id = RandomState::new().hash_one("feros bridge");
        let bell = Arc::<Bell>::default();
        let mut sides = Vec::new();
        for (from, (name, session)) in (0_u32..).zip(sessions) {
            let made = {
                let mark = BridgeMark { bridge: id, from };
                Side::new((name.clone(), session), &options.node, mark, &bell)
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

    /// Looks who is there, and carries what somebody offers on one side and wants on another.
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
        let views: Vec<View<'_>> =
            graphs.iter().map(|graph| View::of(graph, &left_alone)).collect();
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
                Err(error) => self.say_not_bridged(&key.topic, &error),
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
                Err(error) => self.say_not_bridged(&key.service, &error),
            }
        }
    }

    /// Whether a name that `rank` other bridges may carry before this one has waited for them.
    fn may_begin(
        &self,
        place: (usize, usize, String),
        rank: Option<u32>,
        waits: &mut Waits,
    ) -> bool {
        let Some(rank) = rank else { return false };
        if self.topics.len() + self.services.len() >= MOST_WAYS {
            self.warnings.warn_once(format!(
                "no more names are bridged: {MOST_WAYS} are; choose some with --topics and --services"
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

    fn say_not_bridged(&self, name: &str, reason: &dyn Display) {
        self.warnings.warn_once(format!("{name} is not bridged: {reason}"));
    }

    /// Waits until somebody comes or goes on any side, `timeout` at most. May return early.
    pub fn wait_for_change(&self, timeout: Duration) {
        self.bell.wait(Some(timeout));
    }

    /// What ends such a wait.
    #[must_use]
    pub fn waker(&self) -> Waker {
        Waker(self.bell.clone())
    }

    /// What went over it so far, by the sides from which and to which, as far as something was
    /// carried.
    #[must_use]
    pub fn counts(&self) -> BTreeMap<(usize, usize), Counts> {
        self.counters.iter().map(|(way, counters)| (*way, counters.read())).collect()
    }

    /// What is carried now.
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

    /// Other bridges that are on two of its sides or more.
    #[must_use]
    pub fn other_bridges(&self) -> usize {
        let mut seen = BTreeMap::<u64, usize>::new();
        for side in &self.sides {
            for bridge in View::of(&side.session.graph(), &BTreeSet::new()).bridges {
                *seen.entry(bridge).or_default() += 1;
            }
        }
        seen.into_iter().filter(|(bridge, sides)| *bridge != self.id && *sides > 1).count()
    }

    /// Passes on what has arrived, withdraws all, and says what went over it as a whole.
    #[must_use]
    pub fn finish(mut self) -> BTreeMap<(usize, usize), Counts> {
        self.end_all();
        self.counts()
    }

    /// All ways end at the same time.
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
