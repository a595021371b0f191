//! Tests of the builder of every message. Tests include this file together with the implementations
//! of [`Rebuild`].

use std::cell::Cell;

use feros_message::{
    Build, BuildError, DecodeError, EncodeError, Message, SequenceMut, build, fields, from_bytes,
    shaped_size, to_vec,
};

/// A message for which an equal message can be built from its shape and fields.
pub(crate) trait Rebuild: Message {
    fn shape(&'static self) -> Self::Shape<'static>;
    fn fill(&self, fields: Self::Fields<'_>);
}

include!(concat!(env!("OUT_DIR"), "/rebuild.rs"));

/// Checks messages of one type.
pub(crate) struct Builder {
    pub(crate) name: &'static str,
    pub(crate) check: fn(&[u8]),
    pub(crate) check_hostile: fn(&[u8]),
}

/// A builder for each message.
pub(crate) fn builders() -> impl Iterator<Item = Builder> {
    include!(concat!(env!("OUT_DIR"), "/every_message.rs")).into_iter()
}

fn probe<M: Rebuild>() -> Builder {
    Builder { name: M::TYPE_NAME, check: check::<M>, check_hostile: check_hostile::<M> }
}

/// The two methods that give access to the elements of a [`SequenceMut`].
#[derive(Clone, Copy, Debug)]
enum Way {
    Borrow,
    Index,
    Take,
}

thread_local! {
    static WAY: Cell<Way> = const { Cell::new(Way::Take) };
}

fn fill_all<M: Rebuild>(messages: &[M], mut fields: SequenceMut<'_, M>) {
    assert_eq!((fields.len(), fields.is_empty()), (messages.len(), messages.is_empty()));
    assert!(fields.get_mut(messages.len()).is_none());
    match WAY.get() {
        Way::Borrow => fill_each(messages, fields.iter_mut()),
        Way::Index => messages
            .iter()
            .enumerate()
            .for_each(|(index, message)| message.fill(fields.get_mut(index).unwrap())),
        Way::Take => fill_each(messages, fields.into_iter()),
    }
}

fn fill_each<'a, M: Rebuild>(
    messages: &[M],
    mut fields: impl ExactSizeIterator<Item = M::Fields<'a>>,
) {
    assert_eq!(fields.len(), messages.len());
    messages.iter().for_each(|message| message.fill(fields.next().unwrap()));
    assert!(fields.next().is_none());
}

/// Returns memory of `len` bytes with arbitrary content. The address of its byte 4 is `excess`
/// bytes after a multiple of 8.
fn dirty(memory: &mut Vec<u8>, len: usize, excess: usize) -> &mut [u8] {
    *memory = vec![0xa5; len + 16];
    let start = memory[4..].as_ptr().align_offset(8) + excess;
    &mut memory[start..start + len]
}

/// Checks that building `sample` and the default message gives the same bytes as encoding them.
fn check<M: Rebuild>(sample: &[u8]) {
    let name = M::TYPE_NAME;
    let message: &'static M = Box::leak(Box::new(from_bytes(sample).unwrap()));
    let expected = to_vec(message).unwrap();
    let shape = message.shape();
    assert_eq!(shaped_size::<M>(&shape), Ok(expected.len()), "{name}");

    let mut memory = Vec::new();
    for way in [Way::Borrow, Way::Index, Way::Take] {
        WAY.set(way);
        let lent = dirty(&mut memory, expected.len() + 3, 0);
        message.fill(build::<M>(&shape, lent).unwrap());
        assert_eq!(lent[..expected.len()], expected, "{name}, {way:?}");
        assert_eq!(lent[expected.len()..], [0xa5; 3], "{name}: nothing beyond");
        assert!(from_bytes::<M>(lent).is_ok(), "{name}");
    }

    // Getting the fields again does not change anything.
    let lent = dirty(&mut memory, expected.len(), 0);
    drop(build::<M>(&shape, lent).unwrap());
    message.fill(fields::<M>(lent).unwrap());
    drop(fields::<M>(lent).unwrap());
    assert_eq!(lent, expected, "{name}");

    for excess in 1..8 {
        let lent = dirty(&mut memory, expected.len(), excess);
        let error = BuildError::Misaligned { excess_bytes: excess };
        assert_eq!(build::<M>(&shape, lent).unwrap_err(), error, "{name}");
        assert_eq!(fields::<M>(lent).unwrap_err(), error, "{name}");
    }
    let lent = dirty(&mut memory, expected.len() - 1, 0);
    let error = build::<M>(&shape, lent).unwrap_err();
    assert!(
        matches!(error, BuildError::Shape(EncodeError::BufferTooSmall { .. })),
        "{name}: {error}"
    );

    let expected = to_vec(&M::default()).unwrap();
    let lent = dirty(&mut memory, expected.len(), 0);
    build::<M>(&M::Shape::default(), lent).unwrap();
    assert_eq!(lent, expected, "{name}: the default");
}

/// Checks that the fields of arbitrary bytes are given out or refused without a panic, with the
/// same result as decoding. Bounds are not checked, because a length cannot be changed through
/// fields.
fn check_hostile<M: Message>(bytes: &[u8]) {
    let mut memory = Vec::new();
    let lent = dirty(&mut memory, bytes.len(), 0);
    lent.copy_from_slice(bytes);
    if fields::<M>(lent).is_ok() {
        let decoded = from_bytes::<M>(bytes);
        assert!(
            matches!(decoded, Ok(_) | Err(DecodeError::BoundExceeded { .. })),
            "{}: {decoded:?} for {bytes:02x?}",
            M::TYPE_NAME
        );
    }
}
