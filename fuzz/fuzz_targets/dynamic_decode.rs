//! Decodes any bytes as a sample of each shipped message type: the bytes are refused, or decode to
//! a message that encodes to bytes with the same meaning.

use std::sync::LazyLock;

use feros_interface::shipped;
use feros_message::cdr::ByteOrder;
use feros_message::dynamic::{DynamicMessage, DynamicType, PrintOptions};

static TYPES: LazyLock<Vec<DynamicType>> = LazyLock::new(|| {
    let resolve = |name| DynamicType::resolve(shipped(), name).expect("shipped types are complete");
    shipped().messages().map(|message| resolve(&message.name)).collect()
});

/// Runs one input: two bytes choose the type, one byte chooses the way of printing, and the rest is
/// the sample.
pub(crate) fn run(data: &[u8]) {
    let Some((&[low, high, print], sample)) = data.split_first_chunk() else { return };
    let ty = &TYPES[usize::from(u16::from_le_bytes([low, high])) % TYPES.len()];
    let Ok(message) = ty.decode(sample) else { return };
    let bytes = match message.to_cdr() {
        Ok(bytes) => bytes,
        // A string that contains a NUL is received, so that it can be shown, but not sent: C and
        // C++ programs would truncate it.
        Err(error) => return assert!(error.to_string().contains("NUL"), "{error}"),
    };
    // The bytes are compared, because a message with a NaN is not equal to itself.
    let again = ty.decode(&bytes).expect("an encoded message can be decoded");
    assert_eq!(again.to_cdr().expect("as above"), bytes);
    let big_endian = message.to_cdr_in(ByteOrder::Big).expect("as above");
    assert_eq!(ty.decode(&big_endian).expect("as above").to_cdr().expect("as above"), bytes);

    let options = PrintOptions {
        truncate_length: (print & 1 != 0).then_some(usize::from(print >> 4)),
        no_arr: print & 2 != 0,
        no_str: print & 4 != 0,
        flow_style: print & 8 != 0,
    };
    let (yaml, json) = (message.to_yaml(&options), message.to_json(&options));
    if options == (PrintOptions { flow_style: options.flow_style, ..PrintOptions::default() }) {
        let json_of = |message: DynamicMessage| message.to_json(&options);
        let from_yaml =
            DynamicMessage::from_yaml(ty, &yaml).unwrap_or_else(|error| panic!("{error}\n{yaml}"));
        assert_eq!(json_of(from_yaml), json);
        let from_json =
            DynamicMessage::from_json(ty, &json).unwrap_or_else(|error| panic!("{error}\n{json}"));
        assert_eq!(json_of(from_json), json);
    }
}
