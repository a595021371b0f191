//! A topic to which a node subscribes over TCPROS. The node's subscriptions to the topic share this
//! state.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use feros_engine::engine::LOG_TARGET;
use feros_engine::{EndpointKind, Gid};
use feros_ros1::{ConnectionHeader, Plan, Ros1Type, Sink, Subscription, not_received, type_text};
use feros_sync::Mutex;

use crate::matches::{Matches, apart};
use crate::message::{Body, Inbox, Message};
use crate::others::gid_of;

/// A subscription that is being added.
pub(crate) struct Joining {
    pub(crate) gid: Gid,
    pub(crate) inbox: Arc<Inbox>,
    pub(crate) matches: Arc<Matches>,
}

#[derive(Default)]
struct Links {
    subscriptions: Vec<Joining>,
    /// The connected publishers, each with its number of connections.
    known: BTreeMap<Gid, usize>,
    /// The last message of each latching publisher, for subscriptions that are added later.
    latched: BTreeMap<Gid, Message>,
}

/// The state that a node's subscriptions to one topic share.
pub(crate) struct Incoming {
    pub(crate) topic: String,
    pub(crate) ros2_type: String,
    ros1_type: String,
    md5sum: String,
    plan: Plan,
    subscription: OnceLock<Arc<Subscription>>,
    links: Mutex<Links>,
}

impl Incoming {
    pub(crate) fn new(topic: &str, ros2_type: &str, ros1: &Ros1Type, plan: Plan) -> Self {
        Self {
            topic: topic.to_owned(),
            ros2_type: ros2_type.to_owned(),
            ros1_type: type_text(&ros1.name),
            md5sum: ros1.md5sum.clone(),
            plan,
            subscription: OnceLock::new(),
            links: Mutex::default(),
        }
    }

    /// Stores the ROS 1 subscription after it has been created.
    pub(crate) fn begin(&self, subscription: Arc<Subscription>) {
        let _ = self.subscription.set(subscription); // this is set only once, by the creator
    }

    pub(crate) fn subscription(&self) -> Option<&Arc<Subscription>> {
        self.subscription.get()
    }

    pub(crate) fn join(&self, joining: Joining) {
        let matches = joining.matches.clone();
        {
            let mut links = self.links.lock();
            for publisher in links.known.keys() {
                matches.appeared(*publisher, apart());
            }
            // As in roscpp, each further subscription of the node gets the latched messages.
            links.latched.values().for_each(|message| joining.inbox.push(message.clone()));
            links.subscriptions.push(joining);
        }
        matches.notify();
    }

    /// Removes a subscription. Returns true if it was the last subscription.
    pub(crate) fn leave(&self, gid: Gid) -> bool {
        let mut links = self.links.lock();
        links.subscriptions.retain(|subscription| subscription.gid != gid);
        links.subscriptions.is_empty()
    }

    /// Checks a publisher that has connected, and returns the sink for its messages.
    pub(crate) fn accept(self: &Arc<Self>, header: &ConnectionHeader) -> Result<Sink, String> {
        let (who, md5sum) = (header.get("callerid"), header.get("md5sum"));
        if md5sum != self.md5sum && md5sum != "*" {
            let ours = (&*self.ros1_type, &*self.md5sum);
            return Err(not_received(&self.topic, who, (header.get("type"), md5sum), ours));
        }
        let publisher = gid_of(EndpointKind::Publisher, who, &self.topic);
        let is_latching = header.get("latching") == "1";
        let link = Link::new(self, publisher);
        Ok(Box::new(move |body| link.put(body, is_latching)))
    }
}

/// A connection to a publisher. Dropping this value ends the match.
struct Link {
    incoming: Arc<Incoming>,
    publisher: Gid,
}

impl Link {
    fn new(incoming: &Arc<Incoming>, publisher: Gid) -> Self {
        {
            let mut links = incoming.links.lock();
            *links.known.entry(publisher).or_default() += 1;
            for subscription in &links.subscriptions {
                subscription.matches.appeared(publisher, apart());
            }
        }
        notify(incoming);
        Self { incoming: incoming.clone(), publisher }
    }

    fn put(&self, ros1: &[u8], is_latching: bool) {
        let body = Body::converted(&self.incoming.plan, ros1);
        let mut links = self.incoming.links.lock();
        let body = match body {
            Ok(body) => Arc::new(body),
            Err(error) => {
                // Each subscription counts the message, and the log has it at most once.
                let count = |told, one: &Joining| one.inbox.count_refused().or(told);
                if let Some(count) = links.subscriptions.iter().fold(None, count) {
                    tracing::warn!(
                        target: LOG_TARGET,
                        "a ROS 1 message on {} was refused ({count} so far): {error}",
                        self.incoming.topic
                    );
                }
                return;
            }
        };
        let from = self.publisher;
        let message = Message { body, from, number: None, stamp: None, at: SystemTime::now() };
        if is_latching {
            links.latched.insert(from, message.clone());
        }
        for subscription in &links.subscriptions {
            subscription.inbox.push(message.clone());
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        {
            let mut links = self.incoming.links.lock();
            let left = links.known.get_mut(&self.publisher).map(|count| {
                *count -= 1;
                *count
            });
            if left != Some(0) {
                return;
            }
            links.known.remove(&self.publisher);
            links.latched.remove(&self.publisher);
            for subscription in &links.subscriptions {
                subscription.matches.left(self.publisher);
            }
        }
        notify(&self.incoming);
    }
}

fn notify(incoming: &Incoming) {
    let links = incoming.links.lock();
    let all: Vec<_> = links.subscriptions.iter().map(|one| one.matches.clone()).collect();
    drop(links);
    all.iter().for_each(|matches| matches.notify());
}
