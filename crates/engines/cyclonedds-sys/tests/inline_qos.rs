//! Tests that the inline QoS parser reads what stock ROS 2 sends, and that malformed lists do not
//! harm it.
#![allow(clippy::unwrap_used)]

use feros_cyclonedds_sys::{feros_find_related_identity, feros_identity};

fn find(list: &[u8], little_endian: bool) -> Option<feros_identity> {
    let mut out = feros_identity::default();
    // SAFETY: pointer and size describe `list`, and `out` is valid for writing.
    let found = unsafe {
        feros_find_related_identity(list.as_ptr(), list.len(), little_endian, &raw mut out)
    };
    found.then_some(out)
}

fn parameter(list: &mut Vec<u8>, id: u16, value: &[u8], little_endian: bool) {
    let number = |n: u16| if little_endian { n.to_le_bytes() } else { n.to_be_bytes() };
    list.extend(number(id));
    list.extend(number(u16::try_from(value.len()).unwrap()));
    list.extend(value);
}

fn identity(first: u8, high: i32, low: u32, little_endian: bool) -> Vec<u8> {
    let mut value = vec![first; 16];
    value.extend(if little_endian { high.to_le_bytes() } else { high.to_be_bytes() });
    value.extend(if little_endian { low.to_le_bytes() } else { low.to_be_bytes() });
    value
}

#[test]
fn both_parameters_in_both_byte_orders() {
    for little_endian in [true, false] {
        for id in [0x0083, 0x800f] {
            let mut list = Vec::new();
            parameter(&mut list, 0x0070, &[7; 16], little_endian);
            parameter(&mut list, id, &identity(3, 1, 2, little_endian), little_endian);
            parameter(&mut list, 1, &[], little_endian);
            let found = find(&list, little_endian).unwrap();
            assert_eq!(found, feros_identity { guid: [3; 16], sequence_number: (1 << 32) | 2 });
        }
    }
}

#[test]
fn the_standard_parameter_wins_in_either_order() {
    for order in [[0x0083, 0x800f], [0x800f, 0x0083]] {
        let mut list = Vec::new();
        for id in order {
            let first = if id == 0x0083 { 1 } else { 2 };
            parameter(&mut list, id, &identity(first, 0, 9, true), true);
        }
        assert_eq!(find(&list, true).unwrap().guid, [1; 16]);
    }
}

#[test]
fn unknown_sequence_number_is_kept_and_unknown_guid_is_nothing() {
    let mut list = Vec::new();
    parameter(&mut list, 0x0083, &identity(5, -1, 0, true), true);
    assert_eq!(find(&list, true).unwrap().sequence_number, -1 << 32);
    let mut list = Vec::new();
    parameter(&mut list, 0x0083, &identity(0, 0, 1, true), true);
    assert_eq!(find(&list, true), None);
}

#[test]
fn truncated_and_lying_lists_are_refused() {
    let mut list = Vec::new();
    parameter(&mut list, 0x0083, &identity(5, 0, 1, true), true);
    for length in 0..list.len() {
        assert_eq!(find(&list[..length], true), None, "{length}");
    }
    let mut behind_sentinel = vec![1, 0, 0, 0];
    behind_sentinel.extend(&list);
    assert_eq!(find(&behind_sentinel, true), None);
    let mut short = Vec::new();
    parameter(&mut short, 0x0083, &[5; 23], true);
    assert_eq!(find(&short, true), None);
}

/// Bytes after the end of the list never change the result, even if the list gives wrong lengths.
#[test]
fn random_lists_never_reach_behind_their_end() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut found = 0;
    for _ in 0..200_000 {
        let size = (random() % 96) as usize;
        let mut memory: Vec<u8> = (0..160).map(|_| random() as u8).collect();
        // The ids and lengths are likely to be valid, so that the parser does not stop early.
        for at in (0..size.saturating_sub(4)).step_by(4) {
            match random() % 8 {
                0 => memory[at..at + 4].copy_from_slice(&[0x83, 0, 24, 0]),
                1 => memory[at..at + 4].copy_from_slice(&[0x0f, 0x80, 24, 0]),
                2 => memory[at..at + 4].copy_from_slice(&[0x70, 0, 4, 0]),
                _ => {}
            }
        }
        let first = find(&memory[..size], true);
        memory[size..].fill(0xff);
        let second = find(&memory[..size], true);
        assert_eq!(first, second);
        found += usize::from(first.is_some());
    }
    assert!(found > 1000, "the generator makes lists that mean something: {found}");
}
