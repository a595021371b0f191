//! The order in which a client announces its endpoints.

use std::sync::Arc;

use feros::engine::{EndpointKind, SessionOptions};
use feros::msgs::example_interfaces::action::Fibonacci;
use feros::{Context, ContextOptions};
use feros_cyclonedds::CycloneEngine;
use feros_test_support::{eventually, own_domain};

/// A server is ready when its participant has acknowledged the client's readers of responses. The
/// participant has acknowledged the earlier announcements of readers as well then, so the server
/// sends its first feedback to the client.
#[test]
fn subscriptions_are_announced_before_readers_of_responses() {
    let options = ContextOptions {
        engine: Some(Arc::new(CycloneEngine)),
        ..ContextOptions::new(SessionOptions::localhost(own_domain()))
    };
    let context = Context::new(options).unwrap();
    let node = context.create_node("caller").unwrap();
    let _client = node.create_action_client::<Fibonacci>("/announced_in_order").unwrap();
    // Each endpoint of a participant of Cyclone DDS gets a larger number than those before it.
    let number = |kind, name: &str| {
        let name = format!("/announced_in_order/_action/{name}");
        eventually(|| {
            let graph = context.graph();
            let gid = graph.endpoints_of(kind, &name).next().map(|endpoint| endpoint.gid.0);
            gid.map(|gid| [gid[12], gid[13], gid[14]])
                .ok_or_else(|| format!("{name} is not in the graph"))
        })
    };
    let subscriptions = ["feedback", "status"].map(|name| number(EndpointKind::Subscription, name));
    let clients =
        ["send_goal", "cancel_goal", "get_result"].map(|name| number(EndpointKind::Client, name));
    assert!(subscriptions.iter().max() < clients.iter().min(), "{subscriptions:?}, {clients:?}");
}
