//! Tests how much memory is allocated by reading and writing. Encoding, building and views allocate
//! nothing. For hostile input, the allocations are limited by the size of the sample.
//!
//! This file has only one test, because the allocator counts for the whole process.
#![allow(clippy::unwrap_used)]

use feros_message::{
    build, encode_into, encoded_size, fields, from_bytes, shaped_size, to_vec, view,
};
use feros_msgs::sensor_msgs::msg::{Image, ImageShape, PointCloud2, PointField};
use feros_msgs::test_msgs::msg::UnboundedSequences;
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Returns the largest number of bytes that were allocated at one time during `work`, in addition
/// to the bytes that were allocated before. This is the minimum of three runs, because the main
/// thread of the test harness may still be recording that the test has begun.
fn peak_bytes(mut work: impl FnMut()) -> usize {
    let mut once = || {
        MEMORY.reset_peak_usage();
        let before = MEMORY.current_usage();
        work();
        MEMORY.peak_usage() - before
    };
    once().min(once()).min(once())
}

#[test]
fn memory_is_taken_for_what_is_kept_and_not_for_what_is_claimed() {
    const LEN: usize = 4 << 20;
    let image = Image { encoding: "rgb8".into(), data: vec![7; LEN], ..Image::default() };
    let size = encoded_size(&image);
    let mut bytes = vec![0; size];
    assert_eq!(
        peak_bytes(|| assert_eq!(encode_into(&image, &mut bytes), Ok(size))),
        0,
        "encoding allocates"
    );
    assert_eq!(
        peak_bytes(|| assert_eq!(view::<Image>(&bytes).unwrap().data.len(), LEN)),
        0,
        "viewing allocates"
    );
    let owned = peak_bytes(|| drop(from_bytes::<Image>(&bytes).unwrap()));
    assert!((LEN..LEN + 64).contains(&owned), "decoding takes {owned} bytes for {LEN}");

    let shape = ImageShape { encoding: "rgb8", data: LEN, ..ImageShape::default() };
    let mut memory = vec![0; size + 8];
    let start = memory[4..].as_ptr().align_offset(8);
    let building = peak_bytes(|| {
        assert_eq!(shaped_size::<Image>(&shape), Ok(size));
        build::<Image>(&shape, &mut memory[start..start + size]).unwrap().data.fill(7);
        assert_eq!(fields::<Image>(&mut memory[start..start + size]).unwrap().encoding, "rgb8");
    });
    assert_eq!((building, memory[start..start + size] == bytes), (0, true), "building allocates");

    // Encoding, and computing its size, allocates nothing at any size and for nested messages.
    let image = Image { data: vec![7; 1 << 20], ..image };
    let cloud = PointCloud2 {
        fields: vec![PointField { name: "x".into(), ..PointField::default() }; 4],
        data: vec![1; 1 << 16],
        ..PointCloud2::default()
    };
    let encoding = peak_bytes(|| {
        for size in [encoded_size(&image), encode_into(&image, &mut bytes).unwrap()] {
            assert_eq!(size, bytes.len() - (LEN - (1 << 20)));
        }
        assert_eq!(encode_into(&cloud, &mut bytes), Ok(encoded_size(&cloud)));
    });
    assert_eq!(encoding, 0, "encoding allocates");

    // A count that is too large for the bytes is refused before anything is allocated for it.
    let cloud = to_vec(&PointCloud2::default()).unwrap();
    for start in (4..cloud.len() - 3).step_by(4) {
        let mut bad = cloud.clone();
        bad[start..start + 4].copy_from_slice(&[0xff; 4]);
        let taken = peak_bytes(|| drop(from_bytes::<PointCloud2>(&bad)));
        assert!(taken <= cloud.len(), "{taken} bytes were taken for a sample of {}", cloud.len());
    }

    // Elements that are larger in memory than on the wire must not multiply the memory that is
    // reserved in advance.
    let mut zeros = to_vec(&UnboundedSequences::default()).unwrap();
    zeros.resize(1 << 20, 0);
    for start in (4..200).step_by(4) {
        let mut bad = zeros.clone();
        bad[start..start + 4].copy_from_slice(&(1u32 << 17).to_le_bytes());
        let taken = peak_bytes(|| drop(from_bytes::<UnboundedSequences>(&bad)));
        assert!(taken < 64 * bad.len(), "{taken} bytes were taken for a sample of {}", bad.len());
    }
}
