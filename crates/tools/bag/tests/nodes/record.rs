//! The recorder as a node: the bag contains the messages that nodes of the host publish, and
//! services control the recorder.

use std::path::Path;
use std::sync::Arc;

use feros::msgs::rosbag2_interfaces::srv::{
    IsPaused, IsPaused_Request, Pause, Pause_Request, Record, Record_Request, Snapshot,
    Snapshot_Request, SplitBagfile, SplitBagfile_Request, Stop, Stop_Request,
};
use feros::msgs::rosgraph_msgs::msg::Clock;
use feros::msgs::sensor_msgs::msg::Image;
use feros::msgs::std_msgs::msg::{Int32, String as Text};
use feros::{NodeOptions, Publisher, QosProfile, Reliability, Time};
use feros_bag::recorder::{RecordError, SchemaSource};
use feros_bag::{BagReader, Recorder, RecorderOptions, TopicSelection};
use feros_interop::Domain;
use feros_message::Schema;
use feros_sync::{Condvar, Mutex};
use feros_test_support::{WATCHDOG, until};

use crate::bags::messages;
use crate::support::{bag_path, context, contexts, spinning};

/// Selects only these topics, not the default topics of the test's nodes.
fn options(output: &Path, topics: &[&str]) -> RecorderOptions {
    let topics = topics.iter().map(|&name| name.to_owned()).collect();
    let selection = TopicSelection { topics, ..TopicSelection::default() };
    RecorderOptions { selection, ..RecorderOptions::new(output) }
}

/// Waits until a recorder subscribes to a topic.
fn wait_for<M: feros::message::Message>(publisher: &Publisher<M>) {
    publisher.wait_for_subscriptions(1, WATCHDOG).unwrap();
}

fn texts(path: &Path) -> Vec<String> {
    let messages = messages(path);
    let text = |data: &[u8]| feros_message::from_bytes::<Text>(data).unwrap().data;
    messages.iter().map(|message| text(&message.data)).collect()
}

#[test]
fn messages_of_other_contexts_and_late_nodes_are_recorded() {
    let (_folder, path) = bag_path();
    let (_domain, here, there) = contexts();
    let node = here.create_node("rosbag2_recorder").unwrap();
    let selection = TopicSelection {
        all_topics: true,
        exclude_regex: Some(regex::Regex::new("rosout|parameter_events|/events").unwrap()),
        ..TopicSelection::default()
    };
    let options = RecorderOptions { selection, ..RecorderOptions::new(&path) };
    let recorder = Recorder::start(&node, options).unwrap();
    let spinning = spinning(&node);
    let talker = there.create_node("talker").unwrap();
    let sensor = talker.create_publisher::<Image>("image", QosProfile::sensor_data()).unwrap();
    let latched = QosProfile::keep_last(1).transient_local();
    let map = talker.create_publisher::<Text>("map", latched).unwrap();
    map.publish(Text { data: "published before anybody listened".into() }).unwrap();
    wait_for(&sensor);
    for number in 0..20u8 {
        let image = Image { height: 100, data: vec![number; 200_000], ..Image::default() };
        sensor.publish(&image).unwrap();
        let received = u64::from(number) + 1;
        until("the image is received", || recorder.received_messages() > received - 1);
    }
    until("the map and all images are received", || recorder.received_messages() >= 21);
    let recording = recorder.stop().unwrap().unwrap();
    drop(spinning);
    assert!(recording.lost.is_empty(), "{:?}", recording.lost);
    let reader = BagReader::open(&path).unwrap();
    assert_eq!(reader.metadata().topics, {
        let mut topics = recording.metadata.topics.clone();
        topics.sort_by(|a, b| a.topic.name.cmp(&b.topic.name));
        topics
    });
    let counts: Vec<_> =
        reader.metadata().topics.iter().map(|t| (t.topic.name.as_str(), t.message_count)).collect();
    assert_eq!(counts, [("/image", 20), ("/map", 1)]);
    let image = &reader.metadata().topics[0].topic;
    assert_eq!(image.offered_qos_profiles[0].reliability, Reliability::BestEffort);
    assert!(image.type_description_hash.starts_with("RIHS01_"));
    let images = messages(&path);
    let images = images.iter().filter(|message| message.topic.metadata.name == "/image");
    for (number, message) in images.enumerate() {
        let image: Image = feros_message::from_bytes(&message.data).unwrap();
        assert_eq!((image.data.len(), image.data[7]), (200_000, number as u8));
        assert!(message.publish_time <= message.log_time && message.sequence == number as u32 + 1);
    }
}

#[test]
fn services_pause_split_stop_and_begin_again() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (folder.path().join("one"), folder.path().join("two"));
    let (_domain, here, there) = contexts();
    let node = here.create_node("rosbag2_recorder").unwrap();
    let recorder = Recorder::start(&node, options(&one, &["/chatter"])).unwrap();
    let _spinning = spinning(&node);
    let talker = there.create_node("talker").unwrap();
    let _answers = crate::support::spinning(&talker);
    let chatter = talker.create_publisher::<Text>("/chatter", QosProfile::default()).unwrap();
    wait_for(&chatter);
    let say = |text: &str| {
        let before = recorder.received_messages();
        chatter.publish(Text { data: text.to_owned() }).unwrap();
        before
    };
    let said = say("one");
    until("it was received", || recorder.received_messages() > said);
    macro_rules! call {
        ($service:ident, $name:literal, $request:expr) => {{
            let client = talker.create_client::<$service>(concat!("/rosbag2_recorder/", $name));
            let client = client.unwrap();
            client.wait_for_service(WATCHDOG).unwrap();
            client.call_and_wait($request, WATCHDOG).unwrap()
        }};
    }
    call!(SplitBagfile, "split_bagfile", &SplitBagfile_Request::default());
    call!(Pause, "pause", &Pause_Request::default());
    assert!(call!(IsPaused, "is_paused", &IsPaused_Request::default()).paused);
    say("not recorded");
    chatter.wait_for_all_acked(WATCHDOG).unwrap();
    assert!(!call!(Snapshot, "snapshot", &Snapshot_Request::default()).success);
    recorder.resume();
    // Messages that waited in the subscription during the pause may still be taken now.
    let said = say("two");
    until("it was received", || recorder.received_messages() > said);
    call!(Stop, "stop", &Stop_Request::default());
    assert!(recorder.stop().unwrap().is_none() && !recorder.has_failed());
    let reader = BagReader::open(&one).unwrap();
    assert_eq!(reader.metadata().files.len(), 2);
    let read = texts(&one);
    assert_eq!((read.first().unwrap().as_str(), read.last().unwrap().as_str()), ("one", "two"));

    let far = Record_Request { uri: two.to_str().unwrap().to_owned() };
    assert_eq!(call!(Record, "record", &far).return_code, 1);
    let uri = "two".to_owned();
    let answer = call!(Record, "record", &Record_Request { uri: uri.clone() });
    assert_eq!((answer.return_code, answer.error_string.as_str()), (0, ""));
    let answer = call!(Record, "record", &Record_Request { uri });
    assert_eq!(answer.return_code, 1);
    assert!(answer.error_string.contains("already being recorded"), "{answer:?}");
    assert!(matches!(recorder.record(&one), Err(RecordError::Running { .. })));
    until("it subscribes again", || !recorder.topics().is_empty());
    wait_for(&chatter);
    until("it receives again", || {
        chatter.publish(Text { data: "three".into() }).unwrap();
        recorder.received_messages() > 0
    });
    recorder.stop().unwrap().unwrap();
    assert!(texts(&two).iter().all(|text| text == "three"));
}

#[test]
fn a_snapshot_has_the_newest_messages() {
    let (_folder, path) = bag_path();
    let (_domain, here, there) = contexts();
    let node = here.create_node("rosbag2_recorder").unwrap();
    let options = RecorderOptions {
        snapshot_mode: true,
        max_cache_bytes: 10_000,
        ..options(&path, &["/chatter"])
    };
    let recorder = Recorder::start(&node, options).unwrap();
    let _spinning = spinning(&node);
    let talker = there.create_node("talker").unwrap();
    let chatter = talker.create_publisher::<Text>("/chatter", QosProfile::keep_last(100)).unwrap();
    wait_for(&chatter);
    for number in 0..100 {
        let data = format!("{number:03} {}", "x".repeat(1000));
        chatter.publish(Text { data }).unwrap();
        until("it was received", || recorder.received_messages() > number);
    }
    let written = recorder.snapshot().unwrap();
    assert!((5..=10).contains(&written), "{written}");
    assert_eq!(recorder.snapshot(), Some(0));
    recorder.stop().unwrap();
    let read = texts(&path);
    assert_eq!(read.len(), written);
    assert!(read[written - 1].starts_with("099 "), "{read:?}");
}

#[test]
fn simulated_time_is_the_time_of_messages() {
    let (_folder, path) = bag_path();
    let (_domain, here, there) = contexts();
    let named = NodeOptions::new("rosbag2_recorder").use_sim_time(true);
    let node = here.create_node_with(named).unwrap();
    let recorder = Recorder::start(&node, options(&path, &["/chatter"])).unwrap();
    let _spinning = spinning(&node);
    let talker = there.create_node("talker").unwrap();
    let clock = talker.create_publisher::<Clock>("/clock", 1).unwrap();
    let chatter = talker.create_publisher::<Text>("/chatter", 10).unwrap();
    wait_for(&chatter);
    wait_for(&clock);
    chatter.publish(Text { data: "before any time".into() }).unwrap();
    chatter.wait_for_all_acked(WATCHDOG).unwrap();
    clock.publish(Clock { clock: Time::from_nanos(5_000_000_007).into() }).unwrap();
    until("the time is known", || node.clock().now().as_nanos() == 5_000_000_007);
    until("it was received", || {
        chatter.publish(Text { data: "now".into() }).unwrap();
        recorder.received_messages() > 0
    });
    recorder.stop().unwrap();
    assert!(messages(&path).iter().all(|message| message.log_time == 5_000_000_007));
}

#[test]
fn a_topic_with_two_types_is_refused_and_said_and_others_are_recorded() {
    let (_folder, path) = bag_path();
    let (_domain, here, there) = contexts();
    let talker = there.create_node("talker").unwrap();
    let _text = talker.create_publisher::<Text>("/both", 10).unwrap();
    let _number = talker.create_publisher::<Int32>("/both", 10).unwrap();
    let single = talker.create_publisher::<Int32>("/single", 10).unwrap();
    let node = here.create_node("rosbag2_recorder").unwrap();
    until("the graph has both", || {
        node.topic_names_and_types().get("/both").is_some_and(|types| types.len() == 2)
    });
    let recorder = Recorder::start(&node, options(&path, &["/both", "/single"])).unwrap();
    let _spinning = spinning(&node);
    wait_for(&single);
    single.publish(Int32 { data: 5 }).unwrap();
    until("it was received", || recorder.received_messages() == 1);
    // A subscription receives before the recorder lists its topic.
    until("the topic is listed", || recorder.topics() == ["/single"]);
    recorder.stop().unwrap();
    assert_eq!(messages(&path).len(), 1);
}

#[test]
fn a_type_that_nobody_defines_is_recorded_all_the_same() {
    let (_folder, path) = bag_path();
    let (_domain, here, there) = contexts();
    let talker = there.create_node("talker").unwrap();
    let identity = feros::TypeIdentity { name: "secret_msgs/msg/Code".into(), hash: None };
    let publisher = talker.create_generic_publisher("/code", &identity, 10).unwrap();
    let node = here.create_node("rosbag2_recorder").unwrap();
    let recorder = Recorder::start(&node, options(&path, &["/code"])).unwrap();
    let _spinning = spinning(&node);
    publisher.wait_for_subscriptions(1, WATCHDOG).unwrap();
    publisher.publish_serialized(&[0, 1, 0, 0, 1, 2, 3, 4]).unwrap();
    until("it was received", || recorder.received_messages() == 1);
    recorder.stop().unwrap();
    let read = messages(&path);
    assert_eq!(read[0].data, [0, 1, 0, 0, 1, 2, 3, 4]);
    assert_eq!(read[0].topic.metadata.type_name, "secret_msgs/msg/Code");
    assert_eq!(read[0].topic.schema.encoding, "");
}

/// All topics are recorded from the beginning, although the nodes that are asked for the topics'
/// types do not answer yet. The topics get their definitions in the end.
#[test]
fn topics_are_recorded_while_others_are_asked_for_their_types() {
    const TOPICS: usize = 12;
    let (_folder, path) = bag_path();
    let names: Vec<String> = (0..TOPICS).map(|number| format!("/unknown_{number}")).collect();
    let answers = Arc::new((Mutex::new(false), Condvar::new()));
    let waiting = answers.clone();
    let asked: SchemaSource = Arc::new(move |topic, _, _| {
        let (answer, changed) = &*waiting;
        let answer = changed.wait_timeout_while(answer.lock(), WATCHDOG, |answer| !*answer);
        let text = if *answer { topic.to_owned() } else { "came late".to_owned() };
        Schema { encoding: "ros2msg".into(), text }
    });
    let wanted: Vec<&str> = names.iter().map(String::as_str).collect();
    let options = RecorderOptions {
        schemas: Arc::new(|_, _, _| Schema::unknown()),
        asked: Some(asked),
        ..options(&path, &wanted)
    };
    let (_domain, here, there) = contexts();
    let node = here.create_node("rosbag2_recorder").unwrap();
    let talker = there.create_node("talker").unwrap();
    let create = |name| talker.create_publisher::<Text>(name, QosProfile::default()).unwrap();
    let publishers: Vec<_> = names.iter().map(|name| create(name)).collect();
    let recorder = Recorder::start(&node, options).unwrap();
    let spinning = spinning(&node);
    for publisher in &publishers {
        wait_for(publisher);
        publisher.publish(Text { data: "early".into() }).unwrap();
    }
    until("all are received", || recorder.received_messages() == TOPICS as u64);
    *answers.0.lock() = true;
    answers.1.notify_all();
    let recording = recorder.stop().unwrap().unwrap();
    drop(spinning);
    assert_eq!(recording.metadata.message_count, TOPICS as u64);
    assert_eq!(texts(&path), vec!["early"; TOPICS]);
    let reader = BagReader::open(&path).unwrap();
    let answered = reader.topics().iter().filter(|t| t.schema.text == t.metadata.name).count();
    // Eight questions are asked at once. Those that were not asked before the end get no
    // definition.
    assert!(answered >= 8, "{answered}");
}

#[test]
fn a_bag_that_cannot_be_made_is_refused() {
    let domain = Domain::reserve_without_ros2();
    let folder = tempfile::tempdir().unwrap();
    let node = context(&domain).create_node("rosbag2_recorder").unwrap();
    let Err(error) = Recorder::start(&node, options(folder.path(), &["/x"])) else { panic!() };
    assert!(error.to_string().contains("already exists"), "{error}");
}
