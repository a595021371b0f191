//! Tests that a client that finds a service available and calls it gets a response, even if the
//! network delays the server's discovery of the client.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use feros_conformance::NotificationCounter;
use feros_cyclonedds::ConfiguredCycloneEngine;
use feros_engine::{
    ClientOptions, DiscoveryRange, Engine, FillAborted, NodeName, QosProfile, ServiceMapping,
    ServiceOptions, Session, SessionOptions,
};

const DOMAIN_ID: u32 = 123;
/// The domain id of a second stack in this process. On the network, it is the same domain as the
/// first domain.
const LOSSY_DOMAIN_ID: u32 = 124;

/// Opens a session. On the lossy domain id, which the clients use, seven of ten datagrams are lost.
/// To compensate for this, announcements are repeated at a short interval.
fn open(domain_id: u32) -> Arc<dyn Session> {
    let configuration = format!(
        "<CycloneDDS><Domain id=\"{LOSSY_DOMAIN_ID}\"><Discovery><ExternalDomainId>{DOMAIN_ID}</ExternalDomainId>\
         <SPDPInterval>100ms</SPDPInterval></Discovery><Internal><Test><XmitLossiness>700</XmitLossiness></Test></Internal></Domain></CycloneDDS>"
    );
    let discovery_range = DiscoveryRange::Localhost;
    ConfiguredCycloneEngine { configuration }
        .open(&SessionOptions { domain_id, discovery_range, ..SessionOptions::default() })
        .unwrap()
}

fn small(memory: &mut [u8]) -> Result<(), FillAborted> {
    memory.copy_from_slice(&[0, 1, 0, 0, 1, 0, 0, 0]);
    Ok(())
}

#[test]
fn the_first_call_of_a_client_is_answered() {
    let (near, far) = (open(DOMAIN_ID), open(LOSSY_DOMAIN_ID));
    let node = |session: &Arc<dyn Session>| {
        session.create_node(&NodeName::new("/", "first_calls").unwrap()).unwrap()
    };
    let (server_node, client_node) = (node(&near), node(&far));
    let name = format!("/first_calls_p{}", std::process::id());
    let requests = NotificationCounter::new();
    let server = near
        .create_service(ServiceOptions {
            node: server_node,
            service: &name,
            type_name: "std_srvs/srv/SetBool",
            type_hash: None,
            request_hash: None,
            response_hash: None,
            qos: QosProfile::services_default(),
            mapping: ServiceMapping::default(),
            replies_on_demand: false,
            local_requests_only: false,
            announcement: "",
            on_request: requests.notify(),
            on_match: Arc::new(|| ()),
        })
        .unwrap();
    for round in 0..100 {
        let responses = NotificationCounter::new();
        let client = far
            .create_client(ClientOptions {
                node: client_node,
                service: &name,
                type_name: "std_srvs/srv/SetBool",
                type_hash: None,
                request_hash: None,
                response_hash: None,
                qos: QosProfile::services_default(),
                force_mapping: None,
                announcement: "",
                on_response: responses.notify(),
                on_match: responses.notify(),
            })
            .unwrap();
        let what = format!("the service, by client {round}");
        responses.wait_for(&what, || client.service_is_available().then_some(()));
        let asked = client.send_request(8, &mut small).unwrap();
        let (request, _) = requests.wait_for("the request", || server.take_request().unwrap());
        let sent = server.send_response(&request, 8, &mut small);
        sent.unwrap_or_else(|error| panic!("client {round} is not answered: {error}"));
        let (answered, _) = responses.wait_for("the response", || client.take_response().unwrap());
        assert_eq!(answered, asked);
    }
}
