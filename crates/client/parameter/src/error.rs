//! Errors of declaring, setting, undeclaring and reading parameters. Reasons that other nodes
//! receive use the words of rclcpp (`rclcpp/src/rclcpp/node_interfaces/node_parameters.cpp`).

use crate::value::ParameterType;

/// Why parameters were not set; all of them keep their values.
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
        /// The type of the parameter.
        expected: ParameterType,
        /// The type that was given.
        given: ParameterType,
    },
    /// The value is outside the parameter's range, or between two of its steps.
    #[error("Parameter {{{name}}} doesn't comply with {range_type} range.")]
    OutOfRange {
        /// The parameter.
        name: String,
        /// `integer` or `floating point`.
        range_type: &'static str,
    },
    /// An on-set callback refused the values.
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
    /// Unsetting the value would undeclare a parameter that is statically typed.
    #[error("cannot undeclare a statically typed parameter")]
    StaticallyTyped {
        /// The parameter.
        name: String,
    },
    /// The name or the value contains a NUL character, which ROS strings cannot have.
    #[error(
        "parameter '{name}' cannot be set because its name or value contains a NUL character: \
         remove this character"
    )]
    Nul {
        /// The parameter.
        name: String,
    },
    /// A parameter callback tried to change parameters of the same node.
    #[error("cannot set or declare a parameter, or change the callback from within set callback")]
    WithinCallback,
    /// Other threads kept changing parameters while on-set callbacks ran.
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
    /// The default, or the override from the command line, a parameter file or the options, cannot
    /// be the value of the parameter.
    #[error("parameter '{name}' could not be set: {source}{}", cure(source))]
    Value {
        /// The parameter.
        name: String,
        /// The reason.
        source: SetParameterError,
    },
    /// The range is empty, or its step is negative or NaN.
    #[error(
        "the range of parameter '{name}' is {range}, but it must ascend, and its step must not be \
         negative"
    )]
    Range {
        /// The parameter.
        name: String,
        /// The bounds and the step, as text.
        range: String,
    },
    /// The name is empty, or a parameter callback of the same node tried to declare a parameter.
    #[error(transparent)]
    NotAllowed(SetParameterError),
}

fn cure(source: &SetParameterError) -> &'static str {
    match source {
        SetParameterError::WrongType {
            expected: ParameterType::Double,
            given: ParameterType::Integer,
            ..
        } => " Write it with a decimal point, such as 1.0.",
        SetParameterError::WrongType {
            expected: ParameterType::DoubleArray,
            given: ParameterType::IntegerArray,
            ..
        } => " Write its elements with a decimal point, such as 1.0.",
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
    /// A parameter callback of the same node tried to undeclare a parameter.
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
    /// The parameter was declared without a value, and no value has been set.
    #[error(
        "parameter '{name}' is not initialized: it was declared without a value, and nothing has set it since"
    )]
    NotInitialized {
        /// The parameter.
        name: String,
    },
}
