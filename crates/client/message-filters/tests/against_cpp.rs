//! The policy `ApproximateTime` makes the same sets as `message_filters` in C++, message by
//! message, for messages in any order, and with any queue size, penalty, interval and bounds.
#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use feros_message_filters::{ApproximateTime, Policy as _, Sorted, Time};
use feros_test_support::{TestProcess, skip};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

/// All times are multiples of this, since C++ rounds its weights to nanoseconds.
const MILLISECOND: u64 = 1_000_000;

/// The input for both implementations.
#[derive(Debug, Clone)]
struct Case {
    inputs: usize,
    queue_size: usize,
    age_penalty: f64,
    max_interval: Option<u64>,
    bounds: Vec<u64>,
    /// The input and time of each message, in the order of arrival.
    messages: Vec<(usize, u64)>,
}

fn case() -> impl Strategy<Value = Case> {
    prop_oneof![Just(2_usize), Just(4)].prop_flat_map(|inputs| {
        let message = (0..inputs, 0..20_u64, prop::bool::weighted(0.05));
        (
            prop::collection::vec(message, 0..80),
            1..8_usize,
            prop_oneof![Just(0.1), 0.0..3.0_f64],
            prop::option::weighted(0.3, (0..40_u64).prop_map(|n| n * MILLISECOND)),
            prop::collection::vec(
                prop_oneof![2 => Just(0), 1 => (0..15_u64).prop_map(|n| n * MILLISECOND)],
                inputs,
            ),
        )
            .prop_map(move |(steps, queue_size, age_penalty, max_interval, bounds)| {
                let mut now = 1000;
                let mut message = |(input, step, is_late): (usize, u64, bool)| {
                    now += step;
                    (input, if is_late { now - 30 } else { now } * MILLISECOND)
                };
                let messages = steps.into_iter().map(&mut message).collect();
                Case { inputs, queue_size, age_penalty, max_interval, bounds, messages }
            })
    })
}

impl Case {
    fn line(&self) -> String {
        let interval = self.max_interval.map_or(-1, |nanos| nanos as i64);
        let mut line =
            format!("{} {} {} {interval}", self.inputs, self.queue_size, self.age_penalty);
        self.bounds.iter().for_each(|bound| write!(line, " {bound}").unwrap());
        write!(line, " {}", self.messages.len()).unwrap();
        self.messages.iter().for_each(|(input, time)| write!(line, " {input} {time}").unwrap());
        line
    }

    fn ours(&self) -> String {
        let mut policy = ApproximateTime::new(self.queue_size).age_penalty(self.age_penalty);
        if let Some(nanos) = self.max_interval {
            policy = policy.max_interval(Duration::from_nanos(nanos));
        }
        for (input, nanos) in self.bounds.iter().enumerate() {
            policy = policy.inter_message_lower_bound(input, Duration::from_nanos(*nanos));
        }
        policy.set_inputs(self.inputs);
        let mut sorted = Sorted::default();
        for (input, time) in &self.messages {
            let stamp = Time::from_nanos(*time as i64);
            policy.add(*input, stamp, Arc::new(*time), &mut sorted);
        }
        let sets = sorted.matched.iter().map(|set| {
            let times =
                set.iter().map(|message| message.downcast_ref::<u64>().unwrap().to_string());
            times.collect::<Vec<_>>().join(",") + ";"
        });
        sets.collect()
    }
}

#[test]
fn any_messages_make_the_sets_that_cpp_makes() {
    if !Path::new("/usr/include/message_filters/sync_policies/approximate_time.h").is_file() {
        return skip("message_filters of C++ is missing; apt-get install libmessage-filters-dev");
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cpp");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("approximate_time_peer");
    let built = Command::new("g++")
        .args(["-O1", "-w", "-o"])
        .arg(&program)
        .arg(folder.join("approximate_time_peer.cpp"))
        .args(["-lmessage_filters", "-lrosconsole", "-lrostime", "-lcpp_common", "-lboost_thread"])
        .output()
        .expect("g++ is installed where libmessage-filters-dev is");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let mut command = Command::new(program);
    command.stderr(Stdio::null()); // it warns about messages out of order
    let mut peer = TestProcess::of(command);
    let mut runner = TestRunner::deterministic();
    let (mut sets, mut different) = (0, Vec::new());
    for _ in 0..2000 {
        let case = case().new_tree(&mut runner).unwrap().current();
        peer.tell(&case.line());
        let (ours, theirs) = (case.ours(), peer.line());
        sets += theirs.matches(';').count();
        if ours != theirs {
            different.push(format!("{case:?}\n  ours   {ours}\n  theirs {theirs}"));
        }
    }
    peer.end();
    assert!(sets > 5000, "{sets} sets are no comparison");
    different.sort_by_key(String::len);
    assert!(different.is_empty(), "{} differ, such as {}", different.len(), different[0]);
}
