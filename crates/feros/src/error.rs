//! Any error of this crate: what `main` returns.

use crate::create_error::CreateError;
use crate::wait_error::WaitError;

/// Any error of this crate: what `main` returns.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No context.
    #[error(transparent)]
    Context(#[from] crate::ContextError),
    /// No node or endpoint.
    #[error(transparent)]
    Create(#[from] CreateError),
    /// Not published.
    #[error(transparent)]
    Publish(#[from] crate::PublishError),
    /// No response.
    #[error(transparent)]
    Call(#[from] crate::CallError),
    /// Not there in time.
    #[error(transparent)]
    Wait(#[from] WaitError),
    /// No parameter.
    #[error(transparent)]
    DeclareParameter(#[from] crate::parameter::DeclareParameterError),
    /// Not set.
    #[error(transparent)]
    SetParameter(#[from] crate::parameter::SetParameterError),
    /// Not undeclared.
    #[error(transparent)]
    UndeclareParameter(#[from] crate::parameter::UndeclareParameterError),
    /// Not read.
    #[error(transparent)]
    GetParameter(#[from] crate::parameter::GetParameterError),
    /// Not added.
    #[error(transparent)]
    AddNode(#[from] crate::AddNodeError),
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
