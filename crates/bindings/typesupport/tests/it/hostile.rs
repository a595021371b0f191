//! Bytes that are not messages: decoding refuses them, names the field, and allocates nothing for
//! refused counts. The message can still be used and finalized.

use feros_typesupport::{DecodeError, MessageProgram};
use feros_typesupport_tables::{FORMS, LANGUAGES, Type};

use crate::owned::Owned;
use crate::tables::{compiled_in, dynamic};
use crate::values::{self, Numbers};

fn bytes_of(ty: Type, seed: u64) -> Vec<u8> {
    values::message(&dynamic(ty), &mut Numbers::new(seed)).to_cdr().unwrap()
}

fn sample_bytes(seed: u64) -> Vec<u8> {
    bytes_of(Type::Sample, seed)
}

/// The programs of a type in each form and language.
fn programs_of(ty: Type) -> impl Iterator<Item = MessageProgram> {
    FORMS.into_iter().flat_map(move |form| {
        LANGUAGES.into_iter().map(move |language| compiled_in(form, language, ty))
    })
}

fn programs() -> impl Iterator<Item = MessageProgram> {
    programs_of(Type::Sample)
}

/// Decodes the start of messages of every length.
fn ends_early(program: &MessageProgram, ty: Type) {
    for seed in 0..10 {
        let bytes = bytes_of(ty, seed);
        let mut message = Owned::new(program);
        for len in 0..bytes.len() {
            let error = message.decode(&bytes[..len]).unwrap_err();
            if len < 4 {
                assert!(matches!(error, DecodeError::Header(_)), "{error}");
            } else {
                assert!(error.to_string().contains(" of tables/msg/"), "{error}");
            }
        }
        message.decode(&bytes).unwrap();
        assert_eq!(message.encode().unwrap(), bytes);
    }
}

/// Decodes a message with each byte replaced by others.
fn changes(program: &MessageProgram, ty: Type) {
    let bytes = bytes_of(ty, 4);
    let mut message = Owned::new(program);
    for position in 0..bytes.len() {
        for value in [0, 1, 2, 0x7f, 0x80, 0xff] {
            let mut wrong = bytes.clone();
            wrong[position] = value;
            if message.decode(&wrong).is_ok() {
                // A message that was decoded can be written, unless a string has a NUL inside.
                let again = message.encode();
                assert!(again.is_ok() || again.unwrap_err().to_string().contains("NUL"));
            }
        }
    }
    message.decode(&bytes).unwrap();
    assert_eq!(message.encode().unwrap(), bytes);
}

#[test]
fn a_message_that_ends_early_is_refused_at_every_length() {
    for ty in [Type::Sample, Type::Blob] {
        for program in programs_of(ty) {
            ends_early(&program, ty);
        }
    }
}

#[test]
fn every_byte_may_be_any_other() {
    for ty in [Type::Sample, Type::Blob] {
        for program in programs_of(ty) {
            changes(&program, ty);
        }
    }
}

#[test]
fn other_encodings_are_refused() {
    for program in programs() {
        let mut bytes = sample_bytes(1);
        bytes[1] = 7; // XCDR2
        let error = Owned::new(&program).decode(&bytes).unwrap_err();
        assert!(error.to_string().contains("XCDR2"), "{error}");
    }
}

/// The start of a serialized `Sample` with empty strings, up to the count of a field.
fn body_before(field: &str) -> Vec<u8> {
    let mut bytes = vec![0, 1, 0, 0];
    let align = |bytes: &mut Vec<u8>, to: usize| {
        bytes.resize((bytes.len() - 4).next_multiple_of(to) + 4, 0);
    };
    bytes.resize(4 + 24, 0); // flag to big
    for (name, len) in [("text", 4), ("between", 2), ("bounded_text", 4), ("wide_text", 4)] {
        align(&mut bytes, len);
        if name == field {
            return bytes;
        }
        bytes.resize(bytes.len() + len, 0);
    }
    align(&mut bytes, 8);
    bytes.resize(bytes.len() + 24 + 2, 0); // numbers, flags
    align(&mut bytes, 4);
    bytes.resize(bytes.len() + 8, 0); // texts
    for _ in 0..2 {
        // padded: tag, number, flag, real, end
        for (to, len) in [(1, 1), (4, 4), (1, 1), (8, 8), (2, 2)] {
            align(&mut bytes, to);
            bytes.resize(bytes.len() + len, 0);
        }
    }
    align(&mut bytes, 8);
    bytes.resize(bytes.len() + 32, 0); // points
    for _ in 0..2 {
        // inners: flag, name, value, bytes
        for (to, len) in [(1, 1), (4, 4), (8, 8), (4, 4)] {
            align(&mut bytes, to);
            bytes.resize(bytes.len() + len, 0);
        }
    }
    for name in ["integers", "bits", "bounded_bytes", "text_sequence", "wide_text_sequence", "path"]
    {
        align(&mut bytes, 4);
        if name == field {
            return bytes;
        }
        bytes.resize(bytes.len() + 4, 0);
    }
    panic!("{field} is not among the fields that this function knows")
}

fn refused(program: &MessageProgram, field: &str, count: u32, more: &[u8]) -> DecodeError {
    let mut bytes = body_before(field);
    bytes.extend_from_slice(&count.to_le_bytes());
    bytes.extend_from_slice(more);
    Owned::new(program).decode(&bytes).unwrap_err()
}

#[test]
fn a_count_that_the_bytes_cannot_hold_is_refused_before_anything_is_resized() {
    for program in programs() {
        for field in ["integers", "bits", "bounded_bytes", "text_sequence", "path", "text"] {
            let error = refused(&program, field, u32::MAX, &[0; 64]);
            let DecodeError::CountTooLarge { field: named, count, .. } = &error else {
                panic!("{field}: {error}")
            };
            assert_eq!((named.name(), *count), (field, u32::MAX as usize));
        }
    }
}

#[test]
fn bounds_are_checked_and_named() {
    for program in programs() {
        let error = refused(&program, "bounded_bytes", 5, &[0; 64]);
        assert!(
            error.to_string().contains("field `bounded_bytes` of tables/msg/Sample at offset")
                && error.to_string().contains("has length 5, but its type allows at most 4"),
            "{error}"
        );
        let error = refused(&program, "bounded_text", 10, b"123456789\0 and more bytes of zeros");
        assert!(
            matches!(&error, DecodeError::BoundExceeded { field, len: 9, bound: 8, .. }
                if field.name() == "bounded_text"),
            "{error}"
        );
    }
}

#[test]
fn texts_must_end_with_nul_and_wide_texts_be_of_16_bits() {
    for program in programs() {
        let error = refused(&program, "text", 3, b"abc and more");
        assert!(
            matches!(&error, DecodeError::NotTerminated { field, len: 3, .. }
                if field.name() == "text"),
            "{error}"
        );
        let error = refused(&program, "wide_text", 1, &[0, 0, 1, 0, 0, 0, 0, 0]);
        assert!(
            matches!(&error, DecodeError::NotUtf16 { field, value: 0x1_0000, .. }
                if field.name() == "wide_text"),
            "{error}"
        );
    }
}

#[test]
fn any_byte_but_0_is_true() {
    for program in programs() {
        let mut bytes = sample_bytes(2);
        bytes[4] = 0xee; // flag
        let mut message = Owned::new(&program);
        message.decode(&bytes).unwrap();
        assert_eq!(message.encode().unwrap()[4], 1);
        // The `bool` in memory is 1 as well: any value but 0 and 1 would be undefined behaviour in
        // C++.
        // SAFETY: the flag is the first byte of the struct.
        assert_eq!(unsafe { message.as_ptr().cast::<u8>().read() }, 1);
    }
}

#[test]
fn texts_that_are_not_utf8_are_bytes() {
    for program in programs() {
        let dynamic = dynamic(Type::Sample);
        let mut bytes = dynamic.default_message().to_cdr().unwrap();
        let text = body_before("text").len();
        bytes.splice(text..text + 8, [4, 0, 0, 0, 0xff, 0xfe, 0x80, 0]);
        let mut message = Owned::new(&program);
        message.decode(&bytes).unwrap();
        assert_eq!(message.encode().unwrap()[text..text + 8], bytes[text..text + 8]);
    }
}
