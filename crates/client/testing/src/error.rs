//! The errors of tests. A test that returns one prints its `Debug` form, which is therefore the
//! message.

use std::fmt;
use std::time::Duration;

use feros::{AddNodeError, ContextError, CreateError, PublishError};
use feros_test_domain::ReserveError;

/// The reason why a harness could not be made.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum HarnessError {
    /// No domain is free.
    #[error(transparent)]
    Domain(#[from] ReserveError),
    /// An environment variable cannot be used, or the context could not be made.
    #[error(transparent)]
    Context(#[from] ContextError),
    /// The harness's own node could not be made.
    #[error(transparent)]
    Create(#[from] CreateError),
    /// The node could not be spun.
    #[error(transparent)]
    Spin(#[from] AddNodeError),
}

impl fmt::Debug for HarnessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The reason why an expected event did not happen.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ExpectError {
    /// The event did not happen in time.
    #[error("{missing} {}", feros_wording::within(*.waited))]
    Missing {
        /// The missing event, and what the test found instead.
        missing: String,
        /// The timeout.
        waited: Duration,
    },
    /// A callback has panicked.
    #[error("a callback of node {node} panicked: {text}")]
    Panicked {
        /// The node of the callback.
        node: String,
        /// The text of the panic.
        text: String,
    },
    /// An endpoint of the harness could not be made.
    #[error(transparent)]
    Create(#[from] CreateError),
    /// The message was not published.
    #[error(transparent)]
    Publish(#[from] PublishError),
}

impl fmt::Debug for ExpectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
