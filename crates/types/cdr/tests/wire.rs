//! Tests the bytes of each field type, which must be the same as in stock ROS 2, and input that
//! must be refused.
#![allow(clippy::unwrap_used)]

use feros_cdr::{
    ByteOrder, Decode, DecodeError, Encode, EncodeError, Layout, PrimitiveSlice, Reader,
    SequenceView, Sizer, View, WString, WStringView, Writer, encode_into, from_bytes, to_vec,
    view_bytes,
};

/// Returns the body of a serialized value, without its header.
fn body(value: &impl Encode) -> Vec<u8> {
    let bytes = to_vec(value).unwrap();
    assert_eq!(bytes[..4], [0, 1, 0, 0]);
    bytes[4..].to_vec()
}

fn with_header(body: &[u8]) -> Vec<u8> {
    [&[0, 1, 0, 0], body].concat()
}

fn check<T: Encode + Decode + PartialEq + std::fmt::Debug>(value: &T, expected: &[u8]) {
    assert_eq!(body(value), expected);
    assert_eq!(&from_bytes::<T>(&with_header(expected)).unwrap(), value);
}

#[test]
fn strings_carry_their_terminator() {
    check(&String::new(), &[1, 0, 0, 0, 0]);
    check(&"hi".to_owned(), &[3, 0, 0, 0, b'h', b'i', 0]);
    check(&"é".to_owned(), &[3, 0, 0, 0, 0xc3, 0xa9, 0]);
}

#[test]
fn wstrings_carry_four_bytes_a_unit_and_no_terminator() {
    let units = [4, 0, 0, 0, 0x61, 0, 0, 0, 0xe9, 0, 0, 0, 0x3d, 0xd8, 0, 0, 0x00, 0xde, 0, 0];
    check(&WString::from("aé😀"), &units);
    check(&WString::new(), &[0; 4]);
    // An unpaired surrogate is not valid text, but it is received and sent unchanged.
    let lone = WString::from(vec![0xd83d, 0x61]);
    check(&lone, &[2, 0, 0, 0, 0x3d, 0xd8, 0, 0, 0x61, 0, 0, 0]);
    assert_eq!(
        (lone.to_string(), format!("{lone:?}")),
        ("\u{fffd}a".to_owned(), "\"\\u{d83d}a\"".to_owned())
    );
    assert!(lone.to_utf8().is_err());
    let bytes = to_vec(&lone).unwrap();
    let view: WStringView<'_> = view_bytes(&bytes).unwrap();
    assert_eq!(
        (view.len(), view.to_wstring(), format!("{view:?}")),
        (2, lone.clone(), format!("{lone:?}"))
    );
}

#[test]
fn an_empty_sequence_aligns_no_element() {
    check(&Vec::<f64>::new(), &[0; 4]);
    check(&vec![1u8], &[1, 0, 0, 0, 1]);
    check(&vec![true, false], &[2, 0, 0, 0, 1, 0]);
    check(&vec![0x0102_0304_0506_0708u64], &[1, 0, 0, 0, 0, 0, 0, 0, 8, 7, 6, 5, 4, 3, 2, 1]);
    check(&[0x0102u16, 0x0304], &[2, 1, 4, 3]);
    check(
        &vec![String::new(), "a".to_owned()],
        &[2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, b'a', 0],
    );
}

#[test]
fn padding_is_written_as_zero_into_dirty_memory() {
    let mut buffer = [0xff; 29];
    let mut writer = Writer::new(&mut buffer).unwrap();
    let mut sizer = Sizer::with_header();
    writer.write(1u8).unwrap();
    sizer.add::<u8>();
    writer.write(2u32).unwrap();
    sizer.add::<u32>();
    writer.write(3u8).unwrap();
    sizer.add::<u8>();
    writer.write(4u64).unwrap();
    sizer.add::<u64>();
    assert_eq!((writer.written_bytes(), sizer.total_bytes()), (28, 28));
    let body = [1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!((&buffer[4..28], buffer[28]), (&body[..], 0xff));
}

#[test]
fn bytes_that_were_not_filled_are_not_written() {
    let mut buffer = [0xAA_u8; 4 + 12];
    let mut writer = Writer::new(&mut buffer).unwrap();
    writer.write(1_u8).unwrap();
    let refused = writer.write_if(8, |memory| {
        memory.fill(7);
        false
    });
    assert_eq!(refused, Ok(false));
    assert_eq!(writer.position(), 1);
    let filled = writer.write_if(2, |memory| {
        memory.copy_from_slice(&[2, 3]);
        true
    });
    assert_eq!(filled, Ok(true));
    writer.write(4_u32).unwrap();
    assert!(writer.write_if(5, |_| true).is_err());
    assert_eq!(writer.position(), 8);
    assert_eq!(buffer[4..12], [1, 2, 3, 0, 4, 0, 0, 0]);
}

#[test]
fn both_byte_orders_are_read() {
    let values = vec![1.5f32, -2.0, f32::INFINITY];
    let mut big = vec![0; feros_cdr::encoded_size(&values)];
    values.encode(&mut Writer::with_byte_order(&mut big, ByteOrder::Big).unwrap()).unwrap();
    assert_eq!(big[..8], [0, 0, 0, 0, 0, 0, 0, 3]);
    assert_eq!(from_bytes::<Vec<f32>>(&big).unwrap(), values);
    let slice: PrimitiveSlice<'_, f32> = Reader::new(&big).unwrap().read_sequence().unwrap();
    assert_eq!(
        (slice.as_slice(), slice.to_vec(), slice.get(1), slice.get(3)),
        (None, values.clone(), Some(-2.0), None)
    );
    assert_eq!(slice.to_array(), Some([1.5, -2.0, f32::INFINITY]));
    assert_eq!(slice.to_array::<2>(), None);
    assert_eq!(slice, values[..]);
}

#[test]
fn slices_are_borrowed_where_memory_is_aligned() {
    let bytes = to_vec(&vec![1u32, 2, 3]).unwrap();
    // No matter where the allocator placed the memory, the elements are aligned in exactly one of
    // the four shifted copies.
    let mut memory = vec![0; bytes.len() + 4];
    let borrowed = (0..4).filter(|&shift| {
        let place = &mut memory[shift..shift + bytes.len()];
        place.copy_from_slice(&bytes);
        let slice: PrimitiveSlice<'_, u32> = Reader::new(place).unwrap().read_sequence().unwrap();
        assert_eq!(slice.to_vec(), [1, 2, 3]);
        assert!(slice.as_slice().is_none_or(|slice| slice == [1, 2, 3]));
        slice.as_slice().is_some()
    });
    assert_eq!(borrowed.count(), 1);
}

#[test]
fn a_bool_is_true_for_any_byte_but_zero() {
    let bytes = with_header(&[3, 0, 0, 0, 0, 1, 0xff]);
    assert_eq!(from_bytes::<Vec<bool>>(&bytes).unwrap(), [false, true, true]);
    let slice: PrimitiveSlice<'_, bool> = Reader::new(&bytes).unwrap().read_sequence().unwrap();
    assert_eq!((slice.as_slice(), slice.get(2)), (None, Some(true)));
    let clean = with_header(&[2, 0, 0, 0, 0, 1]);
    let slice: PrimitiveSlice<'_, bool> = Reader::new(&clean).unwrap().read_sequence().unwrap();
    assert_eq!(slice.as_slice(), Some(&[false, true][..]));
}

#[test]
fn decoding_errors_contain_the_numbers() {
    let error = |bytes: &[u8]| from_bytes::<String>(bytes).unwrap_err();
    assert_eq!(error(&[0, 1]), DecodeError::NoHeader { len: 2 });
    assert!(error(&[0, 3, 0, 0]).to_string().contains("PL_CDR_LE"));
    assert_eq!(
        error(&with_header(&[1, 0])),
        DecodeError::Truncated { offset: 0, what: "uint32", needed: 4, remaining: 2 }
    );
    assert_eq!(
        error(&with_header(&[0xff, 0xff, 0xff, 0xff, 0])),
        DecodeError::CountTooLarge {
            offset: 4,
            count: 0xffff_ffff,
            element_bytes: 1,
            remaining: 1
        }
    );
    assert_eq!(
        error(&with_header(&[2, 0, 0, 0, b'a', b'b'])),
        DecodeError::NotTerminated { offset: 4, len: 2 }
    );
    assert_eq!(
        error(&with_header(&[3, 0, 0, 0, b'a', 0xff, 0])),
        DecodeError::NotUtf8 { offset: 4, len: 2, valid_up_to: 1 }
    );
    assert_eq!(
        from_bytes::<WString>(&with_header(&[1, 0, 0, 0, 0, 0, 1, 0])).unwrap_err(),
        DecodeError::NotUtf16 { offset: 4, value: 0x1_0000 }
    );
    // A length of zero also means the empty string, and bytes after the end are ignored.
    assert_eq!(from_bytes::<String>(&with_header(&[0, 0, 0, 0, 9, 9])).unwrap(), "");
}

#[test]
fn values_that_peers_would_misread_are_not_written() {
    assert_eq!(to_vec(&"a\0b".to_owned()), Err(EncodeError::InteriorNul { position: 1 }));
    let mut small = [0; 10];
    let error = encode_into(&"hello".to_owned(), &mut small).unwrap_err();
    assert_eq!(error, EncodeError::BufferTooSmall { needed: 14, capacity: 10 });
    assert_eq!(
        encode_into(&1u8, &mut [0; 3]).unwrap_err(),
        EncodeError::BufferTooSmall { needed: 4, capacity: 3 }
    );
}

#[test]
fn sequences_of_strings_are_viewed_lazily() {
    let texts = vec!["a".to_owned(), String::new(), "hello".to_owned()];
    let bytes = to_vec(&texts).unwrap();
    let view: SequenceView<'_, &str> =
        SequenceView::read_sequence(&mut Reader::new(&bytes).unwrap()).unwrap();
    assert_eq!((view.len(), view.iter().len()), (3, 3));
    assert_eq!(view.iter().collect::<Vec<_>>(), texts);
    assert_eq!((view.get(2), view.get(3)), (Some("hello"), None));
    // One bad element makes the whole sequence invalid, so an iteration never reaches that element.
    let mut bad = bytes.clone();
    *bad.last_mut().unwrap() = b'!';
    assert!(SequenceView::<&str>::read_sequence(&mut Reader::new(&bad).unwrap()).is_err());
}

/// A struct of two numbers, in the form in which the generator would write it.
#[derive(Debug, Clone, Default, PartialEq)]
struct Pair(u32, u16);

impl Encode for Pair {
    const LAYOUT: Option<Layout> = Layout::of_struct(&[u32::LAYOUT, u16::LAYOUT]);
    fn size(&self, sizer: &mut Sizer) {
        self.0.size(sizer);
        self.1.size(sizer);
    }
    fn encode(&self, writer: &mut Writer<'_>) -> Result<(), EncodeError> {
        self.0.encode(writer)?;
        self.1.encode(writer)
    }
}

impl Decode for Pair {
    const MIN_SIZE: usize = 6;
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self(reader.read()?, reader.read()?))
    }
}

impl<'a> View<'a> for Pair {
    const LAYOUT: Option<Layout> = <Self as Encode>::LAYOUT;
    const MIN_SIZE: usize = 6;
    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Self::decode(reader)
    }
}

/// A `Pair` has six bytes and an alignment of four, so there is padding between two values, but not
/// after the last one.
#[test]
fn elements_that_need_padding_between_them_are_walked() {
    let pairs = vec![Pair(1, 2), Pair(3, 4)];
    check(&pairs, &[2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0]);
    let bytes = to_vec(&pairs).unwrap();
    let view: SequenceView<'_, Pair> =
        SequenceView::read_sequence(&mut Reader::new(&bytes).unwrap()).unwrap();
    assert_eq!(view.get(1), Some(Pair(3, 4)));
    assert_eq!(view.into_iter().collect::<Vec<_>>(), pairs);
}

#[test]
fn layouts_exist_only_without_padding() {
    let (byte, word, long) = (u8::LAYOUT, u32::LAYOUT, f64::LAYOUT);
    assert_eq!(Layout::of_struct(&[word, word]).map(|l| (l.size(), l.align())), Some((8, 4)));
    assert_eq!(Layout::of_struct(&[long, word]).map(|l| (l.size(), l.align())), Some((12, 8)));
    assert_eq!(Layout::repeated(Layout::of_struct(&[long, word]), 2), None);
    assert_eq!(Layout::of_struct(&[word, long]), None);
    assert_eq!(Layout::of_struct(&[word, byte, word]), None);
    assert_eq!(Layout::of_struct(&[word, None]), None);
    assert_eq!(Layout::of_struct(&[]), None);
    assert_eq!(Layout::repeated(word, usize::MAX), None);
    assert_eq!(<[f64; 36]>::LAYOUT.map(|l| (l.size(), l.align())), Some((288, 8)));
}
