//! Checks whether another session has handled all messages sent to it: Zenoh has no
//! acknowledgements, but keeps the order, so the answer to a question shows that everything before
//! it has arrived.
//!
//! Sessions of Feros answer. Others are assumed to have everything that was handed to their link.

use std::time::{Duration, Instant};

use zenoh::query::{ConsolidationMode, QueryTarget};
use zenoh::{Session, Wait as _};

use crate::wire::announcement;

/// The outcome of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fence {
    /// All messages before it were handled.
    Passed,
    /// The session does not answer such questions.
    Unknown,
    /// No answer came in time.
    TimedOut,
}

/// Asks a session.
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
        Err(_) => Fence::Unknown, // the question ended without an answer
    }
}
