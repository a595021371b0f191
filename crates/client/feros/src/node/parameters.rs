//! The parameters of a node, with the observer of their changes.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use feros_engine::{
    CreateEndpointError, NodeId, NodeName, Session, TakeOverError, TakesParameters,
};
use feros_parameter::{DeclareParameterError, ParameterBuilder, ParameterValue, Store};

use crate::clock::Clock;
use crate::node::observer::{NodeObserver, USE_SIM_TIME};
use crate::node::parameter_events;

const START_TYPE_DESCRIPTION_SERVICE: &str = "start_type_description_service";

pub(crate) struct NodeParameters {
    store: Arc<Store>,
    observer: Arc<NodeObserver>,
}

impl NodeParameters {
    pub(crate) fn new(
        node: &NodeName,
        clock: &Clock,
        allow_undeclared: bool,
        overrides: BTreeMap<String, ParameterValue>,
        (session, id): (&Arc<dyn Session>, NodeId),
    ) -> Self {
        let name = node.fully_qualified();
        let engine = (Arc::downgrade(session), id);
        let observer = Arc::new(NodeObserver::new(name.clone(), clock.clone(), engine));
        let store = Arc::new(Store::new(name, allow_undeclared, overrides, observer.clone()));
        Self { store, observer }
    }

    /// Starts to publish changes.
    pub(crate) fn start_events(
        &self,
        session: &Arc<dyn Session>,
        node: NodeId,
        topic: &str,
    ) -> Result<(), CreateEndpointError> {
        self.observer.publish_with(Some(parameter_events::publisher(session, node, topic)?));
        Ok(())
    }

    /// Stops publishing changes, because the node ends.
    pub(crate) fn stop_events(&self) {
        self.observer.publish_with(None);
    }

    /// Declares `use_sim_time` and returns its value. `switch` is called with each value that the
    /// parameter gets later.
    pub(crate) fn declare_use_sim_time(
        &self,
        default: bool,
        switch: impl Fn(bool) + Send + Sync + 'static,
    ) -> Result<bool, DeclareParameterError> {
        let builder = ParameterBuilder::<bool>::new(&self.store, USE_SIM_TIME, default.into());
        let now = builder.declare()?.get();
        self.observer.switch_clock_with(switch);
        Ok(now)
    }

    /// Declares the parameter that turns the service `~/get_type_description` on or off, as in
    /// `rclcpp`.
    pub(crate) fn declare_start_type_description_service(
        &self,
    ) -> Result<(), DeclareParameterError> {
        let name = START_TYPE_DESCRIPTION_SERVICE;
        let builder = ParameterBuilder::<bool>::new(&self.store, name, true.into());
        builder
            .description("Start the ~/get_type_description service for this node.")
            .read_only()
            .declare()
            .map(drop)
    }

    pub(crate) fn starts_type_description_service(&self) -> bool {
        self.store.get(START_TYPE_DESCRIPTION_SERVICE) == Ok(ParameterValue::Bool(true))
    }

    /// Makes the parameters follow changes in the store that the engine has, if any, such as a ROS
    /// 1 master.
    pub(crate) fn follow_engine(&self, session: &Arc<dyn Session>, node: NodeId) {
        if let Some(server) = session.parameter_server() {
            server.follow(node, Arc::new(Follower(Arc::downgrade(&self.store))));
        }
    }

    pub(crate) fn store(&self) -> &Arc<Store> {
        &self.store
    }

    pub(crate) fn declare_overrides(&self) -> Result<(), DeclareParameterError> {
        self.store.declare_overrides()
    }

    pub(crate) fn overrides(&self) -> &BTreeMap<String, ParameterValue> {
        self.store.overrides()
    }
}

/// Sets the node's parameters to values that other programs have set in the engine's store, such as
/// a ROS 1 master.
struct Follower(Weak<Store>);

impl TakesParameters for Follower {
    fn has_parameter(&self, name: &str) -> bool {
        self.0.upgrade().is_some_and(|store| store.is_declared(name))
    }

    fn take_over(&self, name: &str, yaml: &str) -> Result<(), TakeOverError> {
        let store = self.0.upgrade().ok_or(TakeOverError::Gone)?;
        let refused = |reason: String| TakeOverError::Refused {
            name: name.to_owned(),
            yaml: yaml.chars().take(200).collect(),
            reason,
        };
        let value = ParameterValue::from_yaml(yaml).map_err(|error| refused(error.to_string()))?;
        store.set(vec![(name.to_owned(), value)]).map_err(|error| refused(error.to_string()))
    }
}
