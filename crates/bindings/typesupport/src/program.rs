//! The compiled form of a type: a short list of steps that encoding, decoding and sizing follow.
//!
//! A run of fields with the same layout in the struct and in the body is one [`Block`], even across
//! nested messages and arrays. Each other step has the offset and the type of one field.

use std::ffi::c_void;

use crate::error::Field;
use crate::ffi;

/// The steps of a message, in the order of the body. Offsets count from the start of the struct.
#[derive(Debug, Default)]
pub(crate) struct Program {
    pub(crate) ops: Box<[Op]>,
}

#[derive(Debug)]
pub(crate) enum Op {
    Block(Block),
    Array(Array),
    Sequence(Sequence),
    /// A `uint8[]` that may be outside of the memory of the CPU: a `rosidl::Buffer` of a C++
    /// message, or a C sequence that may point to one. Its elements are blocks of one byte.
    Buffer(Sequence),
}

/// Primitives without padding between them, both in the struct and in the body.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) offset: usize,
    /// The alignment of the first byte in the body.
    pub(crate) align: usize,
    pub(crate) len: usize,
    pub(crate) parts: Vec<Part>,
    /// Whether any part consists of `bool`s, which may only be 0 or 1 in memory.
    pub(crate) bools: bool,
    /// The first field of the block, which errors name.
    pub(crate) field: Field,
}

/// Adjacent primitives of one width in a [`Block`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    /// The offset from the start of the block.
    pub(crate) start: usize,
    pub(crate) width: usize,
    pub(crate) count: usize,
    pub(crate) bools: bool,
}

/// A fixed number of elements, which lie within the struct. A single string counts as an array with
/// one element.
#[derive(Debug)]
pub(crate) struct Array {
    pub(crate) offset: usize,
    pub(crate) count: usize,
    pub(crate) element: Element,
    pub(crate) field: Field,
}

/// A variable number of elements, in memory outside the struct.
#[derive(Debug)]
pub(crate) struct Sequence {
    pub(crate) offset: usize,
    /// The maximum number of elements; `usize::MAX` if there is no bound.
    pub(crate) bound: usize,
    pub(crate) element: Element,
    /// The minimum size of an element in the body, in bytes; never 0.
    pub(crate) least: usize,
    pub(crate) accessors: Accessors,
    pub(crate) field: Field,
}

#[derive(Debug)]
pub(crate) enum Element {
    /// A number, or a struct that consists of one block. All elements are copied in one step.
    Block(Block),
    /// A `string`. The bound is `usize::MAX` for an unbounded string.
    Text { bound: usize },
    /// A `wstring`. The bound is `usize::MAX` for an unbounded string.
    WideText { bound: usize },
    /// Another message.
    Message {
        /// The distance from one element to the next, in bytes.
        stride: usize,
        program: Program,
    },
    /// The bits of `std::vector<bool>`.
    Bits,
}

/// The functions of a sequence. C++ messages need all of them; C messages need only `resize`. The
/// shim declares the same structure.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Accessors {
    pub(crate) size: unsafe extern "C" fn(*const c_void) -> usize,
    pub(crate) get_const: unsafe extern "C" fn(*const c_void, usize) -> *const c_void,
    pub(crate) get: unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void,
    pub(crate) resize: ffi::Resize,
}

impl Block {
    /// Adds primitives at the end of the block.
    pub(crate) fn push(&mut self, width: usize, count: usize, bools: bool) {
        self.bools |= bools;
        match self.parts.last_mut() {
            Some(last) if last.width == width && last.bools == bools => last.count += count,
            _ => self.parts.push(Part { start: self.len, width, count, bools }),
        }
        self.len += width * count;
    }

    /// The width of the block's primitives, if all have the same width and none is a `bool`.
    pub(crate) fn only_width(&self) -> Option<usize> {
        match self.parts[..] {
            [Part { width, bools: false, .. }] => Some(width),
            _ => None,
        }
    }
}

impl Program {
    /// The minimum size of a message in the body, in bytes, without padding.
    pub(crate) fn least(&self) -> usize {
        self.ops
            .iter()
            .map(|op| match op {
                Op::Block(block) => block.len,
                Op::Array(array) => array.count * array.element.least(),
                Op::Sequence(_) | Op::Buffer(_) => COUNT,
            })
            .sum()
    }
}

impl Program {
    /// Whether the message has no strings and no sequences, so that all messages of the type have
    /// the same structure.
    pub(crate) fn is_fixed(&self) -> bool {
        self.ops.iter().all(|op| match op {
            Op::Block(_) => true,
            Op::Array(Array { element, .. }) => match element {
                Element::Block(_) => true,
                Element::Message { program, .. } => program.is_fixed(),
                Element::Text { .. } | Element::WideText { .. } | Element::Bits => false,
            },
            Op::Sequence(_) | Op::Buffer(_) => false,
        })
    }
}

/// The size of the count of a string or sequence, in bytes.
pub(crate) const COUNT: usize = 4;

impl Element {
    /// The minimum size in the body, in bytes, without padding; never 0.
    pub(crate) fn least(&self) -> usize {
        match self {
            Self::Block(block) => block.len,
            Self::Text { .. } | Self::WideText { .. } => COUNT,
            Self::Message { program, .. } => program.least().max(1),
            Self::Bits => 1,
        }
    }
}

/// Rounds `position` up to a multiple of `align`, a power of two. Positions are indices into
/// slices, so the sum does not overflow.
#[inline]
pub(crate) const fn align_up(position: usize, align: usize) -> usize {
    (position + (align - 1)) & !(align - 1)
}
