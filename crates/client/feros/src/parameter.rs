//! The parameters of a node: the node's methods, the services for other nodes, and a client for the
//! parameters of other nodes. Values, rules and files are in the crate `feros-parameter`.
//!
//! A parameter starts with the value from one of the following sources; a later source wins over an
//! earlier one: the default in the declaration, the process's command line (`-p`, `--params-file`),
//! [`NodeOptions::arguments`](crate::NodeOptions::arguments), and
//! [`NodeOptions::parameter_overrides`](crate::NodeOptions::parameter_overrides).

mod client;
mod node;
mod parameters;
mod service;

pub use client::{ParameterChanges, ParameterClient};
pub use parameters::Parameters;
pub(crate) use service::start as start_services;

pub use feros_parameter::{
    DeclareParameterError, FloatingPointRange, GetParameterError, IntegerRange, IntoParameter,
    NamedValue, NodePattern, Parameter, ParameterBuilder, ParameterCallbackGuard,
    ParameterDescriptor, ParameterFileError, ParameterForm, ParameterList, ParameterOverrides,
    ParameterType, ParameterValue, ParameterVariant, RangedForm, SetParameterError,
    UndeclareParameterError, YamlError, file,
};
