//! Tests that no setting in the environment ends the process. If the engine cannot use a setting,
//! it logs one warning or returns an error. It still uses the other settings.
#![allow(clippy::unwrap_used)]

mod meeting;

use std::sync::{Arc, Mutex};

use feros_cyclonedds::{ConfiguredCycloneEngine, config};
use feros_engine::engine::LOG_TARGET;
use feros_engine::{DiscoveryRange, Engine, OpenError, Session, SessionOptions};
use feros_test_support::listen_to_log;
use meeting::find_each_other;

static WARNINGS: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn keep_warnings() {
    listen_to_log(|target, text| {
        if target == LOG_TARGET {
            WARNINGS.lock().unwrap().push(text);
        }
    });
}

fn warnings_about(text: &str) -> usize {
    WARNINGS.lock().unwrap().iter().filter(|warning| warning.contains(text)).count()
}

/// Opens a session on the stack with the domain id `stack`. On the network, its domain is `domain`.
fn open(
    stack: u32,
    domain: u32,
    peers: &[&str],
    configuration: &str,
) -> Result<Arc<dyn Session>, OpenError> {
    let options = SessionOptions {
        domain_id: stack,
        discovery_range: DiscoveryRange::Localhost,
        static_peers: peers.iter().map(|&peer| peer.to_owned()).collect(),
        ..SessionOptions::default()
    };
    let configuration = format!(
        "<CycloneDDS><Domain id=\"any\"><Discovery><ExternalDomainId>{domain}</ExternalDomainId>\
         </Discovery></Domain></CycloneDDS>{configuration}"
    );
    ConfiguredCycloneEngine { configuration }.open(&options)
}

/// The address on which the engine listens.
fn address_of_this_host() -> String {
    let interfaces = config::interfaces();
    let outward = interfaces.into_iter().find(|interface| interface.up && !interface.loopback);
    outward.map_or("127.0.0.1".to_owned(), |interface| interface.address)
}

#[test]
fn peers_that_cannot_be_used_are_named_and_the_others_are_used() {
    keep_warnings();
    let long = "a".repeat(5000);
    let unusable = [
        "robot.invalid",
        "a b",
        "::1",
        "[::1]:7400",
        "192.168.1.300",
        "10.0.0.1/24",
        "10.0.0.2:99999",
        "10.0.0.3:0",
        "10.0.0.4:port",
        "0.0.0.0",
        "0.0.0.0:7400",
        "tcp/10.0.0.5",
        "udp/",
        "/",
        ":",
        "-",
        "ä.invalid",
        "a<b\">&'",
        "%n%s",
        "$HOME.invalid",
        "${HOME:?x}",
        "back\\slash.invalid",
        &long,
    ];
    let here = address_of_this_host();
    let mut peers = unusable.to_vec();
    peers.push(&here);
    let near = open(180, 66, &peers, "").unwrap();
    let far = open(181, 66, &[&here], "").unwrap();
    for peer in unusable {
        assert_eq!(warnings_about(&format!("the peer \"{peer}\" ")), 1, "{peer}");
    }
    find_each_other(&near, &far, "the usable peer is not used");
}

#[test]
fn a_list_of_peers_in_one_is_a_peer_that_cannot_be_used() {
    keep_warnings();
    open(182, 67, &["10.1.0.1,10.1.0.2"], "").unwrap();
    assert_eq!(warnings_about("the peer \"10.1.0.1,10.1.0.2\" "), 1);
}

#[test]
fn peers_of_the_users_configuration_are_named() {
    keep_warnings();
    let user = "<Peers><Peer Address=\"other.invalid\"/></Peers>";
    let user = format!(",<CycloneDDS><Domain><Discovery>{user}</Discovery></Domain></CycloneDDS>");
    open(183, 68, &[], &user).unwrap();
    assert_eq!(warnings_about("the peer \"other.invalid\" "), 1);
}

/// If the requested scheduling is not permitted for a thread, the thread runs with the default
/// scheduling.
#[test]
fn priorities_that_cannot_be_had_are_named() {
    keep_warnings();
    let user = "<Threads><Thread name=\"recv\"><Scheduling><Class>realtime</Class>\
        <Priority>9999</Priority></Scheduling></Thread></Threads>";
    let user = format!(",<CycloneDDS><Domain>{user}</Domain></CycloneDDS>");
    open(184, 69, &[], &user).unwrap();
    assert_eq!(warnings_about("the thread \"recv\" "), 1);
}

/// Each configuration either succeeds or returns an error. The process must not end.
#[test]
fn configurations_are_answered() {
    keep_warnings();
    let in_domain = [
        "<General><SPDPMulticastAddress>nonsense</SPDPMulticastAddress></General>",
        "<Discovery><SPDPMulticastAddress>10.0.0.1</SPDPMulticastAddress></Discovery>",
        "<Discovery><DefaultMulticastAddress>::</DefaultMulticastAddress></Discovery>",
        "<Discovery><Ports><Base>70000</Base></Ports></Discovery>",
        "<Discovery><Ports><Base>65000</Base></Ports></Discovery>",
        "<Discovery><ParticipantIndex>100000</ParticipantIndex></Discovery>",
        "<Discovery><MaxAutoParticipantIndex>100000</MaxAutoParticipantIndex></Discovery>",
        "<Discovery><Peers><Peer/></Peers></Discovery>",
        "<Discovery><Peers><Peer Address=\"\"/></Peers></Discovery>",
        "<Discovery><Peers><Peer Address=\"10.0.0.1,,c d\"/></Peers></Discovery>",
        "<General><ExternalNetworkAddress>nonsense</ExternalNetworkAddress></General>",
        "<General><ExternalNetworkMask>nonsense</ExternalNetworkMask></General>",
        "<General><MulticastRecvNetworkInterfaceAddresses>x</MulticastRecvNetworkInterfaceAddresses>\
         </General>",
        "<General><Interfaces><NetworkInterface/></Interfaces></General>",
        "<General><Interfaces><NetworkInterface address=\"0.0.0.0\"/></Interfaces></General>",
        "<General><Interfaces><NetworkInterface address=\"a b\"/></Interfaces></General>",
        "<General><Interfaces><PubSubMessageExchange name=\"iox\"/></Interfaces></General>",
        "<General><Transport>tcp</Transport></General>",
        "<General><Transport>none</Transport></General>",
        "<General><MaxMessageSize>1B</MaxMessageSize></General>",
        "<General><FragmentSize>1B</FragmentSize></General>",
        "<Tracing><OutputFile>/nowhere/at/all</OutputFile><Verbosity>config</Verbosity></Tracing>",
        "<Tracing><PacketCaptureFile>/nowhere/at/all</PacketCaptureFile></Tracing>",
        "<Internal><SocketReceiveBufferSize min=\"1GB\"/></Internal>",
        "<Internal><ControlTopic enable=\"true\"/></Internal>",
        "<Internal><MonitorPort>0</MonitorPort></Internal>",
        "<Partitioning><NetworkPartitions><NetworkPartition Name=\"a\" Address=\"a b\"/>\
         </NetworkPartitions></Partitioning>",
        "<Partitioning><NetworkPartitions><NetworkPartition Name=\"a\" Address=\"0.0.0.0\"/>\
         </NetworkPartitions></Partitioning>",
        "<Threads><Thread name=\"tev\"><StackSize>1B</StackSize></Thread></Threads>",
        "<Threads><Thread name=\"tev\"><Affinity>999999</Affinity></Thread></Threads>",
    ];
    let user = in_domain
        .map(|inner| format!("<CycloneDDS><Domain>{inner}</Domain></CycloneDDS>"))
        .into_iter()
        .chain(
            [
                "<",
                "<CycloneDDS>",
                "</CycloneDDS>",
                "${A:*b}",
                "${A:?}",
                "$",
                "\\",
                ",,,",
                "file:///nowhere/at/all",
                "file:///",
                "file://",
                "/",
                "<CycloneDDS/>x",
                "\u{1}",
                "<CycloneDDS xmlns=\"&#0;\"/>",
                "<a><![CDATA[",
                "<!--",
                "<CycloneDDS>${A}${",
            ]
            .map(str::to_owned),
        );
    for user in user {
        if let Err(error) = open(185, 69, &["127.0.0.1"], &format!(",{user}")) {
            assert!(!error.to_string().is_empty(), "{user}");
        }
    }
}
