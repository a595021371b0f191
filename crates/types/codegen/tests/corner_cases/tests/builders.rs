//! Difficult cases for builders: the bytes of every built message equal those of the encoded
//! message.
#![allow(clippy::unwrap_used)]

use feros_codegen_corner_cases::corner_cases::msg::{
    Image, ImageShape_, Runs, RunsShape, Shapes, ShapesShape, Uneven,
};
use feros_interface::{InterfaceSet, shipped};
use feros_message::cdr::ByteOrder;
use feros_message::{BuildError, EncodeError, build, shaped_size, view};
use proptest::prelude::*;

use checks::builders;
use sample::sample_of;

#[path = "../../../../msgs/tests/support/builders.rs"]
mod checks;
#[path = "../../../../msgs/tests/every_type/sample.rs"]
mod sample;

/// The tested messages, and all definitions that they refer to.
fn definitions() -> InterfaceSet {
    let mut set = shipped().clone();
    for path in [
        "interfaces/corner_cases",
        "interfaces/r_move",
        "../../../../../examples/own_package/interfaces/robot_interfaces",
    ] {
        set.load_package_dir(path).unwrap();
    }
    set
}

#[test]
fn every_value_is_built_as_it_is_encoded() {
    let set = definitions();
    for builder in builders() {
        for seed in 0..8 {
            (builder.check)(&sample_of(&set, builder.name, seed, ByteOrder::Little));
        }
    }
    assert!(builders().count() > 40);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn fields_of_garbage_never_panic(
        body in proptest::collection::vec(prop_oneof![Just(0u8), 0u8..4, any::<u8>()], 0..400),
    ) {
        for builder in builders() {
            (builder.check_hostile)(&[&ByteOrder::NATIVE.header(), &body[..]].concat());
        }
    }
}

/// Calls `work` with `len` bytes of memory with arbitrary content, like the memory that a transport
/// lends.
fn with_lent<T>(len: usize, work: impl FnOnce(&mut [u8]) -> T) -> T {
    let mut memory = vec![0xa5; len + 8];
    let start = memory[4..].as_ptr().align_offset(8);
    work(&mut memory[start..start + len])
}

#[test]
fn a_shape_gives_way_to_a_definition_of_its_name() {
    let shape: ImageShape_ = ImageShape_ { data: 2 };
    with_lent(shaped_size::<Image>(&shape).unwrap(), |lent| {
        build::<Image>(&shape, lent).unwrap().data.copy_from_slice(&[1, 2]);
        assert_eq!(view::<Image>(lent).unwrap().data, [1, 2]);
    });
}

#[test]
fn shapes_start_with_the_declared_defaults() {
    let shape = RunsShape::default();
    assert_eq!((shape.numbers, shape.few_flags, shape.text), (2, 3, "it's \"quoted\""));
    assert_eq!(shape.two_wides, [&[97u16][..], &[0x8a9e]]);
    // A declared default sets as many elements as it has. The flags after these elements are false.
    let shape = RunsShape { numbers: 3, few_flags: 1, flags: 2, uneven: 2, ..shape };
    with_lent(shaped_size::<Runs>(&shape).unwrap(), |lent| {
        let mut runs = build::<Runs>(&shape, lent).unwrap();
        assert_eq!((&runs.numbers[..2], &*runs.few_flags), (&[-1, 2][..], &[true][..]));
        assert_eq!(runs.flags, [false, false]);
        let second = runs.uneven.get_mut(1).unwrap();
        assert_eq!((*second.first, *second.second, *second.third), (0, 1.5, true));
        runs.uneven.get_mut(0).unwrap().set(&Uneven { first: 9, second: 0.5, third: false });
        *runs.uneven.get_mut(1).unwrap().first = 7;
        let seen = view::<Runs>(lent).unwrap();
        assert_eq!(seen.uneven.get(0).unwrap(), Uneven { first: 9, second: 0.5, third: false });
        assert_eq!(seen.uneven.get(1).unwrap(), Uneven { first: 7, ..Uneven::default() });
    });
}

#[test]
fn invalid_shapes_are_refused_before_memory_is_allocated() {
    let size = |shape: &ShapesShape<'_>| shaped_size::<Shapes>(shape).unwrap_err();
    let exceeded =
        |field, len, bound| BuildError::Shape(EncodeError::BoundExceeded { field, len, bound });
    let good = ShapesShape::default();
    assert_eq!(size(&ShapesShape { bounded: 6, ..good }), exceeded("bounded", 6, 5));
    assert_eq!(size(&ShapesShape { few: &["", "", "", ""], ..good }), exceeded("few", 4, 3));
    assert_eq!(
        size(&ShapesShape { short_strings: ["", "12345", ""], ..good }),
        exceeded("short_strings", 5, 4)
    );
    assert_eq!(
        size(&ShapesShape { short_wides: &[&[1, 2, 3]], ..good }),
        exceeded("short_wides", 3, 2)
    );
    assert_eq!(
        size(&ShapesShape { texts: ["a", "b\0"], ..good }),
        BuildError::Shape(EncodeError::InteriorNul { position: 1 })
    );
    for len in [u32::MAX as usize + 1, usize::MAX] {
        let too_long = BuildError::Shape(EncodeError::TooLong { len });
        assert_eq!(size(&ShapesShape { raw: len, ..good }), too_long);
        assert_eq!(size(&ShapesShape { more_empties: len, ..good }), too_long);
    }
}
