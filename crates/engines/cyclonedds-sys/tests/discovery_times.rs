//! Tests the times of discovery: they do not follow the short times of data, and a request that is
//! repeated in vain is repeated ever later.

use std::ffi::CStr;
use std::ptr;

use feros_cyclonedds_sys::{
    feros_discovery_greeting, feros_discovery_heartbeat, feros_discovery_next_greeting,
    feros_discovery_reminder, feros_discovery_repeat, feros_discovery_request, feros_is_discovery,
};

const MILLISECOND: i64 = 1_000_000;
const SECOND: i64 = 1_000 * MILLISECOND;

/// The times of data that Feros configures for heartbeats and requests, and for repetitions.
const SHORT: i64 = MILLISECOND;
const SHORT_REPEAT: i64 = 5 * MILLISECOND;

fn heartbeat(configured: i64, sent: u32) -> i64 {
    // SAFETY: the function only computes.
    unsafe { feros_discovery_heartbeat(configured, sent) }
}

fn request(configured: i64, repeats: u32) -> i64 {
    // SAFETY: the function only computes.
    unsafe { feros_discovery_request(configured, repeats) }
}

fn repeat(configured: i64, repeats: u32) -> i64 {
    // SAFETY: the function only computes.
    unsafe { feros_discovery_repeat(configured, repeats) }
}

fn reminder(reminders: u32, lateness: i64) -> i64 {
    // SAFETY: the function only computes.
    unsafe { feros_discovery_reminder(reminders, lateness) }
}

fn next_greeting(usual: i64, age: i64) -> i64 {
    // SAFETY: the function only computes.
    unsafe { feros_discovery_next_greeting(usual, age) }
}

fn is_discovery(is_builtin: bool, topic: Option<&CStr>) -> bool {
    // SAFETY: the topic is a string of C or null, and outlives the call.
    unsafe { feros_is_discovery(is_builtin, topic.map_or(ptr::null(), CStr::as_ptr)) }
}

#[test]
fn endpoints_of_the_protocol_and_of_nodes_belong_to_discovery() {
    assert!(is_discovery(true, None) && is_discovery(true, Some(c"rt/chatter")));
    assert!(is_discovery(false, Some(c"ros_discovery_info")));
    for topic in [c"", c"rt/chatter", c"rt/ros_discovery_info", c"ros_discovery_info2", c"ros_"] {
        assert!(!is_discovery(false, Some(topic)), "{topic:?}");
    }
    assert!(!is_discovery(false, None));
}

#[test]
fn a_writer_sends_few_heartbeats_however_short_the_times_of_data_are() {
    for configured in [0, 1, SHORT, SHORT_REPEAT] {
        let times = [0, 1, 2, 3, 4, 5, 6, 7, u32::MAX].map(|sent| heartbeat(configured, sent));
        let millis = times.map(|time| time / MILLISECOND);
        assert_eq!(millis, [10, 20, 40, 80, 160, 320, 640, 1000, 1000]);
    }
    // A user may configure longer times.
    for sent in [0, 1, u32::MAX] {
        assert_eq!(heartbeat(SECOND, sent), SECOND);
        assert_eq!(heartbeat(i64::MAX, sent), i64::MAX);
    }
}

#[test]
fn a_reader_that_does_not_answer_is_reminded_ever_later() {
    let reminders = [0, 1, 2, 3, 4, 5, 6, u32::MAX].map(|count| reminder(count, 0) / MILLISECOND);
    assert_eq!(reminders, [10, 20, 40, 80, 160, 200, 200, 200]);
}

#[test]
fn a_busy_host_reminds_later_but_not_never() {
    assert_eq!(reminder(0, 5 * MILLISECOND), 50 * MILLISECOND);
    assert_eq!(reminder(2, 20 * MILLISECOND), 200 * MILLISECOND);
    // The clock may have been read before the time at which the heartbeat was due.
    assert_eq!(reminder(1, -MILLISECOND), 20 * MILLISECOND);
    assert_eq!(reminder(1, i64::MIN), 20 * MILLISECOND);
    for (count, lateness) in
        [(0, SECOND), (0, i64::MAX), (7, 100 * MILLISECOND), (u32::MAX, i64::MAX)]
    {
        assert_eq!(reminder(count, lateness), SECOND, "{count}, {lateness}");
    }
}

#[test]
fn a_lost_request_is_repeated_soon_and_then_ever_later() {
    let requests = [0, 1, 2, 3, 4, 5].map(|repeats| request(SHORT, repeats) / MILLISECOND);
    assert_eq!(requests, [20, 40, 80, 160, 200, 200]);
    let repeats = [0, 1, 2, 3, 4, 5, 6].map(|count| repeat(SHORT_REPEAT, count) / MILLISECOND);
    assert_eq!(repeats, [20, 40, 80, 160, 320, 640, 1000]);
    assert_eq!(request(SHORT, u32::MAX), 200 * MILLISECOND);
    assert_eq!(repeat(SHORT_REPEAT, u32::MAX), SECOND);
    for count in [0, 1, 7, u32::MAX] {
        assert_eq!(request(3 * SECOND, count), 3 * SECOND);
        assert_eq!(repeat(i64::MAX, count), i64::MAX);
        // A repetition that is due is never too early for a request.
        assert!(repeat(0, count) >= request(0, count));
    }
}

/// In ten seconds without an answer, a reader with the times of data would repeat its request two
/// thousand times.
#[test]
fn a_reader_that_gets_no_answer_repeats_few_requests() {
    let (mut now, mut count) = (0, 0);
    while now < 10 * SECOND {
        now += repeat(SHORT_REPEAT, count);
        count += 1;
    }
    assert!(count <= 16, "{count} requests");
}

#[test]
fn a_reader_greets_soon_and_soon_again_unless_the_host_is_busy() {
    // SAFETY: the function only computes.
    let greeting = |configured| unsafe { feros_discovery_greeting(configured) };
    assert_eq!(greeting(10 * MILLISECOND), MILLISECOND);
    assert_eq!(greeting(i64::MAX), MILLISECOND);
    assert_eq!(greeting(0), 0);
    // Before the first greeting, the time of the last greeting is 0, so the age is negative.
    for age in [-SECOND, 0, MILLISECOND, 5 * MILLISECOND - 1] {
        assert_eq!(next_greeting(SECOND, age), 9 * MILLISECOND, "{age}");
        assert_eq!(next_greeting(MILLISECOND, age), MILLISECOND, "{age}");
    }
    for age in [5 * MILLISECOND, 10 * MILLISECOND, 60 * SECOND] {
        assert_eq!(next_greeting(SECOND, age), SECOND, "{age}");
    }
}
