//! Tests that a client that finds a service available and calls it gets a response, even if the
//! network delays the server's discovery of the client.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use feros_conformance::{TestNode, TestType};
use feros_cyclonedds::ConfiguredCycloneEngine;
use feros_engine::{Engine, Session, SessionOptions};
use feros_test_support::own_domain;

/// The domain id of a second stack in this process. On the network, it is the same domain as the
/// first domain.
const LOSSY_DOMAIN_ID: u32 = 124;

/// Opens a session. On the lossy domain id, which the clients use, four of ten datagrams are lost.
/// To compensate for this, announcements are repeated at a short interval.
fn open(domain_id: u32) -> Arc<dyn Session> {
    let configuration = format!(
        "<CycloneDDS><Domain id=\"{LOSSY_DOMAIN_ID}\"><Discovery><ExternalDomainId>{}</ExternalDomainId>\
         <SPDPInterval>100ms</SPDPInterval></Discovery><Internal><Test><XmitLossiness>400</XmitLossiness></Test></Internal></Domain></CycloneDDS>",
        own_domain()
    );
    ConfiguredCycloneEngine { configuration }.open(&SessionOptions::localhost(domain_id)).unwrap()
}

const SMALL: [u8; 8] = [0, 1, 0, 0, 1, 0, 0, 0];
const SET_BOOL: TestType<'_> = ("std_srvs/srv/SetBool", "");

#[test]
fn the_first_call_of_a_client_is_answered() {
    let [near, far] =
        [own_domain(), LOSSY_DOMAIN_ID].map(|domain_id| TestNode::new(open(domain_id)));
    let name = format!("/first_calls_p{}", std::process::id());
    let server = near.service_of(&name, SET_BOOL);
    for round in 0..100 {
        let client = far.client_of(&name, SET_BOOL);
        client.wait_for_server();
        let asked = client.send(&SMALL);
        let (request, _) = server.next();
        let sent = server.respond_once(&request, &SMALL);
        sent.unwrap_or_else(|error| panic!("client {round} is not answered: {error}"));
        assert_eq!(client.next().0, asked);
    }
}
