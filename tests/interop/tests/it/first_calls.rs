//! The first call of a client, right after both sides have found each other.

use std::sync::Arc;

use feros::msgs::std_srvs::srv::{SetBool, SetBool_Request};
use feros::{Context, ContextOptions};
use feros_cyclonedds::ConfiguredCycloneEngine;
use feros_interop::Domain;
use serde_json::json;

use crate::support::{WATCHDOG, options, stock};

/// A stock server discovers the request writer and the reply reader of a client one after the
/// other. Here, six of ten datagrams from the clients are lost, so more time passes between the two
/// discoveries.
#[test]
fn first_calls_are_answered_over_a_link_that_loses_packets() {
    let Some(domain) = Domain::reserve() else { return };
    let mut peer = stock(&domain);
    let response = json!({"message": "here"});
    let service = json!({"name": "/switch", "type": "std_srvs/srv/SetBool", "response": response});
    peer.ask("service", service);
    let lossy = "<Discovery><SPDPInterval>100ms</SPDPInterval></Discovery>\
        <Internal><Test><XmitLossiness>600</XmitLossiness></Test></Internal>";
    let engine = Arc::new(ConfiguredCycloneEngine { configuration: lossy.to_owned() });
    let call = |_| {
        let options = ContextOptions { engine: Some(engine.clone()), ..options(&domain) };
        let node = Context::new(options).unwrap().create_node("lossy").unwrap();
        let client = node.create_client::<SetBool>("/switch").unwrap();
        client.wait_for_service(WATCHDOG).unwrap();
        client.call_and_wait(&SetBool_Request { data: true }, WATCHDOG).unwrap();
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..10).for_each(call));
        }
    });
    let said = peer.said();
    assert!(!said.contains("failed to send response"), "{said}");
}
