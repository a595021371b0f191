//! Checks whether another session has handled all messages that were sent to it. Zenoh has no
//! acknowledgements, but it keeps messages in order. So this session sends a question to the other
//! session. The answer shows that all earlier messages have arrived.
//!
//! Only sessions of Feros answer. Other sessions are assumed to have received every message that
//! has been passed to their link.

use std::time::{Duration, Instant};

use zenoh::query::{ConsolidationMode, QueryTarget};
use zenoh::{Session, Wait as _};

use crate::wire::announcement;

/// The outcome of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fence {
    /// The session has handled all messages that were sent before the question.
    Passed,
    /// The session does not answer such questions.
    Unknown,
    /// The session did not answer within the time limit.
    TimedOut,
}

/// Asks a session whether it has handled all messages.
pub(crate) fn ask(session: &Session, domain_id: u32, zid: &str, timeout: Duration) -> Fence {
    if timeout.is_zero() {
        return Fence::TimedOut;
    }
    let deadline = Instant::now() + timeout;
    let asked = session
        .get(announcement::fence(domain_id, zid))
        .target(QueryTarget::All)
        .consolidation(ConsolidationMode::None)
        .timeout(timeout)
        .wait();
    let Ok(replies) = asked else { return Fence::Unknown };
    match replies.recv_deadline(deadline) {
        Ok(Some(reply)) if reply.result().is_ok() => Fence::Passed,
        Ok(_) => Fence::TimedOut,
        Err(_) => Fence::Unknown, // Zenoh ended the query without an answer
    }
}
