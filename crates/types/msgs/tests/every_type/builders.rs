//! Tests that the bytes of every message that was built are the same as the bytes of the encoded
//! message.

use feros_interface::standard;
use feros_message::cdr::ByteOrder;
use proptest::prelude::*;

use checks::builders;

use crate::sample::sample;

#[path = "../support/builders.rs"]
mod checks;

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn every_value_is_built_as_it_is_encoded(seed in any::<u64>()) {
        for builder in builders() {
            (builder.check)(&sample(builder.name, seed, ByteOrder::Little));
        }
    }

    #[test]
    fn fields_of_garbage_never_panic(
        body in proptest::collection::vec(prop_oneof![Just(0u8), 0u8..4, any::<u8>()], 0..200),
    ) {
        for builder in builders() {
            (builder.check_hostile)(&[&ByteOrder::NATIVE.header(), &body[..]].concat());
        }
    }
}

#[test]
fn fields_of_truncated_memory_are_refused() {
    for builder in builders() {
        let bytes = sample(builder.name, 7, ByteOrder::NATIVE);
        (0..=bytes.len()).for_each(|len| (builder.check_hostile)(&bytes[..len]));
    }
    assert_eq!(builders().count(), standard().messages().count());
}
