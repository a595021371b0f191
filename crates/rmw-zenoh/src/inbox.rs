//! What a subscription has received and its user has not taken yet.

use feros_rmw::engine::LOG_TARGET;
use zenoh::bytes::ZBytes;

use crate::sample::Received;

/// Its publishers in this session wait for it; Zenoh's callback cannot wait without holding up all
/// that comes by the same link.
pub(crate) type Inbox = feros_rmw_inbox::Inbox<Received>;

/// Takes over what came from the network, whoever sent it.
pub(crate) fn put(inbox: &Inbox, bytes: &ZBytes, attachment: Option<&ZBytes>) {
    if let Some(received) = Received::new(bytes, attachment) {
        inbox.push(received);
    } else if let Some(count) = inbox.refused().count() {
        tracing::warn!(
            target: LOG_TARGET,
            "a message of {} bytes on {} was refused ({count} so far): it has not the attachment of \
             rmw_zenoh (number, time, gid), or no header",
            bytes.len(),
            inbox.topic()
        );
    }
}
