//! The subscriptions to topics that clients look at: one for each topic, regardless of the number
//! of clients, which exists as long as any client looks at the topic.
//!
//! A topic whose publishers keep messages for late joiners (transient local) has one subscription
//! for each client, since each client is a late joiner. Such topics have low rates by nature.
//!
//! The executor can hold a limited number of subscriptions. Clients get subscriptions freely until
//! only reserved ones are left. From then on, a client gets another subscription only if it has
//! fewer than its share.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use feros::{
    CreateError, Durability, GenericSubscription, MessageInfo, Node, QosProfile, SerializedMessage,
    SubscriptionOptions, TypeIdentity,
};
use feros_engine::{EndpointKind, GraphSnapshot};
use feros_sync::Mutex;

use crate::server::clients::Client;
use crate::server::clock::SimulatedTime;

/// The queue length of a subscription, for messages that wait for the executor: enough for a burst
/// of small messages, and few enough for a queue in shared memory.
const DEPTH: usize = 64;
/// The number of subscriptions up to which every client gets one on request.
const FREE_TO_TAKE: usize = 2048;
/// The number of further subscriptions, which are reserved in equal shares for the clients that may
/// be connected. The rest of the executor's 4096 entities is for figures and calls.
const SHARED_OUT: usize = 1024;
/// The largest share that is reserved for one client.
const LARGEST_SHARE: usize = 32;

/// The reason why a client does not get the messages of a topic.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FeedError {
    #[error(transparent)]
    Create(#[from] CreateError),
    #[error(
        "all clients together have {all} subscriptions, and this client already has {share}, its \
         share: unsubscribe from other topics, or close other pages"
    )]
    Full { all: usize, share: usize },
}

/// A client that looks at a topic, and the number that it gave the subscription.
#[derive(Clone)]
pub(crate) struct Listener {
    pub(crate) client: Arc<Client>,
    pub(crate) subscription: u32,
}

type Listeners = Arc<Mutex<Vec<Listener>>>;

/// The topics that clients look at, by the number of their channel.
pub(crate) struct Feeds {
    node: Node,
    time: SimulatedTime,
    by_channel: HashMap<u32, Feed>,
    share: usize,
}

struct Feed {
    topic: String,
    identity: TypeIdentity,
    is_latched: bool,
    /// Either one subscription for all listeners, or one for each listener.
    subscriptions: Vec<(Listeners, GenericSubscription)>,
}

impl Feeds {
    pub(crate) fn new(node: Node, time: SimulatedTime, most_clients: usize) -> Self {
        Self { node, time, by_channel: HashMap::new(), share: share(most_clients) }
    }

    /// Subscribes a listener to a channel; its client has `others` other subscriptions.
    pub(crate) fn add(
        &mut self,
        channel: u32,
        topic: &str,
        identity: TypeIdentity,
        listener: Listener,
        others: usize,
        graph: &GraphSnapshot,
    ) -> Result<(), FeedError> {
        let all = self.count();
        if !is_free(all, others, self.share) {
            return Err(FeedError::Full { all, share: self.share });
        }
        if let Some(feed) = self.by_channel.get_mut(&channel) {
            return Ok(feed.add(&self.node, &self.time, listener)?);
        }
        let is_latched = is_latched(graph, topic, &identity.name);
        let topic = topic.to_owned();
        let mut feed = Feed { topic, identity, is_latched, subscriptions: Vec::new() };
        feed.add(&self.node, &self.time, listener)?;
        self.by_channel.insert(channel, feed);
        Ok(())
    }

    /// Removes one listener from a channel.
    pub(crate) fn remove(&mut self, channel: u32, client: u64, subscription: u32) {
        self.retain(channel, |listener| {
            listener.client.id != client || listener.subscription != subscription
        });
    }

    fn retain(&mut self, channel: u32, stays: impl Fn(&Listener) -> bool) {
        let Some(feed) = self.by_channel.get_mut(&channel) else { return };
        feed.subscriptions.retain(|(listeners, _)| {
            let mut listeners = listeners.lock();
            listeners.retain(&stays);
            !listeners.is_empty()
        });
        if feed.subscriptions.is_empty() {
            self.by_channel.remove(&channel);
        }
    }

    /// Removes a channel that no longer exists.
    pub(crate) fn remove_channel(&mut self, channel: u32) {
        let Some(feed) = self.by_channel.remove(&channel) else { return };
        for listener in feed.listeners() {
            listener.client.outbox.close_subscription(listener.subscription);
        }
    }

    /// Subscribes anew to topics whose publishers have begun or ceased to keep messages for late
    /// joiners. Returns an error for each topic where that failed.
    pub(crate) fn adapt(&mut self, graph: &GraphSnapshot) -> Vec<FeedError> {
        let (mut all, share) = (self.count(), self.share);
        let mut errors = Vec::new();
        for feed in self.by_channel.values_mut() {
            let is_latched = is_latched(graph, &feed.topic, &feed.identity.name);
            let has_publishers = graph.count(EndpointKind::Publisher, &feed.topic) > 0;
            // Without publishers, the subscriptions stay as they are.
            if is_latched == feed.is_latched || !has_publishers {
                continue;
            }
            let listeners = feed.listeners();
            all -= feed.subscriptions.len();
            feed.subscriptions.clear();
            feed.is_latched = is_latched;
            for listener in listeners {
                if all + feed.subscriptions.len() >= FREE_TO_TAKE + SHARED_OUT {
                    errors.push(FeedError::Full { all, share });
                    break;
                }
                let added = feed.add(&self.node, &self.time, listener);
                errors.extend(added.err().map(FeedError::Create));
            }
            all += feed.subscriptions.len();
        }
        errors
    }

    /// The number of subscriptions.
    fn count(&self) -> usize {
        self.by_channel.values().map(|feed| feed.subscriptions.len()).sum()
    }
}

impl Feed {
    fn listeners(&self) -> Vec<Listener> {
        self.subscriptions.iter().flat_map(|(listeners, _)| listeners.lock().clone()).collect()
    }

    fn add(
        &mut self,
        node: &Node,
        time: &SimulatedTime,
        listener: Listener,
    ) -> Result<(), CreateError> {
        if let Some((listeners, _)) = self.subscriptions.first()
            && !self.is_latched
        {
            listeners.lock().push(listener);
            return Ok(());
        }
        let listeners = Arc::new(Mutex::new(vec![listener]));
        let (heard, time) = (listeners.clone(), time.clone());
        // Best-effort subscriptions cost the publishers nothing. Topics with kept messages are the
        // exception, since publishers send those only to reliable subscriptions.
        let qos = QosProfile::keep_last(DEPTH);
        let qos =
            if self.is_latched { qos.reliable().transient_local() } else { qos.best_effort() };
        let options = SubscriptionOptions::from(qos).log_lost_messages(false);
        let subscription = node.create_generic_subscription(
            &self.topic,
            &self.identity,
            options,
            move |message: SerializedMessage, info: MessageInfo| {
                let (now, nanos) = (Instant::now(), received_nanos(&time, &info));
                for listener in heard.lock().iter() {
                    listener.client.outbox.offer(listener.subscription, nanos, &message, now);
                }
            },
        )?;
        self.subscriptions.push((listeners, subscription));
        Ok(())
    }
}

/// Returns the reserved share of each client, if there can be this many clients.
fn share(most_clients: usize) -> usize {
    (SHARED_OUT / most_clients.max(1)).min(LARGEST_SHARE)
}

/// Whether a client with `own` subscriptions may get another one, when all clients together have
/// `all`.
fn is_free(all: usize, own: usize, share: usize) -> bool {
    own < share || all < FREE_TO_TAKE
}

/// Returns the time of a message's reception, which is the time of /clock if that is published.
fn received_nanos(time: &SimulatedTime, info: &MessageInfo) -> u64 {
    if let Some(nanos) = time.nanos() {
        return nanos;
    }
    let at = info.received_timestamp.unwrap_or_else(SystemTime::now);
    let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// Whether all publishers keep messages for late joiners.
fn is_latched(graph: &GraphSnapshot, topic: &str, type_name: &str) -> bool {
    let mut publishers = graph
        .endpoints_of(EndpointKind::Publisher, topic)
        .filter(|publisher| publisher.type_name == type_name)
        .peekable();
    publishers.peek().is_some()
        && publishers.all(|publisher| publisher.qos.durability == Durability::TransientLocal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_with_many_subscriptions_leave_a_share_for_the_others() {
        for most_clients in [1, 8, 32, 100, 5000] {
            let share = share(most_clients);
            let mut clients = vec![0; most_clients];
            let mut all = 0;
            // The first clients take as many as they can get; no two clients look at the same
            // topic.
            for own in &mut clients {
                while is_free(all, *own, share) {
                    *own += 1;
                    all += 1;
                }
            }
            assert!(all <= FREE_TO_TAKE + SHARED_OUT, "{all} of {most_clients} clients");
            assert!(clients.iter().all(|own| *own >= share), "{share}: {clients:?}");
        }
        assert_eq!((share(1), share(32), share(100)), (32, 32, 10));
    }
}
