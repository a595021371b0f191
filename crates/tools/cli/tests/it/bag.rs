//! `feros bag`: one process records and another plays, even if the recorder is killed.

use std::path::Path;
use std::process::Command;

use feros::QosProfile;
use feros::msgs::sensor_msgs::msg::Image;
use feros::msgs::std_msgs::msg::String as Text;
use feros::msgs::std_srvs::srv::{SetBool, SetBool_Request, SetBool_Response};
use feros_bag::{
    BagReader, BagTopic, BagWriter, MessageFilter, Schema, TopicMetadata, WriterOptions,
};
use feros_interop::Domain;
use feros_test_support::{skip, until};
use serde_json::json;

use crate::endings::end_a_verb;
use crate::process::{Finished, Running, WATCHDOG, context, context_in, feros};

/// The numbers of a bag's messages, as `publish` sets them.
fn numbers(path: &Path) -> Vec<u32> {
    let reader = BagReader::open(path).unwrap();
    let messages = reader.messages(&MessageFilter::default()).unwrap();
    messages.map(|message| message.unwrap().sequence).collect()
}

fn info(path: &Path) -> serde_json::Value {
    feros(&["bag", "info", path.to_str().unwrap(), "--json"]).json()
}

#[test]
fn a_recording_is_played_and_described() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bag");
    let bag = path.to_str().unwrap();
    let context = context();
    let node = context.create_node("talker_of_bag").unwrap();
    let topic = "/t_bag/chatter";
    let publisher = node.create_publisher::<Text>(topic, 10).unwrap();
    let line = ["bag", "record", "--topics", topic, "-o", bag, "--custom-data", "robot=r2"];
    let recorder = Running::start(&line);
    publisher.wait_for_subscriptions(1, WATCHDOG).unwrap();
    for number in 0..10 {
        publisher.publish(Text { data: format!("text {number}") }).unwrap();
    }
    publisher.wait_for_all_acked(WATCHDOG).unwrap();
    // A message in shared memory counts as acknowledged before the recorder takes it, so the test
    // waits until all messages are in the file.
    until("all is in the file", || {
        BagReader::open(&path).is_ok_and(|b| b.metadata().message_count == 10)
    });
    recorder.interrupt();
    let said = recorder.finish().success();
    assert!(said.contains("10 messages of 1 topics"), "{said}");

    let told = info(&path);
    assert_eq!(told["message_count"], 10);
    assert_eq!(told["topics"][0]["name"], topic);
    assert_eq!((&told["topics"][0]["count"], &told["is_indexed"]), (&json!(10), &json!(true)));
    assert_eq!(told["custom_data"], json!({ "robot": "r2" }));
    let text = feros(&["bag", "info", bag]).success();
    assert!(text.contains("Storage id:        mcap\nROS Distro:"), "{text}");
    assert!(
        text.contains(&format!("Topic: {topic} | Type: std_msgs/msg/String | Count: 10 |")),
        "{text}"
    );

    let echo = Running::start(&[
        "topic",
        "echo",
        "/t_bag/again",
        "std_msgs/msg/String",
        "--times",
        "10",
        "--json",
        "--qos-reliability",
        "reliable",
    ]);
    let remap = format!("{topic}:=/t_bag/again");
    let played =
        feros(&["bag", "play", bag, "-m", &remap, "--wait-for-subscriptions", "-r", "100"]);
    assert!(played.success().contains("10 messages played"));
    let heard = echo.finish().success();
    assert_eq!(heard.lines().count(), 10);
    assert!(heard.starts_with("{\"data\":\"text 0\"}\n"), "{heard}");
}

#[test]
fn bags_are_sliced_converted_and_indexed_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let text = |name: &str| path(name).to_str().unwrap().to_owned();
    let mut writer =
        feros_bag::BagWriter::create(&path("whole"), feros_bag::WriterOptions::default()).unwrap();
    for (number, topic) in ["/a", "/b", "/a", "/b"].into_iter().enumerate() {
        let topic = feros_bag::BagTopic {
            metadata: feros_bag::TopicMetadata::new(topic, "std_msgs/msg/Int32"),
            schema: feros_bag::Schema::unknown(),
        };
        let id = writer.add_topic(topic).unwrap();
        let time = 5_000_000_000 + number as i64 * 1_000_000_000;
        writer.write(id, number as u32, time, time, &[0, 1, 0, 0, 1, 0, 0, 0]).unwrap();
    }
    writer.finish().unwrap();
    let count = |name: &str| info(&path(name))["message_count"].clone();
    let (whole, part) = (text("whole"), text("part"));
    let sliced = ["--start-offset", "1", "--duration", "1"];
    let line = [&["bag", "slice", &whole, "-o", &part][..], &sliced].concat();
    assert!(feros(&line).success().contains("2 messages"));
    assert_eq!(count("part"), 2);
    feros(&["bag", "slice", &text("whole"), "-o", &text("b"), "--topics", "b"]).success();
    assert_eq!(info(&path("b"))["topics"].as_array().unwrap().len(), 1);
    // The new bag gets a definition that the old one lacks and this machine has.
    let reader = BagReader::open(path("b")).unwrap();
    assert_eq!(reader.topics()[0].schema.text, "int32 data\n");

    let (part, b) = (text("part"), text("b"));
    let line = ["bag", "convert", "-i", &part, "mcap", "-i", &b, "-o", &text("both")];
    feros(&[&line[..], &["--compression-format", "zstd"]].concat()).success();
    assert_eq!(count("both"), 4);
    let options = format!("output_bags:\n- uri: {}\n  topics: [/a]\n", text("by_file"));
    std::fs::write(path("options.yaml"), options).unwrap();
    feros(&["bag", "convert", "-i", &text("whole"), "-o", &text("options.yaml")]).success();
    assert_eq!(count("by_file"), 2);
    assert!(feros(&line).failure(1).contains("already exists"));

    std::fs::remove_file(path("whole").join("metadata.yaml")).unwrap();
    let file = path("whole").join("whole_0.mcap");
    let bytes = std::fs::read(&file).unwrap();
    std::fs::write(&file, &bytes[..bytes.len() - 10]).unwrap();
    let told = feros(&["bag", "info", &text("whole")]);
    assert!(told.err.contains("was not closed properly"), "{told:?}");
    let said = feros(&["bag", "reindex", &text("whole")]).success();
    assert!(said.contains("4 messages of 2 topics; wrote the index of whole_0.mcap"), "{said}");
    assert_eq!(feros(&["bag", "info", &text("whole")]).err, "");
}

/// A bag of one topic with messages at these seconds, each with its second as its number.
pub(crate) fn bag_of(path: &Path, topic: &str, seconds: &[i32]) {
    let sent_and_received = |second: &i32| (*second, i64::from(*second));
    bag_of_times(path, topic, seconds.iter().map(sent_and_received));
}

/// Like [`bag_of`]; `times` has for each message the second of its sending, which is also its
/// number, and the second of its receipt.
fn bag_of_times(path: &Path, topic: &str, times: impl Iterator<Item = (i32, i64)>) {
    let mut writer = BagWriter::create(path, WriterOptions::default()).unwrap();
    let topic = BagTopic {
        metadata: TopicMetadata::new(topic, "std_msgs/msg/Int32"),
        schema: Schema::unknown(),
    };
    let id = writer.add_topic(topic).unwrap();
    for (sent, received) in times {
        let [sent_nanos, received] = [i64::from(sent), received].map(|time| time * 1_000_000_000);
        let data = [&[0, 1, 0, 0][..], &sent.to_le_bytes()].concat();
        writer.write(id, sent as u32, received, sent_nanos, &data).unwrap();
    }
    writer.finish().unwrap();
}

#[test]
fn several_bags_are_played_as_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let text = |name: &str| path(name).to_str().unwrap().to_owned();
    bag_of(&path("odd"), "/t_bags/all", &[1, 3, 5]);
    bag_of(&path("even"), "/t_bags/all", &[2, 4, 6]);
    let line = ["topic", "echo", "/t_bags/all", "std_msgs/msg/Int32", "--csv", "--times", "6"];
    let reliable = ["--qos-reliability", "reliable", "--qos-depth", "100"];
    let echo = Running::start(&[&line[..], &reliable].concat());
    let (odd, even) = (text("odd"), text("even"));
    let line = ["bag", "play", "-i", &odd, "mcap", "-i", &even, "--wait-for-subscriptions"];
    let more = ["-r", "100", "--message-order", "received", "--progress-bar-update-rate", "-1"];
    let played = feros(&[&line[..], &more].concat()).success();
    assert!(played.contains("6 messages played") && played.contains(&odd), "{played}");
    assert_eq!(echo.finish().success(), "1\n2\n3\n4\n5\n6\n");

    let more = ["--topics", "/t_bags/al", "/t_bags/all", "--services", "/x", "-r", "1000"];
    let finished = feros(&[&["bag", "play", &odd][..], &more].concat());
    for expected in
        ["has no topic /t_bags/al; did you mean /t_bags/all?", "no events of the service /x"]
    {
        assert!(finished.err.contains(expected), "{finished:?}");
    }
    assert!(finished.success().contains("3 messages played"));
}

#[test]
fn bags_are_played_in_the_order_of_sending() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let text = |name: &str| path(name).to_str().unwrap().to_owned();
    bag_of_times(&path("late"), "/t_bags/sent", [(5, 10), (1, 11), (3, 12)].into_iter());
    bag_of_times(&path("later"), "/t_bags/sent", [(6, 20), (2, 21), (4, 22)].into_iter());
    bag_of(&path("untold"), "/t_bags/sent", &[1, 2]);
    let heard = |more: &[&str], count: &str| {
        let (late, later) = (text("late"), text("later"));
        let line = ["topic", "echo", "/t_bags/sent", "std_msgs/msg/Int32", "--csv", "--times"];
        let reliable = [count, "--qos-reliability", "reliable", "--qos-depth", "100"];
        let echo = Running::start(&[&line[..], &reliable].concat());
        let line = ["bag", "play", "-i", &late, "-i", &later, "--wait-for-subscriptions"];
        feros(&[&line[..], &["-r", "100"], more].concat()).success();
        echo.finish().success()
    };
    assert_eq!(heard(&[], "6"), "5\n1\n3\n6\n2\n4\n");
    let sent = ["--message-order", "sent"];
    assert_eq!(heard(&sent, "6"), "1\n2\n3\n4\n5\n6\n");
    let part = ["--start-offset", "1", "--playback-until-sec", "4.5"];
    assert_eq!(heard(&[&sent[..], &part].concat(), "3"), "2\n3\n4\n");
    let refused = feros(&[&["bag", "play", &text("untold")][..], &sent].concat()).failure(1);
    assert!(refused.contains("does not state when its messages were sent"), "{refused}");
    assert!(refused.contains("feros bag record"), "{refused}");
}

#[test]
fn no_file_of_options_has_a_key_that_nobody_reads() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let text = |name: &str| path(name).to_str().unwrap().to_owned();
    bag_of(&path("whole"), "/a", &[1, 2, 3, 4]);
    let (whole, file) = (text("whole"), text("options.yaml"));
    let made = text("made");
    let convert = |keys: &str| {
        std::fs::write(&file, format!("output_bags:\n- uri: {made}\n  {keys}\n")).unwrap();
        feros(&["bag", "convert", "-i", &whole, "-o", &file])
    };
    for (keys, expected) in [
        ("start_time: 1", "did you mean `start_time_ns`?"),
        ("topics: /a", "such as `topics: [/a]`"),
        ("storage_id: sqlite3", "does not support"),
    ] {
        let error = convert(keys).failure(2);
        assert!(error.contains(&file) && error.contains(expected), "{error}");
        assert!(!path("made").exists());
    }
    convert("start_time_ns: 2000000000\n  end_time_ns: 3000000000\n  all: True").success();
    assert_eq!(info(&path("made"))["message_count"], 2);

    std::fs::write(&file, "/a: {relaibility: reliable}").unwrap();
    let overrides = ["--qos-profile-overrides-path", file.as_str()];
    let unwritten = text("unwritten");
    for line in [&["bag", "play", &whole][..], &["bag", "record", "-a", "-o", &unwritten]] {
        let error = feros(&[line, &overrides].concat()).failure(2);
        assert!(error.contains("no key `relaibility`; did you mean `reliability`?"), "{error}");
    }
}

#[test]
fn services_that_publish_no_events_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let context = context();
    let node = context.create_node("server_of_bag").unwrap();
    let silent = |_: SetBool_Request| SetBool_Response::default();
    let _server = node.create_service::<SetBool, _>("/t_bag/silent", silent).unwrap();
    let bag = folder.path().join("bag");
    let line = ["bag", "record", "--services", "/t_bag/silent", "-o", bag.to_str().unwrap()];
    let mut recorder = Running::start(&line);
    let told = recorder.error_with("publishes no events");
    assert!(
        told.starts_with("warning: service /t_bag/silent")
            && told.contains("configure_introspection"),
        "{told}"
    );
    recorder.interrupt();
    recorder.finish().success();
    let line = ["service", "echo", "/t_bag/silent", "--timeout", "0.2"];
    assert!(feros(&line).failure(1).contains("publishes no events"));
}

#[test]
fn all_services_that_publish_no_events_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let domain = Domain::reserve_without_ros2();
    let context = context_in(&domain);
    let node = context.create_node("server_of_bag").unwrap();
    let silent = |_: SetBool_Request| SetBool_Response::default();
    let _server = node.create_service::<SetBool, _>("/t_bag/silent", silent).unwrap();
    let told = |name: &str, more: &[&str]| {
        let bag = folder.path().join(name);
        let line = ["bag", "record", "--all-services", "-o", bag.to_str().unwrap()];
        let mut recorder = Running::start_in(&domain, &[&line[..], more].concat());
        let told = recorder.error_with(" no events");
        recorder.interrupt();
        recorder.finish().success();
        told
    };
    // Neither the services of every node nor those of the recorder itself are in the warning.
    let first = told("all", &[]);
    assert!(first.starts_with("warning: service /t_bag/silent publishes no events"), "{first}");
    let _other = node.create_service::<SetBool, _>("/t_bag/the_other", silent).unwrap();
    let second = told("without", &["--exclude-services", "/t_bag/silent"]);
    assert!(second.starts_with("warning: service /t_bag/the_other publishes"), "{second}");
}

#[test]
fn wrong_command_lines_say_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    let missing = missing.to_str().unwrap();
    assert!(feros(&["bag", "record"]).failure(2).contains("--topics"));
    for verb in ["info", "play", "reindex"] {
        let error = feros(&["bag", verb, missing]).failure(1);
        assert!(error.contains("is not a bag"), "{error}");
    }
    assert!(feros(&["bag", "play", missing, "-r", "0"]).failure(2).contains("above 0"));
    let error = feros(&["bag", "record", "-a", "-o", folder.path().to_str().unwrap()]).failure(1);
    assert!(error.contains("already exists"), "{error}");
}

/// A storage that a command line names is that of the bag, or the verb refuses the bag.
#[test]
fn a_bag_is_opened_only_with_its_storage() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (one, made) = (path("one"), path("made"));
    bag_of(Path::new(&one), "/a", &[1]);
    let verbs = [
        &["bag", "play", &one, "-s"][..],
        &["bag", "play", "-i", &one],
        &["bag", "play", "-i", &one, "-s"],
        &["bag", "info", &one, "--storage"],
        &["bag", "convert", "-o", &made, "-i", &one],
        &["bag", "reindex", &one, "-s"],
    ];
    let other =
        format!("{one}/one_0.mcap has the storage mcap, not sqlite3: name mcap, or no storage");
    for verb in verbs {
        let with = |storage| feros(&[verb, &[storage]].concat());
        let error = with("sqlite4").failure(2);
        assert!(error.contains("mcap") && error.contains("sqlite3"), "{verb:?}: {error}");
        let is_nearest = error.contains("did you mean sqlite3?")
            || error.contains("a similar value exists: 'sqlite3'");
        assert!(is_nearest, "{verb:?}: {error}");
        assert_eq!(with("sqlite3").failure(1), format!("error: {other}\n"), "{verb:?}");
        with("mcap").success();
    }
    // A second bag needs an option of its own.
    let error = feros(&["bag", "play", "-i", &one, &made]).failure(2);
    assert!(error.contains("for another bag, repeat --input"), "{error}");
    // The storage of `-i` counts more than `-s`, which holds for the bags without one.
    feros(&["bag", "play", "-s", "sqlite3", "-i", &one, "mcap"]).success();
    let error =
        feros(&["bag", "play", "-s", "sqlite3", "-i", &made, "mcap", "-i", &one]).failure(1);
    assert!(error.contains(&other), "{error}");
}

/// Options that are accepted for command lines of `ros2` take the values that it takes.
#[test]
fn accepted_options_refuse_unknown_values() {
    for line in [
        &["record", "-a", "-s", "sqlite3"][..],
        &["record", "-a", "-f", "xml"],
        &["record", "-a", "--log-level", "loud"],
        &["slice", "bag", "-o", "part", "-s", "mcpa"],
        &["play", "bag", "--log-level", "loud"],
    ] {
        let error = feros(&[&["bag"], line].concat()).failure(2);
        assert!(error.contains("possible value"), "{line:?}: {error}");
    }
}

/// Kills recorders; `FEROS_BAG_KILLS` is their number.
#[test]
fn a_killed_recorder_leaves_a_bag_that_opens_and_lacks_at_most_its_last_chunk() {
    let kills = std::env::var("FEROS_BAG_KILLS").ok().and_then(|text| text.parse().ok());
    let folder = tempfile::tempdir().unwrap();
    let context = context();
    let node = context.create_node("camera_of_bag").unwrap();
    let topic = "/t_bag/image";
    let publisher = node.create_publisher::<Image>(topic, QosProfile::keep_last(50)).unwrap();
    for round in 0..kills.unwrap_or(8u64) {
        let path = folder.path().join(format!("killed_{round}"));
        let line = ["bag", "record", "--topics", topic, "-o", path.to_str().unwrap()];
        let recorder = Running::start(&line);
        publisher.wait_for_subscriptions(1, WATCHDOG).unwrap();
        // Messages of the same host are recorded from shared memory.
        let before = publisher.counts().shared_memory.messages;
        until("images go through shared memory", || {
            publisher.publish(Image { data: vec![7; 300_000], ..Image::default() }).unwrap();
            publisher.counts().shared_memory.messages > before
        });
        // The recorder is killed after a pseudo-random number of images, while it writes.
        let images = (round + 1).wrapping_mul(6_364_136_223_846_793_005) >> 33;
        for _ in 0..20 + images % 60 {
            publisher.publish(Image { data: vec![7; 300_000], ..Image::default() }).unwrap();
        }
        drop(recorder);
        let file = path.join(format!("killed_{round}_0.mcap"));
        let size = std::fs::metadata(&file).unwrap().len();
        let read = numbers(&path);
        assert!(read.windows(2).all(|pair| pair[0] < pair[1]), "{read:?}");
        // A chunk ends with the first message beyond 1 MiB: four images and the buffered rest.
        let there = usize::try_from(size / 300_000).unwrap();
        assert!(read.len() + 5 >= there, "round {round}: {} of {there} in the file", read.len());
        feros(&["bag", "reindex", path.to_str().unwrap()]).success();
        assert_eq!(numbers(&path), read);
        assert_eq!(info(&path)["is_indexed"], true);
        until("the recorder is gone", || publisher.subscription_count() == 0);
        std::fs::remove_dir_all(&path).unwrap();
    }
}

/// Terminals and launchers send signals twice, and a session that is closed sends SIGHUP: the bag
/// is completed nevertheless. `FEROS_BAG_SIGNALS` is the number of rounds.
#[test]
fn no_signal_behind_the_first_cuts_off_the_end_of_a_bag() {
    use rustix::process::Signal;
    let rounds = std::env::var("FEROS_BAG_SIGNALS").ok().and_then(|text| text.parse().ok());
    let all: [&[Signal]; 6] = [
        &[Signal::INT, Signal::INT],
        &[Signal::HUP],
        &[Signal::INT, Signal::TERM],
        &[Signal::TERM, Signal::HUP, Signal::INT],
        &[Signal::HUP, Signal::HUP],
        &[Signal::TERM, Signal::TERM],
    ];
    let all: Vec<_> = all.into_iter().filter(|signals| end_a_verb(signals)).collect();
    let folder = tempfile::tempdir().unwrap();
    let context = context();
    let node = context.create_node("talker_of_signals").unwrap();
    let topic = "/t_bag/signals";
    let publisher = node.create_publisher::<Text>(topic, 1000).unwrap();
    for round in 0..rounds.unwrap_or(all.len()) {
        let path = folder.path().join(format!("signals_{round}"));
        let line = ["bag", "record", "--topics", topic, "-o", path.to_str().unwrap()];
        let recorder = Running::start(&line);
        publisher.wait_for_subscriptions(1, WATCHDOG).unwrap();
        let before = publisher.counts().shared_memory.messages;
        until("messages go through shared memory", || {
            publisher.publish(Text { data: "text".into() }).unwrap();
            publisher.counts().shared_memory.messages > before
        });
        (0..1000).for_each(|_| publisher.publish(Text { data: "text".into() }).unwrap());
        all[round % all.len()].iter().for_each(|signal| recorder.signal(*signal));
        let said = recorder.finish().success();
        let count = said.split(" messages of ").next().and_then(|words| words.rsplit(' ').next());
        let told = info(&path);
        assert_eq!(told["message_count"].to_string(), count.unwrap(), "round {round}: {said}");
        assert_eq!(told["is_indexed"], true, "round {round}");
        until("the recorder is gone", || publisher.subscription_count() == 0);
    }
}

#[test]
fn a_full_disk_ends_with_what_was_written_intact() {
    // The recorder's own small disk, in a mount namespace that ends with it.
    let folder = tempfile::tempdir().unwrap();
    let disk = folder.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let may = Command::new("unshare").args(["--mount", "true"]).status();
    if !may.is_ok_and(|status| status.success()) {
        return skip("a small disk of the test's own needs a mount namespace; run it as root");
    }
    let context = context();
    let node = context.create_node("flood_of_bag").unwrap();
    let topic = "/t_bag/flood";
    let publisher = node.create_publisher::<Image>(topic, QosProfile::keep_last(50)).unwrap();
    let script = "mount -t tmpfs -o size=20m tmpfs \"$1\" && \"$2\" bag record --topics \"$3\" -o \"$1/bag\"; \
                  code=$?; cp -r \"$1/bag\" \"$4\"; exit $code";
    let kept = folder.path().join("kept");
    let arguments: Vec<String> = [
        "--mount",
        "--propagation",
        "private",
        "--",
        "sh",
        "-c",
        script,
        "sh",
        disk.to_str().unwrap(),
        env!("CARGO_BIN_EXE_feros"),
        topic,
        kept.to_str().unwrap(),
    ]
    .map(str::to_owned)
    .into();
    let recorder = Running::start_program("unshare", &arguments);
    publisher.wait_for_subscriptions(1, WATCHDOG).unwrap();
    // The recorder ends automatically when the disk is full.
    until("the recorder has gone", || {
        let image = Image { data: vec![7; 1_000_000], ..Image::default() };
        publisher.publish(image).unwrap();
        publisher.subscription_count() == 0
    });
    let finished: Finished = recorder.finish();
    let error = finished.failure(1);
    assert!(error.contains("the disk is full"), "{error}");
    let read = numbers(&kept);
    assert!((15..=20).contains(&read.len()), "{} of about 19", read.len());
    assert!(error.contains(&format!("with {} messages that are intact", read.len())), "{error}");
    assert_eq!(info(&kept)["is_indexed"], true);
}
