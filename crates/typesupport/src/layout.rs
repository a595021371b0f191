//! Messages whose struct is the body of their serialized form, so that they can be used in place.

use crate::program::{Array, Element, Op, Program, align_up};

/// The struct of a message whose serialized body has the same layout as the struct in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlainLayout {
    /// The bytes of the struct. Memory for a body that is used as a struct needs this many.
    pub size: usize,
    /// Alignment of the struct, and so of the body in memory: 1, 2, 4 or 8.
    pub align: usize,
    /// The bytes of the body, without the padding at the end of the struct.
    pub body_len: usize,
    /// Whether there are `bool`s, which may have any value in a received body: such a message may
    /// be written in place, but has to be decoded when it is received.
    pub has_bools: bool,
}

/// The layout of a message, if its struct is its body. `size` is the size of the struct.
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
