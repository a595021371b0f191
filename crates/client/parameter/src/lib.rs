//! Parameters, independent of any node: values and descriptors, declarations and changes, parameter
//! files and overrides.
//!
//! A [`Store`] holds the parameters of one node and follows the rules and the wording of rclcpp
//! (`rclcpp/src/rclcpp/node_interfaces/node_parameters.cpp`); parameter files and values from the
//! command line follow rcl's parser (`rcl_yaml_param_parser`). The crate `feros` adds the node's
//! methods, services, events and client.
//!
//! # Modules
//!
//! | module | holds |
//! |---|---|
//! | `store`, `slot`, `handle` | the parameters of a node, the storage of a parameter's value, and its typed handle |
//! | `value`, `variant`, `descriptor`, `builder` | values, Rust types for values, descriptors and declarations |
//! | `change`, `change_queue`, `callbacks` | changes, the order of changes, and callbacks around changes |
//! | `file`, `overrides`, `node_pattern` | parameter files, and values from the command line |
//! | `yaml`, `number`, `print` | reading and writing YAML by rcl's rules |
//! | `error` | the errors |
//!
//! # Invariants
//!
//! Callbacks run while no lock is held. Changes are reported in the order in which they were made,
//! through a bounded queue.
#![forbid(unsafe_code)]

mod builder;
mod callbacks;
mod change;
mod change_queue;
mod descriptor;
mod error;
pub mod file;
mod handle;
mod node_pattern;
mod number;
mod overrides;
mod print;
mod slot;
mod store;
mod value;
mod variant;
mod yaml;

pub use builder::ParameterBuilder;
pub use callbacks::ParameterCallbackGuard;
pub use change::{Change, ChangeKind, ChangeObserver};
pub use descriptor::ParameterDescriptor;
pub use error::{
    DeclareParameterError, GetParameterError, SetParameterError, UndeclareParameterError,
};
pub use file::ParameterFileError;
pub use handle::Parameter;
pub use node_pattern::NodePattern;
pub use overrides::ParameterOverrides;
pub use store::{ParameterList, Store};
pub use value::{NamedValue, ParameterType, ParameterValue};
pub use variant::{IntoParameter, ParameterForm, ParameterVariant, RangedForm};
pub use yaml::YamlError;

pub use feros_msgs::rcl_interfaces::msg::{FloatingPointRange, IntegerRange};
