//! The parameters of a node: its methods, its services, its events, and a client for the parameters
//! of other nodes. Values, rules and files are in the crate `feros-parameter`.
//!
//! A parameter starts with a value from one of these sources, from the weakest to the strongest:
//! the default that a node declares, the process's command line (`-p`, `--params-file`),
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
