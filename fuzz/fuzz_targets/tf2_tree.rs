//! Adds any transforms in any order, with any lookups in between: refused transforms are counted,
//! possible lookups succeed, and no tree of frames makes a lookup loop forever. Then transforms any
//! bytes as a point cloud.

use std::time::Duration;

use feros_msgs::geometry_msgs::msg::TransformStamped;
use feros_msgs::sensor_msgs::msg::{PointCloud2, PointField};
use feros_tf2::{Buffer, BufferOptions, Readiness, Time, Transform, transform_point_cloud};

const NAMES: [&str; 12] =
    ["", "/", "a", "/a", "b", "c", "d", "e", "//x", "a frame", "\u{1b}[31m", "f"];

/// Reads numbers from the input; after its end, all numbers are zero.
struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        let taken = self.0.len().min(N);
        bytes[..taken].copy_from_slice(&self.0[..taken]);
        self.0 = &self.0[taken..];
        bytes
    }

    fn byte(&mut self) -> u8 {
        self.bytes::<1>()[0]
    }

    fn name(&mut self) -> &'static str {
        NAMES[usize::from(self.byte()) % NAMES.len()]
    }

    /// A time that is near, or any time.
    fn time(&mut self) -> Time {
        match self.byte() {
            near @ 0..=200 => Time::from_nanos(i64::from(near)),
            _ => Time::from_nanos(i64::from_le_bytes(self.bytes())),
        }
    }

    /// A number of usual size, or any number.
    fn number(&mut self) -> f64 {
        match self.byte() {
            usual @ 0..=200 => f64::from(usual) / 100.0 - 1.0,
            _ => f64::from_le_bytes(self.bytes()),
        }
    }
}

fn set(buffer: &Buffer, input: &mut Input<'_>) {
    let mut said = TransformStamped::default();
    said.header.frame_id = input.name().into();
    said.child_frame_id = input.name().into();
    let nanos = input.time().as_nanos();
    said.header.stamp.sec = (nanos >> 32) as i32;
    said.header.stamp.nanosec = nanos as u32;
    let kind = input.byte();
    if kind & 1 == 1 {
        let (place, turn) = (&mut said.transform.translation, &mut said.transform.rotation);
        (place.x, place.y, place.z) = (input.number(), input.number(), input.number());
        (turn.x, turn.y) = (input.number(), input.number());
        (turn.z, turn.w) = (input.number(), input.number());
    }
    let before = buffer.counts();
    let outcome = buffer.set_transform(&said, "fuzz", kind & 2 == 2);
    let after = buffer.counts();
    let refused = after.refused.total() - before.refused.total();
    assert_eq!((after.set - before.set, refused), if outcome.is_ok() { (1, 0) } else { (0, 1) });
    if let Err(error) = outcome {
        assert!(error.to_string().starts_with("TF_"), "{error}");
    }
}

fn look(buffer: &Buffer, input: &mut Input<'_>) {
    let (target, source, time) = (input.name(), input.name(), input.time());
    let found = buffer.lookup(target, source, time);
    assert_eq!(found.is_ok(), buffer.can_transform(target, source, time));
    let readiness = buffer.readiness(target, source, time);
    assert_eq!(found.is_ok(), readiness == Readiness::Ready);
    match found {
        Ok((found, _)) => {
            assert!((found.rotation.length() - 1.0).abs() < 1e-6, "{found:?}");
            assert!(target == source || buffer.chain(target, source, time).is_ok());
        }
        Err(error) => {
            let is_final = error.is_final(time, buffer.cache_length());
            assert_eq!(is_final, readiness == Readiness::Never, "{error}");
        }
    }
    let _ = buffer.latest_common_time(target, source);
    let _ = buffer.lookup_transform_full((target, time), (source, time), input.name());
}

fn cloud(input: &mut Input<'_>) {
    let mut cloud = PointCloud2 {
        height: u32::from(input.byte() % 4),
        width: u32::from(input.byte() % 8),
        is_bigendian: input.byte() & 1 == 1,
        point_step: u32::from(input.byte() % 64),
        row_step: u32::from_le_bytes(input.bytes()),
        ..PointCloud2::default()
    };
    for name in ["x", "y", "z", "normal_x", "normal_y", "normal_z"] {
        let (offset, datatype) = (u32::from(input.byte()), 6 + input.byte() % 4);
        if input.byte() > 20 {
            cloud.fields.push(PointField { name: name.into(), offset, datatype, count: 1 });
        }
    }
    if input.byte() > 20 {
        cloud.row_step = cloud.width * cloud.point_step;
    }
    cloud.data = input.0.to_vec();
    let (before, length) = (cloud.clone(), cloud.data.len());
    let moved = Transform::from_translation(feros_tf2::glam::DVec3::ONE);
    if transform_point_cloud(&mut cloud, &moved).is_err() {
        assert_eq!(cloud, before);
    }
    assert_eq!(cloud.data.len(), length);
}

/// Runs one input: the limits of a buffer, then the operations on the buffer.
pub(crate) fn run(bytes: &[u8]) {
    let mut input = Input(bytes);
    let options = BufferOptions::default()
        .cache_length(Duration::from_nanos(u64::from(input.byte())))
        .samples_per_frame(usize::from(input.byte()))
        .max_frames(usize::from(input.byte()));
    let buffer = Buffer::with(options);
    while !input.0.is_empty() {
        match input.byte() % 16 {
            0..=8 => set(&buffer, &mut input),
            9..=13 => look(&buffer, &mut input),
            14 => buffer.clear(),
            _ => return cloud(&mut input),
        }
    }
    assert!(buffer.frames().len() <= usize::from(bytes.get(2).copied().unwrap_or(0)));
    let _ = (buffer.all_frames_as_string(), buffer.all_frames_as_yaml(Time::from_nanos(1)));
}
