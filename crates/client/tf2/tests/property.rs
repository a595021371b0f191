//! For any trees, in any order and at any time, the buffer gives the same answers as a naive
//! reference and as the tf2 of C++.
#![allow(clippy::unwrap_used)]

mod cpp;
mod reference;

use std::time::Duration;

use feros_tf2::glam::{DMat4, DQuat, DVec3, EulerRot};
use feros_tf2::{Buffer, BufferOptions, InsertError, LookupError, Time, Transform};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use reference::{Reference, Refused, Said, Wrong};

const NAMES: [&str; 7] = ["map", "odom", "base", "arm", "hand", "camera", "laser"];
const STEP: i64 = 1_000_000;
const CACHE_STEPS: i64 = 12;

fn transform() -> impl Strategy<Value = Transform> {
    let number = -10.0..10.0_f64;
    let angle = -3.1..3.1_f64;
    let places = (number.clone(), number.clone(), number);
    (places, (angle.clone(), angle.clone(), angle)).prop_map(|((x, y, z), (roll, pitch, yaw))| {
        let rotation = DQuat::from_euler(EulerRot::ZYX, yaw, pitch, roll).normalize();
        Transform::new(DVec3::new(x, y, z), rotation)
    })
}

fn said() -> impl Strategy<Value = Said> {
    let names = (0..NAMES.len(), 1..NAMES.len());
    (names, 1..30_i64, transform(), prop::bool::weighted(0.1)).prop_map(
        |((child, other), step, transform, is_static)| Said {
            child: NAMES[child].into(),
            parent: NAMES[(child + other) % NAMES.len()].into(),
            nanos: step * STEP,
            transform,
            is_static,
        },
    )
}

/// Trees like those of robots: each frame keeps its parent, and the stamps of a frame differ.
fn tree() -> impl Strategy<Value = Vec<Said>> {
    let parents: Vec<_> = (1..NAMES.len()).map(|child| 0..child).collect();
    let stamps = prop::collection::btree_map((1..NAMES.len(), 1..30_i64), transform(), 0..60);
    (parents, stamps).prop_map(|(parents, stamps)| {
        let said = stamps.into_iter().map(|((child, step), transform)| Said {
            child: NAMES[child].into(),
            parent: NAMES[parents[child - 1]].into(),
            nanos: step * STEP,
            transform,
            is_static: child % 3 == 0,
        });
        said.collect()
    })
}

fn set(buffer: &Buffer, said: &Said) -> Result<(), InsertError> {
    let stamped =
        said.transform.to_stamped(&said.parent, &said.child, Time::from_nanos(said.nanos));
    buffer.set_transform(&stamped, "property", said.is_static)
}

fn assert_same(found: Transform, expected: DMat4, what: &str) {
    let difference = DMat4::from(found) - expected;
    let largest = difference.to_cols_array().into_iter().map(f64::abs).fold(0.0, f64::max);
    assert!(largest < 1e-8, "{what}: {found:?} is not {expected:?}");
}

fn kind(error: &LookupError) -> Wrong {
    match error {
        LookupError::UnknownFrame { .. } => Wrong::Unknown,
        LookupError::NotConnected { .. } => Wrong::Unconnected,
        LookupError::Future { .. } | LookupError::Past { .. } | LookupError::OneSample { .. } => {
            Wrong::Extrapolation
        }
        LookupError::Loop { .. } => Wrong::Loop,
        other => panic!("no such error was expected: {other}"),
    }
}

/// A lookup may report either of two errors first, so these two count as equal.
fn assert_fails_alike(error: &LookupError, expected: Wrong, what: &str) {
    let (found, wrong) = (kind(error), [Wrong::Unconnected, Wrong::Extrapolation]);
    let is_alike = found == expected || wrong.contains(&found) && wrong.contains(&expected);
    assert!(is_alike, "{what}: {error} is not {expected:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_trees_are_answered_as_the_reference_does(all in prop::collection::vec(said(), 0..60)) {
        let cache = Duration::from_nanos((CACHE_STEPS * STEP) as u64);
        let buffer = Buffer::with(BufferOptions::default().cache_length(cache));
        let mut reference = Reference::new(CACHE_STEPS * STEP);
        for said in &all {
            let expected = reference.say(said.clone());
            match (set(&buffer, said), expected) {
                (Ok(()), Ok(()))
                | (Err(InsertError::OldData { .. }), Err(Refused::Old))
                | (Err(InsertError::Loop { .. }), Err(Refused::Loop)) => {}
                (found, expected) => panic!("{said:?}: {found:?} is not {expected:?}"),
            }
        }
        for target in NAMES {
            for source in NAMES.into_iter().chain(["nobody"]) {
                for half_step in 1..60 {
                    let nanos = half_step * STEP / 2;
                    let what = format!("{source} in {target} at {nanos}");
                    let time = Time::from_nanos(nanos);
                    let found = buffer.lookup(target, source, time);
                    prop_assert_eq!(buffer.can_transform(target, source, time), found.is_ok());
                    match (found, reference.lookup(target, source, nanos)) {
                        (Ok((found, _)), Ok(expected)) => assert_same(found, expected, &what),
                        // The lookup may meet the common frame before the loop.
                        (_, Err(Wrong::Loop)) => {}
                        (Err(error), Err(expected)) => assert_fails_alike(&error, expected, &what),
                        (found, expected) => panic!("{what}: {found:?} is not {expected:?}"),
                    }
                }
                if target == source {
                    continue;
                }
                let latest = buffer.latest_common_time(target, source);
                let expected = reference.latest_common_time(target, source);
                match (&latest, expected) {
                    (Ok(found), Ok(expected)) => prop_assert_eq!(found.as_nanos(), expected),
                    (Err(_), Err(_)) => {}
                    (found, expected) => panic!("{source} in {target}: {found:?}, {expected:?}"),
                }
                if let Ok(latest) = latest {
                    let newest = buffer.lookup(target, source, Time::ZERO);
                    prop_assert_eq!(newest, buffer.lookup(target, source, latest));
                }
            }
        }
    }

    #[test]
    fn invalid_transforms_are_refused_and_counted(
        child in "[/a-c]{0,3}",
        parent in "[/a-c]{0,3}",
        numbers in prop::array::uniform7(prop_oneof![
            4 => -1.0..1.0_f64, 1 => Just(f64::NAN), 1 => Just(f64::INFINITY), 1 => Just(1e300),
        ]),
        nanos in any::<i64>(),
        is_static in any::<bool>(),
    ) {
        let buffer = Buffer::new();
        let [x, y, z, a, b, c, d] = numbers;
        let rotation = DQuat::from_xyzw(a, b, c, d);
        let rotation = if a < 0.5 { rotation.normalize() } else { rotation };
        let transform = Transform::new(DVec3::new(x, y, z), rotation);
        let stamped = transform.to_stamped(&parent, &child, Time::from_nanos(nanos));
        let outcome = buffer.set_transform(&stamped, "property", is_static);
        let counts = buffer.counts();
        prop_assert_eq!((counts.set, counts.refused.total()), match outcome {
            Ok(()) => (1, 0),
            Err(_) => (0, 1),
        });
        if let Ok(()) = outcome {
            let strip = |name: &str| name.strip_prefix('/').unwrap_or(name).to_owned();
            let (child, parent) = (strip(&child), strip(&parent));
            let stamp = Time::from_nanos(stamped.header.stamp.to_nanos());
            let (found, _) = buffer.lookup(&parent, &child, stamp).unwrap();
            prop_assert!((found.rotation.length() - 1.0).abs() < 1e-9);
            prop_assert_eq!(found.translation, transform.translation);
        } else {
            prop_assert!(buffer.frames().is_empty());
        }
    }
}

/// One process of the C++ program serves all trees.
#[test]
fn trees_are_answered_as_the_tf2_of_cpp_does() {
    let Some(mut peer) = cpp::start() else { return };
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    for _ in 0..60 {
        let all = tree().new_tree(&mut runner).unwrap().current();
        assert_eq!(peer.ask("clear"), "ok");
        let buffer = Buffer::new();
        for said in &all {
            set(&buffer, said).unwrap();
            let (move_by, turn) = (said.transform.translation, said.transform.rotation);
            let line = format!(
                "set {} {} {} {} {} {} {} {} {} {} {}",
                said.child,
                said.parent,
                said.nanos,
                move_by.x,
                move_by.y,
                move_by.z,
                turn.x,
                turn.y,
                turn.z,
                turn.w,
                u8::from(said.is_static)
            );
            assert_eq!(peer.ask(&line), "ok", "{line}");
        }
        for target in NAMES {
            for source in NAMES {
                for half_step in [0, 2, 15, 16, 31, 40, 58] {
                    let nanos = half_step * STEP / 2;
                    let answer = peer.ask(&format!("get {target} {source} {nanos}"));
                    let found = buffer.lookup(target, source, Time::from_nanos(nanos));
                    let what = format!("{source} in {target} at {nanos}: {found:?} and {answer}");
                    assert_like_cpp(&found, &answer, &what);
                }
            }
        }
    }
}

fn assert_like_cpp(found: &Result<(Transform, Time), LookupError>, answer: &str, what: &str) {
    let (transform, time) = match found {
        Ok(found) => found,
        Err(error) => {
            let expected = match kind(error) {
                Wrong::Unknown => "error lookup",
                Wrong::Unconnected => "error connectivity",
                Wrong::Extrapolation => "error extrapolation",
                Wrong::Loop => "error lookup",
            };
            return assert_eq!(answer, expected, "{what}");
        }
    };
    let (nanos, numbers) = answer.split_once(' ').unwrap_or((answer, ""));
    let numbers: Vec<f64> = numbers.split(' ').filter_map(|number| number.parse().ok()).collect();
    let [x, y, z, a, b, c, d] = numbers[..] else { panic!("{what}") };
    let (turn, place) = (DQuat::from_xyzw(a, b, c, d), DVec3::new(x, y, z));
    assert_eq!(nanos, time.as_nanos().to_string(), "{what}");
    assert!((place - transform.translation).length() < 1e-9, "{what}");
    // Two quaternions with opposite signs stand for the same rotation.
    assert!((turn.dot(transform.rotation).abs() - 1.0).abs() < 1e-9, "{what}");
}
