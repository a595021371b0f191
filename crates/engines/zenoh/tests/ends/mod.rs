//! Helpers for tests with endpoints: types, nodes, lost messages, serialized responses and what
//! accompanies messages.
#![allow(dead_code, reason = "each test uses some of it")]

use std::sync::Arc;

use feros_conformance::{TestNode, TestSubscription, TestType, text_in, text_message};
use feros_engine::{Gid, Session, SubscriptionEvent};

pub(crate) const STRING: TestType = (
    "std_msgs/msg/String",
    "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18",
);
pub(crate) const SET_BOOL: TestType = (
    "std_srvs/srv/SetBool",
    "RIHS01_abe9e4bb6b41b40e6789712c00ec8871923e089af3f667a79992a428cff2da0a",
);

pub(crate) fn wire_node(session: Arc<dyn Session>, name: &str) -> TestNode {
    TestNode::named(session, "/wire", name)
}

/// Waits for a message with this text and returns the number of messages lost before it.
pub(crate) fn lost_before(text: &str, subscription: &TestSubscription) -> u64 {
    assert_eq!(text_in(&subscription.next().payload), text);
    lost(subscription)
}

/// Returns the number of messages lost since the last call.
pub(crate) fn lost(subscription: &TestSubscription) -> u64 {
    let mut lost = 0;
    while let Some(event) = subscription.subscription.take_event().unwrap() {
        if let SubscriptionEvent::MessageLost { change, .. } = event {
            lost += change;
        }
    }
    lost
}

/// Serializes a `std_srvs/srv/SetBool_Response`.
pub(crate) fn response(success: bool, text: &str) -> Vec<u8> {
    let message = text_message(text);
    [&message[..4], &[u8::from(success), 0, 0, 0], &message[4..]].concat()
}

/// What accompanies the first message of a publisher, or the first request of a client: number,
/// time and gid.
pub(crate) fn attachment(of: Gid) -> Vec<u8> {
    [&[1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 16][..], &of.0].concat()
}
