//! How a command ends when it does not succeed. Exit codes: 0 done, 1 failed, 2 wrong usage.

use std::process::ExitCode;

/// The reason why a command ended early. Its text is one clear sentence: what is wrong, and what to
/// do.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// The command could not do its work.
    #[error("{0}")]
    Failed(String),
    /// The command line is wrong, so repeating it does not help.
    #[error("{0}")]
    Usage(String),
    /// The user interrupted the command.
    #[error("interrupted")]
    Interrupted,
    /// The reader of the output has closed it (`| head`).
    #[error("the output was closed")]
    OutputClosed,
    /// The command has printed its findings, and only has to end with this exit code.
    #[error("exit code {0}")]
    Ended(u8),
}

impl CliError {
    /// Makes the error for a failure, with this text.
    pub(crate) fn failed(text: impl ToString) -> Self {
        Self::Failed(text.to_string())
    }

    /// The exit code that a shell reports for a command that the signal with this number ended.
    pub(crate) fn ended_by(signal: i32) -> Self {
        Self::Ended(u8::try_from(128 + signal).unwrap_or(1))
    }

    /// Makes the error for wrong usage, with this text.
    pub(crate) fn usage(text: impl ToString) -> Self {
        Self::Usage(text.to_string())
    }

    /// Prints the error, and returns the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        let code = match self {
            Self::OutputClosed => return ExitCode::SUCCESS,
            Self::Ended(code) => return ExitCode::from(*code),
            // The exit code that a shell reports for a command that SIGINT ended.
            Self::Interrupted => return ExitCode::from(130),
            Self::Failed(_) => 1,
            Self::Usage(_) => 2,
        };
        crate::notices::error(self);
        ExitCode::from(code)
    }
}

impl From<std::io::Error> for CliError {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::OutputClosed,
            _ => Self::Failed(format!("the output cannot be written: {error}")),
        }
    }
}

macro_rules! failures {
    ($($error:ty),+ $(,)?) => {
        $(impl From<$error> for CliError {
            fn from(error: $error) -> Self {
                Self::failed(error)
            }
        })+
    };
}
failures!(
    feros::Error,
    feros::ContextError,
    feros::CreateError,
    feros::PublishError,
    feros::CallError,
    feros::action::SendGoalError,
    feros::action::GoalResultError,
    feros::action::CancelError,
    feros::WaitError,
    feros::AddNodeError,
    feros::SpinError,
    feros_bag::CopyError,
    feros_bag::ReadError,
    feros_bag::WriteError,
    feros_component::remote::RemoteError,
);
