//! Any error of this crate: what `main` returns.

use std::error::Error as _;
use std::fmt;

use crate::create_error::CreateError;
use crate::type_description::TypeDescriptionError;
use crate::wait_error::WaitError;

/// Any error of this crate: what `main` returns.
///
/// Its `Debug` is the message and the causes that the message does not name, for that is what Rust
/// prints of an error that `main` returns.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No context.
    #[error(transparent)]
    Context(#[from] crate::context::ContextError),
    /// No engine.
    #[error(transparent)]
    Engine(#[from] crate::engines::EngineError),
    /// A variable of the environment.
    #[error(transparent)]
    Environment(#[from] feros_rmw::engine::EnvironmentError),
    /// No node or endpoint.
    #[error(transparent)]
    Create(#[from] CreateError),
    /// Not published.
    #[error(transparent)]
    Publish(#[from] crate::publish_error::PublishError),
    /// No response.
    #[error(transparent)]
    Call(#[from] crate::client::CallError),
    /// No goal.
    #[error(transparent)]
    SendGoal(#[from] crate::action::SendGoalError),
    /// No result of a goal.
    #[error(transparent)]
    GoalResult(#[from] crate::action::GoalResultError),
    /// No goal canceled.
    #[error(transparent)]
    Cancel(#[from] crate::action::CancelError),
    /// A goal not ended.
    #[error(transparent)]
    SetResult(#[from] crate::action::SetResultError),
    /// A goal that does not go on so.
    #[error(transparent)]
    GoalTransition(#[from] crate::action::GoalTransitionError),
    /// No feedback published.
    #[error(transparent)]
    Feedback(#[from] crate::action::FeedbackError),
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
    /// No other state.
    #[error(transparent)]
    ChangeState(#[from] crate::lifecycle::ChangeStateError),
    /// Not added.
    #[error(transparent)]
    AddNode(#[from] crate::executor::AddNodeError),
    /// Not spun.
    #[error(transparent)]
    Spin(#[from] feros_executor::SpinError),
    /// Not described.
    #[error(transparent)]
    TypeDescription(Box<TypeDescriptionError>),
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

/// Behind a pointer: it is the largest, and seldom.
impl From<TypeDescriptionError> for Error {
    fn from(error: TypeDescriptionError) -> Self {
        Self::TypeDescription(Box::new(error))
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut said = self.to_string();
        f.write_str(&said)?;
        let mut cause = self.source();
        while let Some(error) = cause {
            let text = error.to_string();
            if !said.contains(&text) {
                write!(f, ": {text}")?;
                said = text;
            }
            cause = error.source();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("the arm does not move")]
    struct Still(#[source] std::io::Error);

    #[test]
    fn what_main_prints_is_the_message_with_its_causes() {
        let still = Still(std::io::Error::other("no current"));
        assert_eq!(format!("{:?}", Error::other(still)), "the arm does not move: no current");
        let name = feros_rmw::name::validate_node_name("a b").expect_err("a space");
        let error = Error::from(CreateError::from(name));
        assert_eq!(format!("{error:?}"), error.to_string());
        assert!(error.to_string().contains("allowed are"), "{error}");
    }
}
