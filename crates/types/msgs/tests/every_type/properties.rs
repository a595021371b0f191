//! Tests random values of every type: both byte orders, views, unaligned memory, and the exact
//! bytes.

use feros_message::cdr::ByteOrder;
use proptest::prelude::*;

use crate::probe::messages;
use crate::sample::sample;

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn every_value_survives(seed in any::<u64>()) {
        for probe in messages() {
            let name = probe.name;
            let little = sample(name, seed, ByteOrder::Little);
            let big = sample(name, seed, ByteOrder::Big);
            let value = (probe.decode)(&little).unwrap();
            prop_assert_eq!(&(probe.decode)(&big).unwrap(), &value, "{}", name);
            prop_assert_eq!(&(probe.view)(&little).unwrap(), &value, "{}", name);
            prop_assert_eq!(&(probe.view)(&big).unwrap(), &value, "{}", name);
            for order in [ByteOrder::Little, ByteOrder::Big] {
                let expected = if order == ByteOrder::Little { &little } else { &big };
                prop_assert_eq!(&(probe.encode)(&little, order), expected, "{}", name);
                prop_assert_eq!(&(probe.encode)(&big, order), expected, "{}", name);
            }
        }
    }

    #[test]
    fn memory_needs_no_alignment(seed in any::<u64>(), shift in 1usize..8) {
        for probe in messages() {
            let bytes = sample(probe.name, seed, ByteOrder::Little);
            let value = (probe.decode)(&bytes).unwrap();
            let mut shifted = vec![0; shift];
            shifted.extend(&bytes);
            // Bytes that the transport appends are ignored.
            shifted.extend(&[0xee; 3]);
            prop_assert_eq!(&(probe.decode)(&shifted[shift..]).unwrap(), &value, "{}", probe.name);
            prop_assert_eq!(&(probe.view)(&shifted[shift..]).unwrap(), &value, "{}", probe.name);
        }
    }
}
