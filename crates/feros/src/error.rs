//! Any error of this crate: what `main` returns.

use crate::create_error::CreateError;
use crate::wait_error::WaitError;

/// Any error of this crate: what `main` returns.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No context.
    #[error(transparent)]
    Context(#[from] crate::context::ContextError),
    /// No node or endpoint.
    #[error(transparent)]
    Create(#[from] CreateError),
    /// Not published.
    #[error(transparent)]
    Publish(#[from] crate::publish_error::PublishError),
    /// No response.
    #[error(transparent)]
    Call(#[from] crate::client::CallError),
    /// Not there in time.
    #[error(transparent)]
    Wait(#[from] WaitError),
    /// No parameter.
    #[error(transparent)]
    DeclareParameter(#[from] feros_parameter::DeclareParameterError),
    /// Not set.
    #[error(transparent)]
    SetParameter(#[from] feros_parameter::SetParameterError),
    /// Not undeclared.
    #[error(transparent)]
    UndeclareParameter(#[from] feros_parameter::UndeclareParameterError),
    /// Not read.
    #[error(transparent)]
    GetParameter(#[from] feros_parameter::GetParameterError),
    /// Not added.
    #[error(transparent)]
    AddNode(#[from] crate::executor::AddNodeError),
    /// Not spun.
    #[error(transparent)]
    Spin(#[from] feros_executor::SpinError),
    /// What a program or a component has to say for itself; see [`Error::other`].
    #[error(transparent)]
    Other(Box<dyn std::error::Error + Send + Sync>),
}

impl Error {
    /// An error that is not of Feros, such as a device that does not answer.
    ///
    /// ```
    /// let error = feros::Error::other("no camera at /dev/video0");
    /// assert_eq!(error.to_string(), "no camera at /dev/video0");
    /// ```
    pub fn other(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Other(error.into())
    }
}
