//! Makes random serialized samples of any type from the parsed interfaces. This code is independent
//! of the code under test.

use feros_interface::{
    BaseType, EMPTY_MESSAGE_FIELD, FieldType, InterfaceSet, Shape, TypeName, shipped,
};
use feros_message::cdr::ByteOrder;

/// Returns a sample of `name`. Its content depends only on `seed`, so the value is the same in
/// either byte order. Padding is zero.
#[allow(dead_code)] // Other tests include this file and call only `sample_of`.
pub(crate) fn sample(name: &str, seed: u64, order: ByteOrder) -> Vec<u8> {
    sample_of(shipped(), name, seed, order)
}

/// Like [`sample`], for a type of any set.
pub(crate) fn sample_of(set: &InterfaceSet, name: &str, seed: u64, order: ByteOrder) -> Vec<u8> {
    let mut writer = SampleWriter { set, body: Vec::new(), order, state: seed | 1 };
    writer.message(&name.parse().unwrap());
    let mut bytes = order.header().to_vec();
    bytes.extend(writer.body);
    bytes
}

struct SampleWriter<'a> {
    set: &'a InterfaceSet,
    body: Vec<u8>,
    order: ByteOrder,
    state: u64,
}

impl SampleWriter<'_> {
    fn message(&mut self, name: &TypeName) {
        for field in self.set.message(name).unwrap().wire_fields().iter() {
            if field.name == EMPTY_MESSAGE_FIELD {
                self.number(1, 0);
            } else {
                self.field(&field.ty);
            }
        }
    }

    fn field(&mut self, ty: &FieldType) {
        let count = match ty.shape {
            Shape::Single => 1,
            Shape::Array(len) => u64::from(len),
            Shape::BoundedSequence(bound) => self.count(u64::from(bound).min(4)),
            Shape::Sequence => self.count(4),
        };
        for _ in 0..count {
            self.element(&ty.base);
        }
    }

    fn element(&mut self, base: &BaseType) {
        let bits = self.random();
        match base {
            BaseType::Bool => self.number(1, bits & 1),
            BaseType::Byte | BaseType::Char | BaseType::Int8 | BaseType::Uint8 => {
                self.number(1, bits)
            }
            BaseType::Int16 | BaseType::Uint16 => self.number(2, bits),
            BaseType::Int32 | BaseType::Uint32 | BaseType::Float32 => self.number(4, bits),
            BaseType::Int64 | BaseType::Uint64 | BaseType::Float64 => self.number(8, bits),
            BaseType::String { bound } => self.string(bound.map_or(12, |bound| bound.min(12))),
            BaseType::WString { bound } => {
                let len = self.count(u64::from(bound.map_or(6, |bound| bound.min(6))));
                for _ in 0..len {
                    // Surrogates without a partner may occur.
                    let unit = self.random() & 0xffff;
                    self.number(4, unit);
                }
            }
            BaseType::Nested(name) => self.message(name),
        }
    }

    fn string(&mut self, bound: u32) {
        let mut text = String::new();
        for _ in 0..self.random() % 5 {
            let char = ['a', '"', '\\', '\n', 'é', '語', '😀'][self.random() as usize % 7];
            if text.len() + char.len_utf8() <= bound as usize {
                text.push(char);
            }
        }
        self.number(4, text.len() as u64 + 1);
        self.body.extend(text.as_bytes());
        self.body.push(0);
    }

    fn count(&mut self, most: u64) -> u64 {
        let count = self.random() % (most + 1);
        self.number(4, count);
        count
    }

    fn number(&mut self, size: usize, bits: u64) {
        while !self.body.len().is_multiple_of(size) {
            self.body.push(0);
        }
        match self.order {
            ByteOrder::Little => self.body.extend(&bits.to_le_bytes()[..size]),
            ByteOrder::Big => self.body.extend(&bits.to_be_bytes()[8 - size..]),
        }
    }

    /// Returns the next number of the generator SplitMix64.
    fn random(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }
}
