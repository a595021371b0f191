//! The methods of a node that declare, read and set its parameters.

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

    /// Declares a parameter. It starts with `default`, unless the command line, a parameter file or
    /// the node's options give another value.
    ///
    /// The type of the default determines the type of the parameter: `bool`, an integer (`i64`), a
    /// floating-point number (`f64`), a string, a list of one of these, or bytes.
    ///
    /// # Errors
    /// When a parameter of that name exists, or the first value has another type or is refused by
    /// an on-set callback.
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

    /// Makes a builder for a parameter, to set a description, a range and other properties before
    /// the declaration.
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

    /// Makes a builder for a parameter of type `T` that has no value until it is set.
    pub fn build_optional_parameter<T: ParameterVariant>(
        &self,
        name: &str,
    ) -> ParameterBuilder<Option<T>> {
        ParameterBuilder::new(self.store(), name, ParameterValue::NotSet)
    }

    /// Makes a builder for a parameter whose value may be of any type.
    pub fn build_dynamic_parameter(
        &self,
        name: &str,
        default: impl Into<ParameterValue>,
    ) -> ParameterBuilder<ParameterValue> {
        ParameterBuilder::new(self.store(), name, default.into())
    }

    /// Undeclares a parameter, which must be dynamically typed and not read-only.
    ///
    /// # Errors
    /// When the parameter does not meet these conditions or does not exist.
    pub fn undeclare_parameter(&self, name: &str) -> Result<(), UndeclareParameterError> {
        self.store().undeclare(name)
    }

    /// Whether a parameter is declared.
    pub fn has_parameter(&self, name: &str) -> bool {
        self.store().is_declared(name)
    }

    /// Returns the value of a parameter; `NotSet` if the parameter does not exist and undeclared
    /// parameters are allowed.
    ///
    /// # Errors
    /// When the parameter does not exist and undeclared parameters are not allowed, or when it is
    /// statically typed and has no value.
    pub fn get_parameter(&self, name: &str) -> Result<ParameterValue, GetParameterError> {
        self.store().get(name)
    }

    /// Returns the values that several parameters have at the same moment, in the order of `names`.
    ///
    /// # Errors
    /// See [`Node::get_parameter`]; the error is about the first parameter that fails.
    pub fn get_parameters<'a>(
        &self,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Result<Vec<ParameterValue>, GetParameterError> {
        self.store().get_all(names)
    }

    /// Returns the parameters whose names begin with `prefix.`, keyed by the rest of the name. With
    /// an empty prefix, returns all parameters.
    pub fn get_parameters_by_prefix(&self, prefix: &str) -> BTreeMap<String, ParameterValue> {
        self.store().get_by_prefix(prefix)
    }

    /// Returns the types of the present values of parameters.
    ///
    /// # Errors
    /// When a parameter does not exist and undeclared parameters are not allowed.
    pub fn get_parameter_types(
        &self,
        names: &[String],
    ) -> Result<Vec<ParameterType>, GetParameterError> {
        self.store().types(names)
    }

    /// Returns the descriptors of parameters.
    ///
    /// # Errors
    /// When a parameter does not exist and undeclared parameters are not allowed.
    pub fn describe_parameters(
        &self,
        names: &[String],
    ) -> Result<Vec<ParameterDescriptor>, GetParameterError> {
        self.store().describe(names)
    }

    /// Lists the names of the parameters below any of the prefixes, at most `depth` name parts
    /// deep; `0` means any depth. Without prefixes, lists from the root.
    pub fn list_parameters(&self, prefixes: &[String], depth: u64) -> ParameterList {
        self.store().list(prefixes, depth)
    }

    /// Sets a parameter.
    ///
    /// # Errors
    /// When the parameter is not declared or is read-only, or when the value has another type, is
    /// out of range or is refused by an on-set callback.
    pub fn set_parameter(
        &self,
        name: &str,
        value: impl Into<ParameterValue>,
    ) -> Result<(), SetParameterError> {
        self.store().set(vec![(name.to_owned(), value.into())])
    }

    /// Sets parameters one after the other; returns a result for each parameter.
    pub fn set_parameters<N: Into<String>, V: Into<ParameterValue>>(
        &self,
        parameters: impl IntoIterator<Item = (N, V)>,
    ) -> Vec<Result<(), SetParameterError>> {
        let set = |(name, value): (N, V)| self.store().set(vec![(name.into(), value.into())]);
        parameters.into_iter().map(set).collect()
    }

    /// Sets all of these parameters, or no parameter if one of them cannot be set. Callbacks and
    /// `/parameter_events` report the parameters together.
    ///
    /// # Errors
    /// See [`Node::set_parameter`]; the error is about the first parameter that fails.
    pub fn set_parameters_atomically<N: Into<String>, V: Into<ParameterValue>>(
        &self,
        parameters: impl IntoIterator<Item = (N, V)>,
    ) -> Result<(), SetParameterError> {
        let named = |(name, value): (N, V)| (name.into(), value.into());
        self.store().set(parameters.into_iter().map(named).collect())
    }

    /// Calls `callback` with the new values before parameters are set; the callback may change, add
    /// and remove values.
    ///
    /// Parameter callbacks run on the thread that sets the parameters, without any lock. They may
    /// read the node's parameters but must not change them. The callback that was added last runs
    /// first.
    pub fn add_pre_set_parameters_callback(
        &self,
        callback: impl Fn(&mut Vec<NamedValue>) + Send + Sync + 'static,
    ) -> ParameterCallbackGuard {
        self.store().add_pre_set_callback(callback)
    }

    /// Calls `callback` with the new values before parameters are set or declared; an error from
    /// the callback refuses the values and gives the reason. The types and ranges of the values
    /// have already been checked. The callback should have no side effects: other callbacks may
    /// still refuse the values, and it may be called again for the same values if several threads
    /// set parameters at the same time.
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

    /// Calls `callback` with the new values after parameters were set or declared, in the order of
    /// the changes. The call usually ends before the function that sets the parameters returns. If
    /// another thread is setting parameters at the same time, that thread may call `callback` a
    /// little later instead.
    pub fn add_post_set_parameters_callback(
        &self,
        callback: impl Fn(&[NamedValue]) + Send + Sync + 'static,
    ) -> ParameterCallbackGuard {
        self.store().add_post_set_callback(callback)
    }
}
