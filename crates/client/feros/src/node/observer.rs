//! Reacts to changes of a node's parameters: switches the source of the node's clock according to
//! `use_sim_time`, passes the new values to the engine, and publishes the change on
//! `/parameter_events`.

use std::sync::{Arc, OnceLock, Weak};

use feros_engine::{FailureCounter, NodeId, ParameterData, Publisher as EnginePublisher, Session};
use feros_parameter::{Change, ChangeKind, ChangeObserver, ParameterValue};
use feros_sync::Mutex;

use crate::clock::Clock;
use crate::node::parameter_events;

/// The parameter that switches the node's clock between the system's time and simulated time.
pub(super) const USE_SIM_TIME: &str = "use_sim_time";

pub(super) struct NodeObserver {
    node: String,
    clock: Clock,
    switch_clock: OnceLock<Box<dyn Fn(bool) + Send + Sync>>,
    publisher: Mutex<Option<Arc<dyn EnginePublisher>>>,
    /// The engine's session and the node's id in it. Some engines store parameter values, for
    /// example on a ROS 1 master.
    engine: (Weak<dyn Session>, NodeId),
}

impl NodeObserver {
    pub(super) fn new(node: String, clock: Clock, engine: (Weak<dyn Session>, NodeId)) -> Self {
        let (switch_clock, publisher) = (OnceLock::new(), Mutex::default());
        Self { node, clock, switch_clock, publisher, engine }
    }

    /// Sets the publisher of changes; `None` stops the publication.
    pub(super) fn publish_with(&self, publisher: Option<Arc<dyn EnginePublisher>>) {
        let mut place = self.publisher.lock();
        let former = std::mem::replace(&mut *place, publisher);
        drop(place);
        drop(former); // outside the lock
    }

    /// Sets the function that is called with the new value when the parameter `use_sim_time`
    /// changes.
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
        let session = self.engine.0.upgrade();
        if let Some(server) = session.as_ref().and_then(|session| session.parameter_server()) {
            for (name, value) in &change.parameters {
                server.keep(self.engine.1, name, data(value));
            }
        }
        let publisher = self.publisher.lock().clone();
        if let Some(publisher) = publisher
            && change.kinds.iter().any(|kind| !is_silent(*kind))
        {
            // One counter for all nodes, because a process may have hundreds.
            static UNPUBLISHED: FailureCounter = FailureCounter::new();
            let now = self.clock.now();
            if let Err(error) = parameter_events::publish(&*publisher, &self.node, now, change)
                && let Some(so_far) = UNPUBLISHED.so_far()
            {
                tracing::error!(
                    "{}: a change of parameters was not published: {error}{so_far}",
                    self.node
                );
            }
        }
    }
}

/// Whether changes of this kind are not published on `/parameter_events`.
fn is_silent(kind: ChangeKind) -> bool {
    matches!(kind, ChangeKind::DeclaredWithoutValue | ChangeKind::Undeclared)
}

fn data(value: &ParameterValue) -> Option<ParameterData<'_>> {
    Some(match value {
        ParameterValue::NotSet => return None,
        ParameterValue::Bool(value) => ParameterData::Bool(*value),
        ParameterValue::Integer(value) => ParameterData::Integer(*value),
        ParameterValue::Double(value) => ParameterData::Double(*value),
        ParameterValue::String(value) => ParameterData::String(value),
        ParameterValue::ByteArray(values) => ParameterData::ByteArray(values),
        ParameterValue::BoolArray(values) => ParameterData::BoolArray(values),
        ParameterValue::IntegerArray(values) => ParameterData::IntegerArray(values),
        ParameterValue::DoubleArray(values) => ParameterData::DoubleArray(values),
        ParameterValue::StringArray(values) => ParameterData::StringArray(values),
    })
}
