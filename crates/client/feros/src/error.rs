//! The error type that covers all errors of this crate, for `main` to return.

use std::error::Error as _;
use std::fmt;

use crate::create_error::CreateError;
use crate::node_services::type_description::TypeDescriptionError;
use crate::wait_error::WaitError;

/// Any error of this crate, as the error type of `main`.
///
/// Its `Debug` form is the message followed by the causes that the message does not name, because
/// Rust prints the `Debug` form of an error that `main` returns.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The context could not be made.
    #[error(transparent)]
    Context(#[from] crate::context::ContextError),
    /// The engine is not available.
    #[error(transparent)]
    Engine(#[from] feros_engine_list::EngineError),
    /// An environment variable cannot be used.
    #[error(transparent)]
    Environment(#[from] feros_engine::engine::EnvironmentError),
    /// A node or endpoint could not be made.
    #[error(transparent)]
    Create(#[from] CreateError),
    /// A message was not published.
    #[error(transparent)]
    Publish(#[from] crate::publish_error::PublishError),
    /// A call got no response.
    #[error(transparent)]
    Call(#[from] crate::services::client::CallError),
    /// A goal was not accepted.
    #[error(transparent)]
    SendGoal(#[from] crate::action::SendGoalError),
    /// A goal has no result.
    #[error(transparent)]
    GoalResult(#[from] crate::action::GoalResultError),
    /// A goal was not canceled.
    #[error(transparent)]
    Cancel(#[from] crate::action::CancelError),
    /// A goal could not be ended.
    #[error(transparent)]
    SetResult(#[from] crate::action::SetResultError),
    /// The status of a goal cannot change in this way.
    #[error(transparent)]
    GoalTransition(#[from] crate::action::GoalTransitionError),
    /// Feedback was not published.
    #[error(transparent)]
    Feedback(#[from] crate::action::FeedbackError),
    /// A wait ran out of time.
    #[error(transparent)]
    Wait(#[from] WaitError),
    /// A parameter was not declared.
    #[error(transparent)]
    DeclareParameter(#[from] feros_parameter::DeclareParameterError),
    /// A parameter was not set.
    #[error(transparent)]
    SetParameter(#[from] feros_parameter::SetParameterError),
    /// A parameter was not undeclared.
    #[error(transparent)]
    UndeclareParameter(#[from] feros_parameter::UndeclareParameterError),
    /// A parameter could not be read.
    #[error(transparent)]
    GetParameter(#[from] feros_parameter::GetParameterError),
    /// A managed node did not change its state.
    #[error(transparent)]
    ChangeState(#[from] crate::lifecycle_states::change_state_error::ChangeStateError),
    /// A node was not added to an executor.
    #[error(transparent)]
    AddNode(#[from] crate::executor::AddNodeError),
    /// An executor could not spin.
    #[error(transparent)]
    Spin(#[from] feros_executor::SpinError),
    /// No description of a type was obtained.
    #[error(transparent)]
    TypeDescription(Box<TypeDescriptionError>),
    /// An error of a program or a component; see [`Error::other`].
    #[error(transparent)]
    Other(Box<dyn std::error::Error + Send + Sync>),
}

impl Error {
    /// Wraps an error from outside Feros, such as a device that does not answer.
    ///
    /// ```
    /// let error = feros::Error::other("no camera at /dev/video0");
    /// assert_eq!(error.to_string(), "no camera at /dev/video0");
    /// ```
    pub fn other(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Other(error.into())
    }
}

/// The error is boxed, because it is rare and larger than all other variants.
impl From<TypeDescriptionError> for Error {
    fn from(error: TypeDescriptionError) -> Self {
        Self::TypeDescription(Box::new(error))
    }
}

/// A `main` that returns an error prints this text on standard error. The text may quote untrusted
/// text, such as a key of a parameter file.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut said = self.to_string();
        let mut text = said.clone();
        let mut cause = self.source();
        while let Some(error) = cause {
            let reason = error.to_string();
            if !said.contains(&reason) {
                text.push_str(": ");
                text.push_str(&reason);
                said = reason;
            }
            cause = error.source();
        }
        f.write_str(&feros_wording::harmless_block(&text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("the arm does not move")]
    struct Still(#[source] std::io::Error);

    #[test]
    fn an_error_of_main_prints_its_message_and_causes() {
        let still = Still(std::io::Error::other("no current"));
        assert_eq!(format!("{:?}", Error::other(still)), "the arm does not move: no current");
        let name = feros_engine::name::validate_node_name("a b").expect_err("a space");
        let error = Error::from(CreateError::from(name));
        assert_eq!(format!("{error:?}"), error.to_string());
        assert!(error.to_string().contains("are allowed"), "{error}");
        let hostile = Error::other("no key \u{1b}[2J\r\nerror: no robot");
        assert_eq!(format!("{hostile:?}"), "no key \\u{1b}[2J\\u{d}\n  error: no robot");
    }
}
