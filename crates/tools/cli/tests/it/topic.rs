//! Topics between two processes of the command.

use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use feros::QosProfile;
use feros::msgs::geometry_msgs::msg::{Point, PointStamped};
use feros::msgs::rosgraph_msgs::msg::Clock;
use feros::msgs::std_msgs::msg::{Int32, String as Text};
use feros_interop::Domain;

use crate::process::{
    Finished, Running, WATCHDOG, context, context_in, eventually, feros, has_line, spawn,
};

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
    // Either process may be first: with the type given, echo need not find it.
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
    // Now the topic exists, and echo finds the type itself.
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
    let line = ["topic", "echo", "/t_once", "std_msgs/msg/Int32", "--times", "3", "--json"];
    let echo = Running::start(&line);
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

/// An echo that sees no publisher yet takes best effort, and receives nothing before it has
/// discovered the publisher. `FEROS_PUB_ONCE` is the number of publishers, one after the other.
#[test]
fn each_message_published_once_reaches_a_best_effort_echo() {
    let rounds = std::env::var("FEROS_PUB_ONCE").map_or(10, |text| text.parse().unwrap());
    let times = rounds.to_string();
    let topic = ["/t_each_once", "std_msgs/msg/Int32"];
    let echo = ["topic", "echo", topic[0], topic[1], "--csv", "--times", &times];
    let echo = Running::start(&[&echo[..], &["--qos-reliability", "best_effort"]].concat());
    for number in 0..rounds {
        let value = format!("{{data: {number}}}");
        // The flag may stand at any place.
        let mut line = vec!["topic", "pub", topic[0], topic[1], &value];
        line.insert(2 + number % 4, "-1");
        feros(&line).success();
    }
    echo.interrupt(); // messages that have not come by now were lost
    let expected: String = (0..rounds).map(|number: usize| format!("{number}\n")).collect();
    assert_eq!(echo.finish().out, expected);
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
    // The window covers all messages: then rate, lost and received describe the same time.
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
            // The feed catches up with its period, so that the mean rate holds on a busy machine.
            std::thread::sleep((started + period * sent).saturating_duration_since(Instant::now()));
        }
    });
    let mut seen = Vec::new();
    // A delay of either process matters less over time.
    let is_right = (0..WATCHDOG.as_secs()).any(|_| {
        let report: serde_json::Value = serde_json::from_str(&hz.line().unwrap()).unwrap();
        let window = report["window"].as_f64().unwrap();
        // A lost message is counted, and not taken for a slower publisher.
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
    // Header, stamp, length and a string of 4 bytes.
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

/// As with the stock verbs, nothing is measured without a time.
#[test]
fn verbs_with_simulated_time_tell_that_none_comes() {
    let domain = Domain::reserve_without_ros2();
    let line = ["topic", "pub", "/t_no_clock", "geometry_msgs/msg/PointStamped", "{header: auto}"];
    let line = [&line[..], &["-r", "50", "-p", "0"]].concat();
    let _pub = Running::start_in(&domain, &line);
    for (line, printed) in [
        (vec!["topic", "hz", "/t_no_clock", "--json", "-s"], ""),
        (vec!["topic", "delay", "/t_no_clock", "--json", "-s"], ""),
        ([&line[..], &["-s"]].concat(), "publisher: beginning loop\n"),
    ] {
        let mut running = Running::start_in(&domain, &line);
        running.error_with("no time has come on /clock");
        running.interrupt();
        let finished = running.finish();
        assert_eq!((finished.code, finished.out.as_str()), (Some(0), printed), "{finished:?}");
        assert!(!finished.err.contains("/clock"), "told again: {finished:?}");
    }
}

#[test]
fn echo_prints_only_what_the_filter_means() {
    let context = context();
    let node = context.create_node("t_filter").unwrap();
    let qos = QosProfile::keep_last(10).transient_local();
    let publisher = node.create_publisher::<Int32>("/t_filter", qos).unwrap();
    for data in 1..=10 {
        publisher.publish(Int32 { data }).unwrap();
    }
    let echo = |filter: &str, more: &[&str]| {
        let line = ["topic", "echo", "/t_filter", "--filter", filter, "--json", "--timeout", "50"];
        feros(&[&line[..], more].concat())
    };
    let even = echo("m.data % 2 == 0 and m.data > 4", &["-n", "3"]).success();
    assert_eq!(even, "{\"data\":6}\n{\"data\":8}\n{\"data\":10}\n");
    let last = echo("m in [3, 4]", &["--field", "data", "--times", "2"]).success();
    assert_eq!(last, "3\n4\n");
    let error = echo("m.dta == 1", &[]).failure(2);
    assert!(
        error.contains("--filter: std_msgs/msg/Int32 has no field dta: it has data"),
        "{error}"
    );
    let line = ["topic", "echo", "/t_filter", "--filter", "m.data > 10", "--timeout", "3"];
    let error = feros(&line).failure(1);
    assert!(error.contains("none of the ") && error.contains("satisfies --filter"), "{error}");
}

#[test]
fn echo_prints_several_fields_in_each_form() {
    let context = context();
    let node = context.create_node("t_fields").unwrap();
    let qos = QosProfile::keep_last(1).transient_local();
    let publisher = node.create_publisher::<Point>("/t_fields", qos).unwrap();
    publisher.publish(Point { x: 1.0, y: 2.5, z: -3.0 }).unwrap();
    let echo = |more: &[&str]| {
        let line = ["topic", "echo", "/t_fields", "--once", "--timeout", "50"];
        feros(&[&line[..], &["--field", "z", "--field", "x"], more].concat()).success()
    };
    assert_eq!(echo(&[]), "-3.0\n1.0\n---\n");
    assert_eq!(echo(&["--csv"]), "-3.0,1.0\n");
    assert_eq!(echo(&["--json"]), "{\"z\":-3.0,\"x\":1.0}\n");
    // A pipe is not cleared, because nobody watches it.
    assert_eq!(echo(&["--clear"]), "-3.0\n1.0\n---\n");
    let with_info = echo(&["--csv", "-i"]);
    let columns: Vec<&str> = with_info.trim_end().split(',').collect();
    assert_eq!((columns.len(), &columns[3..]), (6, &["None", "-3.0", "1.0"][..]), "{with_info}");
    assert!(columns[0].parse::<u64>().is_ok(), "{with_info}");
}

#[test]
fn echoed_messages_are_published_again() {
    let file = std::env::temp_dir().join(format!("feros_cli_echoed_{}.yaml", std::process::id()));
    std::fs::write(&file, "data: first\n---\ndata: second\n---\n").unwrap();
    let path = file.to_str().unwrap();
    let line = ["topic", "echo", "/t_again", "std_msgs/msg/String", "--times", "2", "--json"];
    let echo = Running::start(&[&line[..], &["--qos-reliability", "reliable"]].concat());
    let line = ["topic", "pub", "/t_again", "std_msgs/msg/String", "-r", "200", "--yaml-file"];
    let out = feros(&[&line[..], &[path]].concat()).success();
    assert!(out.ends_with("publishing #2: {data: second}\n"), "{out}");
    assert_eq!(echo.finish().success(), "{\"data\":\"first\"}\n{\"data\":\"second\"}\n");
    std::fs::write(&file, "data: first\n---\ndta: second\n").unwrap();
    let error = feros(&[&line[..], &[path]].concat()).failure(2);
    std::fs::remove_file(&file).unwrap();
    assert!(error.contains("document 2") && error.contains("has no field `dta`"), "{error}");
}

#[test]
fn hz_measures_several_topics_and_all() {
    // In a domain of its own, since --all subscribes to every topic.
    let domain = Domain::reserve_without_ros2();
    let context = context_in(&domain);
    let node = context.create_node("t_several").unwrap();
    let fast = node.create_publisher::<Int32>("/t_several/fast", 10).unwrap();
    let slow = node.create_publisher::<Text>("/t_several/slow", 10).unwrap();
    let mut count = 0;
    let _timer = node
        .create_wall_timer(Duration::from_millis(5), move || {
            count += 1;
            // It fails only when the test is over.
            let _ = fast.publish(Int32 { data: count });
            if count % 10 == 0 {
                let _ = slow.publish(Text { data: "x".into() });
            }
        })
        .unwrap();
    let executor = Arc::new(feros::Executor::new());
    executor.add_node(&node).unwrap();
    let spinning = spawn("test-several", move || executor.spin().unwrap());

    // The first objects of both topics, in any order.
    let both = |line: &[&str]| {
        let mut hz = Running::start_in(&domain, line);
        let mut seen = std::collections::BTreeMap::new();
        while !["/t_several/fast", "/t_several/slow"].iter().all(|topic| seen.contains_key(*topic))
        {
            let object: serde_json::Value = serde_json::from_str(&hz.line().unwrap()).unwrap();
            seen.insert(object["topic"].as_str().unwrap().to_owned(), object);
        }
        hz.interrupt();
        assert_eq!(hz.finish().code, Some(0));
        seen
    };
    let seen = both(&["topic", "hz", "/t_several/fast", "/t_several/slow", "--json"]);
    assert!(
        seen["/t_several/fast"]["rate_hz"].as_f64() > seen["/t_several/slow"]["rate_hz"].as_f64()
    );
    both(&["topic", "hz", "--all", "--json"]);

    let mut table =
        Running::start_in(&domain, &["topic", "hz", "/t_several/fast", "/t_several/slow"]);
    assert!(
        table
            .line()
            .unwrap()
            .ends_with("topic      rate min_delta max_delta    stddev window   lost")
    );
    assert!(table.line().unwrap().starts_with("====="));
    assert!(table.line().unwrap().starts_with("/t_several/fast "));
    drop(table);

    let line = ["topic", "hz", "/t_several/fast", "--filter", "m.data % 10 == 0", "--json"];
    let mut hz = Running::start_in(&domain, &line);
    let report: serde_json::Value = serde_json::from_str(&hz.line().unwrap()).unwrap();
    // Every tenth message counts, and the others are not lost.
    let filtered = report["rate_hz"].as_f64().unwrap();
    let all = seen["/t_several/fast"]["rate_hz"].as_f64().unwrap();
    assert!(filtered < all / 2.0, "{report} of {all} Hz");
    drop(hz);
    let line = ["topic", "hz", "/t_several/fast", "--filter", "m.dta == 0"];
    let error = Running::start_in(&domain, &line).finish().failure(2);
    assert!(error.contains("--filter: std_msgs/msg/Int32 has no field dta"), "{error}");
    context.shutdown();
    spinning.join().unwrap();
}

#[test]
fn hidden_topics_are_asked_for_before_or_behind_the_verb() {
    let context = context();
    let node = context.create_node("t_hidden").unwrap();
    let _publisher = node.create_publisher::<Text>("/t_hidden/_inside", 1).unwrap();
    let has = |line: &[&str]| {
        let shows = |finished: &Finished| has_line(&finished.out, "/t_hidden/_inside");
        eventually(|| feros(line), |finished| finished.code == Some(0) && shows(finished));
    };
    has(&["topic", "list", "--include-hidden-topics", "-s", "--no-daemon"]);
    has(&["topic", "--include-hidden-topics", "list"]);
    has(&["topic", "--include-hidden-topics", "find", "std_msgs/msg/String"]);
    assert!(!has_line(&feros(&["topic", "list"]).success(), "/t_hidden/_inside"));
}

#[test]
fn stamps_and_rates_are_those_of_a_simulation() {
    let domain = Domain::reserve_without_ros2();
    let context = context_in(&domain);
    let node = context.create_node("t_simulation").unwrap();
    let clock = node.create_publisher::<Clock>("/clock", 10).unwrap();
    // A simulation at a tenth of the usual speed.
    let mut millis = 5_000_u32;
    let _timer = node
        .create_wall_timer(Duration::from_millis(10), move || {
            millis += 1;
            let mut now = Clock::default();
            now.clock.sec = i32::try_from(millis / 1000).unwrap();
            now.clock.nanosec = millis % 1000 * 1_000_000;
            // It fails only when the test is over.
            let _ = clock.publish(now);
        })
        .unwrap();
    let (stamped, stamps) = sync_channel(1);
    let _subscription = node
        .create_subscription("/t_stamped", 10, move |message: PointStamped| {
            // The test ends with the first simulated stamp.
            let _ = stamped.try_send(message.header.stamp.sec);
        })
        .unwrap();
    let executor = Arc::new(feros::Executor::new());
    executor.add_node(&node).unwrap();
    let spinning = spawn("test-simulation", move || executor.spin().unwrap());

    let line = ["topic", "pub", "/t_stamped", "geometry_msgs/msg/PointStamped", "{header: auto}"];
    let more = ["--use-sim-time", "-r", "50", "-p", "0"];
    let publishing = Running::start_in(&domain, &[&line[..], &more].concat());
    // Simulated time is zero until the first message of the clock arrives.
    let simulated = stamps.iter().find(|sec| *sec != 0).unwrap();
    assert!((5..1000).contains(&simulated), "{simulated}");

    // Ten wall milliseconds are one simulated millisecond: the simulated rate is ten times the wall
    // rate.
    let rate = |more: &[&str]| {
        let line = ["topic", "hz", "/t_stamped", "--json"];
        let mut hz = Running::start_in(&domain, &[&line[..], more].concat());
        let report: serde_json::Value = serde_json::from_str(&hz.line().unwrap()).unwrap();
        report["rate_hz"].as_f64().unwrap()
    };
    let (simulated, wall) = (rate(&["-s"]), rate(&["-s", "--wall-time"]));
    assert!(simulated > 3.0 * wall, "{simulated} Hz simulated, {wall} Hz on the wall");

    // By the clock of the machine, stamps of the simulation are decades old.
    let line = ["topic", "delay", "/t_stamped", "--json", "-s"];
    let mut delay = Running::start_in(&domain, &line);
    let report: serde_json::Value = serde_json::from_str(&delay.line().unwrap()).unwrap();
    let range = ["min_s", "max_s"].map(|name| report[name].as_f64().unwrap());
    assert!(range.iter().all(|delay| (-10.0..10.0).contains(delay)), "{report}");
    drop(publishing);
    context.shutdown();
    spinning.join().unwrap();
}
