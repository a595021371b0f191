//! The messages that a subscription has received and that its user has not taken yet.

use feros_engine::engine::LOG_TARGET;
use zenoh::bytes::ZBytes;

use crate::sample::Received;

/// The inbox of a subscription. Publishers of the same session wait until the inbox has room.
/// Zenoh's callbacks must not wait, because they would delay everything else on their link.
pub(crate) type Inbox = feros_inbox::Inbox<Received>;

/// Adds data from the network, which may be malformed.
pub(crate) fn put(inbox: &Inbox, bytes: &ZBytes, attachment: Option<&ZBytes>) {
    if let Some(received) = Received::new(bytes, attachment) {
        inbox.push(received);
    } else if let Some(count) = inbox.count_refused() {
        tracing::warn!(
            target: LOG_TARGET,
            "a message of {} bytes on {} was refused ({count} so far): it lacks the attachment of \
             rmw_zenoh (number, time, gid), or no header",
            bytes.len(),
            inbox.topic()
        );
    }
}
