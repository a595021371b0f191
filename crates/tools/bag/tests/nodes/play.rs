//! The player as a node: it publishes the bag's messages unchanged, and services control it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use feros::msgs::rosbag2_interfaces::srv::{
    Burst, Burst_Request, GetRate, GetRate_Request, PlayNext, PlayNext_Request, Seek, Seek_Request,
    SetRate, SetRate_Request,
};
use feros::msgs::rosgraph_msgs::msg::Clock;
use feros::msgs::std_msgs::msg::String as Text;
use feros::{Context, History, Node, ParameterValue, QosProfile, Subscription, Time};
use feros_bag::player::{MessageOrder, PlayError};
use feros_bag::{BagReader, BagWriter, Player, PlayerOptions, TopicSelection, WriterOptions};
use feros_interop::Domain;
use feros_sync::Mutex;
use feros_test_support::{Background, WATCHDOG, until};

use crate::bags::{START, numbered_bag, text, text_topic};
use crate::support::{bag_path, context, contexts, spinning};

/// The strings that a listener received.
type Heard = Arc<Mutex<Vec<String>>>;

struct Listener {
    heard: Heard,
    node: Node,
    _subscription: Subscription<Text>,
    _spinning: Background,
}

fn listener(context: &Context, topic: &str, qos: QosProfile) -> Listener {
    let node = context.create_node("listener").unwrap();
    let heard = Heard::default();
    let put = heard.clone();
    let hear = move |text: Text| put.lock().push(text.data);
    let subscription = node.create_subscription(topic, qos, hear).unwrap();
    let spinning = spinning(&node);
    Listener { heard, node, _subscription: subscription, _spinning: spinning }
}

/// The numbers of strings that come from `numbered_bag`.
fn numbers(heard: &Heard) -> Vec<u32> {
    heard.lock().iter().map(|text| text[..8].parse().unwrap()).collect()
}

fn patient() -> PlayerOptions {
    PlayerOptions { wait_for_subscriptions: Some(WATCHDOG), ..PlayerOptions::default() }
}

fn only(topic: &str) -> TopicSelection {
    TopicSelection { topics: vec![topic.to_owned()], ..TopicSelection::default() }
}

fn played(path: &Path, options: PlayerOptions) -> Vec<u32> {
    let (_domain, here, there) = contexts();
    let listener = listener(&there, "/a", QosProfile::keep_all());
    let node = here.create_node("rosbag2_player").unwrap();
    let options =
        PlayerOptions { selection: only("/a"), wait_for_all_acked: Some(WATCHDOG), ..options };
    let player = Player::start(&node, BagReader::open(path).unwrap(), options).unwrap();
    let played = player.wait().unwrap();
    until("all arrived", || listener.heard.lock().len() as u64 == played.messages);
    numbers(&listener.heard)
}

#[test]
fn offsets_durations_and_rates_pick_what_is_played() {
    let (_folder, path) = bag_path();
    numbered_bag(&path, 100, WriterOptions::default());
    let evens = |range: std::ops::Range<u32>| range.filter(|n| n % 2 == 0).collect::<Vec<_>>();
    assert_eq!(played(&path, PlayerOptions { rate: 10.0, ..patient() }), evens(0..100));
    let part = PlayerOptions {
        start_offset: Duration::from_millis(20),
        duration: Some(Duration::from_millis(30)),
        ..patient()
    };
    assert_eq!(played(&path, part), evens(20..51));
    let until = PlayerOptions { until: Some(START + 9_000_000), ..patient() };
    assert_eq!(played(&path, until), evens(0..10));
}

/// A bag with 40 strings on `/a`, which were sent one per millisecond, and received ten seconds
/// later in another order.
fn late_bag(path: &Path) {
    let mut writer = BagWriter::create(path, WriterOptions::default()).unwrap();
    let topic = writer.add_topic(text_topic("/a")).unwrap();
    for place in 0..40_i64 {
        let number = place ^ 3;
        let (sent, received) =
            (START + number * 1_000_000, START + 10_000_000_000 + place * 1_000_000);
        let number = u32::try_from(number).unwrap();
        writer.write(topic, number, received, sent, &text(&format!("{number:08}"))).unwrap();
    }
    writer.finish().unwrap();
}

#[test]
fn messages_are_played_as_they_were_sent() {
    let (_folder, path) = bag_path();
    late_bag(&path);
    let sent = || PlayerOptions { message_order: MessageOrder::Sent, ..patient() };
    let all = |range: std::ops::Range<u32>| range.collect::<Vec<_>>();
    assert_eq!(played(&path, patient()), (0..40).map(|place| place ^ 3).collect::<Vec<_>>());
    assert_eq!(played(&path, sent()), all(0..40));
    let part = PlayerOptions {
        start_offset: Duration::from_millis(9),
        duration: Some(Duration::from_millis(10)),
        rate: 0.5,
        ..sent()
    };
    assert_eq!(played(&path, part), all(9..20));
    let until = PlayerOptions { until: Some(START + 9_000_000), ..sent() };
    assert_eq!(played(&path, until), all(0..10));
    let no_room = PlayerOptions { read_ahead_bytes: 0, ..sent() };
    let mut without_order = played(&path, no_room);
    without_order.sort_unstable();
    assert_eq!(without_order, all(0..40));
}

#[test]
fn a_player_of_sent_messages_has_the_time_of_sending() {
    let (_folder, path) = bag_path();
    late_bag(&path);
    let (_domain, here, there) = contexts();
    let listener = listener(&there, "/a", QosProfile::keep_all());
    let node = here.create_node("rosbag2_player").unwrap();
    let options = PlayerOptions {
        start_paused: true,
        message_order: MessageOrder::Sent,
        wait_for_all_acked: Some(WATCHDOG),
        ..patient()
    };
    let player = Player::start(&node, BagReader::open(&path).unwrap(), options).unwrap();
    let span = ["bag.start_time_nanos", "bag.end_time_nanos"];
    let span = span.map(|name| node.get_parameter(name).unwrap());
    assert_eq!(span, [START, START + 39_000_000].map(ParameterValue::from));
    assert!(!player.seek(START - 1) && !player.seek(START + 10_000_000_000));
    assert!(player.seek(START + 25_000_000));
    player.resume();
    assert_eq!(player.wait().unwrap().messages, 15);
    until("all arrived", || listener.heard.lock().len() == 15);
    assert_eq!(numbers(&listener.heard), (25..40).collect::<Vec<_>>());
}

#[test]
fn impossible_options_of_the_player_are_refused() {
    let (_folder, path) = bag_path();
    numbered_bag(&path, 10, WriterOptions::default());
    let domain = Domain::reserve_without_ros2();
    let node = context(&domain).create_node("rosbag2_player").unwrap();
    let start = |options| {
        Player::start(&node, BagReader::open(&path).unwrap(), options).map(drop).unwrap_err()
    };
    let nothing = PlayerOptions { selection: only("/c"), ..PlayerOptions::default() };
    assert!(matches!(start(nothing), PlayError::Nothing));
    let late = PlayerOptions { start_offset: Duration::from_secs(5), ..PlayerOptions::default() };
    assert!(matches!(start(late), PlayError::Nothing));
    for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let wrong = start(PlayerOptions { rate, ..PlayerOptions::default() });
        assert!(wrong.to_string().contains("above 0"), "{wrong}");
    }
}

#[test]
fn latched_messages_before_the_start_are_published_first() {
    let (_folder, path) = bag_path();
    let mut writer = BagWriter::create(&path, WriterOptions::default()).unwrap();
    let latched = QosProfile::keep_last(1).transient_local();
    let mut map = text_topic("/map");
    map.metadata.offered_qos_profiles = vec![latched];
    let (map, other) =
        (writer.add_topic(map).unwrap(), writer.add_topic(text_topic("/x")).unwrap());
    let second = 1_000_000_000;
    for (topic, time, content) in
        [(map, 0, "old map"), (map, 1, "map"), (other, 2, "skipped"), (other, 61, "played")]
    {
        let time = START + time * second;
        writer.write(topic, 1, time, time, &text(content)).unwrap();
    }
    writer.finish().unwrap();
    let (_domain, here, there) = contexts();
    let maps = listener(&there, "/map", latched);
    let others = listener(&there, "/x", QosProfile::default());
    let node = here.create_node("rosbag2_player").unwrap();
    let options = PlayerOptions { start_offset: Duration::from_millis(60_900), ..patient() };
    let player = Player::start(&node, BagReader::open(&path).unwrap(), options).unwrap();
    until("it was played", || others.heard.lock().len() == 1);
    until("the map came", || maps.heard.lock().len() == 1);
    assert_eq!(player.wait().unwrap().messages, 2);
    assert_eq!((maps.heard.lock()[0].as_str(), others.heard.lock()[0].as_str()), ("map", "played"));
}

/// Three publishers of stock ROS 2 on Fast DDS, like `static_transform_publisher`: their history
/// was not announced. A late subscription gets the latched messages of all three, even if playing
/// begins in the middle of the bag.
#[test]
fn all_latched_publishers_are_played_as_one_that_keeps_as_much() {
    let (_folder, path) = bag_path();
    let mut writer = BagWriter::create(&path, WriterOptions::default()).unwrap();
    let latched = QosProfile::keep_last(1).transient_local();
    let mut frames = text_topic("/frames");
    frames.metadata.offered_qos_profiles =
        vec![QosProfile { history: History::Unknown, ..latched }; 3];
    let frames = writer.add_topic(frames).unwrap();
    let second = 1_000_000_000;
    for (number, name) in ["a", "b", "c"].into_iter().enumerate() {
        let time = START + number as i64 * second / 10;
        writer.write(frames, 1, time, time, &text(name)).unwrap();
    }
    let other = writer.add_topic(text_topic("/x")).unwrap();
    // This message keeps the player alive until the test stops it.
    let end = START + 600 * second;
    writer.write(other, 1, end, end, &text("never played")).unwrap();
    writer.finish().unwrap();
    for start_offset in [Duration::ZERO, Duration::from_millis(4_900)] {
        let (_domain, here, there) = contexts();
        let node = here.create_node("rosbag2_player").unwrap();
        let options = PlayerOptions { start_offset, ..PlayerOptions::default() };
        let player = Player::start(&node, BagReader::open(&path).unwrap(), options).unwrap();
        let late = listener(&there, "/frames", QosProfile::keep_last(10).transient_local());
        until("all frames came", || late.heard.lock().len() == 3);
        assert_eq!(*late.heard.lock(), ["a", "b", "c"]);
        player.stop();
        assert_eq!(player.wait().unwrap().messages, 3);
    }
}

#[test]
fn services_step_seek_and_set_the_rate() {
    let (_folder, path) = bag_path();
    numbered_bag(&path, 100, WriterOptions::default());
    let (_domain, here, there) = contexts();
    let listener = listener(&there, "/a", QosProfile::keep_all());
    let node = here.create_node("rosbag2_player").unwrap();
    let _spinning = spinning(&node);
    let options = PlayerOptions { selection: only("/a"), start_paused: true, ..patient() };
    let player = Player::start(&node, BagReader::open(&path).unwrap(), options).unwrap();
    macro_rules! call {
        ($service:ident, $name:literal, $request:expr) => {{
            let client = listener
                .node
                .create_client::<$service>(concat!("/rosbag2_player/", $name))
                .unwrap();
            client.wait_for_service(WATCHDOG).unwrap();
            client.call_and_wait($request, WATCHDOG).unwrap()
        }};
    }
    let last = START + 99 * 1_000_000;
    for (name, nanos) in [("bag.start_time_nanos", START), ("bag.end_time_nanos", last)] {
        assert_eq!(node.get_parameter(name).unwrap(), ParameterValue::Integer(nanos));
    }
    assert!(call!(PlayNext, "play_next", &PlayNext_Request::default()).success);
    let burst = call!(Burst, "burst", &Burst_Request { num_messages: 2 });
    assert_eq!(burst.actually_burst, 2);
    until("three came", || numbers(&listener.heard) == [0, 2, 4]);
    let time = |millis: i64| Time::from_nanos(START + millis * 1_000_000).into();
    assert!(call!(Seek, "seek", &Seek_Request { time: time(50) }).success);
    assert!(!call!(Seek, "seek", &Seek_Request { time: time(500) }).success);
    assert!(call!(PlayNext, "play_next", &PlayNext_Request::default()).success);
    until("it went there", || numbers(&listener.heard) == [0, 2, 4, 50]);
    assert!(!call!(SetRate, "set_rate", &SetRate_Request { rate: -1.0 }).success);
    assert!(call!(SetRate, "set_rate", &SetRate_Request { rate: 20.0 }).success);
    assert_eq!(call!(GetRate, "get_rate", &GetRate_Request::default()).rate, 20.0);
    assert!(player.is_paused() && player.now() == START + 50_000_000);
    player.resume();
    let played = player.wait().unwrap();
    until("the rest came", || listener.heard.lock().len() as u64 == played.messages);
    assert_eq!(*numbers(&listener.heard).last().unwrap(), 98);
    assert!(!player.play_next());
}

#[test]
fn loops_clock_and_stop() {
    let (_folder, path) = bag_path();
    numbered_bag(&path, 20, WriterOptions::default());
    let (_domain, here, there) = contexts();
    let listener = listener(&there, "/a", QosProfile::keep_all());
    let times = Arc::<Mutex<Vec<i64>>>::default();
    let put = times.clone();
    let _clock = listener.node.create_subscription("/clock", 10, move |clock: Clock| {
        put.lock().push(Time::from(&clock.clock).as_nanos());
    });
    let node = here.create_node("rosbag2_player").unwrap();
    let options = PlayerOptions {
        selection: only("/a"),
        is_looping: true,
        clock_frequency: Some(200.0),
        ..patient()
    };
    let player = Player::start(&node, BagReader::open(&path).unwrap(), options).unwrap();
    until("it was played twice", || {
        numbers(&listener.heard).iter().filter(|number| **number == 18).count() >= 2
    });
    // If the listener misses one round on a busy machine, other rounds follow.
    until("each round begins anew", || times.lock().windows(2).any(|pair| pair[1] < pair[0]));
    player.stop();
    assert!(player.wait().unwrap().rounds >= 1);
    // How far the clock goes beyond the last message depends on when that message is published.
    let times = times.lock();
    assert!(times.iter().all(|time| *time >= START), "{times:?}");
}
