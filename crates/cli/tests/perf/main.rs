//! `feros perf` and `feros demo` as their users run them: what they print, how they end, and that
//! they leave nothing behind.
#![allow(clippy::unwrap_used)]

mod command;

use serde_json::Value;

use command::{Feros, wait_until};

fn one_object(text: &str) -> Value {
    let mut lines = text.lines();
    let object = serde_json::from_str(lines.next().unwrap_or_default());
    assert_eq!(lines.next(), None, "more than one object: {text}");
    object.unwrap_or_else(|error| panic!("{error}: {text:?}"))
}

fn objects(text: &str) -> Vec<Value> {
    let object =
        |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
    text.lines().map(object).collect()
}

fn number(object: &Value, key: &str) -> f64 {
    object[key].as_f64().unwrap_or_else(|| panic!("no number {key} in {object}"))
}

#[test]
fn latency_prints_one_object_and_loses_nothing() {
    let ended = Feros::run(
        "latency",
        "perf latency --json --transport network --size-bytes 256 --count 50 --depth 64",
    );
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let object = one_object(&ended.stdout);
    assert_eq!(object["transport"], "network");
    let wanted = [
        ("size_bytes", 256.0),
        ("rate_hz", 100.0),
        ("sent", 50.0),
        ("lost", 0.0),
        ("duplicates", 0.0),
    ];
    for (key, value) in wanted {
        assert_eq!(number(&object, key), value, "{key} in {object}");
    }
    let quantiles =
        ["min_us", "p50_us", "p90_us", "p99_us", "max_us"].map(|key| number(&object, key));
    assert!(quantiles[0] > 0.0 && quantiles.is_sorted(), "{object}");
    for end in ["publisher", "subscription"] {
        assert!(
            number(&object[end], "threads") >= 2.0 && number(&object[end], "pss_bytes") > 1e5,
            "{object}"
        );
    }
}

#[test]
fn every_form_mode_and_number_of_processes_delivers() {
    for options in [
        "--form owned --size-bytes 64K",
        "--form raw --size-bytes 1M --rate-hz 50",
        "--send raw --transport network",
        "--send loan --transport intra_process --form view",
        "--send loan --size-bytes 4K",
        "--send lent --processes 1",
        "--publish-mode async --durability transient_local",
        "--processes 1",
        "--rate-hz 0 --warmup 0",
        "--reliability best_effort --history keep_all",
    ] {
        let ended =
            Feros::run("forms", &format!("perf latency --json --count 20 --depth 32 {options}"));
        assert_eq!(ended.code, Some(0), "{options}: {ended:?}");
        let object = one_object(&ended.stdout);
        assert_eq!(
            (number(&object, "sent"), number(&object, "reordered")),
            (20.0, 0.0),
            "{options}: {object}"
        );
        if !options.contains("best_effort") {
            assert_eq!(number(&object, "lost"), 0.0, "{options}: {object}");
        }
    }
}

#[test]
fn several_sizes_are_a_row_each() {
    let ended = Feros::run("sizes", "perf latency --size-bytes 16,4K --count 10");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.contains("16 B") && ended.stdout.contains("4 KB"), "{}", ended.stdout);
    assert_eq!(ended.stderr, "", "a progress bar or a warning where there is no terminal");
}

#[test]
fn throughput_keeps_all_when_told_to() {
    let line = "perf throughput --json --size-bytes 4K --count 2000 --history keep_all";
    let ended = Feros::run("throughput", line);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let object = one_object(&ended.stdout);
    assert_eq!((number(&object, "sent"), number(&object, "lost")), (2000.0, 0.0), "{object}");
    let rate = number(&object, "messages_per_second");
    assert!(rate > 0.0, "{object}");
    assert!(
        (number(&object, "payload_bytes_per_second") / 4096.0 / rate - 1.0).abs() < 0.01,
        "{object}"
    );
}

#[test]
fn idle_node_is_seen_thread_by_thread() {
    let ended = Feros::run("idle", "perf idle --json --seconds 1 --settle 0");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let object = one_object(&ended.stdout);
    let threads = object["by_thread"].as_array().unwrap();
    assert_eq!(threads.len() as f64, number(&object, "threads"));
    assert!(threads.iter().any(|thread| thread["name"] == "feros"), "{object}");
}

#[test]
fn memory_is_a_row_for_each_number_and_placement() {
    let line = "perf memory --json --nodes 1,3 --placement processes,composed --without-ros2";
    let ended = Feros::run("memory", line);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let rows = objects(&ended.stdout);
    let cells: Vec<_> =
        rows.iter().map(|row| (row["placement"].as_str().unwrap(), number(row, "nodes"))).collect();
    assert_eq!(
        cells,
        [("processes", 1.0), ("processes", 3.0), ("composed", 1.0), ("composed", 3.0)]
    );
    let threads: Vec<_> = rows.iter().map(|row| number(row, "threads")).collect();
    assert_eq!((threads[1], threads[3]), (3.0 * threads[0], threads[2]), "{rows:?}");
    assert!(
        rows.iter().all(|row| number(row, "pss_bytes") > 1e5 && row["rcl"].is_null()),
        "{rows:?}"
    );
}

/// With stock ROS 2 where it is installed; else the rest is there and a note says what is missing.
#[test]
fn memory_has_the_reference_beside_it_when_it_is_there() {
    let ended = Feros::run("memory-stock", "perf memory --json --nodes 1 --placement processes");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let row = one_object(&ended.stdout);
    if row["rcl"].is_null() {
        assert!(ended.stderr.contains("stock ROS 2 is not measured"), "{ended:?}");
    } else {
        assert!(number(&row["rcl"], "threads") > 0.0 && number(&row, "pss_to_rcl") > 0.0, "{row}");
    }
}

#[test]
fn executor_has_a_rate_for_each_number_of_idle_entities() {
    let ended =
        Feros::run("executor", "perf executor --json --idle 0,50 --rounds 1 --without-ros2");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let rows = objects(&ended.stdout);
    assert_eq!(rows.iter().map(|row| number(row, "idle")).collect::<Vec<_>>(), [0.0, 50.0]);
    let is_right = |row: &Value| {
        number(row, "events_per_second") > 0.0 && row["rcl_events_per_second"].is_null()
    };
    assert!(rows.iter().all(is_right), "{rows:?}");
}

#[test]
fn a_chain_loses_nothing_wherever_its_nodes_are() {
    let line = "perf chain --json --nodes 2,3,5 --size 100,64K --count 8 --warmup 2 \
                --placement processes,processes-network,composed,intra";
    let ended = Feros::run("chain", line);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let (fitted, rows): (Vec<_>, Vec<_>) =
        objects(&ended.stdout).into_iter().partition(|object| object["line"].is_object());
    assert_eq!((rows.len(), fitted.len()), (4 * 2 * 3, 4 * 2));
    for row in rows {
        let transport = match row["placement"].as_str().unwrap() {
            "processes" => "shared_memory",
            "intra" => "intra_process",
            _ => "network",
        };
        assert_eq!(
            (row["transport"].as_str(), number(&row, "lost")),
            (Some(transport), 0.0),
            "{row}"
        );
        assert!(number(&row, "p50_us") > 0.0, "{row}");
    }
}

#[test]
fn a_chain_of_more_processes_than_a_domain_has_room_for_is_refused() {
    let ended = Feros::run("chain-long", "perf chain --nodes 200 --placement processes");
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
    assert!(ended.stderr.contains("--placement composed,intra"), "{}", ended.stderr);
}

#[test]
fn cpu_has_a_row_for_each_placement_and_container() {
    let line = "perf cpu --json --size 1K --subscriptions 2 --count 8 --rate-hz 10";
    let ended = Feros::run("cpu", line);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let rows = objects(&ended.stdout);
    let words: Vec<_> = rows
        .iter()
        .map(|row| row["placement"].as_str().or(row["container"].as_str()).unwrap())
        .collect();
    assert_eq!(
        words,
        ["network", "host", "composed-network", "composed", "single", "isolated", "multi"]
    );
    assert!(
        rows.iter().all(|row| number(row, "lost") == 0.0 && number(row, "p50_us") > 0.0),
        "{rows:?}"
    );
    assert!(rows.iter().all(|row| number(row, "cpu_percent") > 0.0), "{rows:?}");
}

#[test]
fn every_message_takes_the_path_that_was_asked_for() {
    for (transport, options) in [
        ("intra_process", ""),
        ("intra_process", "--form view --send raw"),
        ("shared_memory", ""),
        ("shared_memory", "--send loan --size-bytes 1M"),
        ("shared_memory", "--send raw --form raw"),
        ("shared_memory", "--rate-hz 0"),
        ("shared_memory", "--processes 1"),
        ("network", ""),
        ("network", "--processes 1"),
    ] {
        for kind in ["latency", "throughput"] {
            if kind == "throughput" && options.contains("--rate-hz") {
                continue;
            }
            let line = format!(
                "perf {kind} --json --transport {transport} --count 20 --warmup 5 --history keep_all {options}"
            );
            let ended = Feros::run("transports", &line);
            assert_eq!(ended.code, Some(0), "{line}: {ended:?}");
            let object = one_object(&ended.stdout);
            assert_eq!(object["transport"], transport, "{line}: {object}");
            for other in ["intra_process", "shared_memory", "network"] {
                let messages = if other == transport { 25.0 } else { 0.0 };
                assert_eq!(
                    number(&object["received_by_transport"], other),
                    messages,
                    "{line}: {object}"
                );
            }
            let numbers =
                ["sent", "received", "lost", "duplicates"].map(|key| number(&object, key));
            assert_eq!(numbers, [20.0, 20.0, 0.0, 0.0], "{line}: {object}");
        }
    }
}

#[test]
fn by_itself_it_takes_the_shortest_path_and_says_why_not_a_shorter_one() {
    for (options, transports, transport, reason) in [
        ("--processes 1", "", "intra_process", None),
        ("", "", "shared_memory", None),
        ("", "network", "network", Some("does not allow the shared_memory transport")),
    ] {
        let mut feros = Feros::new("auto", &format!("perf latency --json --count 10 {options}"));
        feros.command.env_remove("FEROS_TRANSPORTS");
        if !transports.is_empty() {
            feros.command.env("FEROS_TRANSPORTS", transports);
        }
        let ended = feros.start().finish();
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let object = one_object(&ended.stdout);
        assert_eq!(object["transport"], transport, "{object}");
        match reason {
            Some(reason) => {
                assert!(object["transport_reason"].as_str().unwrap().contains(reason), "{object}")
            }
            None => assert!(object["transport_reason"].is_null(), "{object}"),
        }
    }
}

#[test]
fn a_path_that_is_not_possible_is_an_error_with_its_reason() {
    for (options, transports, reason) in [
        ("--transport intra_process --processes 2", "", "two processes"),
        ("--transport shared_memory", "network", "does not allow the shared_memory transport"),
        ("--transport intra_process", "host,network", "does not allow the intra_process transport"),
        ("--transport network", "process,host", "does not allow the network transport"),
    ] {
        let mut feros =
            Feros::new("impossible", &format!("perf latency --json --count 10 {options}"));
        feros.command.env_remove("FEROS_TRANSPORTS");
        if !transports.is_empty() {
            feros.command.env("FEROS_TRANSPORTS", transports);
        }
        let ended = feros.start().finish();
        assert_eq!(ended.code, Some(1), "{options}: {ended:?}");
        assert!(ended.stderr.contains(reason), "{options}: {}", ended.stderr);
        assert_eq!(ended.stdout, "");
    }
    let ended = Feros::run("usage", "perf latency --transport tunnel");
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("tunnel"), "{}", ended.stderr);
}

#[test]
fn demo_exchanges_messages_and_ends() {
    let ended = Feros::run("demo", "demo --count 3 --rate-hz 20 --without-ros2");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.contains("feros_talker -> feros_listener  3 of 3"), "{}", ended.stdout);
    assert_eq!(ended.stdout.matches("heard  Hello").count(), 3, "{}", ended.stdout);
}

/// With stock ROS 2 where it is installed; else the demo says how to get it.
#[test]
fn demo_joins_stock_ros2_when_it_is_there() {
    let ended = Feros::run("demo-ros2", "demo --count 3 --rate-hz 20");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    if ended.stdout.contains("Stock ROS 2 is here") {
        for pair in ["feros_talker -> ros2_node ", "ros2_node -> feros_listener"] {
            let line = ended.stdout.lines().find(|line| line.contains(pair)).unwrap_or_default();
            assert!(line.contains("3 of 3"), "{}", ended.stdout);
        }
    } else {
        assert!(ended.stdout.contains("scripts/setup.sh"), "{}", ended.stdout);
    }
}

#[test]
fn a_wrong_python_is_named() {
    let mut feros = Feros::new("python", "demo --count 1 --rate-hz 20");
    feros.command.env("FEROS_ROS2_PYTHON", "/nonexistent/python");
    let ended = feros.start().finish();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.contains("FEROS_ROS2_PYTHON is /nonexistent/python"), "{}", ended.stdout);
}

#[test]
fn interrupting_ends_all_processes() {
    for (line, children) in [
        ("perf latency --count 1000000", 2),
        ("perf idle --seconds 3600", 1),
        ("demo --count 0 --without-ros2", 2),
    ] {
        let running = Feros::new("interrupt", line).start();
        wait_until(line, || running.children().len() == children);
        running.signal("INT");
        let ended = running.finish();
        // A demo that was interrupted after everybody heard everybody has shown what it was to
        // show.
        let all_heard = line.starts_with("demo") && ended.code == Some(0);
        assert!(ended.code == Some(130) || all_heard, "{line}: {ended:?}");
    }
}

#[test]
fn a_process_that_hangs_is_ended() {
    let running = Feros::new("hang", "perf idle --seconds 3600").start();
    wait_until("the node", || running.children().len() == 1);
    command::signal(running.children()[0], "STOP");
    running.signal("INT");
    assert_eq!(running.finish().code, Some(130));
}

#[test]
fn processes_end_when_their_coordinator_is_killed() {
    let running = Feros::new("orphans", "perf latency --count 1000000").start();
    wait_until("both processes", || running.children().len() == 2);
    running.signal("KILL");
    assert_eq!(running.finish_without_look_at_children().code, None);
    wait_until("the end of both processes", || running_is_gone("orphans"));
}

fn running_is_gone(name: &str) -> bool {
    command::processes_of(name).is_empty()
}
