//! Parameters: their values, and where the values that a node starts with come from.
//!
//! From the weakest to the strongest: the default that a node declares, what the process's command line says (`-p`,
//! `--params-file`), what [`NodeOptions::arguments`](crate::NodeOptions::arguments) say, and
//! [`NodeOptions::parameter_overrides`](crate::NodeOptions::parameter_overrides).

pub mod file;
mod node_pattern;
mod number;
mod overrides;
mod value;
mod yaml;

pub use file::ParameterFileError;
pub use node_pattern::NodePattern;
pub use overrides::ParameterOverrides;
pub use value::{ParameterType, ParameterValue};
pub use yaml::YamlError;
