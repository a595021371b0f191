//! Clients that stall, and hostile clients.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use feros::msgs::sensor_msgs::msg::Image;
use feros::msgs::std_msgs::msg::String as Text;
use feros_launch::Packages;
use feros_test_support::{WATCHDOG, until};
use serde_json::{Value, json};
use tungstenite::Message;

use crate::support::Fixture;

/// The number of messages that the connections lost, according to the figures.
fn dropped(figures: &Value) -> u64 {
    figures["connections"]["droppedMessages"].as_u64().unwrap()
}

#[test]
fn a_client_that_does_not_read_loses_messages_which_are_counted() {
    let fixture = Fixture::new();
    let publisher = fixture.robot.create_publisher::<Image>("/image", 10).unwrap();
    let mut stalled = fixture.foxglove();
    stalled.subscribe("/image", 1);
    publisher.wait_for_subscriptions(1, WATCHDOG).unwrap();
    let mut page = fixture.page();
    page.send(json!({"op": "subscribeFigures"}));
    let image = Image { data: vec![7; 1 << 20], ..Image::default() };
    let lost = loop {
        for _ in 0..10 {
            publisher.publish(&image).unwrap();
        }
        let lost = dropped(&page.op("figures", |_| true));
        if lost > 20 {
            break lost;
        }
    };
    // The client reads again. The waiting messages are within the limit, and the newest one is
    // among them.
    let last = Image { data: vec![9; 1 << 20], ..Image::default() };
    publisher.publish(&last).unwrap();
    let mut received = 0;
    while stalled.frame(1).last() != Some(&9) {
        received += 1;
    }
    assert!(received < 40, "{received} after {lost} were dropped");
    assert_eq!(fixture.server.connection_count(), 2);
}

#[test]
fn a_client_that_takes_no_frame_for_too_long_is_closed_though_it_speaks() {
    let fixture = Fixture::with(|options| options.patience = Duration::from_secs(5));
    let publisher = fixture.robot.create_publisher::<Image>("/image", 10).unwrap();
    let mut stalled = fixture.foxglove();
    stalled.subscribe("/image", 1);
    // From now on the client reads nothing, but still sends.
    let mut speak = || {
        let _ = stalled.socket.send(Message::text(json!({"op": "unsubscribeFigures"}).to_string()));
    };
    until("it has subscribed", || {
        speak();
        publisher.subscription_count() == 1
    });
    let image = Image { data: vec![7; 1 << 20], ..Image::default() };
    until("it was closed", || {
        publisher.publish(&image).unwrap();
        speak();
        fixture.server.connection_count() == 0
    });
    until("nobody listens", || publisher.subscription_count() == 0);
}

#[test]
fn a_client_that_is_silent_for_too_long_is_closed() {
    let fixture = Fixture::with(|options| options.patience = Duration::from_secs(1));
    let silent = fixture.foxglove();
    until("it was closed", || fixture.server.connection_count() == 0);
    drop(silent);
}

#[test]
fn hostile_frames_end_nothing_but_their_own_connection() {
    let fixture = Fixture::with_changes();
    let _publisher = fixture.robot.create_publisher::<Text>("/chatter", 1).unwrap();
    let mut client = fixture.foxglove();
    client.channel("/chatter");
    let frames: [&[u8]; 5] = [&[], &[9, 9], &[1, 0], &[2; 20], &[1, 1, 0, 0, 0, 1]];
    for frame in frames {
        client.send_frame(frame.to_vec());
        client.op("status", |op| op["level"] == 2);
    }
    for text in ["", "null", "{\"op\":7}", "{\"op\":\"subscribe\"}", &"[".repeat(1000)] {
        client.socket.send(Message::text(text)).unwrap();
        client.status("not an operation of the protocol");
    }
    client.socket.send(Message::text("x".repeat(2 << 20))).unwrap();
    client.status("at most");
    let subscription = json!({"id": 1, "channelId": 4_000_000_000_u32});
    client.send(json!({"op": "subscribe", "subscriptions": [subscription]}));
    client.status("no channel 4000000000");
    client.send(json!({"op": "unsubscribe", "subscriptionIds": [5, 5, 5]}));
    // The announced size of this frame exceeds the limit.
    let mut stream = client.socket.into_inner();
    stream
        .write_all(&[0x82, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4])
        .unwrap();
    until("the server closed it", || fixture.server.connection_count() == 0);
    // These bytes are neither WebSocket nor HTTP.
    for bytes in [&b"\x16\x03\x01\x02\x00"[..], b"GET / HTTP/9.9\r\n\r\n", &[b'a'; 100_000]] {
        let mut stream = TcpStream::connect(fixture.server.address()).unwrap();
        stream.set_read_timeout(Some(WATCHDOG)).unwrap();
        // The server may have closed the connection before everything was written.
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let _ = stream.read_to_end(&mut Vec::new());
    }
    fixture.page().channel("/chatter");
}

#[test]
fn many_idle_sockets_do_not_disturb_connected_clients() {
    let fixture = Fixture::with(|options| options.max_connections = 2);
    let mut client = fixture.foxglove();
    let idle: Vec<TcpStream> =
        (0..300).map(|_| TcpStream::connect(fixture.server.address()).unwrap()).collect();
    let publisher = fixture.robot.create_publisher::<Text>("/chatter", 1).unwrap();
    client.subscribe("/chatter", 1);
    publisher.wait_for_subscriptions(1, WATCHDOG).unwrap();
    publisher.publish(Text { data: "hello".into() }).unwrap();
    client.frame(1);
    drop(idle);
    fixture.page().channel("/chatter");
}

#[test]
fn files_of_packages_are_given_and_no_others() {
    let prefix = tempfile::tempdir().unwrap();
    let write = |path: &str, bytes: &[u8]| {
        let path = prefix.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).unwrap();
        std::fs::write(path, bytes).unwrap();
    };
    write("share/ament_index/resource_index/packages/arm", b"");
    write("share/arm/meshes/a.stl", b"solid a");
    write("share/secret.stl", b"secret");
    let packages = Packages::new([prefix.path().to_owned()]);
    let fixture = Fixture::with(|options| options.packages = packages);
    let mut client = fixture.foxglove();
    let mut fetch = |uri: &str, id: u32| {
        client.send(json!({"op": "fetchAsset", "uri": uri, "requestId": id}));
        let frame = client.frame(4);
        assert_eq!(frame[1..5], id.to_le_bytes());
        frame
    };
    let found = fetch("package://arm/meshes/a.stl", 1);
    assert_eq!((found[5], &found[10..]), (0, &b"solid a"[..]));
    for uri in ["package://arm/../secret.stl", "file:///etc/passwd", "package://none/a.stl"] {
        let refused = fetch(uri, 2);
        assert_eq!(refused[5], 1, "{uri}");
        assert!(refused.len() > 10, "it says why");
    }
}

#[test]
fn a_server_ends_with_its_clients() {
    let Fixture { server, robot, contexts, _spinning, _domain } = Fixture::new();
    let publisher = robot.create_publisher::<Text>("/chatter", 1).unwrap();
    let mut client = crate::client::Client::connect(&server, "feros.view.v1");
    client.subscribe("/chatter", 1);
    publisher.wait_for_subscriptions(1, WATCHDOG).unwrap();
    drop(server);
    until("nobody listens", || publisher.subscription_count() == 0);
    while client.socket.read().is_ok() {}
    drop(contexts);
}
