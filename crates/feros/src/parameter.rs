//! Parameters: their values, and where the values that a node starts with come from.
//!
//! From the weakest to the strongest: the default that a node declares, what the process's command
//! line says (`-p`, `--params-file`), what
//! [`NodeOptions::arguments`](crate::NodeOptions::arguments) say, and
//! [`NodeOptions::parameter_overrides`](crate::NodeOptions::parameter_overrides).

mod builder;
mod callbacks;
mod changes;
mod client;
mod descriptor;
mod error;
mod events;
pub mod file;
mod handle;
mod node;
mod node_pattern;
mod number;
mod overrides;
mod print;
mod qos_overrides;
mod service;
mod slot;
mod store;
mod value;
mod variant;
mod yaml;

pub use builder::ParameterBuilder;
pub use callbacks::{NamedValue, ParameterCallbackGuard};
pub use client::{ParameterChanges, ParameterClient};
pub use descriptor::ParameterDescriptor;
pub use error::{
    DeclareParameterError, GetParameterError, SetParameterError, UndeclareParameterError,
};
pub use file::ParameterFileError;
pub use handle::Parameter;
pub(crate) use node::{EVENTS_TOPIC, NodeParameters};
pub use node_pattern::NodePattern;
pub use overrides::ParameterOverrides;
pub use qos_overrides::{QosOverrides, QosPolicy};
pub use store::ParameterList;
pub use value::{ParameterType, ParameterValue};
pub use variant::{IntoParameter, ParameterForm, ParameterVariant, RangedForm};
pub use yaml::YamlError;

pub use feros_msgs::rcl_interfaces::msg::{FloatingPointRange, IntegerRange};
