//! The demands of one client do not slow down or stop the others.

use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};

use feros::msgs::std_msgs::msg::String as Text;
use feros::{Node, QosProfile};
use feros_engine::EndpointKind;
use feros_test_support::{WATCHDOG, spawn, until};
use serde_json::{Value, json};
use tungstenite::Message;

use crate::client::{Client, get};
use crate::support::{Fixture, spinning};

/// A socket that has sent only the beginning of a request for a file of the page, or the whole
/// request without reading the answer.
fn asking(address: SocketAddr, whole: bool) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!("GET /app.js HTTP/1.1\r\nHost: {address}\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    if whole {
        stream.write_all(b"\r\n").unwrap();
    }
    stream
}

/// The number of TCP connections to a server in this network namespace, as the system counts them.
fn sockets_of(server: SocketAddr) -> usize {
    let table = std::fs::read_to_string("/proc/thread-self/net/tcp").unwrap();
    let port = format!(":{:04X}", server.port());
    let is_its = |line: &&str| {
        let mut fields = line.split_whitespace().skip(1);
        let is_its = fields.next().is_some_and(|local| local.ends_with(&port));
        // 01 is established, and 08 is closed only by the other side.
        is_its && fields.nth(1).is_some_and(|state| ["01", "08"].contains(&state))
    };
    table.lines().filter(is_its).count()
}

#[test]
fn sockets_that_never_read_their_answers_exclude_no_client() {
    let fixture = Fixture::new();
    let address = fixture.server.address();
    let asking: Vec<_> = (0..300).map(|number| asking(address, number % 3 == 0)).collect();
    let (status, response) = get(address, "/app.js", &format!("Host: {address}\r\n"));
    assert_eq!(status, 200);
    assert!(response.ends_with('\n'), "the whole file has come");
    let others = sockets_of(address);
    assert!(others >= 32, "{others} sockets: the file came because others had gone");
    fixture.page().channel("/rosout");
    until("the oldest sockets have made room", || sockets_of(address) <= 64);
    drop(asking);
}

/// The number of service clients that the server has.
fn service_clients(fixture: &Fixture) -> usize {
    let graph = fixture.contexts[1].graph();
    graph.endpoints.iter().filter(|endpoint| endpoint.kind == EndpointKind::Client).count()
}

#[test]
fn nodes_that_do_not_exist_cost_no_clients() {
    let fixture = Fixture::new();
    let mut client = fixture.foxglove();
    client.channel("/rosout");
    for question in 0..64 {
        let names: Vec<_> = (0..8).map(|node| format!("/none_{question}_{node}.a")).collect();
        client.send(
            json!({"op": "getParameters", "parameterNames": names, "id": question.to_string()}),
        );
    }
    let (mut answers, mut problems, mut most) = (0, 0, 0);
    while answers < 64 {
        client.find(|incoming| match incoming {
            crate::client::Incoming::Op(op) if op["op"] == "parameterValues" => {
                answers += 1;
                Some(())
            }
            crate::client::Incoming::Op(op) if op["op"] == "status" => {
                let message = op["message"].as_str().unwrap();
                problems += usize::from(message.contains("no server of /none_"));
                Some(())
            }
            _ => None,
        });
        most = most.max(service_clients(&fixture));
    }
    assert_eq!((problems, most), (512, 0));
    let names = vec!["/robot.a"; 5000];
    client.send(json!({"op": "getParameters", "parameterNames": names}));
    client.status("4096 parameters at a time");
}

#[test]
fn clients_of_nodes_that_have_answered_are_released() {
    let fixture = Fixture::new();
    let nodes: Vec<Node> = (0..40)
        .map(|number| fixture.contexts[0].create_node(&format!("many_{number}")).unwrap())
        .collect();
    let _spinning: Vec<_> = nodes.iter().map(spinning).collect();
    let mut client = fixture.foxglove();
    let all = |values: &Value| {
        let names = values["parameters"].as_array().unwrap().iter();
        names.filter(|entry| entry["name"].as_str().unwrap().starts_with("/many_")).count() >= 40
    };
    let mut is_told = false;
    while !is_told {
        client.send(json!({"op": "getParameters", "parameterNames": [], "id": "all"}));
        is_told = all(&client.op("parameterValues", |_| true));
    }
    // Some clients are kept for the next question: two for each of 16 nodes, which list and get
    // parameters.
    let kept = service_clients(&fixture);
    assert!(kept <= 2 * 16, "{kept} clients of services are kept");
}

#[test]
fn questions_to_nodes_that_never_answer_cost_a_bounded_number_of_clients() {
    let fixture = Fixture::new();
    // No executor spins these nodes.
    let _nodes: Vec<Node> = (0..40)
        .map(|number| fixture.contexts[0].create_node(&format!("silent_{number}")).unwrap())
        .collect();
    until("all are found", || {
        let graph = fixture.contexts[1].graph();
        let services = graph.endpoints.iter().filter(|endpoint| {
            let name = &endpoint.name;
            name.starts_with("/silent_") && name.ends_with("/list_parameters")
        });
        services.count() == 40
    });
    let (mut client, mut modest) = (fixture.foxglove(), fixture.foxglove());
    for _ in 0..8 {
        client.send(json!({"op": "getParameters", "parameterNames": []}));
    }
    until("the most nodes are asked", || service_clients(&fixture) >= 16);
    let mut most = 0;
    for _ in 0..50 {
        modest.send(json!({"op": "modest"}));
        modest.status("modest");
        most = most.max(service_clients(&fixture));
    }
    // The two clients for the robot, which has answered, are kept in addition.
    assert!((16..=16 + 2).contains(&most), "{most} clients of services");
    drop((client, modest));
    until("they are released", || service_clients(&fixture) == 0);
}

#[test]
fn one_client_has_one_subscription_of_a_topic() {
    let fixture = Fixture::new();
    let latched = QosProfile::keep_last(1).transient_local();
    let publisher = fixture.robot.create_publisher::<Text>("/map", latched).unwrap();
    publisher.publish(Text { data: "map".into() }).unwrap();
    let mut client = fixture.foxglove();
    let channel = client.subscribe("/map", 1)["id"].clone();
    let more: Vec<_> = (2..500).map(|id| json!({"id": id, "channelId": channel})).collect();
    client.send(json!({"op": "subscribe", "subscriptions": more}));
    for _ in 2..500 {
        client.status("already has a subscription to that channel");
    }
    assert_eq!(publisher.subscription_count(), 1);
    // Another subscription is possible after the first one ended.
    client.send(json!({"op": "unsubscribe", "subscriptionIds": [1]}));
    client.send(json!({"op": "subscribe", "subscriptions": [{"id": 2, "channelId": channel}]}));
    client.find(|incoming| match incoming {
        crate::client::Incoming::Frame(frame) => (frame[1] == 2).then_some(()),
        crate::client::Incoming::Op(_) => None,
    });
}

/// The clients in the order of their answers.
type Order = Arc<Mutex<Vec<&'static str>>>;

/// Lets a client ask for excessive work, and notes the end of all of it.
fn demanding(mut client: Client, work: Value, order: Order) -> std::thread::JoinHandle<Client> {
    client.send(work);
    client.send(json!({"op": "end of the work"}));
    spawn("demanding", move || {
        client.status("end of the work");
        order.lock().unwrap().push("demanding");
        client
    })
}

#[test]
fn others_are_answered_between_the_requests_of_one_client() {
    let fixture = Fixture::new();
    let _publisher = fixture.robot.create_publisher::<Text>("/chatter", 1).unwrap();
    let (mut client, mut modest) = (fixture.foxglove(), fixture.foxglove());
    let channel = client.channel("/chatter")["id"].clone();
    // Each subscription replaces the previous one with the same number, so the server ends one and
    // makes one each time.
    let again = vec![json!({"id": 1, "channelId": channel}); 1000];
    let order = Order::default();
    let work = json!({"op": "subscribe", "subscriptions": again});
    let demanding = demanding(client, work, order.clone());
    for _ in 0..20 {
        modest.socket.send(Message::text(json!({"op": "modest"}).to_string())).unwrap();
        modest.status("modest");
    }
    order.lock().unwrap().push("modest");
    drop(demanding.join().unwrap());
    assert_eq!(*order.lock().unwrap(), ["modest", "demanding"]);
}

/// A doctor each of whose examinations ends when the test allows it.
fn doctor_in_turn() -> (feros_view::Doctor, SyncSender<()>, Receiver<()>) {
    let (allow, allowed) = sync_channel(64);
    let (begin, begun) = sync_channel(64);
    let allowed = Mutex::new(allowed);
    let doctor = move || {
        begin.send(()).unwrap();
        // Receiving fails after the end of the test, when nobody allows another examination.
        let _ = allowed.lock().unwrap().recv();
        Vec::new()
    };
    (Arc::new(doctor), allow, begun)
}

#[test]
fn the_doctor_sees_one_client_after_the_other() {
    let (doctor, allow, begun) = doctor_in_turn();
    let fixture = Fixture::with(|options| options.doctor = Some(doctor));
    let (mut client, mut modest) = (fixture.foxglove(), fixture.foxglove());
    for _ in 0..40 {
        client.send(json!({"op": "doctor"}));
    }
    begun.recv_timeout(WATCHDOG).unwrap();
    for _ in 1..40 {
        client.status("wait for its report");
    }
    modest.send(json!({"op": "doctor"}));
    modest.send(json!({"op": "asked"}));
    modest.status("asked");
    // The first examination is for the first client, and the next one is for the other client.
    for _ in 0..2 {
        allow.send(()).unwrap();
    }
    client.op("doctorReport", |_| true);
    modest.op("doctorReport", |_| true);
    assert_eq!(begun.try_iter().count(), 1, "the second one");
}
