//! Tests that input that no honest sender produces is either refused or accepted without a panic,
//! both by owned values and by views.

use feros_message::cdr::ByteOrder;
use proptest::prelude::*;

use crate::probe::{Probe, messages};
use crate::sample::sample;

/// Reads the bytes as an owned value and as a view, and returns whether they were accepted.
fn read(probe: &Probe, bytes: &[u8]) -> bool {
    let (owned, view) = ((probe.decode)(bytes), (probe.view)(bytes));
    assert_eq!(
        owned.is_ok(),
        view.is_ok(),
        "{}: {owned:?} but {view:?} for {bytes:02x?}",
        probe.name
    );
    if let (Ok(owned), Ok(view)) = (&owned, &view) {
        assert_eq!(owned, view, "{}", probe.name);
    }
    owned.is_ok()
}

#[test]
fn every_truncation_is_refused() {
    for probe in messages() {
        for order in [ByteOrder::Little, ByteOrder::Big] {
            let bytes = sample(probe.name, 7, order);
            assert!(read(&probe, &bytes), "{}", probe.name);
            for len in 0..bytes.len() {
                assert!(
                    !read(&probe, &bytes[..len]),
                    "{}: {len} of {} bytes",
                    probe.name,
                    bytes.len()
                );
            }
        }
    }
}

#[test]
fn counts_of_four_billion_never_panic() {
    let mut refused = 0;
    for probe in messages() {
        let bytes = sample(probe.name, 7, ByteOrder::Little);
        for start in (4..bytes.len().saturating_sub(3)).step_by(4) {
            for value in [u32::MAX, u32::MAX / 2, 0x1000_0000] {
                let mut bad = bytes.clone();
                bad[start..start + 4].copy_from_slice(&value.to_le_bytes());
                refused += usize::from(!read(&probe, &bad));
            }
        }
    }
    assert!(refused > 1000, "only {refused} samples had a count to spoil");
}

#[test]
fn other_encodings_are_refused_by_name() {
    for probe in messages() {
        for identifier in (0..=u16::from(u8::MAX)).filter(|identifier| *identifier > 1) {
            let mut bytes = sample(probe.name, 7, ByteOrder::Little);
            bytes[..2].copy_from_slice(&identifier.to_be_bytes());
            assert!(!read(&probe, &bytes));
        }
    }
    let error = (messages().next().unwrap().decode)(&[0, 7, 0, 0, 0]).unwrap_err().to_string();
    assert!(error.contains("CDR2_LE (XCDR2)"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn garbage_never_panics(body in proptest::collection::vec(prop_oneof![Just(0u8), 0u8..4, any::<u8>()], 0..200)) {
        for probe in messages() {
            let mut bytes = ByteOrder::Little.header().to_vec();
            bytes.extend(&body);
            read(&probe, &bytes);
        }
    }
}
