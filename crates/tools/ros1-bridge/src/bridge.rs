//! The bridge: its state, and an update, which compares both sides.

mod action_choice;
mod choice;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use feros_engine::Selection;
use feros_ros1::{Catalog, MasterError, Rules};

use crate::counts::{Counters, Counts};
use crate::error::BridgeError;
use crate::facing::{Facing, Wanted};
use crate::names::{forbidden, is_hidden};
use crate::sides::{Ros1Side, Ros2Side};
use crate::topic::{OneToTwo, TwoToOne};
use crate::types::Types;
use crate::{actions, service};

/// The options of a bridge.
#[derive(Clone, Debug)]
pub struct BridgeOptions {
    /// The topics to bridge.
    pub topics: Selection,
    /// The services to bridge.
    pub services: Selection,
    /// The actions to bridge.
    pub actions: Selection,
    /// Whether topics of ROS 1 are published in ROS 2 even without a subscription there.
    pub all_of_ros1: bool,
    /// Whether topics of ROS 2 are published in ROS 1 even without a subscriber there.
    pub all_of_ros2: bool,
    /// The limit on messages that wait in a queue.
    pub queue_len: usize,
}

impl Default for BridgeOptions {
    /// Selects all topics, services and actions, with queues of 100 messages.
    fn default() -> Self {
        Self {
            topics: Selection::all(),
            services: Selection::all(),
            actions: Selection::all(),
            all_of_ros1: false,
            all_of_ros2: false,
            queue_len: 100,
        }
    }
}

/// The names of the topics, services and actions that are currently bridged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bridged {
    /// Topics from ROS 1 to ROS 2.
    pub to_ros2: BTreeSet<String>,
    /// Topics from ROS 2 to ROS 1.
    pub to_ros1: BTreeSet<String>,
    /// Services of ROS 1 that ROS 2 can call.
    pub services_of_ros1: BTreeSet<String>,
    /// Services of ROS 2 that ROS 1 can call.
    pub services_of_ros2: BTreeSet<String>,
    /// Actions of ROS 1 that ROS 2 can use.
    pub actions_of_ros1: BTreeSet<String>,
    /// Actions of ROS 2 that ROS 1 can use.
    pub actions_of_ros2: BTreeSet<String>,
}

/// A bridge. Call [`Bridge::update`] repeatedly, and spin the ROS 2 node at the same time.
pub struct Bridge {
    ros1: feros_ros1::Node,
    ros2: feros::Node,
    types: Arc<Types>,
    options: BridgeOptions,
    counters: Arc<Counters>,
    /// Whether the master answered the last call; `None` before the first call.
    master_is_there: Option<bool>,
    to_ros2: BTreeMap<String, OneToTwo>,
    to_ros1: BTreeMap<String, TwoToOne>,
    of_ros1: BTreeMap<String, service::OfRos1>,
    of_ros2: BTreeMap<String, service::OfRos2>,
    actions_of_ros1: BTreeMap<String, actions::OfRos1>,
    actions_of_ros2: BTreeMap<String, actions::OfRos2>,
    /// Actions whose names one of the sides does not allow.
    forbidden_actions: BTreeSet<String>,
    /// Services that could not be bridged, each with its server or type and the time of the
    /// attempt.
    refused: BTreeMap<String, (String, Instant)>,
    /// Actions that could not be bridged, each with its type and the time of the attempt.
    refused_actions: BTreeMap<String, (String, Instant)>,
    /// The bridges of other masters, once this bridge has subscribed to their announcements.
    facing: Option<Facing>,
    /// The master's own URI, once known.
    master_uri: Option<String>,
}

/// How long an ending bridge may take to unregister from the master.
const FAREWELL: Duration = Duration::from_secs(2);
/// The time between attempts to bridge a name. Each attempt to bridge a service opens a connection
/// to the server.
const RETRY_REFUSED: Duration = Duration::from_secs(10);

impl Bridge {
    /// Creates a bridge between two nodes.
    #[must_use]
    pub fn new(
        ros1: feros_ros1::Node,
        ros2: feros::Node,
        (set, catalog, rules): (feros_interface::InterfaceSet, Catalog, Rules),
        options: BridgeOptions,
    ) -> Self {
        Self {
            ros1,
            ros2,
            types: Arc::new(Types::new(feros_ros1::Types { set, catalog, rules })),
            options,
            counters: Arc::default(),
            master_is_there: None,
            to_ros2: BTreeMap::new(),
            to_ros1: BTreeMap::new(),
            of_ros1: BTreeMap::new(),
            of_ros2: BTreeMap::new(),
            actions_of_ros1: BTreeMap::new(),
            actions_of_ros2: BTreeMap::new(),
            forbidden_actions: BTreeSet::new(),
            refused: BTreeMap::new(),
            refused_actions: BTreeMap::new(),
            facing: None,
            master_uri: None,
        }
    }

    /// Examines both sides and updates which names are bridged: those that one side offers and the
    /// other wants.
    ///
    /// If the master is absent, the bridge waits for it. One warning is logged when the master
    /// leaves and one when it comes back.
    ///
    /// The update ends early if `is_over` returns true, since a master may be slow or have very
    /// many topics.
    ///
    /// # Errors
    /// Returns an error if the master told the bridge to end.
    pub fn update(&mut self, is_over: &dyn Fn() -> bool) -> Result<(), BridgeError> {
        if let Some(reason) = self.ros1.told_to_end() {
            return Err(BridgeError::Ended { reason });
        }
        let ros1 = match self.look_at_ros1(is_over) {
            Ok(ros1) => ros1,
            Err(error) => {
                self.lose_master(&error);
                return Ok(());
            }
        };
        if self.master_is_there == Some(false) {
            let address = self.ros1.master().address();
            self.counters.warn(format_args!("the ROS 1 master at {address} answers now"));
        }
        self.master_is_there = Some(true);
        let ros2 = Ros2Side::of(&self.ros2);
        self.update_actions(&ros1, &ros2, is_over);
        self.update_topics(&ros1, &ros2, is_over);
        self.update_services(&ros1, &ros2, is_over);
        if !self.is_over(is_over) {
            self.look_at_other_bridges(&ros1, &ros2);
        }
        Ok(())
    }

    /// Whether an update must end, because the user asked for it or the master no longer answers.
    fn is_over(&self, is_over: &dyn Fn() -> bool) -> bool {
        is_over() || self.master_is_there != Some(true)
    }

    fn lose_master(&mut self, error: &MasterError) {
        if self.master_is_there != Some(false) {
            self.counters.warn(format_args!("{error}; waiting for it"));
        }
        self.master_is_there = Some(false);
        self.master_uri = None;
    }

    /// Announces the topics that this bridge waits for to bridges of other masters, and warns about
    /// topics on which both bridges wait.
    fn look_at_other_bridges(&mut self, ros1: &Ros1Side, ros2: &Ros2Side) {
        if self.master_uri.is_none() {
            self.master_uri = self.ros1.master().own_uri().ok();
        }
        if self.facing.is_none() {
            self.facing = Facing::new(&self.ros2)
                .inspect_err(|error| tracing::debug!("cannot listen to other bridges: {error}"))
                .ok();
        }
        let (Some(master), Some(mut facing)) = (self.master_uri.clone(), self.facing.take()) else {
            return;
        };
        let is_mine = |topic: &str| {
            // Each master has a log of its own.
            topic != "/rosout"
                && self.options.topics.has(topic)
                && !is_hidden(topic)
                && !self.is_of_action(topic)
                && forbidden(topic).is_none()
        };
        let there = |topic: &str| ros2.topics.get(topic);
        let waits = |topic: &&String| {
            is_mine(topic) && there(topic).is_none_or(|there| there.published(topic).is_none())
        };
        let topics = ros1.subscribers.keys().filter(waits).cloned().collect();
        let offered = |topic: &str| {
            !self.options.all_of_ros1
                && ros1.publishers.contains(topic)
                && is_mine(topic)
                && there(topic).is_none_or(|there| there.subscribed_types().is_empty())
        };
        facing.tell(&self.ros2, Wanted { master: master.clone(), topics });
        if let Some(warning) = facing.warning(&self.ros2, &master, offered) {
            tracing::warn!("{warning}");
        }
        self.facing = Some(facing);
    }

    /// Returns the counts so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut counts = self.counters.read();
        counts.dropped_for_ros1 += self.to_ros1.values().map(TwoToOne::dropped).sum::<u64>();
        counts
    }

    /// Returns the names of the topics, services and actions that are currently bridged.
    #[must_use]
    pub fn bridged(&self) -> Bridged {
        let (of_ros1, of_ros2) = (self.actions_of_ros1.iter(), self.actions_of_ros2.iter());
        Bridged {
            to_ros2: self.to_ros2.keys().cloned().collect(),
            to_ros1: self.to_ros1.keys().cloned().collect(),
            services_of_ros1: self.of_ros1.keys().cloned().collect(),
            services_of_ros2: self.of_ros2.keys().cloned().collect(),
            actions_of_ros1: of_ros1
                .filter(|(_, way)| way.is_served())
                .map(|(name, _)| name.clone())
                .collect(),
            actions_of_ros2: of_ros2
                .filter(|(_, way)| way.is_served())
                .map(|(name, _)| name.clone())
                .collect(),
        }
    }

    fn look_at_ros1(&self, is_over: &dyn Fn() -> bool) -> Result<Ros1Side, MasterError> {
        let state = self.ros1.refresh(is_over)?;
        Ok(Ros1Side::of(state, self.ros1.master().topic_types()?, self.ros1.name()))
    }

    /// Whether one of the sides does not allow a name. Logs a warning once.
    fn is_forbidden(&self, kind: &str, name: &str) -> bool {
        let reason = forbidden(name);
        if let Some(reason) = &reason {
            self.counters.warn_once(format!(
                "the {kind} {} is not bridged: {reason}",
                feros_ros1::shown_name(name)
            ));
        }
        reason.is_some()
    }

    fn report_not_bridged(&mut self, name: &str, error: &BridgeError) {
        if let Some(error @ MasterError::Unreachable { .. }) = error.of_master() {
            return self.lose_master(error);
        }
        self.counters.warn_once(format!("{name} is not bridged: {error}"));
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        self.ros1.leave_within(FAREWELL);
    }
}
