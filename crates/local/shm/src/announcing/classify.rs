//! Chooses the transport of a match from the announcements of its two sides.

use feros_trace::Transport;

use super::announcement::{Announced, Announcement};
use crate::format_version::format_version;
use crate::reason::{Obstacle, Reason, Side};

/// The transport of a match, and the reason why the match does not have a more direct transport.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The transport, or `None` if there is no possible transport that both sides allow. In that
    /// case, nothing is delivered.
    pub transport: Option<Transport>,
    /// The reason, or `None` if a more direct transport does not exist, or if only the
    /// intra-process transport is more direct and the two sides are in different processes.
    pub reason: Option<Reason>,
}

/// Chooses the most direct transport that both sides allow and whose requirements their
/// announcements meet. The setup of the shared-memory transport may still fail. The subscription
/// then announces the failure.
pub fn classify(publisher: &Announced, subscription: &Announced) -> Choice {
    let (sender, receiver) = match both_known(publisher, subscription) {
        Ok(known) => known,
        Err(reason) => return network(publisher, subscription, reason),
    };
    let same_process = sender.host == receiver.host
        && sender.pid == receiver.pid
        && sender.token == receiver.token;
    let mut reason = None;
    if same_process {
        reason = forbidden(publisher, subscription, Transport::IntraProcess);
        if reason.is_none() {
            return Choice { transport: Some(Transport::IntraProcess), reason: None };
        }
    }
    let host_obstacle = different_places(sender, receiver)
        .or_else(|| forbidden(publisher, subscription, Transport::SharedMemory));
    if let Some(obstacle) = host_obstacle.or_else(|| no_shared_memory(sender, receiver)) {
        return network(publisher, subscription, reason.unwrap_or(obstacle));
    }
    match declined(sender, receiver) {
        None => Choice { transport: Some(Transport::SharedMemory), reason },
        Some(why) => network(publisher, subscription, why),
    }
}

fn both_known<'a>(
    publisher: &'a Announced,
    subscription: &'a Announced,
) -> Result<(&'a Announcement, &'a Announcement), Reason> {
    for (side, announced) in [(Side::Publisher, publisher), (Side::Subscription, subscription)] {
        match announced {
            Announced::Nothing => return Err(Reason::StockPeer { side }),
            Announced::Unreadable => return Err(Reason::UnreadableAnnouncement { side }),
            Announced::OtherVersion(_) | Announced::Feros(_) => {}
        }
    }
    match (publisher, subscription) {
        (Announced::Feros(sender), Announced::Feros(receiver)) => Ok((sender, receiver)),
        _ => {
            let version = |announced: &Announced| match announced {
                Announced::OtherVersion(version) => *version,
                _ => format_version(),
            };
            Err(Reason::IncompatibleVersion {
                publisher: version(publisher),
                subscription: version(subscription),
            })
        }
    }
}

fn forbidden(
    publisher: &Announced,
    subscription: &Announced,
    transport: Transport,
) -> Option<Reason> {
    [(Side::Publisher, publisher), (Side::Subscription, subscription)]
        .into_iter()
        .find(|(_, announced)| !announced.allows(transport))
        .map(|(by, _)| Reason::NotAllowed { transport, by })
}

/// The most fundamental obstacle that prevents the two processes from sharing memory.
fn different_places(sender: &Announcement, receiver: &Announcement) -> Option<Reason> {
    // A side that does not know its location has announced why it has no shared memory.
    let (Some(here), Some(there)) = (sender.host, receiver.host) else {
        let (by, announcement) = match sender.host {
            None => (Side::Publisher, sender),
            Some(_) => (Side::Subscription, receiver),
        };
        let why = announcement.shared_memory.err().unwrap_or(Obstacle::Other);
        return Some(Reason::SharedMemoryUnavailable { by, why });
    };
    if here.boot != there.boot {
        Some(Reason::OtherHost)
    } else if here.user_namespace != there.user_namespace {
        Some(Reason::OtherUserNamespace)
    } else if here.pid_namespace != there.pid_namespace {
        Some(Reason::OtherPidNamespace)
    } else if sender.uid != receiver.uid {
        Some(Reason::OtherUser { publisher_uid: sender.uid, subscription_uid: receiver.uid })
    } else if here.dev_shm != there.dev_shm {
        Some(Reason::OtherDevShm)
    } else {
        None
    }
}

fn no_shared_memory(sender: &Announcement, receiver: &Announcement) -> Option<Reason> {
    [(Side::Publisher, sender), (Side::Subscription, receiver)]
        .into_iter()
        .find_map(|(by, announcement)| announcement.shared_memory.err().map(|why| (by, why)))
        .map(|(by, why)| Reason::SharedMemoryUnavailable { by, why })
}

fn declined(sender: &Announcement, receiver: &Announcement) -> Option<Reason> {
    let declined =
        receiver.declined.iter().find(|declined| declined.publisher == sender.endpoint)?;
    Some(declined.why.reason())
}

fn network(publisher: &Announced, subscription: &Announced, shorter: Reason) -> Choice {
    match forbidden(publisher, subscription, Transport::Network) {
        Some(Reason::NotAllowed { by, .. }) => Choice {
            transport: None,
            reason: Some(Reason::NoTransport { shorter: Box::new(shorter), by }),
        },
        _ => Choice { transport: Some(Transport::Network), reason: Some(shorter) },
    }
}
