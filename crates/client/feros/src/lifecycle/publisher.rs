//! Managed publishers, which send only while their node is active.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use feros_message::Message;

use crate::lifecycle::activation::{Activation, Gate};
use crate::publish_error::PublishError;
use crate::topics::publisher::{GenericPublisher, Loan, Publishable, Publisher};

/// A publisher that sends messages while its node is active and drops them at other times, like
/// `rclcpp_lifecycle::LifecyclePublisher`. Clones publish through the same endpoint.
///
/// The publisher sends from the beginning of `on_activate` until the node has left the state
/// active, for example after `on_deactivate` or after an error. It counts the messages that it
/// drops, and logs a warning for the first message that it drops after the node becomes inactive.
/// It has all methods of a [`GenericPublisher`].
pub struct LifecyclePublisher<M> {
    publisher: Publisher<M>,
    gate: Arc<Gate>,
}

impl<M> Clone for LifecyclePublisher<M> {
    fn clone(&self) -> Self {
        Self { publisher: self.publisher.clone(), gate: self.gate.clone() }
    }
}

impl<M: Message> LifecyclePublisher<M> {
    pub(super) fn new(
        publisher: Publisher<M>,
        activation: &Arc<Activation>,
        logger: &Arc<str>,
    ) -> Self {
        let gate = Arc::new(Gate::new(activation, publisher.topic_name(), logger));
        Self { publisher, gate }
    }

    /// Publishes like [`Publisher::publish`] while the node is active; at other times the message
    /// is dropped.
    ///
    /// # Errors
    /// See [`Publisher::publish`]; a dropped message is not an error.
    pub fn publish(&self, message: impl Publishable<M>) -> Result<(), PublishError> {
        if self.gate.admits_message() { self.publisher.publish(message) } else { Ok(()) }
    }

    /// Publishes like [`GenericPublisher::publish_serialized`] while the node is active; at other
    /// times the message is dropped.
    ///
    /// # Errors
    /// See [`GenericPublisher::publish_serialized`]; a dropped message is not an error.
    pub fn publish_serialized(&self, bytes: &[u8]) -> Result<(), PublishError> {
        if self.gate.admits_message() { self.publisher.publish_serialized(bytes) } else { Ok(()) }
    }

    /// Lends memory like [`Publisher::loan`], in any state of the node.
    ///
    /// # Errors
    /// See [`Publisher::loan`].
    pub fn loan(&self, shape: &M::Shape<'_>) -> Result<LifecycleLoan<M>, PublishError> {
        Ok(LifecycleLoan { loan: self.publisher.loan(shape)?, gate: self.gate.clone() })
    }

    /// Whether the publisher sends messages now.
    pub fn is_activated(&self) -> bool {
        self.gate.is_active()
    }

    /// The number of messages dropped because the node was not active.
    pub fn dropped_while_inactive(&self) -> u64 {
        self.gate.dropped()
    }
}

impl<M> Deref for LifecyclePublisher<M> {
    type Target = GenericPublisher;

    fn deref(&self) -> &GenericPublisher {
        &self.publisher
    }
}

/// A loan: memory for one message of a managed publisher; see [`LifecyclePublisher::loan`].
#[must_use = "the memory of a loan that is not published is returned"]
pub struct LifecycleLoan<M> {
    loan: Loan<M>,
    gate: Arc<Gate>,
}

impl<M: Message> LifecycleLoan<M> {
    /// Publishes like [`Loan::publish`] while the node is active; at other times the message is
    /// dropped and the memory returned.
    ///
    /// # Errors
    /// See [`Loan::publish`]; a dropped message is no error.
    pub fn publish(self) -> Result<(), PublishError> {
        if self.gate.admits_message() { self.loan.publish() } else { Ok(()) }
    }
}

impl<M> Deref for LifecycleLoan<M> {
    type Target = Loan<M>;

    fn deref(&self) -> &Loan<M> {
        &self.loan
    }
}

impl<M> DerefMut for LifecycleLoan<M> {
    fn deref_mut(&mut self) -> &mut Loan<M> {
        &mut self.loan
    }
}
