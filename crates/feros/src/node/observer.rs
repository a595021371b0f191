//! What a node does when its parameters change: its clock follows `use_sim_time`, and
//! `/parameter_events` is published.

use std::sync::{Arc, OnceLock};

use feros_parameter::{Change, ChangeKind, ChangeObserver, ParameterValue};
use feros_rmw::Publisher as EnginePublisher;
use feros_sync::Mutex;

use crate::clock::Clock;
use crate::node::parameter_events;

/// The parameter that switches the node's clock.
pub(super) const USE_SIM_TIME: &str = "use_sim_time";

/// The observer of one node's parameters.
pub(super) struct NodeObserver {
    node: String,
    clock: Clock,
    switch_clock: OnceLock<Box<dyn Fn(bool) + Send + Sync>>,
    publisher: Mutex<Option<Arc<dyn EnginePublisher>>>,
}

impl NodeObserver {
    pub(super) fn new(node: String, clock: Clock) -> Self {
        Self { node, clock, switch_clock: OnceLock::new(), publisher: Mutex::default() }
    }

    /// Publishes changes from now on, or no more.
    pub(super) fn publish_with(&self, publisher: Option<Arc<dyn EnginePublisher>>) {
        let mut place = self.publisher.lock();
        let former = std::mem::replace(&mut *place, publisher);
        drop(place);
        drop(former); // outside the lock
    }

    /// Has the node's clock follow the parameter `use_sim_time` from now on.
    pub(super) fn switch_clock_with(&self, switch: impl Fn(bool) + Send + Sync + 'static) {
        let _ = self.switch_clock.set(Box::new(switch));
    }
}

impl ChangeObserver for NodeObserver {
    fn before_callbacks(&self, change: &Change) {
        let last = change.parameters.iter().rev().find(|(name, _)| name == USE_SIM_TIME);
        if let (Some((_, ParameterValue::Bool(simulated))), Some(switch)) =
            (last, self.switch_clock.get())
        {
            switch(*simulated);
        }
    }

    fn after_callbacks(&self, change: &Change) {
        let publisher = self.publisher.lock().clone();
        if let Some(publisher) = publisher
            && change.kinds.iter().any(|kind| *kind != ChangeKind::DeclaredWithoutValue)
        {
            parameter_events::publish(&*publisher, &self.node, self.clock.now(), change);
        }
    }
}
