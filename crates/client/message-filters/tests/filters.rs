//! The sets that filters find, and what happens to the other messages.
#![allow(clippy::unwrap_used)]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use feros_message_filters::{
    ApproximateTime, Cache, Chain, DropReason, ExactTime, Input, Policy, Synchronizer, Time,
    TransformFilter, synchronize,
};
use feros_msgs::geometry_msgs::msg::{PointStamped, PoseStamped, TransformStamped};
use feros_test_support::spawn;
use feros_tf2::{Buffer, Transform};

/// A message with a stamp, in milliseconds.
fn point(millis: i64) -> Arc<PointStamped> {
    let mut point = PointStamped::default();
    point.header.stamp.sec = (millis / 1000) as i32;
    point.header.stamp.nanosec = (millis % 1000) as u32 * 1_000_000;
    point.header.frame_id = "camera".into();
    Arc::new(point)
}

fn pose(millis: i64) -> Arc<PoseStamped> {
    Arc::new(PoseStamped { header: point(millis).header.clone(), ..PoseStamped::default() })
}

fn millis(header: &feros_msgs::std_msgs::msg::Header) -> i64 {
    header.stamp.to_nanos() / 1_000_000
}

type Pairs = Arc<Mutex<Vec<(i64, i64)>>>;

/// A synchronizer of two inputs that notes the times of its sets.
fn pairs(policy: impl Policy) -> (Synchronizer, Input<PointStamped>, Input<PoseStamped>, Pairs) {
    let pairs = Pairs::default();
    let noted = pairs.clone();
    let note = move |point: Arc<PointStamped>, pose: Arc<PoseStamped>| {
        noted.lock().unwrap().push((millis(&point.header), millis(&pose.header)));
    };
    let (synchronizer, (points, poses)) = synchronize(policy, note);
    (synchronizer, points, poses, pairs)
}

/// Calls both inputs in the order of a list such as `"a0 b0 a10"`, and returns the sets.
fn matched(policy: impl Policy, order: &str) -> Vec<(i64, i64)> {
    let (_synchronizer, points, poses, pairs) = pairs(policy);
    for word in order.split_whitespace() {
        let (input, time) = word.split_at(1);
        let time = time.parse().unwrap();
        if input == "a" { points(point(time)) } else { poses(pose(time)) }
    }
    let pairs = pairs.lock().unwrap();
    pairs.clone()
}

#[test]
fn equal_stamps_belong_together_and_older_ones_are_dropped() {
    let (synchronizer, points, poses, pairs) = pairs(ExactTime::new(3));
    [0, 10, 20].into_iter().for_each(|time| points(point(time)));
    poses(pose(10));
    poses(pose(5));
    assert_eq!(*pairs.lock().unwrap(), [(10, 10)]);
    let counts = synchronizer.counts();
    assert_eq!((counts.matched, &*counts.dropped), (1, &[1, 0][..]));
    // The messages 5 and 20 wait. With 30 and 40, there would be four waiting messages, but only
    // three may wait.
    [30, 40].into_iter().for_each(|time| points(point(time)));
    assert_eq!(synchronizer.counts().dropped, [1, 1]);
    poses(pose(20));
    assert_eq!(*pairs.lock().unwrap(), [(10, 10), (20, 20)]);
    synchronizer.clear();
    assert_eq!(synchronizer.counts().dropped, [3, 1]);
    points(point(30));
    points(point(30));
    assert_eq!(synchronizer.counts().dropped, [4, 1], "the first of two with the same stamp");
}

/// These are the sets that the documented algorithm of `message_filters` in C++ finds for the same
/// messages: the smallest sets, as soon as it is proven that no smaller set can follow.
#[test]
fn the_smallest_sets_are_found_as_soon_as_they_are_proven() {
    let policy = || ApproximateTime::new(10);
    assert_eq!(matched(policy(), "a0 b0 a30 b30 a60 b60"), [(0, 0), (30, 30), (60, 60)]);
    // Only a60 shows whether a30 is nearer to b40 than a60 is.
    assert_eq!(matched(policy(), "a0 b10 a30 b40"), [(0, 10)]);
    assert_eq!(matched(policy(), "a0 b10 a30 b40 a60"), [(0, 10), (30, 40)]);
    // A message without a partner is left out.
    assert_eq!(matched(policy(), "a0 b0 a30 a60 b60 a90 b90"), [(0, 0), (60, 60), (90, 90)]);
    // The better partner comes later.
    assert_eq!(matched(policy(), "a0 b40 a45 b80 a85 b120"), [(45, 40), (85, 80)]);
}

#[test]
fn sets_may_span_so_much_and_later_ones_have_to_be_better() {
    let narrow = ApproximateTime::new(10).max_interval(Duration::from_millis(15));
    assert_eq!(matched(narrow, "a0 b20 a30 b35 a60 b60"), [(30, 35), (60, 60)]);
    // (19, 20) is better than (0, 20), since it starts later and ends at the same time. (21, 20)
    // ends later, so with a high penalty it is not better.
    assert_eq!(matched(ApproximateTime::new(10), "a0 b20 a19 b39 a40"), [(19, 20)]);
    let impatient = ApproximateTime::new(10).age_penalty(1000.0);
    assert_eq!(matched(impatient, "a0 b20 a21 b39 a40")[0], (0, 20));
}

#[test]
fn a_known_rate_proves_sets_sooner() {
    let unknown = ApproximateTime::new(10);
    assert_eq!(matched(unknown, "a0 b10"), []);
    let known = ApproximateTime::new(10)
        .inter_message_lower_bound(0, Duration::from_millis(50))
        .inter_message_lower_bound(1, Duration::from_millis(50));
    assert_eq!(matched(known, "a0 b10"), [(0, 10)]);
}

#[test]
fn dropped_and_irregular_messages_are_counted() {
    let (synchronizer, points, poses, pairs) = pairs(ApproximateTime::new(2));
    [0, 10, 20, 30].into_iter().for_each(|time| points(point(time)));
    assert_eq!(synchronizer.counts().dropped, [2, 0]);
    points(point(25));
    assert_eq!((synchronizer.counts().irregular, synchronizer.counts().dropped[0]), (1, 3));
    poses(pose(26));
    points(point(60));
    poses(pose(60));
    points(point(90));
    poses(pose(90));
    assert!(!pairs.lock().unwrap().is_empty());
    let counts = synchronizer.counts();
    assert_eq!(counts.matched as usize, pairs.lock().unwrap().len());
    synchronizer.clear();
    let counts = synchronizer.counts();
    assert_eq!(counts.matched + counts.dropped[0], 7, "a message was lost: {counts:?}");
    assert_eq!(counts.matched + counts.dropped[1], 3, "a message was lost: {counts:?}");
}

#[test]
fn nine_inputs_make_one_set() {
    type P = Arc<PointStamped>;
    let count = Arc::new(Mutex::new(0));
    let sets = count.clone();
    let note = move |a: P, _: P, _: P, _: P, _: P, _: P, _: P, _: P, i: P| {
        *sets.lock().unwrap() += millis(&i.header) - millis(&a.header);
    };
    let (synchronizer, (a, b, c, d, e, f, g, h, i)) = synchronize(ApproximateTime::new(5), note);
    for time in [0, 100] {
        for (place, input) in (0..).zip([&a, &b, &c, &d, &e, &f, &g, &h, &i]) {
            input(point(time + place));
        }
    }
    a(point(200));
    assert!(synchronizer.counts().matched >= 1, "{:?}", synchronizer.counts());
    assert_eq!(*count.lock().unwrap() as u64, 8 * synchronizer.counts().matched);
}

#[test]
fn threads_that_feed_inputs_lose_nothing() {
    let (synchronizer, points, poses, pairs) = pairs(ExactTime::new(10_000));
    let feeders = [
        spawn("points", move || (0..5000).for_each(|time| points(point(time)))),
        spawn("poses", move || (0..5000).for_each(|time| poses(pose(time)))),
    ];
    feeders.into_iter().for_each(|feeder| feeder.join().unwrap());
    let counts = synchronizer.counts();
    let pairs = pairs.lock().unwrap();
    assert_eq!(counts.matched - counts.overflowed, pairs.len() as u64, "{counts:?}");
    assert!(pairs.iter().all(|(a, b)| a == b) && pairs.is_sorted(), "out of order");
}

#[test]
fn a_cache_is_asked_by_time() {
    let cache = Cache::new(4);
    let input = cache.input();
    [10, 30, 20, 50, 40].into_iter().for_each(|time| input(point(time)));
    let at = |millis: i64| Time::from_nanos(millis * 1_000_000);
    let times = |found: Vec<Arc<PointStamped>>| {
        found.iter().map(|point| millis(&point.header)).collect::<Vec<_>>()
    };
    assert_eq!(times(cache.interval(at(0), at(40))), [20, 30, 40]);
    assert_eq!(times(cache.interval(at(45), at(10))), [0; 0]);
    assert_eq!(times(cache.surrounding_interval(at(25), at(35))), [20, 30, 40]);
    assert_eq!(times(cache.surrounding_interval(at(0), at(99))), [20, 30, 40, 50]);
    let one = |found: Option<Arc<PointStamped>>| found.map(|point| millis(&point.header));
    assert_eq!(
        (one(cache.before_time(at(30))), one(cache.after_time(at(30)))),
        (Some(20), Some(40))
    );
    assert_eq!((one(cache.before_time(at(20))), one(cache.after_time(at(50)))), (None, None));
    assert_eq!((cache.oldest_time(), cache.latest_time()), (Some(at(20)), Some(at(50))));
    assert_eq!((cache.len(), cache.is_empty()), (4, false));
}

#[test]
fn a_chain_hands_on_what_its_filters_let_pass() {
    let (cache, heard) = (Cache::new(10), Arc::new(Mutex::new(Vec::new())));
    let (before, noted) = (cache.clone(), heard.clone());
    let input = Chain::new()
        .then(move |next| before.before(next))
        .keep(|point: &PointStamped| millis(&point.header) % 20 == 0)
        .end(move |point| noted.lock().unwrap().push(millis(&point.header)));
    [10, 20, 30, 40].into_iter().for_each(|time| input(point(time)));
    assert_eq!((cache.len(), &*heard.lock().unwrap()), (4, &vec![20, 40]));
}

fn camera(millis: i64) -> TransformStamped {
    Transform::IDENTITY.to_stamped("odom", "camera", Time::from_nanos(millis * 1_000_000))
}

type Heard = Arc<Mutex<Vec<String>>>;

fn waiting(buffer: &Buffer) -> (TransformFilter<PointStamped>, Input<PointStamped>, Heard) {
    let heard = Heard::default();
    let (dropped, passed) = (heard.clone(), heard.clone());
    let (filter, input) = TransformFilter::builder(buffer, ["odom"])
        .capacity(2)
        .on_drop(move |point: Arc<PointStamped>, why: DropReason| {
            dropped.lock().unwrap().push(format!("{} {why}", millis(&point.header)));
        })
        .build(move |point| passed.lock().unwrap().push(millis(&point.header).to_string()));
    (filter, input, heard)
}

#[test]
fn messages_wait_for_their_transform_and_pass_in_order() {
    let buffer = Buffer::new();
    let (filter, input, heard) = waiting(&buffer);
    input(point(1000));
    input(point(1500));
    assert!(heard.lock().unwrap().is_empty());
    buffer.set_transform(&camera(1000), "test", false).unwrap();
    assert_eq!(*heard.lock().unwrap(), ["1000"]);
    assert_eq!(filter.counts().waiting, 1);
    buffer.set_transform(&camera(2000), "test", false).unwrap();
    input(point(1700));
    assert_eq!(*heard.lock().unwrap(), ["1000", "1500", "1700"]);
    assert_eq!((filter.counts().received, filter.counts().passed), (3, 3));
}

#[test]
fn dropped_messages_are_counted_and_reported_with_their_reason() {
    let buffer = Buffer::new();
    let (filter, input, heard) = waiting(&buffer);
    input(Arc::default());
    [1000, 2000, 3000].into_iter().for_each(|time| input(point(time)));
    buffer.set_transform(&camera(20_000), "test", false).unwrap();
    input(point(25_000));
    input(point(4000));
    buffer.clear();
    let heard = heard.lock().unwrap();
    let words = [
        "0 the message has an empty frame_id",
        "1000 the queue of 2 messages is full, and this message still waits for a transform: \
         \"odom\"",
        "2000 the message is older than all data in the transform cache",
        "3000 the message is older than all data in the transform cache",
        "4000 the message is older than all data in the transform cache",
        "25000 the waiting messages were cleared",
    ];
    assert_eq!(heard.len(), words.len(), "{heard:?}");
    assert!(heard.iter().zip(words).all(|(heard, word)| heard.starts_with(word)), "{heard:?}");
    let counts = filter.counts();
    let dropped = [
        counts.dropped_without_frame,
        counts.dropped_for_room,
        counts.dropped_too_old,
        counts.dropped_cleared,
    ];
    assert_eq!((dropped, counts.received, counts.waiting), ([1, 1, 3, 1], 6, 0));
}

#[test]
fn a_tolerance_asks_for_a_later_transform_too() {
    let buffer = Buffer::new();
    let (filter, input) = TransformFilter::builder(&buffer, ["odom"])
        .tolerance(Duration::from_millis(100))
        .build(|_: Arc<PointStamped>| {});
    [camera(1000), camera(2000)]
        .into_iter()
        .for_each(|said| buffer.set_transform(&said, "test", false).unwrap());
    input(point(1950));
    assert_eq!((filter.counts().passed, filter.counts().waiting), (0, 1));
    buffer.set_transform(&camera(2050), "test", false).unwrap();
    assert_eq!((filter.counts().passed, filter.counts().waiting), (1, 0));
}

#[test]
fn a_filter_feeds_a_synchronizer() {
    let buffer = Buffer::new();
    let (synchronizer, points, poses, pairs) = pairs(ExactTime::new(10));
    let (_filter, waiting) = TransformFilter::builder(&buffer, ["odom"]).build(points);
    waiting(point(1000));
    poses(pose(1000));
    assert_eq!(synchronizer.counts().matched, 0);
    buffer.set_transform(&camera(1000), "test", true).unwrap();
    assert_eq!(*pairs.lock().unwrap(), [(1000, 1000)]);
}
