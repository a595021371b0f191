//! Topics between two processes of the command.

use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use feros::QosProfile;
use feros::msgs::std_msgs::msg::{Int32, String as Text};

use crate::process::{Running, WATCHDOG, context, feros, spawn};

#[test]
fn echo_prints_what_pub_publishes() {
    let _pub = Running::start(&[
        "topic",
        "pub",
        "/t_echo",
        "std_msgs/msg/String",
        "{data: hello}",
        "-r",
        "50",
        "-p",
        "0",
    ]);
    // Either process may be first: the type is given, so that echo need not find it.
    let echoed = feros(&[
        "topic",
        "echo",
        "/t_echo",
        "std_msgs/msg/String",
        "--once",
        "--json",
        "--timeout",
        "50",
    ]);
    assert_eq!(echoed.json(), serde_json::json!({ "data": "hello" }));
    // Now it is there, and tells its type itself.
    assert_eq!(
        feros(&["topic", "echo", "/t_echo", "--times", "2", "--timeout", "50"]).success(),
        "data: hello\n---\ndata: hello\n---\n"
    );
    assert_eq!(
        feros(&["topic", "echo", "/t_echo", "--once", "--csv", "--timeout", "50"]).success(),
        "hello\n"
    );
    assert_eq!(
        feros(&["topic", "echo", "/t_echo", "--once", "--field", "data", "--timeout", "50"])
            .success(),
        "hello\n---\n"
    );
    let raw = feros(&["topic", "echo", "/t_echo", "--once", "--raw", "--timeout", "50"]).success();
    assert!(raw.starts_with("00000000 00 01 00 00 06 00 00 00 68 65 6c 6c 6f 00"), "{raw}");
    let error = feros(&["topic", "echo", "/t_echo", "--once", "--field", "dta", "--timeout", "50"])
        .failure(2);
    assert!(error.contains("`data`"), "{error}");
}

#[test]
fn pub_once_waits_for_its_subscription_and_loses_nothing() {
    // Reliable: an echo that sees no publisher yet takes best effort, and misses what is sent while
    // it is being matched.
    let line = ["topic", "echo", "/t_once", "std_msgs/msg/Int32", "--times", "3", "--json"];
    let echo = Running::start(&[&line[..], &["--qos-reliability", "reliable"]].concat());
    let published = feros(&[
        "topic",
        "pub",
        "/t_once",
        "std_msgs/msg/Int32",
        "{\"data\": -5}",
        "-t",
        "3",
        "-r",
        "200",
    ]);
    let out = published.success();
    assert!(out.contains("publishing #3: {data: -5}"), "{out}");
    assert_eq!(echo.finish().success(), "{\"data\":-5}\n".repeat(3));
}

#[test]
fn pub_says_why_nobody_listens() {
    let context = context();
    let node = context.create_node("t_nobody").unwrap();
    let qos = QosProfile::default().transient_local();
    let _subscription = node.create_subscription("/t_nobody", qos, |_: Text| {}).unwrap();
    let line = [
        "topic",
        "pub",
        "/t_nobody",
        "std_msgs/msg/String",
        "{}",
        "-1",
        "--max-wait-time-secs",
        "5",
    ];
    let error = feros(&line).failure(1);
    assert!(error.contains("DURABILITY") && error.contains("t_nobody"), "{error}");
}

#[test]
fn echo_says_why_nothing_comes() {
    let context = context();
    let node = context.create_node("t_silent").unwrap();
    let publisher = node.create_publisher::<Text>("/t_silent", QosProfile::sensor_data()).unwrap();
    let line = ["topic", "echo", "/t_silent", "--qos-reliability", "reliable", "--timeout", "3"];
    let error = feros(&line).failure(1);
    assert!(error.contains("RELIABILITY") && error.contains("t_silent"), "{error}");
    drop(publisher);
    let error = feros(&["topic", "echo", "/t_absent", "--timeout", "0.2"]).failure(1);
    assert!(error.contains("there is no topic /t_absent"), "{error}");
}

#[test]
fn echo_gets_what_was_published_before() {
    let context = context();
    let node = context.create_node("t_latched").unwrap();
    let qos = QosProfile::keep_last(1).transient_local();
    let publisher = node.create_publisher::<Text>("/t_latched", qos).unwrap();
    publisher.publish(Text { data: "early".into() }).unwrap();
    let echoed = feros(&["topic", "echo", "/t_latched", "--once", "--timeout", "50"]).success();
    assert_eq!(echoed, "data: early\n---\n");
}

#[test]
fn several_types_on_one_topic_are_told() {
    let context = context();
    let node = context.create_node("t_types").unwrap();
    let _text = node.create_publisher::<Text>("/t_types", 1).unwrap();
    let _number = node.create_publisher::<Int32>("/t_types", 1).unwrap();
    let error = feros(&["topic", "echo", "/t_types"]).failure(1);
    assert!(error.contains("std_msgs/msg/Int32 and std_msgs/msg/String"), "{error}");
}

#[test]
fn hz_measures_a_thousand_messages_a_second() {
    let context = context();
    let node = context.create_node("t_hz").unwrap();
    let publisher = node.create_publisher::<Int32>("/t_hz", 10).unwrap();
    // The window is all of it: then rate, lost and received are of the same time.
    let mut hz = Running::start(&["topic", "hz", "/t_hz", "--json", "-w", "1000000"]);
    publisher.wait_for_subscriptions(1, WATCHDOG).unwrap();
    let (stop, stopped) = sync_channel::<()>(1);
    let sent_hz = Arc::new(Mutex::new(0.0));
    let progress = sent_hz.clone();
    let feed = spawn("test-feed", move || {
        let period = Duration::from_millis(1);
        let started = Instant::now();
        let mut sent = 0_u32;
        while stopped.try_recv().is_err() {
            publisher.publish(Int32 { data: 0 }).unwrap();
            sent += 1;
            *progress.lock().unwrap() = f64::from(sent) / started.elapsed().as_secs_f64();
            // Late messages are caught up, so that the mean rate holds on a busy machine.
            std::thread::sleep((started + period * sent).saturating_duration_since(Instant::now()));
        }
    });
    let mut seen = Vec::new();
    // A process that was held up weighs less and less.
    let is_right = (0..WATCHDOG.as_secs()).any(|_| {
        let report: serde_json::Value = serde_json::from_str(&hz.line().unwrap()).unwrap();
        let window = report["window"].as_f64().unwrap();
        // What did not arrive is not taken for a slower publisher: it is counted.
        let share = window / (window + report["lost"].as_f64().unwrap());
        let rate = report["rate_hz"].as_f64().unwrap() / share;
        let sent = *sent_hz.lock().unwrap();
        seen.push(format!("{rate} Hz reported, {sent} Hz sent: {report}"));
        seen.len() >= 3 && (rate / sent - 1.0).abs() < 0.05
    });
    stop.send(()).unwrap();
    feed.join().unwrap();
    hz.interrupt();
    assert_eq!(hz.finish().code, Some(0), "Ctrl-C is the normal end");
    assert!(is_right, "{seen:#?}");
}

#[test]
fn bw_and_delay_measure() {
    let _pub = Running::start(&[
        "topic",
        "pub",
        "/t_bw",
        "std_msgs/msg/Header",
        "{frame_id: abc}",
        "-r",
        "100",
        "-p",
        "0",
    ]);
    let mut bw = Running::start(&["topic", "bw", "/t_bw", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&bw.line().unwrap()).unwrap();
    // Header, stamp, length and text of 4 bytes.
    assert_eq!(report["mean_size_bytes"].as_f64(), Some(20.0), "{report}");
    bw.interrupt();
    assert_eq!(bw.finish().code, Some(0));
    let error = feros(&["topic", "delay", "/t_bw"]).failure(1);
    assert!(error.contains("no field `header`"), "{error}");

    let line = ["topic", "pub", "/t_delay", "geometry_msgs/msg/PointStamped", "{header: auto}"];
    let _pub = Running::start(&[&line[..], &["-r", "100", "-p", "0"]].concat());
    let mut delay = Running::start(&["topic", "delay", "/t_delay", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&delay.line().unwrap()).unwrap();
    let mean = report["mean_s"].as_f64().unwrap();
    assert!((0.0..10.0).contains(&mean), "{report}");
}
