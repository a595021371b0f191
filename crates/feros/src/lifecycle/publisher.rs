//! Managed publishers: they send while their node is active.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use feros_message::Message;

use crate::lifecycle::activation::{Activation, Gate};
use crate::publish_error::PublishError;
use crate::publisher::{GenericPublisher, Loan, Publishable, Publisher};

/// A publisher that sends while its node is active, and drops what it is given otherwise, as
/// `rclcpp_lifecycle::LifecyclePublisher`. Clones publish through the same endpoint.
///
/// It sends from the beginning of `on_activate` until the node is in another primary state than
/// active, or has an error. What it drops it counts; the first message after each such change is
/// warned of. All that a [`GenericPublisher`] can tell, it can tell.
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

    /// As [`Publisher::publish`], while the node is active; otherwise nothing is sent.
    ///
    /// # Errors
    /// As [`Publisher::publish`]; none for a message that is dropped.
    pub fn publish(&self, message: impl Publishable<M>) -> Result<(), PublishError> {
        if self.gate.admits_message() { self.publisher.publish(message) } else { Ok(()) }
    }

    /// As [`GenericPublisher::publish_serialized`], while the node is active; otherwise nothing is
    /// sent.
    ///
    /// # Errors
    /// As [`GenericPublisher::publish_serialized`]; none for a message that is dropped.
    pub fn publish_serialized(&self, bytes: &[u8]) -> Result<(), PublishError> {
        if self.gate.admits_message() { self.publisher.publish_serialized(bytes) } else { Ok(()) }
    }

    /// As [`Publisher::loan`], in any state.
    ///
    /// # Errors
    /// As [`Publisher::loan`].
    pub fn loan(&self, shape: &M::Shape<'_>) -> Result<LifecycleLoan<M>, PublishError> {
        Ok(LifecycleLoan { loan: self.publisher.loan(shape)?, gate: self.gate.clone() })
    }

    /// Whether it sends.
    pub fn is_activated(&self) -> bool {
        self.gate.is_active()
    }

    /// Messages that it dropped because the node was not active.
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

/// Memory for one message of a managed publisher; see [`LifecyclePublisher::loan`].
#[must_use = "a loan that is not published goes back"]
pub struct LifecycleLoan<M> {
    loan: Loan<M>,
    gate: Arc<Gate>,
}

impl<M: Message> LifecycleLoan<M> {
    /// As [`Loan::publish`], while the node is active; otherwise the memory goes back.
    ///
    /// # Errors
    /// As [`Loan::publish`]; none for a message that is dropped.
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
