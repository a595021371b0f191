//! The parameters of a node: its methods, its services, its events, and a client for those of other
//! nodes. Values, rules and files are those of the crate `feros-parameter`.
//!
//! A parameter starts with a value from these, from the weakest to the strongest: the default that
//! a node declares, what the process's command line says (`-p`, `--params-file`), what
//! [`NodeOptions::arguments`](crate::NodeOptions::arguments) say, and
//! [`NodeOptions::parameter_overrides`](crate::NodeOptions::parameter_overrides).

mod client;
mod events;
mod node;
mod observer;
mod qos_overrides;
mod service;

pub use client::{ParameterChanges, ParameterClient};
pub(crate) use node::{EVENTS_TOPIC, NodeParameters};
pub use qos_overrides::{QosOverrides, QosPolicy};
pub(crate) use service::ParameterServices;

pub use feros_parameter::{
    DeclareParameterError, FloatingPointRange, GetParameterError, IntegerRange, IntoParameter,
    NamedValue, NodePattern, Parameter, ParameterBuilder, ParameterCallbackGuard,
    ParameterDescriptor, ParameterFileError, ParameterForm, ParameterList, ParameterOverrides,
    ParameterType, ParameterValue, ParameterVariant, RangedForm, SetParameterError,
    UndeclareParameterError, YamlError, file,
};
