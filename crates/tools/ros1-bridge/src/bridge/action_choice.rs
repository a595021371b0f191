//! Chooses the actions to bridge: those that have a server on one side.

use std::collections::BTreeMap;
use std::time::Instant;

use feros_interface::{Namespace, TypeName};
use feros_ros1::{ACTION_TOPICS, MasterError};

use super::{Bridge, RETRY_REFUSED};
use crate::actions::{OfRos1, OfRos2};
use crate::error::BridgeError;
use crate::names::is_hidden;
use crate::sides::{Ros1Side, Ros2Side};

impl Bridge {
    /// Updates which actions are bridged: those that have a server on one side.
    pub(super) fn update_actions(
        &mut self,
        ros1: &Ros1Side,
        ros2: &Ros2Side,
        is_over: &dyn Fn() -> bool,
    ) {
        let (servers, others) = (ros1.actions(), ros2.actions());
        self.actions_of_ros1.retain(|name, way| {
            let is_there = servers.get(name).is_some_and(|ty| *ty == way.ros1_type);
            is_there && !others.contains_key(name)
        });
        self.actions_of_ros2.retain(|name, way| {
            way.note_server(others.get(name).is_some_and(|ty| *ty == way.ros2_type.to_string()))
        });
        self.refused_actions.retain(|name, (ty, tried)| {
            let there = [servers.get(name), others.get(name)];
            there.contains(&Some(ty)) && tried.elapsed() < RETRY_REFUSED
        });
        self.forbidden_actions = servers
            .keys()
            .chain(others.keys())
            .filter(|name| self.options.actions.has(name) && !is_hidden(name))
            .filter(|name| self.is_forbidden("action", name))
            .cloned()
            .collect();
        for way in self.actions_of_ros1.values_mut() {
            way.update();
        }
        for way in self.actions_of_ros2.values_mut() {
            way.update();
        }
        for (name, ty) in &servers {
            if self.is_over(is_over) {
                return;
            }
            if !self.is_new_action(name) {
                continue;
            }
            if others.contains_key(name) {
                self.counters.warn_once(format!(
                    "the action {name} is not bridged: it has a server on both sides"
                ));
                continue;
            }
            self.leave_topics(name);
            let sides = (&self.ros1, &self.ros2);
            match OfRos1::new(sides, name, ty, &self.types, &self.counters) {
                Ok(way) => drop(self.actions_of_ros1.insert(name.clone(), way)),
                Err(error) => self.refuse_action(name, ty, &error),
            }
        }
        for (name, ty) in &others {
            if self.is_over(is_over) {
                return;
            }
            if servers.contains_key(name) || !self.is_new_action(name) {
                continue;
            }
            let Ok(ros2_type) = ty.parse::<TypeName>() else { continue };
            self.leave_topics(name);
            let sides = (&self.ros1, &self.ros2);
            match OfRos2::new(sides, name, ros2_type, &self.types, &self.counters) {
                Ok(way) => drop(self.actions_of_ros2.insert(name.clone(), way)),
                Err(error) => self.refuse_action(name, ty, &error),
            }
        }
    }

    /// Whether an action is selected for bridging and not bridged yet.
    fn is_new_action(&self, name: &str) -> bool {
        self.options.actions.has(name)
            && !is_hidden(name)
            && !self.forbidden_actions.contains(name)
            && !self.actions_of_ros1.contains_key(name)
            && !self.actions_of_ros2.contains_key(name)
            && !self.refused_actions.contains_key(name)
    }

    fn refuse_action(&mut self, name: &str, ty: &str, error: &BridgeError) {
        if let Some(error @ MasterError::Unreachable { .. }) = error.of_master() {
            return self.lose_master(error);
        }
        self.refused_actions.insert(name.to_owned(), (ty.to_owned(), Instant::now()));
        self.counters.warn_once(format!("the action {name} is not bridged: {error}"));
    }

    /// Stops bridging the topics of an action as ordinary topics.
    fn leave_topics(&mut self, action: &str) {
        for topic in ACTION_TOPICS.map(|topic| format!("{action}/{topic}")) {
            self.to_ros2.remove(&topic);
            self.to_ros1.remove(&topic);
        }
    }

    /// Whether a topic belongs to an action that is bridged, or that is not bridged only because of
    /// its name.
    pub(super) fn is_of_action(&self, topic: &str) -> bool {
        topic.rsplit_once('/').is_some_and(|(action, topic)| {
            ACTION_TOPICS.contains(&topic)
                && (self.actions_of_ros1.contains_key(action)
                    || self.actions_of_ros2.contains_key(action)
                    || self.forbidden_actions.contains(action))
        })
    }
}

impl Ros1Side {
    /// Returns the actions that have an actionlib server, with their types, `package/Name`.
    fn actions(&self) -> BTreeMap<String, String> {
        let server = |topic: &String| {
            let action = topic.strip_suffix("/result")?;
            let ty = self.types.get(topic)?.strip_suffix("ActionResult")?;
            let has = |side: &dyn Fn(&str) -> bool, topic| side(&format!("{action}/{topic}"));
            let publishes = |topic: &str| self.publishers.contains(topic);
            let subscribes = |topic: &str| self.subscribers.contains_key(topic);
            let is_server = has(&publishes, "status")
                && has(&publishes, "feedback")
                && has(&subscribes, "goal")
                && has(&subscribes, "cancel");
            is_server.then(|| (action.to_owned(), ty.to_owned()))
        };
        self.publishers.iter().filter_map(server).collect()
    }
}

impl Ros2Side {
    /// Returns the actions that have a ROS 2 server, with their types.
    fn actions(&self) -> BTreeMap<String, String> {
        let server = |(service, ty): (&String, &String)| {
            let action = service.strip_suffix("/_action/send_goal")?;
            let name: TypeName = ty.strip_suffix("_SendGoal")?.parse().ok()?;
            (name.namespace == Namespace::Action).then(|| (action.to_owned(), name.to_string()))
        };
        self.services.iter().filter_map(server).collect()
    }
}
