//! Runs the conformance suite with a pair of Cyclone DDS and Fast DDS, in either order. Each engine
//! has its own domain: in a shared domain, every node would see each node of the pair twice
//! (`docs/decisions/0023-engine-pair.md`).
//!
//! `VIRTUAL_ENV=.venv cargo test -p feros-engine-pair --features fastdds --test fastdds` runs the
//! tests. They need a Cargo feature, because Fast DDS may hang (.config/nextest.toml).
#![allow(clippy::unwrap_used)]

mod domains;

use std::sync::Arc;
use std::time::Duration;

use feros_conformance::{Fixture, conformance_tests};
use feros_engine::{
    ClientOptions, DiscoveryRange, Engine, NodeId, NodeName, OpenError, PublisherOptions,
    QosProfile, ServiceOptions, Session, SessionOptions, SubscriptionOptions, TypeHash,
};
use feros_engine_pair::PairEngine;
use feros_fastdds::FastDdsEngine;
use feros_test_support::{Watchdog, eventually, until};

use domains::{InDomain, single};

/// The domains that these tests use for Cyclone DDS and for Fast DDS.
const DOMAIN_IDS: [u32; 2] = [118, 119];

/// A domain that both engines use.
const SHARED_DOMAIN_ID: u32 = 120;

/// Fast DDS in a fixed domain, no matter which domain the session requests.
struct FastDds(u32);

impl Engine for FastDds {
    fn name(&self) -> &'static str {
        "fastdds"
    }

    fn open(&self, options: &SessionOptions) -> Result<Arc<dyn Session>, OpenError> {
        FastDdsEngine.open(&SessionOptions {
            domain_id: self.0,
            discovery_range: DiscoveryRange::Localhost,
            ..options.clone()
        })
    }
}

/// Opens a session that waits very long for its first engine. The wait always ends, because all
/// endpoints of the tests are on both engines.
fn session(engines: [Arc<dyn Engine>; 2]) -> Arc<dyn Session> {
    let engine = PairEngine::new(engines).settling(Duration::from_secs(3600));
    engine.open(&SessionOptions::default()).unwrap()
}

struct CycloneFirst;
impl Fixture for CycloneFirst {
    fn open(&self) -> (Arc<dyn Session>, Arc<dyn Session>) {
        let open = || session([InDomain::of(DOMAIN_IDS[0]), Arc::new(FastDds(DOMAIN_IDS[1]))]);
        (open(), open())
    }

    fn wires(&self) -> usize {
        2
    }
}

struct FastDdsFirst;
impl Fixture for FastDdsFirst {
    fn open(&self) -> (Arc<dyn Session>, Arc<dyn Session>) {
        let open = || session([Arc::new(FastDds(DOMAIN_IDS[1])), InDomain::of(DOMAIN_IDS[0])]);
        (open(), open())
    }

    fn wires(&self) -> usize {
        2
    }
}

conformance_tests!(cyclone_first, CycloneFirst);
conformance_tests!(fastdds_first, FastDdsFirst);

const TYPE: &str = "std_msgs/msg/UInt32";
const HASH: TypeHash = TypeHash([0x5a; 32]);
const NUMBER: [u8; 8] = [0, 1, 0, 0, 7, 0, 0, 0];

fn node(session: &Arc<dyn Session>, name: &str) -> NodeId {
    session.create_node(&NodeName::new("/", name).unwrap()).unwrap()
}

fn fill(memory: &mut [u8]) -> Result<(), feros_engine::FillAborted> {
    memory.copy_from_slice(&NUMBER);
    Ok(())
}

/// Shows why `feros::engine` refuses this pair. A node that does not know about twins matches each
/// endpoint once on each engine, so its requests are served twice and it gets latched messages
/// twice.
#[test]
fn in_one_domain_others_meet_each_endpoint_twice() {
    let _watchdog = Watchdog::start();
    let pair = session([InDomain::of(SHARED_DOMAIN_ID), Arc::new(FastDds(SHARED_DOMAIN_ID))]);
    let other = single(SHARED_DOMAIN_ID);
    let (on_both, on_one) = (node(&pair, "on_both"), node(&other, "on_one"));
    let server = pair.create_service(ServiceOptions {
        type_hash: Some(HASH),
        request_hash: Some(HASH),
        response_hash: Some(HASH),
        ..ServiceOptions::new(on_both, "/asked", "std_srvs/srv/SetBool")
    });
    let client = other.create_client(ClientOptions {
        type_hash: Some(HASH),
        request_hash: Some(HASH),
        response_hash: Some(HASH),
        ..ClientOptions::new(on_one, "/asked", "std_srvs/srv/SetBool")
    });
    let (server, client) = (server.unwrap(), client.unwrap());
    until("a server on each engine", || {
        client.servers().iter().filter(|server| server.is_available).count() == 2
    });
    let asked = client.send_request(NUMBER.len(), &mut fill).unwrap();
    let mut requests =
        [(); 2].map(|()| eventually(|| server.take_request().unwrap().ok_or("one")).0);
    requests.sort_by_key(|request| request.sequence_number);
    assert_eq!(requests[0].sequence_number, asked);
    assert_ne!(requests[1].sequence_number, asked, "the same request by the other engine");

    let qos = QosProfile::keep_last(1).transient_local();
    let publisher = pair.create_publisher(PublisherOptions {
        type_hash: Some(HASH),
        qos,
        ..PublisherOptions::new(on_both, "/latched", TYPE)
    });
    let publisher = publisher.unwrap();
    publisher.publish(NUMBER.len(), &mut fill).unwrap();
    let subscription = other.create_subscription(SubscriptionOptions {
        type_hash: Some(HASH),
        qos,
        ..SubscriptionOptions::new(on_one, "/latched", TYPE)
    });
    let subscription = subscription.unwrap();
    let heard = [(); 2].map(|()| eventually(|| subscription.take().unwrap().ok_or("one")));
    assert_ne!(heard[0].info.publisher_gid, heard[1].info.publisher_gid);
    assert!(heard.iter().all(|sample| *sample.payload == NUMBER));
}
