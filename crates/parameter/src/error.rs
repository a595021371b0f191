//! Why a parameter is not declared, set, undeclared or read. Reasons that other nodes receive have
//! the words of rclcpp (`rclcpp/src/rclcpp/node_interfaces/node_parameters.cpp`).

use crate::value::ParameterType;

/// Why parameters were not set; all keep their values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SetParameterError {
    /// There is no such parameter.
    #[error("parameter '{name}' cannot be set because it was not declared")]
    NotDeclared {
        /// The parameter.
        name: String,
    },
    /// The parameter is read-only.
    #[error("parameter '{name}' cannot be set because it is read-only")]
    ReadOnly {
        /// The parameter.
        name: String,
    },
    /// The parameter takes values of another type.
    #[error(
        "Wrong parameter type, parameter {{{name}}} is of type {{{expected}}}, setting it to {{{given}}} is not allowed."
    )]
    WrongType {
        /// The parameter.
        name: String,
        /// The type that it takes.
        expected: ParameterType,
        /// The type that was given.
        given: ParameterType,
    },
    /// The value is out of the parameter's range, or between its steps.
    #[error("Parameter {{{name}}} doesn't comply with {range_type} range.")]
    OutOfRange {
        /// The parameter.
        name: String,
        /// `integer` or `floating point`.
        range_type: &'static str,
    },
    /// An on-set callback refused.
    #[error("{reason}")]
    Refused {
        /// The reason that the callback gave.
        reason: String,
    },
    /// A name is empty.
    #[error("parameter name must not be empty")]
    EmptyName,
    /// The list of parameters is empty.
    #[error(
        "parameter list cannot be empty, this might be due to pre_set_parameters_callback modifying the original \
         parameters list."
    )]
    EmptyList,
    /// Unsetting the value would undeclare a parameter that must have one.
    #[error("cannot undeclare a statically typed parameter")]
    StaticallyTyped {
        /// The parameter.
        name: String,
    },
    /// ROS strings have no NUL characters.
    #[error("parameter '{name}' cannot be set because its name or value contains a NUL character")]
    Nul {
        /// The parameter.
        name: String,
    },
    /// A callback of parameters tried to change parameters of the same node.
    #[error("cannot set or declare a parameter, or change the callback from within set callback")]
    WithinCallback,
    /// Other threads changed parameters again and again while on-set callbacks ran.
    #[error(
        "other threads changed parameters {attempts} times while this change was being validated: set it again"
    )]
    Contended {
        /// The number of attempts.
        attempts: u32,
    },
    /// The node no longer exists.
    #[error("the node of parameter '{name}' no longer exists")]
    NodeGone {
        /// The parameter.
        name: String,
    },
}

/// Why a parameter was not declared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeclareParameterError {
    /// A parameter of that name exists.
    #[error("parameter '{name}' has already been declared")]
    AlreadyDeclared {
        /// The parameter.
        name: String,
    },
    /// The default, or its override from command line, parameter file or options, cannot be the
    /// value of the parameter.
    #[error("parameter '{name}' could not be set: {source}{}", cure(source))]
    Value {
        /// The parameter.
        name: String,
        /// The reason.
        source: SetParameterError,
    },
    /// The range is empty.
    #[error(
        "the range of parameter '{name}' is {range}: it must go up, with a step that is not negative"
    )]
    Range {
        /// The parameter.
        name: String,
        /// From, to and step.
        range: String,
    },
    /// The name is empty, or a callback of parameters of the same node declares a parameter.
    #[error(transparent)]
    NotAllowed(SetParameterError),
}

fn cure(source: &SetParameterError) -> &'static str {
    match source {
        SetParameterError::WrongType {
            expected: ParameterType::Double,
            given: ParameterType::Integer,
            ..
        } => " Write it with a point, such as 1.0.",
        SetParameterError::WrongType { expected: ParameterType::String, .. } => {
            " Put it in quotes."
        }
        _ => "",
    }
}

/// Why a parameter was not undeclared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UndeclareParameterError {
    /// No parameter of that name exists.
    #[error("cannot undeclare parameter '{name}' which has not yet been declared")]
    NotDeclared {
        /// The parameter.
        name: String,
    },
    /// The parameter is read-only.
    #[error("cannot undeclare parameter '{name}' because it is read-only")]
    ReadOnly {
        /// The parameter.
        name: String,
    },
    /// The parameter is statically typed.
    #[error("parameter '{name}': cannot undeclare a statically typed parameter")]
    StaticallyTyped {
        /// The parameter.
        name: String,
    },
    /// A callback of parameters of the same node undeclares a parameter.
    #[error(transparent)]
    NotAllowed(SetParameterError),
}

/// Why a parameter has no value to read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GetParameterError {
    /// No parameter of that name exists.
    #[error("parameter '{name}' is not declared: declare it first, or allow undeclared parameters")]
    NotDeclared {
        /// The parameter.
        name: String,
    },
    /// The parameter was declared without a value, and nobody set one.
    #[error(
        "parameter '{name}' is not initialized: it was declared without a value, and none was set"
    )]
    NotInitialized {
        /// The parameter.
        name: String,
    },
}
