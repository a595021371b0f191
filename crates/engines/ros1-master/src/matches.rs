//! The matches of an endpoint of this process, and how to pass messages to each match.

use std::sync::Arc;

use feros_engine::{Gid, QosProfile};

use crate::message::{Inbox, Responses};
use crate::requests::Requests;

/// How to pass a message, request or response to a matching endpoint.
#[derive(Clone)]
pub(crate) enum Reach {
    /// Over TCPROS, or not at all.
    Apart,
    Subscription(Arc<Inbox>),
    Service(Arc<Requests>),
    Client(Arc<Responses>),
}

pub(crate) type Peer = feros_inbox::Peer<Reach>;
pub(crate) type Matches = feros_inbox::Matches<Reach>;

/// Describes an endpoint of another process. ROS 1 reveals only that the endpoint exists.
pub(crate) fn apart() -> Peer {
    Peer { announcement: None, qos: QosProfile::default(), reach: Reach::Apart }
}

/// Returns how to reach a matching endpoint, or `None` if it does not match.
pub(crate) fn reach(matches: &Matches, gid: Gid) -> Option<Reach> {
    matches.look(|peers| peers.get(&gid).map(|peer| peer.reach.clone()))
}

/// Returns the first match within this process. If there is no such match, returns the first match.
pub(crate) fn nearest(matches: &Matches) -> Option<(Gid, Reach)> {
    matches.look(|peers| {
        let is_near = |(_, peer): &(&Gid, &Peer)| !matches!(peer.reach, Reach::Apart);
        let near = peers.iter().find(is_near).or_else(|| peers.iter().next());
        near.map(|(gid, peer)| (*gid, peer.reach.clone()))
    })
}

/// Calls `each` for every matching subscription in this process.
pub(crate) fn for_each_inbox(matches: &Matches, mut each: impl FnMut(&Inbox)) {
    matches.look(|peers| {
        for peer in peers.values() {
            if let Reach::Subscription(inbox) = &peer.reach {
                each(inbox);
            }
        }
    });
}
