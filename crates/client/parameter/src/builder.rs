//! The builder that declares a parameter with a description, a range and other properties.

use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::descriptor::ParameterDescriptor;
use crate::error::DeclareParameterError;
use crate::handle::Parameter;
use crate::store::Store;
use crate::value::ParameterValue;
use crate::variant::{ParameterForm, RangedForm};

/// A parameter that is about to be declared. The node's `build_parameter` returns it.
#[must_use = "the parameter is not declared before `declare` is called"]
pub struct ParameterBuilder<T> {
    store: Arc<Store>,
    descriptor: ParameterDescriptor,
    default: ParameterValue,
    ignore_override: bool,
    form: PhantomData<fn() -> T>,
}

impl<T: ParameterForm> ParameterBuilder<T> {
    /// Starts the declaration of a parameter of `store` whose default is `default`.
    pub fn new(store: &Arc<Store>, name: &str, default: ParameterValue) -> Self {
        let descriptor = ParameterDescriptor {
            name: name.to_owned(),
            parameter_type: T::STATIC_TYPE.unwrap_or_default(),
            dynamic_typing: T::STATIC_TYPE.is_none(),
            ..ParameterDescriptor::default()
        };
        Self {
            store: store.clone(),
            descriptor,
            default,
            ignore_override: false,
            form: PhantomData,
        }
    }

    /// Describes the parameter for people.
    pub fn description(mut self, description: &str) -> Self {
        description.clone_into(&mut self.descriptor.description);
        self
    }

    /// Describes other constraints on the value for people; enforce them with an on-set callback.
    pub fn additional_constraints(mut self, constraints: &str) -> Self {
        constraints.clone_into(&mut self.descriptor.additional_constraints);
        self
    }

    /// Makes the parameter read-only: its value cannot change after the declaration.
    pub fn read_only(mut self) -> Self {
        self.descriptor.read_only = true;
        self
    }

    /// Starts the parameter with its default, and ignores the command line, the parameter files and
    /// the node's options.
    pub fn ignore_override(mut self) -> Self {
        self.ignore_override = true;
        self
    }

    /// Declares the parameter.
    ///
    /// # Errors
    /// When a parameter of this name exists, or the first value (the default or its override) has
    /// another type, is out of range or is refused by an on-set callback.
    pub fn declare(self) -> Result<Parameter<T>, DeclareParameterError> {
        let name = self.descriptor.name.clone();
        let slot = self.store.declare(self.descriptor, self.default, self.ignore_override)?;
        Ok(Parameter::new(&name, slot, &self.store))
    }
}

impl ParameterBuilder<ParameterValue> {
    /// Starts the declaration of a parameter that keeps the type of `default`, although
    /// `ParameterValue` itself allows any type.
    pub fn with_type(store: &Arc<Store>, name: &str, default: ParameterValue) -> Self {
        let parameter_type = default.parameter_type();
        let mut builder = Self::new(store, name, default);
        builder.descriptor.parameter_type = parameter_type;
        builder.descriptor.dynamic_typing = false;
        builder
    }
}

impl<T: RangedForm> ParameterBuilder<T> {
    /// Requires the value, or each element of a list, to lie in `range`, bounds included.
    pub fn range(self, range: RangeInclusive<T::Bound>) -> Self {
        self.stepped_range(range, T::Step::default())
    }

    /// Requires the value, or each element of a list, to be the lower bound, a whole number of
    /// steps above the lower bound, or the upper bound.
    pub fn stepped_range(mut self, range: RangeInclusive<T::Bound>, step: T::Step) -> Self {
        T::bound(&mut self.descriptor, *range.start(), *range.end(), step);
        self
    }
}
