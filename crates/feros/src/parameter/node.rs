//! The methods of a node for its parameters.

use std::collections::BTreeMap;
use std::sync::Arc;

use feros_parameter::{
    DeclareParameterError, GetParameterError, IntoParameter, NamedValue, Parameter,
    ParameterBuilder, ParameterCallbackGuard, ParameterDescriptor, ParameterForm, ParameterList,
    ParameterType, ParameterValue, ParameterVariant, SetParameterError, Store,
    UndeclareParameterError,
};

use crate::node::Node;

/// # Parameters
impl Node {
    fn store(&self) -> &Arc<Store> {
        self.parameters().store()
    }

    /// Declares a parameter; it starts with `default`, unless the command line, a parameter file or
    /// the node's options give it another value.
    ///
    /// The type of the default is that of the parameter: `bool`, an integer (`i64`), a
    /// floating-point number (`f64`), a text, or a list of one of these.
    ///
    /// # Errors
    /// When a parameter of that name exists, or the first value has another type or an on-set
    /// callback refuses it.
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
        D::Form: ParameterForm,
    {
        self.build_parameter(name, default).declare()
    }

    /// Builds a parameter with a description, a range and more, to be declared.
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
        D::Form: ParameterForm,
    {
        ParameterBuilder::new(self.store(), name, default.into_parameter().into())
    }

    /// Builds a parameter of type `T` that has no value until it is set, to be declared.
    pub fn build_optional_parameter<T: ParameterVariant>(
        &self,
        name: &str,
    ) -> ParameterBuilder<Option<T>> {
        ParameterBuilder::new(self.store(), name, ParameterValue::NotSet)
    }

    /// Builds a parameter whose value may be of any type, to be declared.
    pub fn build_dynamic_parameter(
        &self,
        name: &str,
        default: impl Into<ParameterValue>,
    ) -> ParameterBuilder<ParameterValue> {
        ParameterBuilder::new(self.store(), name, default.into())
    }

    /// Removes a parameter; it must be dynamically typed and not read-only.
    ///
    /// # Errors
    /// When the parameter does not meet these conditions, or does not exist.
    pub fn undeclare_parameter(&self, name: &str) -> Result<(), UndeclareParameterError> {
        self.store().undeclare(name)
    }

    /// Whether a parameter is declared.
    pub fn has_parameter(&self, name: &str) -> bool {
        self.store().is_declared(name)
    }

    /// The value of a parameter; `NotSet` if it does not exist and undeclared parameters are
    /// allowed.
    ///
    /// # Errors
    /// When the parameter does not exist, or is typed but has no value.
    pub fn get_parameter(&self, name: &str) -> Result<ParameterValue, GetParameterError> {
        self.store().get(name)
    }

    /// The values of several parameters at one moment, in the order of `names`.
    ///
    /// # Errors
    /// See [`Node::get_parameter`]; the error is that of the first parameter that fails.
    pub fn get_parameters<'a>(
        &self,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Result<Vec<ParameterValue>, GetParameterError> {
        self.store().get_all(names)
    }

    /// The parameters whose names begin with `prefix.`, by the rest of their names; all parameters
    /// if the prefix is empty.
    pub fn get_parameters_by_prefix(&self, prefix: &str) -> BTreeMap<String, ParameterValue> {
        self.store().get_by_prefix(prefix)
    }

    /// The types of the values of parameters.
    ///
    /// # Errors
    /// When a parameter does not exist and undeclared parameters are not allowed.
    pub fn get_parameter_types(
        &self,
        names: &[String],
    ) -> Result<Vec<ParameterType>, GetParameterError> {
        self.store().types(names)
    }

    /// The descriptors of parameters.
    ///
    /// # Errors
    /// When a parameter does not exist and undeclared parameters are not allowed.
    pub fn describe_parameters(
        &self,
        names: &[String],
    ) -> Result<Vec<ParameterDescriptor>, GetParameterError> {
        self.store().describe(names)
    }

    /// The names of the parameters below one of the prefixes (or all, without prefixes), at most
    /// `depth` parts below it; `0` means any depth.
    pub fn list_parameters(&self, prefixes: &[String], depth: u64) -> ParameterList {
        self.store().list(prefixes, depth)
    }

    /// Sets a parameter.
    ///
    /// # Errors
    /// When the parameter is not declared, read-only, of another type, out of range, or refused by
    /// an on-set callback.
    pub fn set_parameter(
        &self,
        name: &str,
        value: impl Into<ParameterValue>,
    ) -> Result<(), SetParameterError> {
        self.store().set(vec![(name.to_owned(), value.into())])
    }

    /// Sets parameters one after the other; returns a result for each.
    pub fn set_parameters<N: Into<String>, V: Into<ParameterValue>>(
        &self,
        parameters: impl IntoIterator<Item = (N, V)>,
    ) -> Vec<Result<(), SetParameterError>> {
        let set = |(name, value): (N, V)| self.store().set(vec![(name.into(), value.into())]);
        parameters.into_iter().map(set).collect()
    }

    /// Sets all of these parameters, or no parameter if one cannot be set. Callbacks and the event
    /// get them together.
    ///
    /// # Errors
    /// See [`Node::set_parameter`]; the error is that of the first parameter that fails.
    pub fn set_parameters_atomically<N: Into<String>, V: Into<ParameterValue>>(
        &self,
        parameters: impl IntoIterator<Item = (N, V)>,
    ) -> Result<(), SetParameterError> {
        let named = |(name, value): (N, V)| (name.into(), value.into());
        self.store().set(parameters.into_iter().map(named).collect())
    }

    /// Calls `callback` before parameters are set, with the values to set: it may change, add and
    /// remove values.
    ///
    /// Callbacks of parameters run on the thread that sets, without any lock. They may read
    /// parameters of the node, but not change them. The callback that was added last runs first.
    pub fn add_pre_set_parameters_callback(
        &self,
        callback: impl Fn(&mut Vec<NamedValue>) + Send + Sync + 'static,
    ) -> ParameterCallbackGuard {
        self.store().add_pre_set_callback(callback)
    }

    /// Asks `callback` whether parameters may be set or declared with these values, all of which
    /// have their declared types and ranges; an error that it returns is the reason for refusing.
    /// It should have no side effects: other callbacks may still refuse, and it may be called again
    /// if threads set parameters at the same time.
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
        self.store().add_on_set_callback(callback)
    }

    /// Calls `callback` after parameters were set or declared, with their values, in the order of
    /// the changes. The call comes before the setting function returns or, if another thread is
    /// setting parameters as well, possibly a little later on that thread.
    pub fn add_post_set_parameters_callback(
        &self,
        callback: impl Fn(&[NamedValue]) + Send + Sync + 'static,
    ) -> ParameterCallbackGuard {
        self.store().add_post_set_callback(callback)
    }
}
