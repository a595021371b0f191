//! One type that represents all generated messages, so that tests can loop over them.

use feros_message::cdr::{ByteOrder, Writer};
use feros_message::{DecodeError, Message, encode_into, encoded_size, from_bytes, to_vec, view};

/// One message type. Values are compared by their `Debug` output, in which NaN equals NaN.
#[derive(Clone, Copy)]
pub(crate) struct Probe {
    pub(crate) name: &'static str,
    pub(crate) default: fn() -> String,
    pub(crate) decode: fn(&[u8]) -> Result<String, DecodeError>,
    pub(crate) view: fn(&[u8]) -> Result<String, DecodeError>,
    /// Decodes a value and encodes it again, in the given byte order, into memory with arbitrary
    /// content.
    pub(crate) encode: fn(&[u8], ByteOrder) -> Vec<u8>,
}

pub(crate) fn messages() -> impl Iterator<Item = Probe> {
    include!(concat!(env!("OUT_DIR"), "/every_message.rs")).into_iter()
}

fn probe<M: Message>() -> Probe {
    Probe {
        name: M::TYPE_NAME,
        default: || format!("{:?}", M::default()),
        decode: |bytes| from_bytes::<M>(bytes).map(|value| format!("{value:?}")),
        // The `Debug` form of a view starts with another name. For example, it starts with
        // ImageView where an owned value has Image.
        view: |bytes| view::<M>(bytes).map(|value| format!("{value:?}").replace("View {", " {")),
        encode: |bytes, order| {
            let value: M = from_bytes(bytes).unwrap();
            let mut buffer = vec![0xaa; encoded_size(&value)];
            let mut writer = Writer::with_byte_order(&mut buffer, order).unwrap();
            value.encode(&mut writer).unwrap();
            assert_eq!(writer.written_bytes(), buffer.len(), "{}: the size is exact", M::TYPE_NAME);
            if order == ByteOrder::Little {
                assert_eq!(to_vec(&value).unwrap(), buffer);
                let mut large = vec![0x55; buffer.len() + 3];
                assert_eq!(encode_into(&value, &mut large), Ok(buffer.len()));
                assert_eq!(large[buffer.len()..], [0x55; 3], "{}: nothing beyond", M::TYPE_NAME);
            }
            buffer
        },
    }
}
