//! The transports of messages and calls between a Feros node and rclpy nodes on this library; how
//! `feros topic info -v` and `feros doctor` show the transports; and how calls end when a process
//! is killed.

use feros::engine::SessionOptions;
use feros::msgs::std_msgs::msg::String as Text;
use feros::msgs::std_srvs::srv::{SetBool, SetBool_Request};
use feros::{Client, Context, ContextOptions, Transport, transports_of_topic};
use feros_interop::{Domain, Peer};
use feros_test_support::{WATCHDOG, eventually};
use serde_json::json;

use crate::support::{library, on_feros, stock};

fn context(domain: &Domain) -> Context {
    Context::new(ContextOptions::new(SessionOptions::localhost(domain.id().into()))).unwrap()
}

fn serve(server: &mut Peer) {
    let response = json!({"message": "theirs", "success": true});
    let service = json!({"name": "/set", "type": "std_srvs/srv/SetBool", "response": response});
    server.ask("service", service);
}

fn takes(client: &Client<SetBool>, transport: Transport) {
    client.wait_for_service(WATCHDOG).unwrap();
    let found = || client.transports().iter().map(|one| one.transport).collect::<Vec<_>>();
    eventually(
        || if found() == [Some(transport)] { Ok(()) } else { Err(format!("{:?}", found())) },
    );
    for _ in 0..3 {
        let answer = client.call_and_wait(&SetBool_Request { data: true }, WATCHDOG).unwrap();
        assert_eq!(answer.message, "theirs");
    }
}

/// Calls take shared memory, even after an earlier server has been killed. They take the network if
/// the environment of the server allows no other transport.
#[test]
fn calls_of_feros_take_the_transport_that_both_sides_allow() {
    let Some(domain) = Domain::reserve() else { return };
    let node = context(&domain).create_node("caller").unwrap();
    let client = node.create_client::<SetBool>("/set").unwrap();
    for name in ["first", "second"] {
        let mut server = on_feros(&domain, name);
        serve(&mut server);
        takes(&client, Transport::SharedMemory);
        server.kill();
        eventually(|| if client.service_is_ready() { Err("a server is there") } else { Ok(()) });
    }
    let mut server = Peer::start_prepared(&domain, "/", "third", |command| {
        command.env("LD_PRELOAD", library()).env("FEROS_TRANSPORTS", "network");
    });
    serve(&mut server);
    takes(&client, Transport::Network);
    let counts = client.counts();
    assert_eq!((counts.shared_memory.messages, counts.network.messages), (6, 3), "{counts:?}");
}

/// Clients are killed; the server answers the next client.
#[test]
fn a_server_outlives_clients_that_are_killed() {
    let Some(domain) = Domain::reserve() else { return };
    let mut server = on_feros(&domain, "server");
    serve(&mut server);
    for name in ["first", "second", "third"] {
        let mut client = on_feros(&domain, name);
        client.ask("client", json!({"name": "/set", "type": "std_srvs/srv/SetBool"}));
        client.ask("wait", json!({"service": "/set"}));
        let requests = [json!({"data": true}), json!({"data": false})];
        let answers = client.ask("call", json!({"service": "/set", "requests": requests}));
        assert_eq!(answers[1]["message"], "theirs");
        client.kill();
    }
}

/// The graph shows which transport each match of the library's endpoints takes.
#[test]
fn the_transports_of_topics_are_seen_in_the_graph() {
    let Some(domain) = Domain::reserve() else { return };
    let context = context(&domain);
    let node = context.create_node("viewer").unwrap();
    let _subscription = node.create_subscription::<Text, _>("/text", 5, |_: Text| ()).unwrap();
    let about = json!({"topic": "/text", "type": "std_msgs/msg/String"});
    let mut talker = on_feros(&domain, "talker");
    talker.ask("publisher", about.clone());
    let (mut listener, mut other) = (on_feros(&domain, "listener"), stock(&domain, "stock"));
    listener.ask("subscription", about.clone());
    other.ask("subscription", about);
    let wanted = [
        ("/listener", Some(Transport::SharedMemory)),
        ("/stock", Some(Transport::Network)),
        ("/viewer", Some(Transport::SharedMemory)),
    ];
    eventually(|| {
        let graph = context.graph();
        let mut seen: Vec<_> = transports_of_topic(&graph, "/text")
            .into_iter()
            .map(|found| {
                let name = found.subscription.node.name().map(ToString::to_string);
                (name.unwrap_or_default(), found.transport)
            })
            .collect();
        seen.sort();
        let is_so = seen.iter().map(|(name, transport)| (name.as_str(), *transport)).eq(wanted);
        if is_so { Ok(()) } else { Err(format!("{seen:?}")) }
    });
}

#[test]
fn programs_are_found_by_the_library_that_they_run_on() {
    let Some(domain) = Domain::reserve() else { return };
    let (ours, theirs) = (on_feros(&domain, "ours"), stock(&domain, "theirs"));
    let programs = feros_monitor::rmw_programs();
    let of = |pid: u32| {
        let program = programs.iter().find(|program| program.pid == pid);
        program.map(|program| (program.name.as_str(), program.rmw.as_str()))
    };
    assert_eq!(of(ours.pid()), Some(("node.py", "rmw_feros")));
    assert_eq!(of(theirs.pid()), Some(("node.py", "rmw_fastrtps_cpp")));
    assert_eq!(of(std::process::id()), None);
}
