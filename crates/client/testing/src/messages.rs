//! The messages of a topic, in the order of their arrival.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use feros::engine::EndpointKind;
use feros::message::Message;
use feros::{CreateError, Durability, Node, QosProfile, Reliability, Subscription};
use feros_sync::Mutex;

use crate::absence;
use crate::error::ExpectError;
use crate::spinning::Spinning;

/// How many messages wait for the test. A further message replaces the oldest.
const MOST_MESSAGES: usize = 10_000;
/// The depth of the subscription.
const DEPTH: usize = 1000;

/// The messages of a topic since the test began to listen; see
/// [`Harness::listen`](crate::Harness::listen).
///
/// The subscription follows the policies of the publishers until the first message: it is best
/// effort if one publisher is, and transient local (with earlier messages) if all are.
/// Clones take from the same messages.
pub struct Messages<M> {
    inner: Arc<Inner<M>>,
}

struct Inner<M> {
    node: Node,
    topic: String,
    spinning: Arc<Spinning>,
    inbox: Arc<Mutex<Inbox<M>>>,
    subscribed: Mutex<Option<Subscribed<M>>>,
}

struct Inbox<M> {
    messages: VecDeque<M>,
    count: u64,
    dropped: u64,
    /// Which of the subscriptions may add messages.
    current: u64,
}

struct Subscribed<M> {
    policies: (Reliability, Durability),
    _subscription: Subscription<M>,
}

impl<M> Clone for Messages<M> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner) }
    }
}

impl<M: Message> Messages<M> {
    /// Subscribes to a topic with this full name.
    pub(crate) fn new(
        node: &Node,
        topic: String,
        spinning: &Arc<Spinning>,
    ) -> Result<Self, CreateError> {
        let inbox = Inbox { messages: VecDeque::new(), count: 0, dropped: 0, current: 0 };
        let inner = Inner {
            node: node.clone(),
            topic,
            spinning: Arc::clone(spinning),
            inbox: Arc::new(Mutex::new(inbox)),
            subscribed: Mutex::new(None),
        };
        inner.subscribe((Reliability::Reliable, Durability::Volatile))?;
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Takes and returns the next message, and waits for it if necessary.
    ///
    /// # Errors
    /// When no message comes within `timeout`, or a callback of a spun node has panicked.
    pub fn expect(&self, timeout: Duration) -> Result<M, ExpectError> {
        self.expect_where(timeout, |_| true)
    }

    /// Takes and returns the next message that `accepts` accepts, and drops the messages before it.
    ///
    /// # Errors
    /// When no such message comes within `timeout`, or a callback of a spun node has panicked.
    pub fn expect_where(
        &self,
        timeout: Duration,
        mut accepts: impl FnMut(&M) -> bool,
    ) -> Result<M, ExpectError> {
        let mut refused: Option<(u64, M)> = None;
        let inner = &self.inner;
        let look = || {
            inner.follow()?;
            while let Some(message) = inner.take() {
                if accepts(&message) {
                    return Ok(Some(message));
                }
                let earlier = refused.as_ref().map_or(0, |(count, _)| *count);
                refused = Some((earlier + 1, message));
            }
            Ok(None)
        };
        let found = inner.spinning.until(timeout, look, String::new);
        found.map_err(|error| match error {
            ExpectError::Missing { waited, .. } => {
                ExpectError::Missing { missing: inner.missing(refused), waited }
            }
            error => error,
        })
    }

    /// Takes and returns the messages that wait for the test, without waiting for more.
    pub fn take_all(&self) -> Vec<M> {
        self.inner.inbox.lock().messages.drain(..).collect()
    }

    /// How many messages have come so far.
    pub fn count(&self) -> u64 {
        self.inner.inbox.lock().count
    }

    /// How many messages were dropped because the test did not take them: at most 10,000 wait.
    pub fn dropped(&self) -> u64 {
        self.inner.inbox.lock().dropped
    }
}

impl<M: Message> Inner<M> {
    fn take(&self) -> Option<M> {
        self.inbox.lock().messages.pop_front()
    }

    fn subscribe(&self, policies: (Reliability, Durability)) -> Result<(), CreateError> {
        let number = {
            let mut inbox = self.inbox.lock();
            inbox.current += 1;
            inbox.current
        };
        let inbox = Arc::clone(&self.inbox);
        let at_message = move |message: M| {
            let mut inbox = inbox.lock();
            if inbox.current != number {
                return;
            }
            if inbox.messages.len() == MOST_MESSAGES {
                inbox.messages.pop_front();
                inbox.dropped += 1;
            }
            inbox.messages.push_back(message);
            inbox.count += 1;
        };
        let mut qos = QosProfile::keep_last(DEPTH);
        (qos.reliability, qos.durability) = policies;
        let subscription = self.node.create_subscription(&self.topic, qos, at_message)?;
        *self.subscribed.lock() = Some(Subscribed { policies, _subscription: subscription });
        Ok(())
    }

    /// Subscribes anew if the publishers offer less, or keep earlier messages.
    fn follow(&self) -> Result<(), CreateError> {
        if self.inbox.lock().count > 0 {
            return Ok(());
        }
        let graph = self.node.context().graph();
        let mut offers = graph.endpoints_of(EndpointKind::Publisher, &self.topic).peekable();
        if offers.peek().is_none() {
            return Ok(());
        }
        let mut policies = (Reliability::Reliable, Durability::TransientLocal);
        for offer in offers {
            if offer.qos.reliability != Reliability::Reliable {
                policies.0 = Reliability::BestEffort;
            }
            if offer.qos.durability != Durability::TransientLocal {
                policies.1 = Durability::Volatile;
            }
        }
        let current = self.subscribed.lock().as_ref().map(|subscribed| subscribed.policies);
        if current == Some(policies) { Ok(()) } else { self.subscribe(policies) }
    }

    fn missing(&self, refused: Option<(u64, M)>) -> String {
        match refused {
            Some((count, last)) => format!(
                "no message of {} was accepted: {count} came, the last was {last:?};",
                self.topic
            ),
            None => {
                let why = absence::of_message(&self.node, &self.topic, M::TYPE_NAME);
                format!("no message of {why} came")
            }
        }
    }
}
