//! Feros and ROS 2 Humble in one domain: nodes, topics, services, parameters and managed nodes,
//! with nodes of Humble that are made by hand, on both libraries of Humble. Feros announces itself
//! in the form of Humble, except in the last test.

use feros::engine::graph::EndpointNode;
use feros::engine::{DiscoveryForm, EndpointKind, GraphSnapshot, NodeName, SessionOptions};
use feros::message::{from_bytes, to_vec};
use feros::msgs::lifecycle_msgs::msg::TransitionEvent;
use feros::msgs::lifecycle_msgs::srv::{
    ChangeState_Request, ChangeState_Response, GetState_Request, GetState_Response,
};
use feros::msgs::rcl_interfaces::msg::ParameterValue as Value;
use feros::msgs::rcl_interfaces::srv::{
    GetParameters_Request, GetParameters_Response, ListParameters_Request, ListParameters_Response,
    SetParameters_Request, SetParameters_Response,
};
use feros::msgs::std_msgs::msg::String as Text;
use feros::msgs::std_srvs::srv::{SetBool, SetBool_Request, SetBool_Response};
use feros::{
    Arguments, Context, ContextOptions, LifecycleClient, Node, NodeOptions, ParameterClient,
    ParameterValue,
};
use feros_interop::{Domain, HumbleOn, HumblePeer};
use feros_test_support::{eventually, until};

use crate::support::{Inbox, Spinning, WATCHDOG};

const TEXT: &str = "std_msgs::msg::dds_::String_";
const SET_BOOL: &str = "std_srvs::srv::dds_::SetBool";

/// Makes a test of each function for each library.
macro_rules! tests_on_both_libraries {
    ($($test:ident),* $(,)?) => {
        mod on_fast_dds {
            $(
                #[test]
                fn $test() {
                    super::$test(super::HumbleOn::FastDds);
                }
            )*
        }
        mod on_cyclone_dds {
            $(
                #[test]
                fn $test() {
                    super::$test(super::HumbleOn::CycloneDds);
                }
            )*
        }
    };
}

tests_on_both_libraries! {
    each_shows_the_other_with_its_endpoints,
    messages_and_calls_go_both_ways,
    parameters_are_read_and_set_both_ways,
    a_managed_node_of_humble_is_managed_from_here,
    a_managed_node_is_managed_from_humble,
    in_the_usual_form_messages_pass_but_humble_asks_for_endless_memory,
}

fn context(domain: &Domain, discovery_form: DiscoveryForm) -> Context {
    feros::logging::init(&Arguments::default());
    let session =
        SessionOptions { discovery_form, ..SessionOptions::localhost(domain.id().into()) };
    Context::new(ContextOptions::new(session)).unwrap()
}

/// The Feros node `/ours/feros_node`, in the form of Humble.
fn node(domain: &Domain) -> Node {
    let options = NodeOptions::new("feros_node").namespace("/ours");
    context(domain, DiscoveryForm::Humble).create_node_with(options).unwrap()
}

/// The node `/theirs/humble_node` of Humble.
fn humble(domain: &Domain, on: HumbleOn) -> Option<HumblePeer> {
    HumblePeer::start(domain, on, "/theirs", "humble_node")
}

fn hex<M: feros::message::Message>(message: &M) -> String {
    HumblePeer::message(&to_vec(message).unwrap())
}

/// The nodes of others that the peer knows: name, number of gids, number of known endpoints.
fn nodes(peer: &mut HumblePeer) -> Vec<(String, usize, usize)> {
    let said = peer.ask("nodes");
    let nodes = said.split_terminator(',').map(|node| {
        let [namespace, name, gids, endpoints] = node.split(' ').collect::<Vec<_>>()[..] else {
            panic!("four words: {node:?}")
        };
        (format!("{namespace}/{name}"), gids.parse().unwrap(), endpoints.parse().unwrap())
    });
    nodes.collect()
}

fn call<Request, Response>(peer: &mut HumblePeer, client: &str, request: &Request) -> Response
where
    Request: feros::message::Message,
    Response: feros::message::Message,
{
    from_bytes(&peer.ask_for_message(format!("call {client} {}", hex(request)))).unwrap()
}

fn shows_theirs(graph: &GraphSnapshot) -> bool {
    let theirs = NodeName::new("/theirs", "humble_node").unwrap();
    let Some(node) = graph.nodes.iter().find(|node| node.name == theirs) else { return false };
    let form =
        graph.participants.iter().find(|of| of.gid == node.participant).and_then(|of| of.form);
    let shown = |kind, name| {
        graph.endpoints_of(kind, name).any(|endpoint| {
            endpoint.node == EndpointNode::Named(theirs.clone()) && endpoint.type_hash.is_none()
        })
    };
    form == Some(DiscoveryForm::Humble)
        && shown(EndpointKind::Publisher, "/words")
        && shown(EndpointKind::Service, "/theirs/switch")
}

fn each_shows_the_other_with_its_endpoints(on: HumbleOn) {
    let domain = Domain::reserve_without_ros2();
    let Some(mut peer) = humble(&domain, on) else { return };
    let node = node(&domain);
    let publisher = node.create_publisher::<Text>("numbers", 10).unwrap();
    let _client = node.create_client::<SetBool>("/theirs/switch").unwrap();
    peer.ask(format!("publisher /words {TEXT}"));
    peer.ask(format!("server /theirs/switch {SET_BOOL}"));

    let context = node.context();
    let what = || "the node of Humble with its endpoints";
    context.wait_for_graph(WATCHDOG, what, || shows_theirs(&context.graph())).unwrap();
    // The client is the last endpoint. All gids that our node announces are those of endpoints.
    eventually(|| match peer.ask("endpoints rq/theirs/switchRequest") {
        shown if shown.contains("feros_node") => Ok(()),
        shown => Err(shown),
    });
    eventually(|| match &nodes(&mut peer)[..] {
        [(name, gids, endpoints)] if name == "/ours/feros_node" && *gids > 6 => {
            if gids == endpoints { Ok(()) } else { Err(format!("{endpoints} of {gids}")) }
        }
        other => Err(format!("our node: {other:?}")),
    });
    assert_eq!(peer.ask("endpoints rt/ours/numbers"), format!("feros_node {TEXT},"));
    assert_eq!(peer.ask("endpoints rq/theirs/switchRequest").matches("feros_node").count(), 1);
    assert_eq!(peer.ask("demanded"), "", "announcements that Humble cannot read");
    let announcement = peer.ask_for_message("announcement");
    let gid = publisher.gid().0;
    assert_eq!(announcement[..4], [0, 1, 0, 0]);
    assert_eq!(announcement[4..16], gid[..12], "the participant");
    assert_eq!(announcement[20..28], [0; 8], "a gid of 24 bytes");
    assert_eq!(announcement[28..32], [1, 0, 0, 0], "one node");
    let of_publisher = [&gid[..], &[0; 8]].concat();
    assert!(announcement.windows(24).any(|bytes| bytes == of_publisher));
}

fn messages_and_calls_go_both_ways(on: HumbleOn) {
    let domain = Domain::reserve_without_ros2();
    let Some(mut peer) = humble(&domain, on) else { return };
    let node = node(&domain);
    let words = Inbox::new();
    let put = words.putter();
    let subscription = node.create_subscription("/words", 10, move |text: Text| put(text.data));
    let _subscription = subscription.unwrap();
    let publisher = node.create_publisher::<Text>("/numbers", 10).unwrap();
    let answer = |request: SetBool_Request| SetBool_Response {
        success: !request.data,
        message: "x".repeat(if request.data { 300_000 } else { 3 }),
    };
    let _service = node.create_service::<SetBool, _>("switch", answer).unwrap();
    let client = node.create_client::<SetBool>("/theirs/switch").unwrap();
    let _spinning = Spinning::new(&node);

    let to_us = peer.ask_matched(format!("publisher /words {TEXT}"));
    let from_us = peer.ask_matched(format!("subscription /numbers {TEXT}"));
    publisher.wait_for_subscriptions(1, WATCHDOG).unwrap();
    for said in ["", "hello", &"large ".repeat(50_000)] {
        let text = Text { data: said.to_owned() };
        peer.ask(format!("publish {to_us} {}", hex(&text)));
        assert!(words.take() == said, "{} characters differ", said.len());
        publisher.publish(&text).unwrap();
        let heard: Text = from_bytes(&peer.ask_for_message(format!("take {from_us}"))).unwrap();
        assert!(heard == text, "{} characters differ", said.len());
    }

    let caller = peer.ask_matched(format!("client /ours/switch {SET_BOOL}"));
    for data in [true, false, true] {
        let response: SetBool_Response = call(&mut peer, &caller, &SetBool_Request { data });
        assert!(response == answer(SetBool_Request { data }), "{data}");
    }
    let server = peer.ask_matched(format!("server /theirs/switch {SET_BOOL}"));
    for data in [true, false] {
        let response = SetBool_Response { success: data, message: "theirs".to_owned() };
        let request = SetBool_Request { data };
        let answered = std::thread::scope(|scope| {
            let call = scope.spawn(|| client.call_and_wait(&request, WATCHDOG).unwrap());
            let asked = peer.ask_for_message(format!("serve {server} {}", hex(&response)));
            assert_eq!(from_bytes::<SetBool_Request>(&asked).unwrap(), request);
            call.join().unwrap()
        });
        assert_eq!(answered, response);
    }
}

fn parameters_are_read_and_set_both_ways(on: HumbleOn) {
    let domain = Domain::reserve_without_ros2();
    let Some(mut peer) = humble(&domain, on) else { return };
    let node = node(&domain);
    let rate = node.declare_parameter("rate", 30_i64).unwrap();
    let _spinning = Spinning::new(&node);
    let client = |verb: &str, ty: &str| {
        format!("client /ours/feros_node/{verb} rcl_interfaces::srv::dds_::{ty}")
    };
    let get = peer.ask_matched(client("get_parameters", "GetParameters"));
    let set = peer.ask_matched(client("set_parameters", "SetParameters"));
    let mut request = SetParameters_Request::default();
    request.parameters.resize_with(1, Default::default);
    request.parameters[0].name = "rate".to_owned();
    request.parameters[0].value = Value { r#type: 2, integer_value: 50, ..Value::default() };
    let response: SetParameters_Response = call(&mut peer, &set, &request);
    assert!(response.results[0].successful, "{response:?}");
    assert_eq!(rate.get(), 50);
    let names = GetParameters_Request { names: vec!["rate".to_owned()] };
    let response: GetParameters_Response = call(&mut peer, &get, &names);
    assert_eq!(response.values, [request.parameters[0].value.clone()]);

    let theirs = ParameterClient::new(&node, "/theirs/humble_node").unwrap();
    let (asked, values): (GetParameters_Request, _) = served(
        &mut peer,
        "/theirs/humble_node/get_parameters rcl_interfaces::srv::dds_::GetParameters",
        &response,
        || theirs.get(["rate"], WATCHDOG).unwrap(),
    );
    assert_eq!(asked, names);
    assert_eq!(values, [ParameterValue::from(50_i64)]);

    let mut listed = ListParameters_Response::default();
    listed.result.names = vec!["camera.rate".to_owned()];
    listed.result.prefixes = vec!["camera".to_owned()];
    let (asked, list): (ListParameters_Request, _) = served(
        &mut peer,
        "/theirs/humble_node/list_parameters rcl_interfaces::srv::dds_::ListParameters",
        &listed,
        || theirs.list(["camera"], 2, WATCHDOG).unwrap(),
    );
    assert_eq!((&asked.prefixes[..], asked.depth), (&["camera".to_owned()][..], 2));
    assert_eq!((list.names, list.prefixes), (listed.result.names, listed.result.prefixes));

    let mut refused = SetParameters_Response::default();
    refused.results.resize_with(1, Default::default);
    refused.results[0].reason = "too fast".to_owned();
    let (asked, results): (SetParameters_Request, _) = served(
        &mut peer,
        "/theirs/humble_node/set_parameters rcl_interfaces::srv::dds_::SetParameters",
        &refused,
        || theirs.set([("rate", 50_i64)], WATCHDOG).unwrap(),
    );
    assert_eq!(asked.parameters, request.parameters);
    assert_eq!(results, [Err("too fast".to_owned())]);
}

/// Makes a server of the peer, which answers the request that `call` sends. Returns the request and
/// the result of `call`.
fn served<Request, Response, Answer>(
    peer: &mut HumblePeer,
    server: &str,
    response: &Response,
    call: impl FnOnce() -> Answer + Send,
) -> (Request, Answer)
where
    Request: feros::message::Message,
    Response: feros::message::Message,
    Answer: Send,
{
    let server = peer.ask(format!("server {server}"));
    std::thread::scope(|scope| {
        let call = scope.spawn(call);
        let asked = peer.ask_for_message(format!("serve {server} {}", hex(response)));
        (from_bytes(&asked).unwrap(), call.join().unwrap())
    })
}

fn a_managed_node_of_humble_is_managed_from_here(on: HumbleOn) {
    let domain = Domain::reserve_without_ros2();
    let Some(mut peer) = humble(&domain, on) else { return };
    let node = node(&domain);
    let _spinning = Spinning::new(&node);
    let theirs = LifecycleClient::new(&node, "/theirs/humble_node").unwrap();
    let service = |verb: &str, ty: &str| {
        format!("/theirs/humble_node/{verb} lifecycle_msgs::srv::dds_::{ty}")
    };

    let mut state = GetState_Response::default();
    (state.current_state.id, state.current_state.label) = (2, "inactive".to_owned());
    let get = service("get_state", "GetState");
    let (_, shown): (GetState_Request, _) =
        served(&mut peer, &get, &state, || theirs.get_state(WATCHDOG).unwrap());
    assert_eq!(shown, state.current_state);

    let change = service("change_state", "ChangeState");
    let done = ChangeState_Response { success: true };
    let (asked, changed): (ChangeState_Request, _) =
        served(&mut peer, &change, &done, || theirs.change_state("activate", WATCHDOG));
    assert_eq!((asked.transition.id, asked.transition.label.as_str()), (0, "activate"));
    assert!(changed.unwrap());
}

fn a_managed_node_is_managed_from_humble(on: HumbleOn) {
    let domain = Domain::reserve_without_ros2();
    let Some(mut peer) = humble(&domain, on) else { return };
    let options = NodeOptions::new("managed").namespace("/ours");
    let context = context(&domain, DiscoveryForm::Humble);
    let node = context.create_lifecycle_node_with(options, ()).unwrap();
    let _spinning = Spinning::new(&node);
    let events = "/ours/managed/transition_event";
    let ty = "lifecycle_msgs::msg::dds_::TransitionEvent_";
    let told = peer.ask_matched(format!("subscription {events} {ty}"));
    let is_matched = || node.subscriptions_info_by_topic(events).is_ok_and(|all| all.len() == 1);
    until("the subscription of Humble", is_matched);
    let client = |verb: &str, ty: &str| {
        format!("client /ours/managed/{verb} lifecycle_msgs::srv::dds_::{ty}")
    };
    let change = peer.ask_matched(client("change_state", "ChangeState"));
    let state = peer.ask_matched(client("get_state", "GetState"));
    for (transition, reached) in [(1, "inactive"), (3, "active")] {
        let mut request = ChangeState_Request::default();
        request.transition.id = transition;
        let response: ChangeState_Response = call(&mut peer, &change, &request);
        assert!(response.success, "{transition}");
        let response: GetState_Response = call(&mut peer, &state, &GetState_Request::default());
        assert_eq!(response.current_state.label, reached);
        // A transition has two events: its begin, and its end.
        eventually(|| {
            let event = peer.ask_for_message(format!("take {told}"));
            let event: TransitionEvent = from_bytes(&event).unwrap();
            if event.goal_state.label == reached { Ok(()) } else { Err(event.goal_state.label) }
        });
    }
}

/// What decision 0025 says about a node of Humble beside a process with the form since Iron.
fn in_the_usual_form_messages_pass_but_humble_asks_for_endless_memory(on: HumbleOn) {
    let domain = Domain::reserve_without_ros2();
    let Some(mut peer) = humble(&domain, on) else { return };
    let options = NodeOptions::new("feros_node").namespace("/a/b");
    let node = context(&domain, DiscoveryForm::SinceIron).create_node_with(options).unwrap();
    let publisher = node.create_publisher::<Text>("/numbers", 10).unwrap();
    let from_us = peer.ask_matched(format!("subscription /numbers {TEXT}"));
    publisher.wait_for_subscriptions(1, WATCHDOG).unwrap();
    publisher.publish(&Text { data: "heard".to_owned() }).unwrap();
    let heard: Text = from_bytes(&peer.ask_for_message(format!("take {from_us}"))).unwrap();
    assert_eq!(heard.data, "heard");
    // The nodes of Humble are shown here, but it reads the letters of our namespace as a count of
    // nodes, each of which takes 112 bytes.
    peer.ask(format!("publisher /words {TEXT}"));
    peer.ask(format!("server /theirs/switch {SET_BOOL}"));
    let context = node.context();
    let what = || "the node of Humble with its endpoints";
    context.wait_for_graph(WATCHDOG, what, || shows_theirs(&context.graph())).unwrap();
    let demanded = u64::from(u32::from_le_bytes(*b"/a/b")) * 112;
    eventually(|| {
        let all = peer.ask("demanded");
        if all.split(',').any(|bytes| bytes == demanded.to_string()) { Ok(()) } else { Err(all) }
    });
    assert!(nodes(&mut peer).is_empty());
}
