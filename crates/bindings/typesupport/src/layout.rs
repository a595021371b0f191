//! Recognizes the types whose struct has the same layout as the body of the serialized message, so
//! that messages can be used without a conversion.

use crate::program::{Array, Element, Op, Program, align_up};

/// The struct of a message whose serialized body has the same layout as the struct in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlainLayout {
    /// The size of the struct, in bytes. If a body is used as a struct, its memory must have this
    /// size.
    pub size: usize,
    /// The alignment of the struct, and therefore of the body in memory: 1, 2, 4 or 8.
    pub align: usize,
    /// The size of the body, in bytes, without the padding at the end of the struct.
    pub body_len: usize,
    /// Whether there are `bool`s. A message with `bool`s can be built in place, but must be decoded
    /// when it is received, since the received `bool`s may have any value.
    pub has_bools: bool,
}

/// The layout of a message, if its struct and its body have the same layout. `size` is the size of
/// the struct.
pub(crate) fn plain(program: &Program, size: usize) -> Option<PlainLayout> {
    let mut layout = PlainLayout { size, align: 1, body_len: 0, has_bools: false };
    for op in &program.ops {
        let (block, offset, count) = match op {
            Op::Block(block) => (block, block.offset, 1),
            Op::Array(Array { element: Element::Block(block), offset, count, .. }) => {
                (block, *offset, *count)
            }
            _ => return None,
        };
        if align_up(layout.body_len, block.align) != offset {
            return None;
        }
        layout.body_len = offset + block.len * count;
        layout.has_bools |= block.bools;
        layout.align = block.parts.iter().map(|part| part.width).fold(layout.align, usize::max);
    }
    Some(layout)
}
