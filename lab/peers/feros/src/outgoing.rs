//! A publisher and its messages.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use feros::{MatchTransport, Node, PublishError, Publisher, PublisherOptions, message};
use feros_lab_contract::{Failure, Placement, PublishMode, Published, now_nanos};
use feros_shm::LoanError;

use crate::payload::Carrier;
use crate::{Form, Task, transport};

/// The time that any transport may take to become possible after the match.
const POSSIBLE_NANOS: u64 = 1_000_000_000;
/// The time that a talker waits for the messages in its shared memory to be read.
const LINGER: Duration = Duration::from_millis(500);
/// The time that a talker pauses while another process creates or removes shared memory.
const BUSY_PAUSE: Duration = Duration::from_micros(200);
/// A number of messages in turn that fits into caches, and a number that exceeds the caches.
const PAYLOADS_IN_CACHE: usize = 8;
const PAYLOADS_IN_MEMORY: usize = 96;
const ONWARD_WITHIN: Duration = Duration::from_secs(5);
/// The limit on messages that wait for the publisher's sending thread, unless the depth of the
/// history is larger.
const QUEUE_DEPTH: usize = 10;

/// A pool of messages whose memory is reused in turn, since their creation is not under test.
pub(crate) struct Pool<M>(Arc<Mutex<VecDeque<M>>>);

impl<M> Clone for Pool<M> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<M> Default for Pool<M> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<M> Pool<M> {
    pub(crate) fn put(&self, message: M) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(message);
    }

    fn take(&self) -> Option<M> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

/// Creates the publisher of the task.
pub(crate) struct Outgoing<'a, M> {
    task: &'a Task<'a>,
    pub(crate) publisher: Publisher<M>,
    pub(crate) published: Published,
    pub(crate) pool: Pool<M>,
}

impl<'a, M: Carrier> Outgoing<'a, M> {
    pub(crate) fn new(task: &'a Task<'a>, node: &Node, topic: &str) -> Result<Self, Failure> {
        let mut options = PublisherOptions::from(task.qos);
        if task.arguments.publish == PublishMode::Async {
            options = options.asynchronous(task.arguments.depth.max(QUEUE_DEPTH));
        }
        let publisher = node.create_publisher::<M>(topic, options)?;
        task.layers.publishes(publisher.gid());
        Ok(Self { task, publisher, published: task.arguments.published(), pool: Pool::default() })
    }

    /// Creates the same publisher, with a pool to which subscriptions give messages back.
    pub(crate) fn with_pool(self, pool: Pool<M>) -> Self {
        Self { pool, ..self }
    }

    /// Waits for subscriptions, and for the transport that their messages will take.
    pub(crate) fn wait_for(&self, subscriptions: usize) -> Result<(), Failure> {
        while self.publisher.subscription_count() < subscriptions {
            if self.task.arguments.wait_stopped(Duration::from_millis(1)) {
                let found = self.publisher.subscription_count();
                return Err(Failure::not_matched(format!(
                    "{found} of {subscriptions} subscriptions were found in time"
                )));
            }
        }
        if subscriptions == 0 { Ok(()) } else { self.wait_for_transports(subscriptions) }
    }

    /// Waits for the shortest transport of each subscription, which may only be set up after the
    /// match.
    fn wait_for_transports(&self, subscriptions: usize) -> Result<(), Failure> {
        let until = now_nanos() + POSSIBLE_NANOS;
        loop {
            let matches = self.publisher.transports();
            let is_possible = |found: &MatchTransport| found.transport.is_some();
            if matches.len() >= subscriptions
                && !matches.iter().any(transport::is_pending)
                && (matches.iter().all(is_possible) || now_nanos() >= until)
            {
                return transport::check_matches(self.task.arguments, &matches);
            }
            if self.task.arguments.wait_stopped(Duration::from_millis(1)) {
                return Err(Failure::not_matched("a transport was not available in time"));
            }
        }
    }

    /// Waits for a subscription to a relay's output, for which the talker cannot wait. The wait
    /// ends after a while.
    pub(crate) fn wait_a_while(&self) {
        let is_met = || self.publisher.subscription_count() > 0;
        self.task.arguments.wait_until(ONWARD_WITHIN, is_met);
    }

    pub(crate) fn send_all(&self, subscriptions: usize) -> Result<(), Failure> {
        let arguments = self.task.arguments;
        match self.task.form {
            Form::Built => {
                let mut text = arguments.text_payload();
                self.send(|number| {
                    M::publish_built(&self.publisher, arguments, &mut text, number)
                })?;
            }
            Form::Raw => {
                let mut bytes = message::to_vec(&M::filled(arguments))?;
                let end = bytes.len() - M::BEHIND;
                let payload = end - arguments.size_bytes..end;
                self.send(|number| {
                    let at = arguments.stamp(&mut bytes[payload.clone()], number);
                    self.publisher.publish_serialized(&bytes).map(|()| at)
                })?;
            }
            Form::Ordinary if arguments.placement == Placement::Intra => {
                self.give_all(subscriptions)?
            }
            Form::Ordinary | Form::View => {
                let mut message = M::filled(arguments);
                self.send(|number| {
                    let at = message.stamp(arguments, number);
                    self.publisher.publish(&message).map(|()| at)
                })?;
            }
        }
        Ok(())
    }

    fn send(
        &self,
        mut publish: impl FnMut(u64) -> Result<u64, PublishError>,
    ) -> Result<(), PublishError> {
        for number in self.task.arguments.pace() {
            let at = loop {
                match publish(number) {
                    // A pool that has to grow does not wait for another process; the next attempt
                    // grows it.
                    Err(PublishError::SharedMemory { source: LoanError::Busy, .. }) => {
                        std::thread::sleep(BUSY_PAUSE);
                    }
                    published => break published?,
                }
            };
            self.published.note(number, at);
        }
        Ok(())
    }

    /// Within a process, each message is given away, or is shared if several subscriptions take it.
    fn give_all(&self, subscriptions: usize) -> Result<(), Failure> {
        let arguments = self.task.arguments;
        let in_turn = match arguments.extra("--in-turn") {
            "cache" => PAYLOADS_IN_CACHE,
            "memory" => PAYLOADS_IN_MEMORY,
            _ => 0,
        };
        if in_turn > 0 && subscriptions > 1 {
            return Err(Failure::unsupported("messages in turn are only for one subscription"));
        }
        if in_turn > 0 {
            return Ok(self.give_in_turn(in_turn)?);
        }
        if subscriptions == 1 {
            return Ok(self.send(|number| {
                let mut message = self.pool.take().unwrap_or_else(|| M::filled(arguments));
                let at = message.stamp(arguments, number);
                self.publisher.publish(message).map(|()| at)
            })?);
        }
        let mut shared = VecDeque::new();
        Ok(self.send(|number| {
            // The oldest message is the first one that all subscriptions have read.
            let mut message = match shared.front_mut().map(Arc::get_mut) {
                Some(Some(_)) => {
                    shared.pop_front().unwrap_or_else(|| Arc::new(M::filled(arguments)))
                }
                _ => Arc::new(M::filled(arguments)),
            };
            let at = Arc::get_mut(&mut message)
                .map_or_else(now_nanos, |own| own.stamp(arguments, number));
            shared.push_back(message.clone());
            self.publisher.publish(message).map(|()| at)
        })?)
    }

    /// Gives away this many messages in turn; each is reused once the subscription has given it
    /// back.
    fn give_in_turn(&self, payloads: usize) -> Result<(), PublishError> {
        let arguments = self.task.arguments;
        (0..payloads).for_each(|_| self.pool.put(M::filled(arguments)));
        self.send(|number| {
            let mut message = loop {
                match self.pool.take() {
                    Some(message) => break message,
                    None if arguments.is_stopped() => break M::filled(arguments),
                    None => std::thread::yield_now(),
                }
            };
            let at = message.stamp(arguments, number);
            self.publisher.publish(message).map(|()| at)
        })
    }

    /// Waits until reliable subscriptions have all messages, and the messages in shared memory have
    /// been read; subscriptions leave after the last message.
    pub(crate) fn linger(&self) {
        if self.task.qos.reliability == feros::Reliability::Reliable {
            // The laboratory reports losses.
            let _ = self.publisher.wait_for_all_acked(Duration::from_secs(2));
        }
        self.task.arguments.wait_until(LINGER, || {
            self.publisher.counts().shared_memory.messages == 0
                || self.publisher.subscription_count() == 0
        });
    }

    /// Fails if messages took another transport than the one under test, since the run then has no
    /// result.
    pub(crate) fn check_path(&self) -> Result<(), Failure> {
        transport::check_published(self.task, &self.publisher)
    }
}
