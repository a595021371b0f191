//! The declaration of a parameter with description, range and more.

use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::descriptor::ParameterDescriptor;
use crate::error::DeclareParameterError;
use crate::handle::Parameter;
use crate::store::Store;
use crate::value::ParameterValue;
use crate::variant::{ParameterForm, RangedForm};

/// A parameter that is about to be declared, as the node's `build_parameter` returns it.
#[must_use = "the parameter is not declared before `declare` is called"]
pub struct ParameterBuilder<T> {
    store: Arc<Store>,
    descriptor: ParameterDescriptor,
    default: ParameterValue,
    ignore_override: bool,
    form: PhantomData<fn() -> T>,
}

impl<T: ParameterForm> ParameterBuilder<T> {
    /// A parameter of `store` that starts with `default`.
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

    /// Describes other constraints on the value for people; an on-set callback enforces them.
    pub fn additional_constraints(mut self, constraints: &str) -> Self {
        constraints.clone_into(&mut self.descriptor.additional_constraints);
        self
    }

    /// The value cannot be changed after it was declared.
    pub fn read_only(mut self) -> Self {
        self.descriptor.read_only = true;
        self
    }

    /// Starts with the default, and ignores command line, parameter files and options.
    pub fn ignore_override(mut self) -> Self {
        self.ignore_override = true;
        self
    }

    /// Declares the parameter.
    ///
    /// # Errors
    /// When the name is taken, or the first value (the default or its override) is of another type,
    /// out of range or refused by an on-set callback.
    pub fn declare(self) -> Result<Parameter<T>, DeclareParameterError> {
        let name = self.descriptor.name.clone();
        let slot = self.store.declare(self.descriptor, self.default, self.ignore_override)?;
        Ok(Parameter::new(&name, slot, &self.store))
    }
}

impl ParameterBuilder<ParameterValue> {
    /// A parameter of the type of its default, where the Rust type leaves the type open.
    pub fn with_type(store: &Arc<Store>, name: &str, default: ParameterValue) -> Self {
        let parameter_type = default.parameter_type();
        let mut builder = Self::new(store, name, default);
        builder.descriptor.parameter_type = parameter_type;
        builder.descriptor.dynamic_typing = false;
        builder
    }
}

impl<T: RangedForm> ParameterBuilder<T> {
    /// The value, or each of its values, lies between these bounds, which belong to the range.
    pub fn range(self, range: RangeInclusive<T::Bound>) -> Self {
        self.stepped_range(range, T::Step::default())
    }

    /// The value, or each of its values, is the lower bound, a number of steps above it, or the
    /// upper bound.
    pub fn stepped_range(mut self, range: RangeInclusive<T::Bound>, step: T::Step) -> Self {
        T::bound(&mut self.descriptor, *range.start(), *range.end(), step);
        self
    }
}
