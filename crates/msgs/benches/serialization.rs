//! Encoding, decoding and viewing beside a bare copy of the same bytes, which is the floor.
#![allow(clippy::unwrap_used, missing_docs)]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use feros_message::{Message, encode_into, encoded_size, from_bytes, to_vec, view};
use feros_msgs::geometry_msgs::msg::{Point, Pose, PoseStamped, Twist, Vector3};
use feros_msgs::nav_msgs::msg::Path;
use feros_msgs::sensor_msgs::msg::{Image, PointCloud2, PointField};
use feros_msgs::std_msgs::msg::{Float64MultiArray, Header};
use feros_msgs::visualization_msgs::msg::Marker;

fn header() -> Header {
    Header { frame_id: "base_link".into(), ..Header::default() }
}

fn image(len: usize) -> Image {
    Image { header: header(), encoding: "rgb8".into(), data: vec![7; len], ..Image::default() }
}

fn cloud() -> PointCloud2 {
    let field = |name: &str| PointField { name: name.into(), ..PointField::default() };
    PointCloud2 {
        header: header(),
        fields: ["x", "y", "z", "intensity"].map(field).into(),
        data: vec![7; 64 << 10],
        ..PointCloud2::default()
    }
}

fn twist() -> Twist {
    Twist { linear: Vector3 { x: 1.0, y: 2.0, z: 3.0 }, angular: Vector3 { x: 4.0, y: 5.0, z: 6.0 } }
}

fn marker() -> Marker {
    Marker { header: header(), points: vec![Point { x: 1.0, y: 2.0, z: 3.0 }; 1000], ..Marker::default() }
}

fn path() -> Path {
    let pose = PoseStamped { header: header(), pose: Pose::default() };
    Path { header: header(), poses: vec![pose; 1000] }
}

fn floats() -> Float64MultiArray {
    Float64MultiArray { data: vec![1.5; 128 << 10], ..Float64MultiArray::default() }
}

fn measure<M: Message>(criterion: &mut Criterion, name: &str, message: &M) {
    let bytes = to_vec(message).unwrap();
    let mut target = vec![0u8; encoded_size(message)];
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Bytes(bytes.len() as u64));
    group.bench_function(BenchmarkId::from_parameter("copy"), |bencher| {
        bencher.iter(|| black_box(&mut target).copy_from_slice(black_box(&bytes)));
    });
    group.bench_function(BenchmarkId::from_parameter("encode"), |bencher| {
        bencher.iter(|| {
            let message = black_box(message);
            let size = encoded_size(message);
            encode_into(message, &mut black_box(&mut target)[..size]).unwrap()
        });
    });
    group.bench_function(BenchmarkId::from_parameter("decode"), |bencher| {
        bencher.iter(|| from_bytes::<M>(black_box(&bytes)).unwrap());
    });
    group.bench_function(BenchmarkId::from_parameter("view"), |bencher| {
        bencher.iter(|| drop(black_box(view::<M>(black_box(&bytes)).unwrap())));
    });
    group.finish();
}

fn all(criterion: &mut Criterion) {
    measure(criterion, "twist", &twist());
    measure(criterion, "cloud_64kb", &cloud());
    measure(criterion, "image_1mb", &image(1 << 20));
    measure(criterion, "image_4mb", &image(4 << 20));
    measure(criterion, "floats_1mb", &floats());
    measure(criterion, "marker_1000_points", &marker());
    measure(criterion, "path_1000_poses", &path());
}

criterion_group!(benches, all);
criterion_main!(benches);
