//! What a node does with its parameters.

use std::collections::BTreeMap;
use std::sync::Arc;

use feros_rmw::{CreateEndpointError, NodeId, NodeName, Session};

use super::builder::ParameterBuilder;
use super::callbacks::{NamedValue, ParameterCallbackGuard};
use super::changes::{Changes, USE_SIM_TIME};
use super::descriptor::ParameterDescriptor;
use super::error::{
    DeclareParameterError, GetParameterError, SetParameterError, UndeclareParameterError,
};
use super::events;
use super::handle::Parameter;
use super::service::{ParameterServices, start as start_services};
use super::store::{ParameterList, Store};
use super::value::{ParameterType, ParameterValue};
use super::variant::{IntoParameter, ParameterVariant};
use crate::clock::Clock;
use crate::create_error::CreateError;
use crate::node::Node;

/// What belongs to a node of parameters.
pub(crate) struct NodeParameters(Arc<Store>);

impl NodeParameters {
    pub(crate) fn new(
        node: &NodeName,
        clock: &Clock,
        allow_undeclared: bool,
        overrides: BTreeMap<String, ParameterValue>,
    ) -> Self {
        let changes = Changes::new(node.fully_qualified(), clock.clone());
        Self(Arc::new(Store::new(allow_undeclared, overrides, changes)))
    }

    /// Publishes changes from now on.
    pub(crate) fn start_events(
        &self,
        session: &Arc<dyn Session>,
        node: NodeId,
        topic: &str,
    ) -> Result<(), CreateEndpointError> {
        self.0.changes.publish_with(Some(events::publisher(session, node, topic)?));
        Ok(())
    }

    /// Publishes no more: the node ends.
    pub(crate) fn stop_events(&self) {
        self.0.changes.publish_with(None);
    }

    /// Offers the parameters to other nodes.
    pub(crate) fn start_services(&self, node: &Node) -> Result<ParameterServices, CreateError> {
        start_services(node, &self.0)
    }

    /// Declares `use_sim_time`, which `switch` follows when it changes, and says what it is now.
    pub(crate) fn declare_use_sim_time(
        &self,
        default: bool,
        switch: impl Fn(bool) + Send + Sync + 'static,
    ) -> Result<bool, DeclareParameterError> {
        let builder = ParameterBuilder::<bool>::new(&self.0, USE_SIM_TIME, default.into());
        let now = builder.declare()?.get();
        self.0.changes.switch_clock_with(switch);
        Ok(now)
    }

    pub(crate) fn declare_overrides(&self) -> Result<(), DeclareParameterError> {
        self.0.declare_overrides()
    }

    pub(crate) fn overrides(&self) -> &BTreeMap<String, ParameterValue> {
        self.0.overrides()
    }
}

pub(super) fn store_of(node: &Node) -> &Arc<Store> {
    &node.parameters().0
}

/// The name of the topic on which changes of parameters are published.
pub(crate) const EVENTS_TOPIC: &str = events::TOPIC;

/// # Parameters
impl Node {
    fn store(&self) -> &Arc<Store> {
        store_of(self)
    }

    /// Declares a parameter; it starts with `default`, unless command line, a parameter file or the
    /// node's options say otherwise.
    ///
    /// The type of the default is that of the parameter: `bool`, an integer (`i64`), a floating
    /// point number (`f64`), a text, or a list of them.
    ///
    /// # Errors
    /// When there is one of that name, or its first value is of another type or refused by an
    /// on-set callback.
    ///
    /// ```no_run
    /// # let node: feros::Node = unimplemented!();
    /// let speed = node.declare_parameter("speed", 1.0)?;
    /// let frame = node.declare_parameter("frame_id", "base_link")?;
    /// let gains = node.declare_parameter("gains", [1.0, 0.1, 0.0])?;
    /// assert_eq!(speed.get(), 1.0);
    /// # Ok::<(), feros::Error>(())
    /// ```
    pub fn declare_parameter<D: IntoParameter>(
        &self,
        name: &str,
        default: D,
    ) -> Result<Parameter<D::Form>, DeclareParameterError>
    where
        D::Form: super::ParameterForm,
    {
        self.build_parameter(name, default).declare()
    }

    /// A parameter with description, range and more, to be declared.
    ///
    /// ```no_run
    /// # let node: feros::Node = unimplemented!();
    /// let rate = node
    ///     .build_parameter("rate", 30)
    ///     .description("Images per second")
    ///     .stepped_range(10..=60, 10)
    ///     .declare()?;
    /// # Ok::<(), feros::Error>(())
    /// ```
    pub fn build_parameter<D: IntoParameter>(
        &self,
        name: &str,
        default: D,
    ) -> ParameterBuilder<D::Form>
    where
        D::Form: super::ParameterForm,
    {
        ParameterBuilder::new(self.store(), name, default.into_parameter().into())
    }

    /// A parameter of type `T` that has no value until somebody gives it one, to be declared.
    pub fn build_optional_parameter<T: ParameterVariant>(
        &self,
        name: &str,
    ) -> ParameterBuilder<Option<T>> {
        ParameterBuilder::new(self.store(), name, ParameterValue::NotSet)
    }

    /// A parameter whose value may be of any type, to be declared.
    pub fn build_dynamic_parameter(
        &self,
        name: &str,
        default: impl Into<ParameterValue>,
    ) -> ParameterBuilder<ParameterValue> {
        ParameterBuilder::new(self.store(), name, default.into())
    }

    /// Forgets a parameter; it must be dynamically typed and not read-only.
    ///
    /// # Errors
    /// When it is not, or there is no such parameter.
    pub fn undeclare_parameter(&self, name: &str) -> Result<(), UndeclareParameterError> {
        self.store().undeclare(name)
    }

    /// Whether a parameter is declared.
    pub fn has_parameter(&self, name: &str) -> bool {
        self.store().is_declared(name)
    }

    /// The value of a parameter; none where undeclared parameters are allowed and there is no such
    /// parameter.
    ///
    /// # Errors
    /// When there is no such parameter, or it has no value though it is of a type.
    pub fn get_parameter(&self, name: &str) -> Result<ParameterValue, GetParameterError> {
        self.store().get(name)
    }

    /// The values of several parameters at one moment, in the order of their names.
    ///
    /// # Errors
    /// As [`Node::get_parameter`], for the first that fails.
    pub fn get_parameters<'a>(
        &self,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Result<Vec<ParameterValue>, GetParameterError> {
        self.store().get_all(names)
    }

    /// The parameters whose names begin with `prefix.`, by the rest of their names; all for the
    /// empty prefix.
    pub fn get_parameters_by_prefix(&self, prefix: &str) -> BTreeMap<String, ParameterValue> {
        self.store().get_by_prefix(prefix)
    }

    /// The types of the values that parameters have.
    ///
    /// # Errors
    /// When there is no such parameter and undeclared ones are not allowed.
    pub fn get_parameter_types(
        &self,
        names: &[String],
    ) -> Result<Vec<ParameterType>, GetParameterError> {
        self.store().types(names)
    }

    /// What parameters are.
    ///
    /// # Errors
    /// When there is no such parameter and undeclared ones are not allowed.
    pub fn describe_parameters(
        &self,
        names: &[String],
    ) -> Result<Vec<ParameterDescriptor>, GetParameterError> {
        self.store().describe(names)
    }

    /// The names of the parameters that are below one of the prefixes (or any, where there is
    /// none), at most `depth` parts below it; `0` is any depth.
    pub fn list_parameters(&self, prefixes: &[String], depth: u64) -> ParameterList {
        self.store().list(prefixes, depth)
    }

    /// Sets a parameter.
    ///
    /// # Errors
    /// When it is not declared, read-only, of another type, out of range, or refused by an on-set
    /// callback.
    pub fn set_parameter(
        &self,
        name: &str,
        value: impl Into<ParameterValue>,
    ) -> Result<(), SetParameterError> {
        self.store().set(vec![(name.to_owned(), value.into())])
    }

    /// Sets parameters one after the other; says for each how it went.
    pub fn set_parameters<N: Into<String>, V: Into<ParameterValue>>(
        &self,
        parameters: impl IntoIterator<Item = (N, V)>,
    ) -> Vec<Result<(), SetParameterError>> {
        let set = |(name, value): (N, V)| self.store().set(vec![(name.into(), value.into())]);
        parameters.into_iter().map(set).collect()
    }

    /// Sets all of these parameters or, when one cannot be set, none. Callbacks and event see them
    /// together.
    ///
    /// # Errors
    /// As [`Node::set_parameter`], for the first that fails.
    pub fn set_parameters_atomically<N: Into<String>, V: Into<ParameterValue>>(
        &self,
        parameters: impl IntoIterator<Item = (N, V)>,
    ) -> Result<(), SetParameterError> {
        let named = |(name, value): (N, V)| (name.into(), value.into());
        self.store().set(parameters.into_iter().map(named).collect())
    }

    /// Calls `callback` before parameters are set, with what is to be set: it may change, add and
    /// remove values.
    ///
    /// Callbacks of parameters run on the thread that sets, without any lock. They may read
    /// parameters of the node, but not change them. The last that was added runs first.
    pub fn add_pre_set_parameters_callback(
        &self,
        callback: impl Fn(&mut Vec<NamedValue>) + Send + Sync + 'static,
    ) -> ParameterCallbackGuard {
        self.store().callbacks.add_pre_set(Arc::new(callback))
    }

    /// Asks `callback` whether parameters may be set or declared with these values, all of which
    /// have their declared types and ranges; what it returns as an error is the reason why not. It
    /// should have no effect: others may still refuse, and where threads set parameters at the same
    /// time it may be asked again.
    ///
    /// ```no_run
    /// # let node: feros::Node = unimplemented!();
    /// let _guard = node.add_on_set_parameters_callback(|parameters| {
    ///     match parameters.iter().any(|(name, value)| name == "frame_id" && *value == "".into()) {
    ///         true => Err("frame_id must not be empty".into()),
    ///         false => Ok(()),
    ///     }
    /// });
    /// ```
    pub fn add_on_set_parameters_callback(
        &self,
        callback: impl Fn(&[NamedValue]) -> Result<(), String> + Send + Sync + 'static,
    ) -> ParameterCallbackGuard {
        self.store().callbacks.add_on_set(Arc::new(callback))
    }

    /// Calls `callback` after parameters were set or declared, with their values, in the order of
    /// the changes: before the setting function returns or, when another thread is setting as well,
    /// perhaps a little later on that one.
    pub fn add_post_set_parameters_callback(
        &self,
        callback: impl Fn(&[NamedValue]) + Send + Sync + 'static,
    ) -> ParameterCallbackGuard {
        self.store().callbacks.add_post_set(Arc::new(callback))
    }
}
