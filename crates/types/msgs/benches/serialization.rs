//! Measures encoding, decoding, viewing and building, and compares them with a plain copy of the
//! same bytes, which is the lower bound.
#![allow(clippy::unwrap_used, missing_docs)]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use feros_message::{
    Message, build, encode_into, encoded_size, fields, from_bytes, shaped_size, to_vec, view,
};
use feros_msgs::geometry_msgs::msg::{Point, Pose, PoseStamped, Twist, Vector3};
use feros_msgs::nav_msgs::msg::Path;
use feros_msgs::sensor_msgs::msg::{
    Image, ImageShape, PointCloud2, PointCloud2Shape, PointField, PointFieldShape,
};
use feros_msgs::std_msgs::msg::{Float64MultiArray, Header, HeaderShape};
use feros_msgs::visualization_msgs::msg::{Marker, MarkerShape};

fn header() -> Header {
    Header { frame_id: "base_link".into(), ..Header::default() }
}

fn image(len: usize) -> Image {
    Image { header: header(), encoding: "rgb8".into(), data: vec![7; len], ..Image::default() }
}

fn cloud(len: usize) -> PointCloud2 {
    let field = |name: &str| PointField { name: name.into(), ..PointField::default() };
    PointCloud2 {
        header: header(),
        fields: ["x", "y", "z", "intensity"].map(field).into(),
        data: vec![7; len],
        ..PointCloud2::default()
    }
}

fn twist() -> Twist {
    Twist {
        linear: Vector3 { x: 1.0, y: 2.0, z: 3.0 },
        angular: Vector3 { x: 4.0, y: 5.0, z: 6.0 },
    }
}

fn marker() -> Marker {
    Marker {
        header: header(),
        points: vec![Point { x: 1.0, y: 2.0, z: 3.0 }; 1000],
        ..Marker::default()
    }
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

/// Measures the time to lay out a message and give out its fields, without writing the data. This
/// is the cost of a loan without the cost of filling it.
fn measure_builder<M: Message>(criterion: &mut Criterion, name: &str, shape: &M::Shape<'_>) {
    let size = shaped_size::<M>(shape).unwrap();
    let mut memory = vec![0u8; size + 8];
    let start = memory[4..].as_ptr().align_offset(8);
    let lent = &mut memory[start..start + size];
    let mut group = criterion.benchmark_group(name);
    group.bench_function(BenchmarkId::from_parameter("size and build"), |bencher| {
        bencher.iter(|| {
            let shape = black_box(shape);
            let size = shaped_size::<M>(shape).unwrap();
            drop(black_box(build::<M>(shape, &mut black_box(&mut *lent)[..size]).unwrap()));
        });
    });
    group.bench_function(BenchmarkId::from_parameter("fields"), |bencher| {
        bencher.iter(|| drop(black_box(fields::<M>(black_box(&mut *lent)).unwrap())));
    });
    group.finish();
}

fn builders(criterion: &mut Criterion) {
    let header = HeaderShape { frame_id: "base_link" };
    for (name, data) in [("image_1mb", 1 << 20), ("image_4mb", 4 << 20)] {
        measure_builder::<Image>(criterion, name, &ImageShape { header, encoding: "rgb8", data });
    }
    let fields = ["x", "y", "z", "intensity"].map(|name| PointFieldShape { name });
    for (name, data) in [("cloud_64kb", 64 << 10), ("cloud_4mb", 4 << 20)] {
        measure_builder::<PointCloud2>(
            criterion,
            name,
            &PointCloud2Shape { header, fields: &fields, data },
        );
    }
    measure_builder::<Twist>(criterion, "twist", &());
    let shape = MarkerShape { header, points: 1000, ..MarkerShape::default() };
    measure_builder::<Marker>(criterion, "marker_1000_points", &shape);
    let points = vec![Point { x: 1.0, y: 2.0, z: 3.0 }; 1000];
    let mut memory = vec![0u8; shaped_size::<Marker>(&shape).unwrap() + 8];
    let start = memory[4..].as_ptr().align_offset(8);
    criterion.bench_function("marker_1000_points/build and set", |bencher| {
        bencher.iter(|| {
            let mut marker =
                build::<Marker>(black_box(&shape), black_box(&mut memory[start..])).unwrap();
            for (mut to, from) in marker.points.iter_mut().zip(&points) {
                to.set(from);
            }
        });
    });
}

fn all(criterion: &mut Criterion) {
    measure(criterion, "twist", &twist());
    measure(criterion, "cloud_64kb", &cloud(64 << 10));
    measure(criterion, "cloud_4mb", &cloud(4 << 20));
    measure(criterion, "image_1mb", &image(1 << 20));
    measure(criterion, "image_4mb", &image(4 << 20));
    measure(criterion, "floats_1mb", &floats());
    measure(criterion, "marker_1000_points", &marker());
    measure(criterion, "path_1000_poses", &path());
}

criterion_group!(benches, all, builders);
criterion_main!(benches);
