//! The topics of one node. In ROS 1, a node has only one publisher and only one subscriber for each
//! topic. The node's endpoints share them.

use std::collections::BTreeMap;
use std::sync::Arc;

use feros_engine::{CreateEndpointError, Created, Gid};
use feros_interface::TypeName;
use feros_ros1::{NodeError, OnConnection, PublicationOptions, SubscriptionOptions, TypeError};
use feros_sync::Mutex;

use crate::incoming::{Incoming, Joining};
use crate::matches::Matches;
use crate::outgoing::Outgoing;
use crate::participant::Participant;

/// The topics that a node publishes and subscribes to, by name.
pub(crate) struct NodeTopics {
    participant: Arc<Participant>,
    ros1: feros_ros1::Node,
    outgoing: Mutex<BTreeMap<String, Arc<Outgoing>>>,
    incoming: Mutex<BTreeMap<String, Arc<Incoming>>>,
}

impl NodeTopics {
    pub(crate) fn new(participant: &Arc<Participant>, ros1: &feros_ros1::Node) -> Self {
        Self {
            participant: participant.clone(),
            ros1: ros1.clone(),
            outgoing: Mutex::default(),
            incoming: Mutex::default(),
        }
    }

    /// Adds a publisher to a topic. If it is the node's first publisher, advertises the topic.
    pub(crate) fn publish(
        &self,
        topic: &str,
        (type_name, is_latching): (&str, bool),
        (gid, matches): (Gid, &Arc<Matches>),
    ) -> Created<Arc<Outgoing>> {
        let mut all = self.outgoing.lock();
        if let Some(known) = all.get(topic) {
            check_type(topic, type_name, &known.ros2_type)?;
            known.join(gid, matches);
            return Ok(known.clone());
        }
        let types = self.participant.types();
        let ros2 = parse(topic, type_name)?;
        let ty = types.ros1_message(&ros2).map_err(|error| no_type(topic, &error))?;
        let plans = types.plans(&ty, &ros2).map_err(|error| no_type(topic, &error))?;
        let outgoing = Outgoing::new(topic, type_name, &ty, plans.to_ros1, &self.ros1);
        let outgoing = Arc::new(outgoing);
        outgoing.join(gid, matches);
        let hears = |outgoing: &Arc<Outgoing>| {
            let outgoing = Arc::downgrade(outgoing);
            OnConnection(Arc::new(move |publication| {
                if let Some(outgoing) = outgoing.upgrade() {
                    outgoing.refresh(publication);
                }
            }))
        };
        let publication = self.ros1.advertise(PublicationOptions {
            topic: topic.to_owned(),
            type_name: feros_ros1::type_text(&ty.name),
            md5sum: ty.md5sum.clone(),
            definition: ty.full_text(),
            // Subscribers get this flag. The history is stored separately for each publisher.
            is_latching,
            queue_len: 1,
            on_connection: Some(hears(&outgoing)),
            on_disconnection: Some(hears(&outgoing)),
            is_of_bridge: false,
        });
        outgoing.begin(publication.map_err(|error| refused(topic, "publishing", &error))?);
        all.insert(topic.to_owned(), outgoing.clone());
        Ok(outgoing)
    }

    /// Removes a publisher. If it was the node's last publisher, stops advertising the topic.
    pub(crate) fn unpublish(&self, outgoing: &Arc<Outgoing>, gid: Gid) {
        let mut all = self.outgoing.lock();
        if outgoing.leave(gid) {
            all.remove(&outgoing.topic);
            if let Some(publication) = outgoing.publication() {
                self.ros1.unadvertise(publication);
            }
        }
    }

    /// Adds a subscription to a topic. If it is the node's first subscription, subscribes in ROS 1.
    pub(crate) fn subscribe(
        &self,
        topic: &str,
        type_name: &str,
        joining: Joining,
    ) -> Created<Arc<Incoming>> {
        let mut all = self.incoming.lock();
        if let Some(known) = all.get(topic) {
            check_type(topic, type_name, &known.ros2_type)?;
            known.join(joining);
            return Ok(known.clone());
        }
        let types = self.participant.types();
        let ros2 = parse(topic, type_name)?;
        let ty = types.ros1_message(&ros2).map_err(|error| no_type(topic, &error))?;
        let plans = types.plans(&ty, &ros2).map_err(|error| no_type(topic, &error))?;
        let incoming = Arc::new(Incoming::new(topic, type_name, &ty, plans.to_ros2));
        incoming.join(joining);
        let accepts = Arc::downgrade(&incoming);
        let subscription = self.ros1.subscribe(SubscriptionOptions {
            topic: topic.to_owned(),
            type_name: feros_ros1::type_text(&ty.name),
            md5sum: ty.md5sum.clone(),
            accept: Arc::new(move |header| match accepts.upgrade() {
                Some(incoming) => incoming.accept(header),
                None => Err(format!("{} is no longer subscribed to", header.get("topic"))),
            }),
        });
        incoming.begin(subscription.map_err(|error| refused(topic, "subscribing", &error))?);
        all.insert(topic.to_owned(), incoming.clone());
        Ok(incoming)
    }

    /// Removes a subscription. If it was the node's last subscription, unsubscribes in ROS 1.
    pub(crate) fn unsubscribe(&self, incoming: &Arc<Incoming>, gid: Gid) {
        let mut all = self.incoming.lock();
        if incoming.leave(gid) {
            all.remove(&incoming.topic);
            if let Some(subscription) = incoming.subscription() {
                self.ros1.unsubscribe(subscription);
            }
        }
    }
}

fn check_type(topic: &str, wanted: &str, known: &str) -> Result<(), CreateEndpointError> {
    if wanted == known {
        return Ok(());
    }
    Err(CreateEndpointError::Engine {
        name: topic.to_owned(),
        operation: "using a second type on a topic",
        code: format!(
            "this node uses the topic with type {known}, and a ROS 1 node has only one type per topic, so it cannot \
             also use {wanted}; use another topic or node"
        ),
    })
}

pub(crate) fn parse(name: &str, type_name: &str) -> Created<TypeName> {
    type_name.parse().map_err(|error| CreateEndpointError::Engine {
        name: name.to_owned(),
        operation: "reading the name of its type",
        code: format!("{error}"),
    })
}

pub(crate) fn no_type(name: &str, error: &TypeError) -> CreateEndpointError {
    CreateEndpointError::Engine {
        name: name.to_owned(),
        operation: "finding the ROS 1 type",
        code: format!(
            "{error}; packages are found through FEROS_PREFIX_PATH, AMENT_PREFIX_PATH and \
             FEROS_INTERFACES, ROS 1 packages through ROS_PACKAGE_PATH"
        ),
    }
}

pub(crate) fn refused(
    name: &str,
    operation: &'static str,
    error: &NodeError,
) -> CreateEndpointError {
    CreateEndpointError::Engine { name: name.to_owned(), operation, code: error.to_string() }
}
