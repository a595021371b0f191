//! The error of options that are read from environment variables.

/// The reason why an environment variable cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{variable} is {value:?}; it takes {expected}")]
pub struct EnvironmentError {
    /// The name of the variable.
    pub variable: &'static str,
    /// The value of the variable.
    pub value: String,
    /// The values that the variable may have.
    pub expected: &'static str,
}
