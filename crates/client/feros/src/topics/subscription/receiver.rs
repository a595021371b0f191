//! The executor's side of a subscription: passes one message per call, from any transport, to the
//! user's closure.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use feros_engine::{FailureCounters, Gid, TakeError};
use feros_executor::{Executable, Progress, Ringer};
use feros_message::DecodeError;
use feros_transport::{Object, Received};

use crate::logging;
use crate::node::WeakNode;
use crate::topics::events::SubscriptionEvents;
use crate::topics::subscription::turns::Turns;

/// Takes one message per call and passes it to the closure.
pub(super) struct Receiver<O: Object, D> {
    pub(super) node: WeakNode,
    pub(super) topic: String,
    pub(super) type_name: String,
    pub(super) messages: feros_transport::Receiver<O>,
    pub(super) events: SubscriptionEvents,
    pub(super) deliver: D,
    pub(super) malformed: Arc<AtomicU64>,
    /// A message that was taken in advance, because some executor policies take the inputs of all
    /// entities before they run the first entity.
    pub(super) taken: Option<Received<O>>,
    pub(super) logger: Arc<str>,
}

impl<O, D> Executable for Receiver<O, D>
where
    O: Object,
    D: FnMut(Received<O>) -> Result<(), DecodeError> + Send,
{
    fn execute(&mut self) -> Progress {
        self.receive_one()
    }

    fn take(&mut self) {
        if self.taken.is_none() {
            self.taken = self.take_next();
        }
    }
}

impl<O, D> Receiver<O, D>
where
    O: Object,
    D: FnMut(Received<O>) -> Result<(), DecodeError>,
{
    /// Handles events, then at most one message.
    fn receive_one(&mut self) -> Progress {
        if self.has_events() {
            self.handle_events();
        }
        let message = self.taken.take().or_else(|| self.take_next());
        let has_delivered = message.is_some();
        if let Some(message) = message {
            self.deliver(message);
        }
        let has_more = has_delivered && self.messages.may_have_more() || self.has_events();
        if has_more { Progress::More } else { Progress::Done }
    }

    fn has_events(&self) -> bool {
        self.messages.has_events() || self.events.has_news()
    }

    #[cold]
    fn handle_events(&mut self) {
        self.events.handle();
    }

    /// Takes the next message. No user code is called.
    fn take_next(&mut self) -> Option<Received<O>> {
        match self.messages.take() {
            Ok(taken) => taken,
            Err(error) => {
                self.report(&error);
                None
            }
        }
    }

    /// Logs that a message could not be taken. All subscriptions of the process to the topic count
    /// together.
    #[cold]
    fn report(&self, error: &TakeError) {
        static UNTAKEN: FailureCounters = FailureCounters::new();
        if let Some(so_far) = UNTAKEN.so_far(&self.topic) {
            tracing::error!(ros_logger = &*self.logger, "{error}{so_far}");
        }
    }

    fn deliver(&mut self, message: Received<O>) {
        let traced = feros_trace::is_on().then(|| (message.transport(), message.traced()));
        let _delivery = traced
            .map(|(transport, id)| feros_trace::deliver(transport, self.messages.traced(), || id));
        let (publisher, size_bytes) = (message.publisher(), message.size_bytes());
        let logger = logging::enter_logger(&self.logger);
        let delivered = (self.deliver)(message);
        drop(logger);
        if let Err(error) = delivered {
            self.refuse(publisher, size_bytes, &error);
        }
    }

    /// Counts a malformed message. The count of all subscriptions of the process to the topic is
    /// logged each time it doubles, so that a stream of malformed messages does not fill the disk.
    #[cold]
    fn refuse(&self, publisher: Gid, size_bytes: usize, error: &DecodeError) {
        static REFUSED: FailureCounters = FailureCounters::new();
        self.malformed.fetch_add(1, Ordering::Relaxed);
        let Some(count) = REFUSED.count(&self.topic) else { return };
        let from = self
            .node
            .upgrade()
            .map_or_else(String::new, |node| node.describe_publisher(&self.topic, publisher));
        tracing::error!(
            ros_logger = &*self.logger,
            "{}: {count} messages have been refused so far; the last, of {size_bytes} bytes from \
             {from}, is not a {}: {error}. Check that both sides were built from the same \
             definition",
            self.topic,
            self.type_name,
        );
    }
}

impl<O, D> Turns<Receiver<O, D>>
where
    O: Object,
    D: FnMut(Received<O>) -> Result<(), DecodeError>,
{
    /// Receives one message on the executor's thread.
    pub(super) fn receive_one(&self) -> Progress {
        let Some(mut receiver) = self.begin() else { return Progress::Done };
        let progress = receiver.receive_one();
        drop(receiver);
        if self.is_wanted() { Progress::More } else { progress }
    }

    /// Receives all messages from publishers of this process, on the publishing thread. It leaves
    /// other messages to the executor.
    pub(super) fn receive_all(&self, ringer: &Ringer) {
        let mut turn = self.begin();
        while let Some(mut receiver) = turn {
            let mut progress = Progress::Done;
            while receiver.messages.has_messages_of_this_process() {
                // This call is not part of a turn of the executor. The executor may be running
                // another entity.
                feros_trace::begin_turn(0);
                progress = receiver.receive_one();
            }
            drop(receiver);
            if progress == Progress::More {
                ringer.ring();
            }
            turn = self.begin_again();
        }
    }
}
