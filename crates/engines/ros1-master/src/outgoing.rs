//! A topic that a node publishes over TCPROS. The node's publishers on the topic share this state.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use feros_engine::{EndpointKind, Gid};
use feros_interface::{BaseType, Shape};
use feros_ros1::{ConvertError, Plan, Publication, Ros1Type};
use feros_sync::{AtomicU32, Mutex, Ordering};

use crate::matches::{Matches, apart};
use crate::others::gid_of;

#[derive(Default)]
struct Links {
    publishers: Vec<(Gid, Arc<Matches>)>,
    /// The connected subscribers.
    known: BTreeSet<Gid>,
}

/// The state that a node's publishers on one topic share.
pub(crate) struct Outgoing {
    pub(crate) topic: String,
    pub(crate) ros2_type: String,
    plan: Plan,
    /// This is set if the topic is the node's log, because each log message must list the topics
    /// that the node publishes.
    logs_of: Option<feros_ros1::Node>,
    /// Whether messages begin with a header, whose sequence number publishers increment.
    has_number: bool,
    number: AtomicU32,
    publication: OnceLock<Arc<Publication>>,
    links: Mutex<Links>,
}

impl Outgoing {
    pub(crate) fn new(
        topic: &str,
        ros2_type: &str,
        ty: &Ros1Type,
        plan: Plan,
        node: &feros_ros1::Node,
    ) -> Self {
        Self {
            topic: topic.to_owned(),
            ros2_type: ros2_type.to_owned(),
            plan,
            logs_of: ends_with_topics(ty, ros2_type).then(|| node.clone()),
            has_number: ty.begins_with_header(),
            number: AtomicU32::new(0),
            publication: OnceLock::new(),
            links: Mutex::default(),
        }
    }

    /// Stores the ROS 1 publication after it has been created.
    pub(crate) fn begin(&self, publication: Arc<Publication>) {
        let _ = self.publication.set(publication); // this is set only once, by the creator
    }

    pub(crate) fn publication(&self) -> Option<&Arc<Publication>> {
        self.publication.get()
    }

    pub(crate) fn is_wanted(&self) -> bool {
        self.publication.get().is_some_and(|publication| publication.connections() > 0)
    }

    /// Converts a message to the ROS 1 format, in memory that may already have been used.
    pub(crate) fn framed(&self, mut framed: Vec<u8>, cdr: &[u8]) -> Result<Vec<u8>, ConvertError> {
        framed.clear();
        framed.reserve(cdr.len() + 64);
        framed.extend_from_slice(&[0; 4]);
        self.plan.convert(cdr, &mut framed)?;
        if let Some(node) = &self.logs_of {
            put_topics(&mut framed, &node.published_topics());
        }
        let len = u32::try_from(framed.len() - 4).unwrap_or(u32::MAX);
        framed[..4].copy_from_slice(&len.to_le_bytes());
        Ok(framed)
    }

    /// Writes the next sequence number into the header, if messages have a header.
    pub(crate) fn number(&self, framed: &mut [u8]) {
        if self.has_number {
            let number = self.number.fetch_add(1, Ordering::Relaxed);
            framed[4..8].copy_from_slice(&number.to_le_bytes());
        }
    }

    pub(crate) fn join(&self, gid: Gid, matches: &Arc<Matches>) {
        let known: Vec<Gid> = {
            let mut links = self.links.lock();
            links.publishers.push((gid, matches.clone()));
            links.known.iter().copied().collect()
        };
        known.iter().for_each(|subscriber| matches.appeared(*subscriber, apart()));
        matches.notify();
    }

    /// Removes a publisher. Returns true if it was the last publisher.
    pub(crate) fn leave(&self, gid: Gid) -> bool {
        let mut links = self.links.lock();
        links.publishers.retain(|(other, _)| *other != gid);
        links.publishers.is_empty()
    }

    /// Updates the matches after a subscriber has connected or left.
    pub(crate) fn refresh(&self, publication: &Publication) {
        let publishers = {
            let mut links = self.links.lock();
            let connected = publication.subscribers();
            let kind = EndpointKind::Subscription;
            let now: BTreeSet<Gid> =
                connected.iter().map(|node| gid_of(kind, node, &self.topic)).collect();
            for (_, matches) in &links.publishers {
                for gone in links.known.difference(&now) {
                    matches.left(*gone);
                }
                for new in now.difference(&links.known) {
                    matches.appeared(*new, apart());
                }
            }
            links.known = now;
            links.publishers.clone()
        };
        publishers.iter().for_each(|(_, matches)| matches.notify());
    }
}

/// Whether the type is the log message of ROS 1, whose last field lists the topics that the node
/// publishes. The log message of ROS 2 does not have this field.
fn ends_with_topics(ty: &Ros1Type, ros2_type: &str) -> bool {
    let own = ty.message(&ty.name);
    let last = own.and_then(|message| message.definition.fields.last());
    feros_ros1::type_text(&ty.name) == "rosgraph_msgs/Log"
        && ros2_type == "rcl_interfaces/msg/Log"
        && last.is_some_and(|field| {
            field.name == "topics"
                && field.ty.shape == Shape::Sequence
                && field.ty.base == BaseType::String { bound: None }
        })
}

/// Replaces the empty list at the end of a message with these names.
fn put_topics(framed: &mut Vec<u8>, topics: &[String]) {
    let count = |len: usize| u32::try_from(len).unwrap_or(u32::MAX).to_le_bytes();
    framed.truncate(framed.len() - 4);
    framed.extend_from_slice(&count(topics.len()));
    for topic in topics {
        framed.extend_from_slice(&count(topic.len()));
        framed.extend_from_slice(topic.as_bytes());
    }
}
