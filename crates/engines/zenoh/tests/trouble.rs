//! Tests with routers that end and restart, and with hostile data.
#![allow(clippy::unwrap_used)]

mod ends;
mod network;

use feros_conformance::{text_in, text_message};
use feros_engine::{EndpointKind, Gid, QosProfile};
use feros_test_support::until;
use zenoh::Wait as _;

use ends::{SET_BOOL, STRING, attachment, response, wire_node};
use network::{DOMAIN_ID, Network};

const QOS: fn() -> QosProfile = QosProfile::default;

/// Peers that know each other continue without the router. When a new router has replaced it, they
/// also find a new peer.
#[test]
fn peers_outlive_their_router() {
    let mut network = Network::new();
    let (near, far) = (wire_node(network.peer(), "near"), wire_node(network.peer(), "far"));
    let publisher = near.publisher_of("/wire/outlives", STRING, QOS());
    let subscription = far.subscription_of("/wire/outlives", STRING, QOS());
    publisher.wait_for_matches(1);
    subscription.wait_for_matches(1);
    network.kill();
    publisher.publish(&text_message("alone"));
    assert_eq!(text_in(&subscription.next().payload), "alone");
    network.restart();
    let later = wire_node(network.peer(), "later");
    let late = later.subscription_of("/wire/outlives", STRING, QOS());
    publisher.wait_for_matches(2);
    late.wait_for_matches(1);
    publisher.publish(&text_message("again"));
    assert_eq!(text_in(&subscription.next().payload), "again");
    assert_eq!(text_in(&late.next().payload), "again");
}

/// Some peers declare the token of a server before the queryable that receives its requests. Until
/// then, a request would be lost.
#[test]
fn a_server_is_available_once_it_receives_requests() {
    let network = Network::new();
    let node = wire_node(network.client(), "feros");
    let client = node.client_of("/wire/slow", SET_BOOL);
    let stranger = network.stranger();
    let key = format!("{DOMAIN_ID}/wire/slow/std_srvs::srv::dds_::SetBool_/{}", SET_BOOL.1);
    let at = format!("@ros2_lv/{DOMAIN_ID}/{}/0/1/SS/%/%/slow", stranger.zid());
    let token =
        format!("{at}/%wire%slow/std_srvs::srv::dds_::SetBool_/{}/::,10:,:,:,,", SET_BOOL.1);
    let _token = stranger.liveliness().declare_token(token).wait().unwrap();
    until("the token is known", || client.client.responders().len() == 1);
    assert!(!client.client.service_is_available(), "it receives no requests yet");
    let asked = stranger.declare_queryable(&key).complete(true).wait().unwrap();
    client.wait_for_server();
    let number = client.send(&[0, 1, 0, 0, 1]);
    let query = asked.recv().unwrap();
    let of_request = query.attachment().unwrap().to_bytes().to_vec();
    query.reply(&key, response(true, "late")).attachment(of_request).wait().unwrap();
    drop(query);
    let (answered, came) = client.next();
    assert_eq!((answered, text_in(&came.payload[4..])), (number, "late"));
    drop(asked);
    client.wait_for_end_of_server();
}

/// Sessions that are connected only through the router lose each other when the router ends, and
/// find each other again when a new router starts. A call in the meantime does no harm.
#[test]
fn matches_come_back_with_the_router() {
    let mut network = Network::new();
    let (near, far) = (wire_node(network.client(), "near"), wire_node(network.client(), "far"));
    let publisher = near.publisher_of("/wire/returns", STRING, QOS());
    let subscription = far.subscription_of("/wire/returns", STRING, QOS());
    let server = far.service_of("/wire/returning", SET_BOOL);
    let client = near.client_of("/wire/returning", SET_BOOL);
    publisher.wait_for_matches(1);
    client.wait_for_server();
    network.kill();
    publisher.wait_for_matches(0);
    client.wait_for_end_of_server();
    publisher.publish(&text_message("to nobody"));
    client.send(&[0, 1, 0, 0, 1]);
    network.restart();
    publisher.wait_for_matches(1);
    subscription.wait_for_matches(1);
    client.wait_for_server();
    publisher.publish(&text_message("again"));
    assert_eq!(text_in(&subscription.next().payload), "again");
    let asked = client.send(&[0, 1, 0, 0, 1]);
    let (request, _) = server.next();
    assert_eq!(request.sequence_number, asked);
}

/// A session opens without a router, and connects to a router that starts later.
#[test]
fn a_session_may_come_before_its_router() {
    let mut network = Network::new();
    network.kill();
    let early = wire_node(network.peer(), "early");
    let publisher = early.publisher_of("/wire/early", STRING, QOS());
    network.restart();
    let late = wire_node(network.peer(), "late");
    let subscription = late.subscription_of("/wire/early", STRING, QOS());
    publisher.wait_for_matches(1);
    publisher.publish(&text_message("found"));
    assert_eq!(text_in(&subscription.next().payload), "found");
}

/// A client session needs a router. Without a router, it fails to open, and the error names the
/// address and how to solve the problem.
#[test]
fn the_error_of_a_client_without_a_router_says_to_start_one() {
    let mut network = Network::new();
    network.kill();
    let Err(error) = network.open("client", "") else { panic!("a client needs a router") };
    let (text, endpoint) = (error.to_string(), &network.endpoint);
    let says =
        format!("No Zenoh router answers at [\"{endpoint}\"]: start one with `feros zenoh router`");
    assert!(text.contains(&says) && !text.contains("TLS"), "{text}");
}

/// Messages, requests and responses that do not have the attachment of rmw_zenoh, or are too short
/// for a header, are refused and counted. Later valid messages, requests and responses arrive.
#[test]
fn hostile_messages_and_requests_are_refused() {
    let network = Network::new();
    let end = wire_node(network.client(), "feros");
    let subscription = end.subscription_of("/wire/hostile", STRING, QOS());
    let server = end.service_of("/wire/asked", SET_BOOL);
    let stranger = network.stranger();
    // When the router knows the token of the last endpoint, it knows all endpoints, because a link
    // keeps messages in order.
    let token_of_server = format!("@ros2_lv/{DOMAIN_ID}/*/*/*/SS/**");
    until("the server's token is known", || {
        stranger.liveliness().get(&token_of_server).wait().unwrap().recv().is_ok()
    });
    let key = format!("{DOMAIN_ID}/wire/hostile/std_msgs::msg::dds_::String_/{}", STRING.1);
    let asked = format!("{DOMAIN_ID}/wire/asked/std_srvs::srv::dds_::SetBool_/{}", SET_BOOL.1);
    let right = attachment(Gid([7; 16]));
    let longer = [&right[..], &[0]].concat();
    let bad: [(&[u8], Option<&[u8]>); 5] = [
        (b"\0\x01\0\0", None),
        (b"\0\x01\0\0", Some(&[])),
        (b"\0\x01\0\0", Some(&right[..32])),
        (b"\0\x01\0\0", Some(&longer)),
        (b"\0\x01", Some(&right)),
    ];
    for (bytes, attachment) in bad {
        stranger.put(&key, bytes).attachment(attachment).wait().unwrap();
        let replies = stranger.get(&asked).payload(bytes).attachment(attachment).wait().unwrap();
        assert!(replies.recv().is_err(), "the question ends without an answer");
    }
    stranger.put(&key, text_message("right")).attachment(&right[..]).wait().unwrap();
    let sample = subscription.next();
    assert_eq!(text_in(&sample.payload), "right");
    assert_eq!(sample.info.publisher_gid.0, [7; 16]);
    assert_eq!(
        (subscription.subscription.refused_samples(), server.service.refused_samples()),
        (5, 5)
    );
    let question = stranger.get(&asked).payload(&[0, 1, 0, 0, 1][..]).attachment(&right[..]);
    let replies = question.wait().unwrap();
    let (request, _) = server.next();
    server.respond_once(&request, &response(true, "answered")).unwrap();
    assert!(replies.recv().unwrap().result().is_ok(), "a client without a token is answered");
}

/// Malformed tokens change nothing and do not hide other tokens.
#[test]
fn hostile_tokens_are_refused() {
    let network = Network::new();
    let end = wire_node(network.client(), "feros");
    let stranger = network.stranger();
    let tokens: Vec<_> = [
        format!("@ros2_lv/{DOMAIN_ID}/x"),
        format!("@ros2_lv/{DOMAIN_ID}/zz/0/0/NN/%/%/node"),
        format!("@ros2_lv/{DOMAIN_ID}/ab/0/1/MP/%/%/node/%t/T/H/9::,:,:,:,,"),
        format!("@ros2_lv/{DOMAIN_ID}/ab/0/1/MP/%/%/{}/%t/T/H/::,:,:,:,,", "n".repeat(8000)),
        format!("@feros/{DOMAIN_ID}/ab/says/%a/1/1/%zz"),
        // The number of this endpoint means that an announcement will follow, but the announcement
        // never arrives.
        format!("@ros2_lv/{DOMAIN_ID}/ab/0/{}/MP/%/%/node/%t/T/H/::,:,:,:,,", 1_u64 << 40),
    ]
    .iter()
    .map(|key| stranger.liveliness().declare_token(key.clone()).wait().unwrap())
    .collect();
    let good = format!("@ros2_lv/{DOMAIN_ID}/ab/0/2/MP/%/%/node/%t/T/H/::,:,:,:,,");
    let good = stranger.liveliness().declare_token(good).wait().unwrap();
    end.wait_for_graph("the token behind them", |graph| {
        (graph.count(EndpointKind::Publisher, "/t") == 1).then_some(())
    });
    assert!(end.session.graph().nodes.iter().all(|node| node.name.namespace() == "/wire"));
    drop((tokens, good));
    end.wait_for_graph("their end", |graph| {
        (graph.count(EndpointKind::Publisher, "/t") == 0).then_some(())
    });
}
