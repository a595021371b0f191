//! Messages between the command and a stock node.

use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};

use super::{Stock, TEXT, end, next_object};

/// Messages that a stock node sends to a command that measures.
const COUNT: usize = 50;

fn publisher(topic: &str, message_type: &str, qos: Value) -> Value {
    json!({"topic": topic, "type": message_type, "qos": qos})
}

#[test]
fn echo_prints_what_stock_publishes() {
    let Some(mut stock) = Stock::start() else { return };
    stock.peer.ask("publisher", publisher("/words", TEXT, json!({})));
    let line = ["topic", "echo", "/words", "--times", "2", "--json", "--timeout", "50"];
    let echo = stock.start_feros(&line);
    stock.publish_to_command("/words", &json!([{"data": "grüße"}, {"data": "two\nlines"}]));
    assert_eq!(echo.finish().success(), "{\"data\":\"grüße\"}\n{\"data\":\"two\\nlines\"}\n");

    stock.peer.ask(
        "publisher",
        publisher("/imu", "sensor_msgs/msg/Imu", json!({"reliability": "best_effort"})),
    );
    let line = ["topic", "echo", "/imu", "--once", "--field", "orientation", "--timeout", "50"];
    let echo = stock.start_feros(&line);
    stock.peer.ask("matched", json!({"topic": "/imu", "subscriptions": 1}));
    // Best effort may lose a message, so the test publishes until the echo has ended.
    let values = json!([{"orientation": {"x": 0.5, "w": -1}}]);
    let printed = std::thread::scope(|scope| {
        let finished = scope.spawn(|| echo.finish());
        while !finished.is_finished() {
            stock.peer.ask("publish", json!({"topic": "/imu", "values": values}));
        }
        finished.join().unwrap().success()
    });
    assert_eq!(printed, "x: 0.5\ny: 0.0\nz: 0.0\nw: -1.0\n---\n");
}

#[test]
fn echo_prints_what_stock_latched() {
    let Some(mut stock) = Stock::start() else { return };
    stock.peer.ask(
        "publisher",
        publisher("/map", TEXT, json!({"durability": "transient_local", "depth": 1})),
    );
    stock
        .peer
        .ask("publish", json!({"topic": "/map", "values": [{"data": "old"}, {"data": "new"}]}));
    // The command discovers the publisher, and its durability.
    let echoed = stock.feros(&["topic", "echo", "/map", "--once", "--json", "--timeout", "50"]);
    assert_eq!(echoed.json(), json!({"data": "new"}));
    // Best effort never repeats a message, and an echo chooses best effort if the user names the
    // type and no publisher is discovered yet.
    let line = ["topic", "echo", "/map", TEXT, "--once", "--qos-durability", "transient_local"];
    let asked = [&line[..], &["--qos-reliability", "reliable", "--timeout", "50"]].concat();
    assert_eq!(stock.feros(&asked).success(), "data: new\n---\n");
}

#[test]
fn stock_hears_what_pub_publishes() {
    let Some(mut stock) = Stock::start() else { return };
    stock.peer.ask("subscription", publisher("/heard", "geometry_msgs/msg/PoseStamped", json!({})));
    let value = "{header: {stamp: {sec: 7}, frame_id: map}, pose: {position: {x: 1.5}, orientation: {w: -1}}}";
    let line = [
        "topic",
        "pub",
        "/heard",
        "geometry_msgs/msg/PoseStamped",
        value,
        "--times",
        "3",
        "-w",
        "1",
        "-r",
        "50",
    ];
    let out = stock.feros(&line).success();
    assert!(out.contains("publishing #3: "), "{out}");
    let heard = stock.peer.ask("take", json!({"topic": "/heard", "count": 3}));
    let expected = json!({"header": {"stamp": {"sec": 7, "nanosec": 0}, "frame_id": "map"}, "pose": {
        "position": {"x": 1.5, "y": 0.0, "z": 0.0}, "orientation": {"x": 0.0, "y": 0.0, "z": 0.0, "w": -1.0}}});
    assert_eq!(heard, json!([expected, expected, expected]));
    assert_eq!(stock.peer.ask("received", json!({"topic": "/heard"})), 0, "more than three");
}

#[test]
fn hz_counts_every_message_of_stock() {
    let Some(mut stock) = Stock::start() else { return };
    stock.peer.ask("publisher", publisher("/fast", TEXT, json!({"depth": COUNT})));
    let mut hz =
        stock.start_feros(&["topic", "hz", "/fast", "--json", "--qos-reliability", "reliable"]);
    stock.peer.ask("matched", json!({"topic": "/fast", "subscriptions": 1}));
    let began = Instant::now();
    stock.publish_to_command("/fast", &json!(vec![json!({"data": "x"}); COUNT]));
    let report = loop {
        let report = next_object(&mut hz);
        if report["received"] == COUNT {
            break report;
        }
    };
    let elapsed = began.elapsed().as_secs_f64();
    assert_eq!((&report["lost"], &report["window"]), (&json!(0), &json!(COUNT - 1)), "{report}");
    let number = |name: &str| report[name].as_f64().unwrap();
    // All messages arrived between these two moments, so they arrived at least at that rate.
    assert!(number("rate_hz") >= (COUNT - 1) as f64 / elapsed, "{report} within {elapsed} s");
    let mean = 1.0 / number("rate_hz");
    assert!(number("min_s") <= mean && mean <= number("max_s"), "{report}");
    end(hz);
}

#[test]
fn bw_measures_the_size_of_what_stock_sends() {
    let Some(mut stock) = Stock::start() else { return };
    stock.peer.ask("publisher", publisher("/wide", TEXT, json!({"depth": COUNT})));
    let mut bw =
        stock.start_feros(&["topic", "bw", "/wide", "--json", "--qos-reliability", "reliable"]);
    stock
        .publish_to_command("/wide", &json!(vec![json!({"data": {"$repeat": ["x", 991]}}); COUNT]));
    let report = loop {
        let report = next_object(&mut bw);
        if report["messages"] == COUNT {
            break report;
        }
    };
    // Header, length, string and its terminator.
    let size = json!(4.0 + 4.0 + 991.0 + 1.0);
    for name in ["mean_size_bytes", "min_size_bytes", "max_size_bytes"] {
        assert_eq!(report[name], size, "{name} in {report}");
    }
    assert!(report["bytes_per_second"].as_f64().unwrap() > 0.0, "{report}");
    end(bw);
}

#[test]
fn delay_tells_the_age_of_what_stock_stamped() {
    const STAMP: u64 = 1_000_000;
    let Some(mut stock) = Stock::start() else { return };
    stock.peer.ask(
        "publisher",
        publisher("/stamped", "geometry_msgs/msg/PointStamped", json!({"depth": COUNT})),
    );
    let mut delay = stock.start_feros(&[
        "topic",
        "delay",
        "/stamped",
        "--json",
        "--qos-reliability",
        "reliable",
    ]);
    let age = || {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        (now - Duration::from_secs(STAMP)).as_secs_f64()
    };
    let least = age();
    let stamped = json!({"header": {"stamp": {"sec": STAMP}}});
    stock.publish_to_command("/stamped", &json!(vec![stamped; COUNT]));
    let report = loop {
        let report = next_object(&mut delay);
        if report["window"] == COUNT {
            break report;
        }
    };
    let most = age();
    // A double holds such an age to within a microsecond.
    for name in ["min_s", "mean_s", "max_s"] {
        let found = report[name].as_f64().unwrap();
        assert!(
            least - 1e-5 <= found && found <= most + 1e-5,
            "{name} in {report}: from {least} to {most}"
        );
    }
    end(delay);
}

#[test]
fn messages_of_stock_are_filtered_and_counted() {
    let Some(mut stock) = Stock::start() else { return };
    let qos = json!({"durability": "transient_local", "depth": 10});
    stock.peer.ask("publisher", publisher("/levels", "rcl_interfaces/msg/Log", qos));
    let logs: Vec<Value> = [10, 20, 30, 40, 50]
        .map(|level| json!({"level": level, "name": "nav.planner", "msg": format!("Text {level}")}))
        .to_vec();
    stock.peer.ask("publish", json!({"topic": "/levels", "values": logs}));
    let filter = "m.level >= 30 and m.name.startswith('nav') and '50' not in m.msg";
    let line = ["topic", "echo", "/levels", "--filter", filter, "--field", "msg", "--times", "2"];
    let error = stock.feros(&[&line[..], &["--timeout", "50"]].concat()).failure(2);
    // With a single field, the filter reads only that field.
    assert!(error.contains("--filter: a string has no level"), "{error}");
    let line = ["topic", "echo", "/levels", "--filter", filter, "--csv", "--times", "2"];
    let echoed = stock.feros(&[&line[..], &["--timeout", "50"]].concat()).success();
    assert_eq!(echoed, "0,0,30,nav.planner,Text 30,,,0\n0,0,40,nav.planner,Text 40,,,0\n");

    stock.peer.ask("publisher", publisher("/one", TEXT, json!({"depth": COUNT})));
    stock.peer.ask("publisher", publisher("/two", TEXT, json!({"depth": COUNT})));
    let line = ["topic", "hz", "/one", "/two", "--json", "--qos-reliability", "reliable"];
    let mut hz = stock.start_feros(&[&line[..], &["--filter", "'y' in m.data"]].concat());
    let values = [vec![json!({"data": "x"}); COUNT / 2], vec![json!({"data": "y"}); COUNT / 2]];
    for topic in ["/one", "/two"] {
        stock.publish_to_command(topic, &json!(values.concat()));
    }
    for topic in ["/one", "/two"] {
        let report = loop {
            let report = next_object(&mut hz);
            if report["topic"] == topic && report["received"] == COUNT / 2 {
                break report;
            }
            assert!(report["received"].as_u64() <= Some(COUNT as u64 / 2), "{report}");
        };
        assert_eq!(report["lost"], 0, "a filtered message is not lost: {report}");
    }
    end(hz);
}

#[test]
fn echoed_messages_of_stock_are_sent_back() {
    let Some(mut stock) = Stock::start() else { return };
    stock.peer.ask("publisher", publisher("/said", TEXT, json!({"durability": "transient_local"})));
    let values = json!([{"data": "one"}, {"data": "two: 2"}]);
    stock.peer.ask("publish", json!({"topic": "/said", "values": values}));
    let line = ["topic", "echo", "/said", "--times", "2", "--timeout", "50"];
    let echoed = stock.feros(&line).success();
    let file = std::env::temp_dir().join(format!("feros_cli_said_{}.yaml", std::process::id()));
    std::fs::write(&file, &echoed).unwrap();
    stock.peer.ask("subscription", publisher("/again", TEXT, json!({})));
    let line = ["topic", "pub", "/again", TEXT, "-r", "50", "--yaml-file", file.to_str().unwrap()];
    let finished = stock.feros(&line);
    std::fs::remove_file(&file).unwrap();
    finished.success();
    assert_eq!(stock.peer.ask("take", json!({"topic": "/again", "count": 2})), values);
}
