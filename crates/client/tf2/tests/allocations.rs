//! A buffer allocates its memory only once: at a steady rate, neither inserts nor lookups allocate.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use allocation_counter::measure;
use feros_msgs::geometry_msgs::msg::TransformStamped;
use feros_tf2::{Buffer, BufferOptions, Time, Transform};

const FRAMES: usize = 100;
const STEP_NANOS: i64 = 1_000_000; // 1 kHz

fn transforms() -> Vec<TransformStamped> {
    let child = |number: usize| {
        Transform::IDENTITY.to_stamped("base_link", &format!("frame_{number}"), Time::ZERO)
    };
    (0..FRAMES).map(child).collect()
}

fn set_all(buffer: &Buffer, transforms: &mut [TransformStamped], step: i64) {
    let nanos = 1_000_000_000 + step * STEP_NANOS;
    for transform in &mut *transforms {
        transform.header.stamp.sec = (nanos / 1_000_000_000) as i32;
        transform.header.stamp.nanosec = (nanos % 1_000_000_000) as u32;
    }
    buffer.set_transforms(transforms, "robot", false, |error| panic!("{error}"));
}

#[test]
fn a_hundred_frames_at_a_kilohertz_allocate_nothing_once_the_cache_is_full() {
    // The buffer keeps one second instead of ten, so that the test fills it several times.
    let cache = Duration::from_secs(1);
    let buffer = Buffer::with(BufferOptions::default().cache_length(cache));
    let mut transforms = transforms();
    for step in 0..1100 {
        set_all(&buffer, &mut transforms, step);
    }
    let steady = measure(|| {
        for step in 1100..4000 {
            set_all(&buffer, &mut transforms, step);
        }
    });
    assert_eq!(steady.count_total, 0, "{steady:?}");
    let frames = buffer.frames();
    assert!(frames["frame_99"].samples <= 1001, "{:?}", frames["frame_99"]);
    assert_eq!(buffer.counts().set, 400_000);
}

#[test]
fn lookups_allocate_nothing_but_the_names_of_the_message() {
    let buffer = Buffer::new();
    let mut transforms = transforms();
    for step in 0..100 {
        set_all(&buffer, &mut transforms, step);
    }
    let time = Time::from_nanos(1_000_000_000 + 50 * STEP_NANOS + STEP_NANOS / 2);
    let numbers = measure(|| {
        for time in [time, Time::ZERO] {
            buffer.lookup("frame_1", "frame_2", time).unwrap();
            assert!(buffer.can_transform("frame_3", "frame_4", time));
        }
    });
    assert_eq!(numbers.count_total, 0, "{numbers:?}");
    let message = measure(|| drop(buffer.lookup_transform("frame_1", "frame_2", time).unwrap()));
    assert_eq!(message.count_total, 2, "{message:?}");
    // A caller that often checks for a transform does not pay for an error message.
    let questions = measure(|| {
        assert!(!buffer.can_transform("frame_1", "frame_2", Time::from_nanos(1)));
        assert!(!buffer.can_transform("frame_1", "nobody", time));
    });
    assert_eq!(questions.count_total, 0, "{questions:?}");
}

#[test]
fn a_publisher_that_floods_is_held_within_the_limits() {
    let limits = BufferOptions::default().samples_per_frame(100).max_frames(50);
    let buffer = Buffer::with(limits);
    for number in 0..1000_i64 {
        let stamp = Time::from_nanos(1 + number);
        let flood = Transform::IDENTITY.to_stamped("base_link", "flood", stamp);
        buffer.set_transform(&flood, "flood", false).unwrap();
        let name = format!("new_{number}");
        let _ = buffer.set_transform(
            &Transform::IDENTITY.to_stamped("base_link", &name, stamp),
            "flood",
            false,
        );
    }
    let (frames, counts) = (buffer.frames(), buffer.counts());
    assert_eq!((frames.len(), frames["flood"].samples), (50, 100));
    assert_eq!((counts.displaced, counts.refused.beyond_limits), (900, 952), "{counts:?}");
    let long = Transform::IDENTITY.to_stamped("base_link", &"x".repeat(1025), Time::ZERO);
    let error = buffer.set_transform(&long, "flood", false).unwrap_err();
    assert!(error.to_string().contains("1025 bytes"), "{error}");
}
