//! Chooses the topics and services to bridge: those that one side offers and the other side wants.

use std::time::{Duration, Instant};

use feros_interface::TypeName;

use super::{Bridge, RETRY_REFUSED};
use crate::error::BridgeError;
use crate::names::{is_hidden, is_of_every_node, is_of_ros2_itself};
use crate::service;
use crate::sides::{Ros1Side, Ros2Side};
use crate::topic::{OneToTwo, TwoToOne};

/// How long one update may take to ask servers for the types of their services.
const PROBES_WITHIN: Duration = Duration::from_secs(5);

impl Bridge {
    /// Updates which topics are bridged, and in which direction.
    pub(super) fn update_topics(
        &mut self,
        ros1: &Ros1Side,
        ros2: &Ros2Side,
        is_over: &dyn Fn() -> bool,
    ) {
        let mut names: Vec<&String> = ros1.topics().chain(ros2.topics.keys()).collect();
        names.sort_unstable();
        names.dedup();
        let is_gone = |name: &String| names.binary_search(&name).is_err();
        self.to_ros2.retain(|name, _| !is_gone(name));
        self.to_ros1.retain(|name, _| !is_gone(name));
        for name in names {
            if self.is_over(is_over) {
                return;
            }
            if !self.options.topics.has(name) || is_hidden(name) || self.is_of_action(name) {
                continue;
            }
            if self.is_forbidden("topic", name) {
                continue;
            }
            self.update_to_ros2(name, ros1, ros2);
            self.update_to_ros1(name, ros1, ros2);
        }
    }

    fn update_to_ros2(&mut self, topic: &str, ros1: &Ros1Side, ros2: &Ros2Side) {
        let there = ros2.topics.get(topic);
        let used: Vec<&str> = there.map(|topic| topic.subscribed_types()).unwrap_or_default();
        let is_wanted =
            ros1.publishers.contains(topic) && (!used.is_empty() || self.options.all_of_ros1);
        let named = ros1.types.get(topic);
        let (true, Some(ros1_type)) = (is_wanted, named) else {
            self.to_ros2.remove(topic);
            return;
        };
        let ros2_type = match self.types.ros2_message(ros1_type, &used) {
            Ok(ros2_type) => ros2_type,
            Err(error) => {
                self.to_ros2.remove(topic);
                return self.report_not_bridged(topic, &error.into());
            }
        };
        let is_same = |way: &OneToTwo| way.ros1_type == *ros1_type && way.ros2_type == ros2_type;
        if self.to_ros2.get(topic).is_some_and(is_same) {
            return;
        }
        self.to_ros2.remove(topic);
        let made = OneToTwo::new(
            (&self.ros1, &self.ros2),
            topic,
            (ros1_type.clone(), ros2_type),
            &self.types,
            self.options.queue_len,
            &self.counters,
        );
        match made {
            Ok(way) => drop(self.to_ros2.insert(topic.to_owned(), way)),
            Err(error) => self.report_not_bridged(topic, &error),
        }
    }

    fn update_to_ros1(&mut self, topic: &str, ros1: &Ros1Side, ros2: &Ros2Side) {
        let published = ros2.topics.get(topic).and_then(|there| there.published(topic));
        let subscribers = ros1.subscribers.get(topic).copied();
        let is_wanted = subscribers.is_some() || self.options.all_of_ros2;
        let (true, Some((types, offered))) = (is_wanted, published) else {
            self.to_ros1.remove(topic);
            return;
        };
        let named = ros1.types.get(topic).cloned();
        // The publishers of ROS 2 determine the type. If they have several types, the ROS 1 type
        // selects one.
        let found = match &named {
            Some(ros1_type) => {
                self.types.ros2_message(ros1_type, &types).map_err(BridgeError::from)
            }
            None => types[0]
                .parse::<TypeName>()
                .map_err(|_| feros_ros1::TypeError::NoRos2 { ros1: types[0].to_owned() }.into()),
        };
        let ros2_type = match found {
            Ok(ros2_type) => ros2_type,
            Err(error) => {
                self.to_ros1.remove(topic);
                return self.report_not_bridged(topic, &error);
            }
        };
        let is_same = |way: &TwoToOne| {
            way.ros2_type == ros2_type
                && way.offered == offered
                && (way.ros1_type == named || way.ros1_type.is_none())
        };
        if let Some(way) = self.to_ros1.get(topic).filter(|way| is_same(way)) {
            return way.update();
        }
        self.to_ros1.remove(topic);
        let made = TwoToOne::new(
            (&self.ros1, &self.ros2),
            (topic, subscribers.unwrap_or(1)),
            (named, ros2_type),
            offered,
            &self.types,
            self.options.queue_len,
            &self.counters,
        );
        match made {
            Ok(way) => drop(self.to_ros1.insert(topic.to_owned(), way)),
            Err(error) => self.report_not_bridged(topic, &error),
        }
    }

    /// Updates which services are bridged: those that have a server on one side.
    pub(super) fn update_services(
        &mut self,
        ros1: &Ros1Side,
        ros2: &Ros2Side,
        is_over: &dyn Fn() -> bool,
    ) {
        let began = Instant::now();
        let chosen = self.options.services.clone();
        let selected = |name: &str| chosen.has(name) && !is_hidden(name);
        self.of_ros1.retain(|name, way| {
            ros1.services.get(name).is_some_and(|server| *server == way.server)
                && !ros2.services.contains_key(name)
        });
        self.of_ros2.retain(|name, way| {
            ros2.services.get(name).is_some_and(|ty| *ty == way.ros2_type.to_string())
        });
        self.refused.retain(|name, (who, tried)| {
            let there = [ros1.services.get(name), ros2.services.get(name)];
            there.contains(&Some(who)) && tried.elapsed() < RETRY_REFUSED
        });
        for (name, server) in &ros1.services {
            if self.is_over(is_over) || began.elapsed() >= PROBES_WITHIN {
                break;
            }
            if !selected(name)
                || self.of_ros1.contains_key(name)
                || self.refused.contains_key(name)
                || is_of_every_node(name)
                || self.is_forbidden("service", name)
            {
                continue;
            }
            if ros2.services.contains_key(name) {
                self.counters.warn_once(format!(
                    "the service {name} is not bridged: it has a server on both sides"
                ));
                continue;
            }
            let sides = (&self.ros1, &self.ros2);
            match service::OfRos1::new(sides, name, server, &self.types, &self.counters) {
                Ok(way) => drop(self.of_ros1.insert(name.clone(), way)),
                Err(error) => {
                    self.refused.insert(name.clone(), (server.clone(), Instant::now()));
                    self.report_not_bridged(name, &error);
                }
            }
        }
        for (name, ty) in &ros2.services {
            if self.is_over(is_over) {
                return;
            }
            if !selected(name)
                || self.of_ros2.contains_key(name)
                || self.refused.contains_key(name)
                || ros1.services.contains_key(name)
                || is_of_ros2_itself(ty)
                || self.is_forbidden("service", name)
            {
                continue;
            }
            let Ok(ros2_type) = ty.parse::<TypeName>() else { continue };
            let sides = (&self.ros1, &self.ros2);
            match service::OfRos2::new(sides, name, ros2_type, &self.types, &self.counters) {
                Ok(way) => drop(self.of_ros2.insert(name.clone(), way)),
                Err(error) => {
                    self.refused.insert(name.clone(), (ty.clone(), Instant::now()));
                    self.report_not_bridged(name, &error);
                }
            }
        }
    }
}
