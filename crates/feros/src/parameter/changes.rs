//! Who is told of changes: post-set callbacks, the node's clock and `/parameter_events`, in the
//! order of the changes.

use feros_sync::Mutex;
use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

use feros_rmw::Publisher as EnginePublisher;

use super::callbacks::{Callbacks, NamedValue};
use super::events;
use crate::clock::Clock;

/// More changes than these do not wait for a post-set callback that does not return.
const MAX_WAITING: usize = 1000;

/// The parameter that switches the node's clock.
pub(crate) const USE_SIM_TIME: &str = "use_sim_time";

/// What happened to a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    New,
    Changed,
    Deleted,
    /// It was declared without a value.
    Silent,
}

/// One change, of one parameter or several at once.
#[derive(Debug, Default)]
pub(super) struct Change {
    pub(super) parameters: Vec<NamedValue>,
    /// What happened to each of them.
    pub(super) kinds: Vec<Kind>,
}

/// Tells of changes: one after the other, on the thread of one of those who made them, without any
/// lock.
pub(super) struct Changes {
    node: String,
    clock: Clock,
    waiting: Mutex<Waiting>,
    events: Mutex<Option<Arc<dyn EnginePublisher>>>,
    use_sim_time: OnceLock<Box<dyn Fn(bool) + Send + Sync>>,
}

#[derive(Default)]
struct Waiting {
    queue: VecDeque<Change>,
    is_telling: bool,
    dropped: u64,
}

/// Lets others tell when this thread ends to, however it does.
struct Telling<'a>(&'a Mutex<Waiting>);

impl Drop for Telling<'_> {
    fn drop(&mut self) {
        self.0.lock().is_telling = false;
    }
}

impl Changes {
    pub(super) fn new(node: String, clock: Clock) -> Self {
        Self {
            node,
            clock,
            waiting: Mutex::default(),
            events: Mutex::default(),
            use_sim_time: OnceLock::new(),
        }
    }

    /// Publishes changes from now on, or no more.
    pub(super) fn publish_with(&self, publisher: Option<Arc<dyn EnginePublisher>>) {
        let former = std::mem::replace(&mut *self.events.lock(), publisher);
        drop(former); // outside the lock
    }

    /// Has the node's clock follow the parameter `use_sim_time` from now on.
    pub(super) fn switch_clock_with(&self, switch: impl Fn(bool) + Send + Sync + 'static) {
        let _ = self.use_sim_time.set(Box::new(switch));
    }

    /// Takes in a change; called with the lock of the parameters, so that the order is that of the
    /// changes.
    pub(super) fn push(&self, change: Change) {
        let mut waiting = self.waiting.lock();
        if waiting.queue.len() >= MAX_WAITING {
            waiting.queue.pop_front();
            waiting.dropped += 1;
            if waiting.dropped.is_power_of_two() {
                let dropped = waiting.dropped;
                tracing::error!(
                    "{}: nobody was told of {dropped} changes of parameters so far: a post-set callback takes too long",
                    self.node
                );
            }
        }
        waiting.queue.push_back(change);
    }

    /// Tells of all changes that wait, unless another thread does so.
    pub(super) fn tell(&self, callbacks: &Callbacks) {
        loop {
            let change = {
                let mut waiting = self.waiting.lock();
                if waiting.is_telling {
                    return;
                }
                let Some(change) = waiting.queue.pop_front() else { return };
                waiting.is_telling = true;
                change
            };
            let telling = Telling(&self.waiting);
            self.tell_of(&change, callbacks);
            drop(telling);
        }
    }

    fn tell_of(&self, change: &Change, callbacks: &Callbacks) {
        let sim_time = change.parameters.iter().rev().find(|(name, _)| name == USE_SIM_TIME);
        if let (Some((_, super::ParameterValue::Bool(simulated))), Some(switch)) =
            (sim_time, self.use_sim_time.get())
        {
            switch(*simulated);
        }
        callbacks.post_set(&change.parameters);
        let publisher = self.events.lock().clone();
        if let Some(publisher) = publisher
            && change.kinds.iter().any(|kind| *kind != Kind::Silent)
        {
            events::publish(&*publisher, &self.node, self.clock.now(), change);
        }
    }
}
