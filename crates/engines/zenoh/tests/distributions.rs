//! Tests with sessions as those of other distributions of ROS 2: in the form of Humble, which has a
//! word instead of type hashes, and with the additions of Lyrical.
#![allow(clippy::unwrap_used)]

mod ends;
mod network;

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use feros_conformance::{TestClient, TestNode, TestService, text_in, text_message};
use feros_engine::{DiscoveryForm, EndpointKind, Gid, QosProfile};
use feros_test_support::{listen_to_log, until};
use zenoh::Wait as _;
use zenoh::liveliness::LivelinessToken;

use ends::{SET_BOOL, STRING, attachment, response, wire_node};
use network::{DOMAIN_ID, Network};

const QOS: fn() -> QosProfile = QosProfile::default;
const WIRE_STRING: &str = "std_msgs::msg::dds_::String_";
const WIRE_SET_BOOL: &str = "std_srvs::srv::dds_::SetBool_";
/// How long a session of Zenoh alone waits, which only ends a test that hangs.
const WATCHDOG: Duration = Duration::from_secs(60);
/// The word that the keys of Humble have instead of a hash.
const NO_HASH: &str = "TypeHashNotSupported";
/// A request of `std_srvs/srv/SetBool`.
const TRUE: &[u8] = &[0, 1, 0, 0, 1];
const FALSE: &[u8] = &[0, 1, 0, 0, 0];

fn in_form_of_humble(network: &Network, name: &str) -> TestNode {
    wire_node(network.client_in_form(DiscoveryForm::Humble), name)
}

/// Waits until a session of Zenoh alone can see a token, and so everything that was declared before
/// it.
fn wait_for_token(stranger: &zenoh::Session, kind: &str, node: &str) {
    let key = format!("@ros2_lv/{DOMAIN_ID}/*/*/*/{kind}/*/*/{node}/**");
    until("the token is known", || stranger.liveliness().get(&key).wait().unwrap().recv().is_ok());
}

/// Sends a request that the server answers with this text.
fn call(client: &TestClient, server: &TestService, request: &[u8], text: &str) {
    let asked = client.send(request);
    let (id, came) = server.next();
    assert_eq!(came.payload[..], *request);
    server.respond_once(&id, &response(true, text)).unwrap();
    let (answered, response) = client.next();
    assert_eq!((answered, text_in(&response.payload[4..])), (asked, text));
}

#[test]
fn sessions_in_the_form_of_humble_exchange_messages_and_calls() {
    let network = Network::new();
    let (near, far) = (in_form_of_humble(&network, "near"), in_form_of_humble(&network, "far"));
    let publisher = near.publisher_of("/wire/words", STRING, QOS());
    let subscription = far.subscription_of("/wire/words", STRING, QOS());
    let server = far.service_of("/wire/switch", SET_BOOL);
    let client = near.client_of("/wire/switch", SET_BOOL);
    publisher.wait_for_matches(1);
    subscription.wait_for_matches(1);
    client.wait_for_server();
    for said in ["first", "second"] {
        publisher.publish(&text_message(said));
        assert_eq!(text_in(&subscription.next().payload), said);
        call(&client, &server, TRUE, said);
    }
    let graph = far.session.graph();
    let shown = graph.endpoints_of(EndpointKind::Publisher, "/wire/words").next().unwrap();
    assert_eq!((shown.gid, shown.type_hash), (publisher.publisher.gid(), None));
}

/// The keys are those of `rmw_zenoh_cpp` of Humble.
#[test]
fn keys_of_humble_reach_sessions_in_its_form() {
    let network = Network::new();
    let ours = in_form_of_humble(&network, "ours");
    let stranger = network.stranger();
    let key = |topic: &str, ty: &str| format!("{DOMAIN_ID}/wire/{topic}/{ty}/{NO_HASH}");
    let heard = stranger.declare_subscriber(key("to_humble", WIRE_STRING)).wait().unwrap();
    let asked = stranger.declare_queryable(key("of_humble", WIRE_SET_BOOL)).complete(true).wait();
    let asked = asked.unwrap();
    let token = |entity: u64, kind: &str, name: &str, ty: &str| {
        let zid = stranger.zid();
        let node = format!("@ros2_lv/{DOMAIN_ID}/{zid}/0/{entity}/{kind}/%/%/of_humble");
        let token = format!("{node}/%wire%{name}/{ty}/{NO_HASH}/::,10:,:,:,,");
        stranger.liveliness().declare_token(token).wait().unwrap()
    };
    let _tokens = [
        token(1, "MS", "to_humble", WIRE_STRING),
        token(2, "SS", "of_humble", WIRE_SET_BOOL),
        token(3, "MP", "from_humble", WIRE_STRING),
    ];
    let publisher = ours.publisher_of("/wire/to_humble", STRING, QOS());
    let subscription = ours.subscription_of("/wire/from_humble", STRING, QOS());
    let client = ours.client_of("/wire/of_humble", SET_BOOL);
    let server = ours.service_of("/wire/ours", SET_BOOL);
    wait_for_token(&stranger, "SS", "ours");
    publisher.wait_for_matches(1);
    publisher.publish(&text_message("to Humble"));
    let came = heard.recv_timeout(WATCHDOG).unwrap().unwrap();
    assert_eq!(text_in(&came.payload().to_bytes()), "to Humble");

    subscription.wait_for_matches(1);
    let from = attachment(Gid([7; 16]));
    let put = stranger.put(key("from_humble", WIRE_STRING), text_message("from Humble"));
    put.attachment(&from[..]).wait().unwrap();
    assert_eq!(text_in(&subscription.next().payload), "from Humble");

    client.wait_for_server();
    let number = client.send(TRUE);
    let query = asked.recv_timeout(WATCHDOG).unwrap().unwrap();
    assert_eq!(query.payload().unwrap().to_bytes()[..], *TRUE);
    let of_request = query.attachment().unwrap().to_bytes().to_vec();
    let reply = query.reply(key("of_humble", WIRE_SET_BOOL), response(true, "of Humble"));
    reply.attachment(of_request).wait().unwrap();
    drop(query);
    let (answered, came) = client.next();
    assert_eq!((answered, text_in(&came.payload[4..])), (number, "of Humble"));

    let question = stranger.get(key("ours", WIRE_SET_BOOL)).payload(TRUE).attachment(&from[..]);
    let replies = question.wait().unwrap();
    let (request, _) = server.next();
    server.respond_once(&request, &response(true, "ours")).unwrap();
    let reply = replies.recv().unwrap();
    assert_eq!(text_in(&reply.result().unwrap().payload().to_bytes()[4..]), "ours");
}

/// A subscription and a client of Humble get nothing from a session in the usual form, so they do
/// not count as matches there. Those of Feros without a hash get everything.
#[test]
fn endpoints_of_humble_do_not_match_those_in_the_usual_form() {
    let network = Network::new();
    let ours = wire_node(network.client(), "ours");
    let publisher = ours.publisher_of("/wire/words", STRING, QOS());
    let server = ours.service_of("/wire/switch", SET_BOOL);
    let stranger = network.stranger();
    let key = |hash: &str| format!("{DOMAIN_ID}/wire/words/{WIRE_STRING}/{hash}");
    let heard = stranger.declare_subscriber(key(NO_HASH)).wait().unwrap();
    let heard_usual = stranger.declare_subscriber(key(STRING.1)).wait().unwrap();
    let token = |entity: u64, kind: &str, name: &str, ty: &str| {
        let node =
            format!("@ros2_lv/{DOMAIN_ID}/{}/0/{entity}/{kind}/%/%/of_humble", stranger.zid());
        let token = format!("{node}/%wire%{name}/{ty}/{NO_HASH}/::,10:,:,:,,");
        stranger.liveliness().declare_token(token).wait().unwrap()
    };
    let _tokens = [token(1, "MS", "words", WIRE_STRING), token(2, "SC", "switch", WIRE_SET_BOOL)];
    ours.wait_for_graph("the endpoints of Humble", |graph| {
        let counts = [
            graph.count(EndpointKind::Subscription, "/wire/words"),
            graph.count(EndpointKind::Client, "/wire/switch"),
        ];
        (counts == [1, 1]).then_some(())
    });
    assert_eq!(publisher.publisher.matched_subscriptions(), 0);
    assert!(server.service.clients().is_empty(), "{:?}", server.service.clients());
    // It is published all the same, for a subscription that has declared no token.
    publisher.publish(&text_message("usual"));
    let came = heard_usual.recv_timeout(WATCHDOG).unwrap().unwrap();
    assert_eq!(text_in(&came.payload().to_bytes()), "usual");
    assert!(heard.try_recv().unwrap().is_none());

    let of_feros = wire_node(network.client(), "of_feros");
    let of_all = of_feros.subscription_of("/wire/words", (STRING.0, ""), QOS());
    let client = of_feros.client_of("/wire/switch", (SET_BOOL.0, ""));
    publisher.wait_for_matches(1);
    of_all.wait_for_matches(1);
    client.wait_for_server();
    until("the client of Feros", || server.service.clients().len() == 1);
}

#[test]
fn a_session_in_the_form_of_humble_hears_the_usual_form() {
    let network = Network::new();
    let humble = in_form_of_humble(&network, "humble");
    let usual = wire_node(network.client(), "usual");
    let publisher = usual.publisher_of("/wire/words", STRING, QOS());
    let subscription = humble.subscription_of("/wire/words", STRING, QOS());
    let server = usual.service_of("/wire/switch", SET_BOOL);
    let client = humble.client_of("/wire/switch", SET_BOOL);
    publisher.wait_for_matches(1);
    subscription.wait_for_matches(1);
    publisher.publish(&text_message("usual"));
    assert_eq!(text_in(&subscription.next().payload), "usual");
    client.wait_for_server();
    call(&client, &server, TRUE, "usual");
}

/// Endpoints with a hash, in a session in the usual form, get nothing from a session in the form of
/// Humble. That session says so.
#[test]
fn a_session_in_the_form_of_humble_does_not_reach_the_usual_form() {
    static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());
    listen_to_log(|_, line| LINES.lock().unwrap_or_else(PoisonError::into_inner).push(line));
    let network = Network::new();
    let humble = in_form_of_humble(&network, "humble");
    let usual = wire_node(network.client(), "usual");
    let publisher = humble.publisher_of("/wire/words", STRING, QOS());
    let server = humble.service_of("/wire/switch", SET_BOOL);
    let subscription = usual.subscription_of("/wire/words", STRING, QOS());
    let client = usual.client_of("/wire/switch", SET_BOOL);
    // A subscription without a hash gets the messages of all publishers. So what has not reached
    // the other subscription of its session by then does not come.
    let of_all = usual.subscription_of("/wire/words", (STRING.0, ""), QOS());
    publisher.wait_for_matches(1);
    of_all.wait_for_matches(1);
    for said in ["first", "second"] {
        publisher.publish(&text_message(said));
        assert_eq!(text_in(&of_all.next().payload), said);
    }
    assert!(subscription.subscription.take().unwrap().is_none());
    assert_eq!(subscription.subscription.matched_publishers(), 0);

    assert!(!client.client.service_is_available());
    client.send(TRUE);
    // This request comes behind that of the client, if that comes at all.
    let of_humble = network.stranger();
    wait_for_token(&of_humble, "SS", "humble");
    let key = format!("{DOMAIN_ID}/wire/switch/{WIRE_SET_BOOL}/{NO_HASH}");
    let from = attachment(Gid([7; 16]));
    let _replies = of_humble.get(key).payload(FALSE).attachment(&from[..]).wait().unwrap();
    assert_eq!(server.next().1.payload[..], *FALSE);

    let named = format!(
        "participant {} announces itself in the form of ROS 2 since Iron",
        usual.session.gid()
    );
    until("the warning", || {
        let lines = LINES.lock().unwrap_or_else(PoisonError::into_inner);
        let told: Vec<_> = lines.iter().filter(|line| line.contains(&named)).collect();
        assert!(told.len() < 2, "{told:?}");
        told.iter().any(|line| {
            line.contains("it gets no message of this process")
                && line.contains("unset FEROS_ROS_DISTRO")
        })
    });
}

/// Declares the tokens of a node of Lyrical with this kind of endpoint, on a topic and on the topic
/// beside it, which only programs of Lyrical use.
fn declare_of_lyrical(stranger: &zenoh::Session, kind: &str) -> Vec<LivelinessToken> {
    let begin = format!("@ros2_lv/{DOMAIN_ID}/{}/0", stranger.zid());
    let of_type = format!("{WIRE_STRING}/{}", STRING.1);
    let keys = [
        format!("{begin}/0/NN/%/%/of_lyrical"),
        format!(
            "{begin}/1/{kind}/%/%/of_lyrical/%wire%image/{of_type}/::,10:,:,:,,/\
             backends:cpu:;cuda:device=0"
        ),
        format!(
            "{begin}/2/{kind}/%/%/of_lyrical/%wire%image%_buf_cpu/{of_type}/::,10:,:,:,,/\
             backends:cpu:/later:x"
        ),
    ];
    keys.iter().map(|key| stranger.liveliness().declare_token(key).wait().unwrap()).collect()
}

/// Both topics are shown, with the backends. Endpoints of Feros announce none.
fn wait_for_lyrical(ours: &TestNode, kind: EndpointKind) {
    ours.wait_for_graph("the endpoints of Lyrical", |graph| {
        let counts = ["/wire/image", "/wire/image/_buf_cpu"].map(|topic| graph.count(kind, topic));
        (counts == [1, 1]).then_some(())
    });
    let graph = ours.session.graph();
    let shown = graph.endpoints_of(kind, "/wire/image").next().unwrap();
    let backends = shown.buffer_backends.as_deref().unwrap().iter().map(ToString::to_string);
    assert_eq!(backends.collect::<Vec<_>>(), ["cpu", "cuda(device=0)"]);
}

#[test]
fn a_publisher_of_lyrical_reaches_subscriptions() {
    let network = Network::new();
    let ours = wire_node(network.client(), "ours");
    let subscription = ours.subscription_of("/wire/image", STRING, QOS());
    let stranger = network.stranger();
    let _tokens = declare_of_lyrical(&stranger, "MP");
    wait_for_lyrical(&ours, EndpointKind::Publisher);
    subscription.wait_for_matches(1);
    wait_for_token(&stranger, "MS", "ours");
    let from = attachment(Gid([7; 16]));
    let key = |topic: &str| format!("{DOMAIN_ID}/wire/{topic}/{WIRE_STRING}/{}", STRING.1);
    for (topic, bytes) in
        [("image/_buf_cpu", b"\xff\xff".to_vec()), ("image", text_message("from Lyrical"))]
    {
        stranger.put(key(topic), bytes).attachment(&from[..]).wait().unwrap();
    }
    let came = subscription.next();
    assert_eq!(text_in(&came.payload), "from Lyrical");
    assert_eq!(came.info.publisher_gid, Gid([7; 16]));
    assert_eq!(subscription.subscription.refused_samples(), 0);
}

#[test]
fn a_subscription_of_lyrical_is_reached() {
    let network = Network::new();
    let ours = wire_node(network.client(), "ours");
    let publisher = ours.publisher_of("/wire/image", STRING, QOS());
    let stranger = network.stranger();
    let key = format!("{DOMAIN_ID}/wire/image/{WIRE_STRING}/{}", STRING.1);
    let heard = stranger.declare_subscriber(key).wait().unwrap();
    let _tokens = declare_of_lyrical(&stranger, "MS");
    wait_for_lyrical(&ours, EndpointKind::Subscription);
    publisher.wait_for_matches(1);
    publisher.publish(&text_message("to Lyrical"));
    let came = heard.recv_timeout(WATCHDOG).unwrap().unwrap();
    assert_eq!(text_in(&came.payload().to_bytes()), "to Lyrical");
    let all = format!("@ros2_lv/{DOMAIN_ID}/*/*/*/MP/*/*/ours/**");
    let tokens = stranger.liveliness().get(&all).wait().unwrap();
    let keys: Vec<_> =
        tokens.iter().map(|token| token.result().unwrap().key_expr().to_string()).collect();
    assert!(keys.len() == 1 && !keys[0].contains("backends"), "{keys:?}");
}
