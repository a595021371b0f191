//! Decides whether a node's managed publishers send messages, and counts and logs the messages that
//! they drop.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of the present period. A new period begins whenever the managed publishers of a node
/// start or stop sending. They send in periods with odd numbers.
#[derive(Debug, Default)]
pub(super) struct Activation(AtomicU64);

impl Activation {
    /// Starts or stops the publishers. Only one thread at a time may call this function.
    pub(super) fn set(&self, is_active: bool) {
        if self.is_active() != is_active {
            self.0.fetch_add(1, Ordering::Release);
        }
    }

    pub(super) fn is_active(&self) -> bool {
        is_active(self.0.load(Ordering::Acquire))
    }
}

fn is_active(period: u64) -> bool {
    period % 2 == 1
}

/// Decides whether one managed publisher sends its messages.
#[derive(Debug)]
pub(super) struct Gate {
    activation: Arc<Activation>,
    topic: String,
    logger: Arc<str>,
    dropped: AtomicU64,
    /// The period in which the publisher last logged a warning.
    warned: AtomicU64,
}

impl Gate {
    pub(super) fn new(activation: &Arc<Activation>, topic: &str, logger: &Arc<str>) -> Self {
        Self {
            activation: activation.clone(),
            topic: topic.to_owned(),
            logger: logger.clone(),
            dropped: AtomicU64::new(0),
            warned: AtomicU64::new(u64::MAX),
        }
    }

    /// Returns whether a message may be sent now. A message that may not be sent is counted, and a
    /// warning is logged for the first such message of each period.
    pub(super) fn admits_message(&self) -> bool {
        let period = self.activation.0.load(Ordering::Acquire);
        if is_active(period) {
            return true;
        }
        self.dropped.fetch_add(1, Ordering::Relaxed);
        if self.warned.swap(period, Ordering::Relaxed) != period {
            tracing::warn!(
                ros_logger = &*self.logger,
                "Trying to publish message on the topic '{}', but the publisher is not activated: \
                 the message is dropped, like all messages until the node is active",
                self.topic
            );
        }
        false
    }

    pub(super) fn is_active(&self) -> bool {
        self.activation.is_active()
    }

    pub(super) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsent_messages_are_counted_and_reported_once_per_period() {
        let activation = Arc::<Activation>::default();
        let gate = Gate::new(&activation, "/chatter", &"talker".into());
        let warned = || gate.warned.load(Ordering::Relaxed);
        assert_eq!(warned(), u64::MAX);
        assert!(!gate.admits_message() && !gate.admits_message());
        assert_eq!((gate.dropped(), warned()), (2, 0));
        activation.set(true);
        activation.set(true);
        assert!(gate.admits_message() && gate.is_active());
        activation.set(false);
        assert!(!gate.admits_message());
        assert_eq!((gate.dropped(), warned()), (3, 2), "a new period has a new warning");
    }
}
