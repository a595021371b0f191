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
/// discoveries. Each client has a stack of its own, and may find the server before or after the
/// stack has announced the client.
#[test]
fn first_calls_are_answered_over_a_link_that_loses_packets() {
    let Some(domain) = Domain::reserve() else { return };
    let mut peer = stock(&domain);
    let response = json!({"message": "here"});
    let service = json!({"name": "/switch", "type": "std_srvs/srv/SetBool", "response": response});
    peer.ask("service", service);
    let call = |client: u32| {
        // Sessions with different configurations share no stack.
        let interval = 100 + client;
        let configuration = format!(
            "<Discovery><SPDPInterval>{interval}ms</SPDPInterval></Discovery>\
             <Internal><Test><XmitLossiness>600</XmitLossiness></Test></Internal>"
        );
        let engine = Arc::new(ConfiguredCycloneEngine { configuration });
        let options = ContextOptions { engine: Some(engine), ..options(&domain) };
        let node = Context::new(options).unwrap().create_node("lossy").unwrap();
        let client = node.create_client::<SetBool>("/switch").unwrap();
        client.wait_for_service(WATCHDOG).unwrap();
        client.call_and_wait(&SetBool_Request { data: true }, WATCHDOG).unwrap();
    };
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || (0..10).map(|n| 10 * thread + n).for_each(call));
        }
    });
    let said = peer.said();
    assert!(!said.contains("failed to send response"), "{said}");
}
