//! Tests that the errors of opening a session name the cause and how to solve the problem, and that
//! a failed attempt leaves nothing in use.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use feros_cyclonedds::ConfiguredCycloneEngine;
use feros_engine::{DiscoveryRange, Engine, OpenError, Session, SessionOptions};
use feros_test_support::until;

fn open(domain_id: u32, configuration: &str) -> Result<Arc<dyn Session>, OpenError> {
    let engine = ConfiguredCycloneEngine { configuration: configuration.to_owned() };
    engine.open(&SessionOptions::localhost(domain_id))
}

fn error(domain_id: u32, configuration: &str) -> OpenError {
    open(domain_id, configuration).map(|_| ()).unwrap_err()
}

#[test]
fn absent_interface() {
    let configuration =
        "<General><Interfaces><NetworkInterface name=\"nosuch0\"/></Interfaces></General>";
    let error = error(123, &format!("<CycloneDDS><Domain>{configuration}</Domain></CycloneDDS>"));
    assert!(matches!(error, OpenError::NoInterface { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("nosuch0") && text.contains("ROS_AUTOMATIC_DISCOVERY_RANGE"), "{text}");
    // The failed attempt has left nothing in use: the domain opens with a valid configuration.
    open(123, "").unwrap();
}

#[test]
fn faulty_configuration() {
    let wrong = ["<Nonsense/>", "<General><FragmentSize>many</FragmentSize></General>"];
    for configuration in
        wrong.map(|wrong| format!("<CycloneDDS><Domain>{wrong}</Domain></CycloneDDS>"))
    {
        let error = error(124, &configuration);
        assert!(matches!(error, OpenError::Configuration { .. }), "{error}");
        assert!(error.to_string().contains("CYCLONEDDS_URI"), "{error}");
    }
}

/// Five stacks, which form one domain on the network, compete for three participant indices. Those
/// that get none start too, and find the others, which they call.
#[test]
fn more_processes_than_ports() {
    let few = "<CycloneDDS><Domain><Discovery><MaxAutoParticipantIndex>2</MaxAutoParticipantIndex>\
        <ExternalDomainId>125</ExternalDomainId></Discovery></Domain></CycloneDDS>";
    let sessions: Vec<_> = (132..137).map(|id| open(id, few).unwrap()).collect();
    until("each knows all that have an index", || {
        sessions.iter().all(|session| {
            let known = session.graph();
            let is_known = |other: &&Arc<dyn Session>| {
                other.gid() != session.gid()
                    && known.participants.iter().any(|info| info.gid == other.gid())
            };
            sessions.iter().filter(is_known).count() >= 2
        })
    });
}

#[test]
fn sessions_of_one_domain_share_its_configuration() {
    let first = open(127, "").unwrap();
    let second = open(127, "").unwrap();
    assert_ne!(first.gid(), second.gid());
    assert_eq!(first.configuration(), second.configuration());
    drop((first, second));
    open(127, "<CycloneDDS/>").unwrap();
}

/// A session with the range `OFF` discovers no other session, even if the other session is in the
/// same domain on the same host.
#[test]
fn range_off_is_alone() {
    let engine = ConfiguredCycloneEngine::default();
    let options = SessionOptions {
        domain_id: 128,
        discovery_range: DiscoveryRange::Off,
        ..Default::default()
    };
    let session = engine.open(&options).unwrap();
    assert!(session.configuration().contains("<Tag>feros_off_"));
}
