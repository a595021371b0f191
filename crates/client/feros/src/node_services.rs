//! Services that a node offers about itself: the levels of its loggers, and descriptions of types.
//! The services of its parameters are in `parameter`.

pub(crate) mod logger_levels;
pub(crate) mod type_description;
