//! The speed of the buffer compared with the tf2 of C++: `cargo bench -p feros-tf2 --bench lookup`.
//!
//! Both do the same work by turns, round by round, so that other work on the machine affects both.
//! Processor time is measured, and the median of the rounds is printed. Without libtf2-dev, only
//! Feros is measured.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../tests/cpp/mod.rs"]
mod cpp;

use std::hint::black_box;

use feros_msgs::geometry_msgs::msg::TransformStamped;
use feros_test_support::TestProcess;
use feros_tf2::glam::{DQuat, DVec3};
use feros_tf2::{Buffer, Time, Transform};
use rustix::time::{ClockId, clock_gettime};

const ROUNDS: usize = 15;
const LOOKUPS: u32 = 20_000;
const INSERTS: u32 = 100_000;
/// A chain of five frames, each with ten seconds of samples at 100 Hz.
const NAMES: [&str; 5] = ["map", "odom", "base_link", "arm", "camera"];
const SAMPLES: i64 = 1000;
const STEP_NANOS: i64 = 10_000_000;
const FIRST_NANOS: i64 = 100_000_000_000;

fn main() {
    let mut peer = cpp::start();
    let buffer = fill(peer.as_mut());
    let newest = FIRST_NANOS + (SAMPLES - 1) * STEP_NANOS;
    let between = |age: i64| newest - age - STEP_NANOS / 2;
    println!("nanoseconds per call, median of {ROUNDS} rounds (least, greatest)");
    println!("{:<44} {:>22} {:>22}", "", "feros-tf2", "tf2 (C++)");
    let questions = [
        ("lookup, newest common time", 0),
        ("lookup, between samples, 5 ms old", between(0)),
        ("lookup, between samples, 1 s old", between(1_000_000_000)),
        ("lookup, between samples, 9 s old", between(9_000_000_000)),
        ("lookup, at a sample, 1 s old", newest - 1_000_000_000),
    ];
    for (what, nanos) in questions {
        let ask = format!("bench map camera {nanos} {LOOKUPS}");
        let time = Time::from_nanos(nanos);
        let ours = || {
            for _ in 0..LOOKUPS {
                black_box(buffer.lookup_transform("map", "camera", time).unwrap());
            }
        };
        compare(what, LOOKUPS, ours, peer.as_mut().map(|peer| (peer, ask)));
    }
    let time = Time::from_nanos(between(0));
    let numbers = || {
        for _ in 0..LOOKUPS {
            black_box(buffer.lookup("map", "camera", time).unwrap());
        }
    };
    compare("lookup without a message, 5 ms old", LOOKUPS, numbers, None);
    let can = || {
        for _ in 0..LOOKUPS {
            black_box(buffer.can_transform("map", "camera", time));
        }
    };
    let ask = format!("can map camera {} {LOOKUPS}", between(0));
    compare("can_transform, 5 ms old", LOOKUPS, can, peer.as_mut().map(|peer| (peer, ask)));
    let ask = format!("insert 100 1000000 {INSERTS}");
    compare("set_transform, 100 frames", INSERTS, insert, peer.as_mut().map(|peer| (peer, ask)));
}

fn compare(
    what: &str,
    calls: u32,
    mut ours: impl FnMut(),
    mut peer: Option<(&mut TestProcess, String)>,
) {
    let (mut of_ours, mut of_peer) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let began = processor_seconds();
        ours();
        of_ours.push((processor_seconds() - began) / f64::from(calls) * 1e9);
        if let Some((peer, ask)) = &mut peer {
            let answer = peer.ask(ask);
            let seconds: f64 = answer.split(' ').next().unwrap().parse().unwrap();
            of_peer.push(seconds / f64::from(calls) * 1e9);
        }
    }
    println!("{what:<44} {:>22} {:>22}", shown(of_ours), shown(of_peer));
}

/// The processor time of this thread.
fn processor_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn shown(mut rounds: Vec<f64>) -> String {
    rounds.sort_by(f64::total_cmp);
    match (rounds.first(), rounds.get(rounds.len() / 2), rounds.last()) {
        (Some(least), Some(median), Some(most)) => format!("{median:.0} ({least:.0}, {most:.0})"),
        _ => "-".to_owned(),
    }
}

/// Fills a buffer, and the buffer of the C++ program if there is one, with the same transforms.
fn fill(mut peer: Option<&mut TestProcess>) -> Buffer {
    let buffer = Buffer::new();
    for step in 0..SAMPLES {
        let nanos = FIRST_NANOS + step * STEP_NANOS;
        for pair in NAMES.windows(2) {
            let angle = step as f64 * 0.002;
            let transform =
                Transform::new(DVec3::new(angle, 0.1, 0.2), DQuat::from_rotation_z(angle));
            let stamped = transform.to_stamped(pair[0], pair[1], Time::from_nanos(nanos));
            buffer.set_transform(&stamped, "bench", false).unwrap();
            if let Some(peer) = &mut peer {
                let turn = transform.rotation;
                let line = format!(
                    "set {} {} {nanos} {angle} 0.1 0.2 0 0 {} {} 0",
                    pair[1], pair[0], turn.z, turn.w
                );
                assert_eq!(peer.ask(&line), "ok");
            }
        }
    }
    buffer
}

fn insert() {
    let buffer = Buffer::new();
    let child =
        |number| Transform::IDENTITY.to_stamped("root", &format!("inserted{number}"), Time::ZERO);
    let mut transforms: Vec<TransformStamped> = (0..100).map(child).collect();
    for call in 0..i64::from(INSERTS) {
        let nanos = 1_000_000_000 + call / 100 * 1_000_000;
        let transform = &mut transforms[(call % 100) as usize];
        transform.header.stamp.sec = (nanos / 1_000_000_000) as i32;
        transform.header.stamp.nanosec = (nanos % 1_000_000_000) as u32;
        buffer.set_transform(transform, "bench", false).unwrap();
    }
}
