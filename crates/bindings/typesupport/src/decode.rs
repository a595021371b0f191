//! Fills a message from arbitrary bytes, by the steps of a program.
//!
//! Each count is compared with the number of remaining bytes before anything is resized. After each
//! step, even after a failed step, the message can be finalized.

use feros_cdr::{ByteOrder, HEADER_LEN, Reader};

use crate::encode::{copy, only_bools};
use crate::error::{DecodeError, Field};
use crate::memory::{BufferFault, Memory};
use crate::program::{Block, COUNT, Element, Op, Program, Sequence, align_up};
use crate::shim;

/// Fills a message from a sample with its header. Bytes after the message are ignored.
///
/// # Safety
/// `message` is an initialized message of the type and language for which the program was compiled,
/// and nobody else accesses it during the call.
pub(crate) unsafe fn read<M: Memory>(
    program: &Program,
    bytes: &[u8],
    message: *mut u8,
) -> Result<(), DecodeError> {
    Reader::new(bytes)?;
    let order = if bytes[1] == 0 { ByteOrder::Big } else { ByteOrder::Little };
    let body = &bytes[HEADER_LEN..];
    let mut source = Source { body, position: 0, swap: order != ByteOrder::NATIVE };
    // SAFETY: by this function's contract.
    unsafe { fields::<M>(program, message, &mut source) }
}

/// # Safety
/// The contract of [`read`].
unsafe fn fields<M: Memory>(
    program: &Program,
    message: *mut u8,
    source: &mut Source<'_>,
) -> Result<(), DecodeError> {
    for op in &program.ops {
        // SAFETY: by this function's contract; offsets of a program lie within its message.
        unsafe {
            match op {
                Op::Block(block) => {
                    let bytes = source.take(block.align, block.len, &block.field)?;
                    source.fill(block, bytes, message.add(block.offset));
                }
                Op::Array(array) => {
                    let at = message.add(array.offset);
                    elements::<M>(&array.element, at, array.count, &array.field, source)?;
                }
                Op::Sequence(sequence) => {
                    self::sequence::<M>(sequence, message.add(sequence.offset), source)?;
                }
                Op::Buffer(buffer) => {
                    self::buffer::<M>(buffer, message.add(buffer.offset), source)?;
                }
            }
        }
    }
    Ok(())
}

/// # Safety
/// The contract of [`read`]; `at` points to the sequence.
unsafe fn sequence<M: Memory>(
    sequence: &Sequence,
    at: *mut u8,
    source: &mut Source<'_>,
) -> Result<(), DecodeError> {
    let Sequence { accessors, element, field, .. } = sequence;
    let count = source.count(sequence.least, sequence.bound, field)?;
    let no_memory = || DecodeError::OutOfMemory { field: field.clone(), count };
    match element {
        Element::Bits => {
            let bytes = source.take(1, count, field)?;
            // SAFETY: by this function's contract.
            let done = unsafe { shim::feros_bits_assign(at.cast(), bytes.as_ptr(), count) };
            return done.then_some(()).ok_or_else(no_memory);
        }
        Element::Block(block) if count > 0 => {
            let bytes = source.take(block.align, block.len.saturating_mul(count), field)?;
            if !source.swap {
                // SAFETY: by this function's contract.
                match unsafe { M::replace(at, block, bytes, count) } {
                    Some(true) => return Ok(()),
                    Some(false) => return Err(no_memory()),
                    None => {}
                }
            }
            // SAFETY: by this function's contract.
            let data = unsafe { M::resize(at, accessors, count) }.ok_or_else(no_memory)?;
            // SAFETY: the sequence now has `count` elements.
            unsafe { source.fill(block, bytes, data) };
            return Ok(());
        }
        _ => {}
    }
    // SAFETY: by this function's contract.
    let data = unsafe { M::resize(at, accessors, count) }.ok_or_else(no_memory)?;
    if count == 0 {
        return Ok(());
    }
    // SAFETY: the sequence now has `count` elements.
    unsafe { elements::<M>(element, data, count, field, source) }
}

/// # Safety
/// The contract of [`read`]; `at` points to the buffer.
unsafe fn buffer<M: Memory>(
    buffer: &Sequence,
    at: *mut u8,
    source: &mut Source<'_>,
) -> Result<(), DecodeError> {
    let Sequence { accessors, field, .. } = buffer;
    let count = source.count(buffer.least, buffer.bound, field)?;
    let bytes = source.take(1, count, field)?;
    // SAFETY: by this function's contract.
    let data = unsafe { M::resize_buffer(at, accessors, count) }.map_err(|fault| match fault {
        BufferFault::NoMemory => DecodeError::OutOfMemory { field: field.clone(), count },
        BufferFault::NotOnCpu(said) => DecodeError::NotOnCpu { field: field.clone(), said },
    })?;
    // SAFETY: the buffer now has `count` bytes.
    unsafe { copy(bytes.as_ptr(), data, bytes.len()) };
    Ok(())
}

/// # Safety
/// The contract of [`read`]; `at` points to the first of `count` elements.
unsafe fn elements<M: Memory>(
    element: &Element,
    at: *mut u8,
    count: usize,
    field: &Field,
    source: &mut Source<'_>,
) -> Result<(), DecodeError> {
    match element {
        Element::Block(block) => {
            let bytes = source.take(block.align, block.len.saturating_mul(count), field)?;
            // SAFETY: by this function's contract.
            unsafe { source.fill(block, bytes, at) };
        }
        Element::Text { bound } => {
            let stride = M::text_size();
            for index in 0..count {
                let text = source.text(*bound, field)?;
                // SAFETY: by this function's contract.
                if !unsafe { M::set_text(at.add(index * stride), text) } {
                    return Err(DecodeError::OutOfMemory {
                        field: field.clone(),
                        count: text.len(),
                    });
                }
            }
        }
        Element::WideText { bound } => {
            let stride = M::wide_text_size();
            for index in 0..count {
                // SAFETY: by this function's contract.
                unsafe { wide_text::<M>(at.add(index * stride), *bound, field, source) }?;
            }
        }
        Element::Message { stride, program } => {
            for index in 0..count {
                // SAFETY: by this function's contract.
                unsafe { fields::<M>(program, at.add(index * stride), source) }?;
            }
        }
        Element::Bits => unreachable!("only sequences have bits"),
    }
    Ok(())
}

/// # Safety
/// The contract of [`read`]; `at` points to the `wstring`.
unsafe fn wide_text<M: Memory>(
    at: *mut u8,
    bound: usize,
    field: &Field,
    source: &mut Source<'_>,
) -> Result<(), DecodeError> {
    const UNIT: usize = size_of::<u32>();
    let len = source.count(UNIT, bound, field)?;
    let offset = source.position;
    let bytes = source.take(1, len.saturating_mul(UNIT), field)?;
    let swap = source.swap;
    let units = bytes.chunks_exact(UNIT).map(|unit| {
        let value = u32::from_ne_bytes([unit[0], unit[1], unit[2], unit[3]]);
        if swap { value.swap_bytes() } else { value }
    });
    if let Some(value) = units.clone().find(|&value| value > u32::from(u16::MAX)) {
        return Err(DecodeError::NotUtf16 { field: field.clone(), offset, value });
    }
    // SAFETY: by this function's contract.
    let Some(to) = (unsafe { M::resize_wide_text(at, len) }) else {
        return Err(DecodeError::OutOfMemory { field: field.clone(), count: len });
    };
    for (index, value) in units.enumerate() {
        // SAFETY: there is room for `len` units. The upper half of each value is 0, as checked
        // above.
        unsafe { to.add(index).write(value as u16) };
    }
    Ok(())
}

/// The bytes of a body, and the position up to which they have been read.
struct Source<'a> {
    body: &'a [u8],
    position: usize,
    /// Whether the byte order of the numbers differs from this machine's.
    swap: bool,
}

impl<'a> Source<'a> {
    fn remaining(&self) -> usize {
        self.body.len().saturating_sub(self.position)
    }

    /// Takes the next `len` bytes at this alignment.
    #[inline]
    fn take(&mut self, align: usize, len: usize, field: &Field) -> Result<&'a [u8], DecodeError> {
        let start = align_up(self.position, align);
        let end = start.saturating_add(len);
        let Some(bytes) = self.body.get(start..end) else {
            return Err(self.truncated(start, len, field));
        };
        self.position = end;
        Ok(bytes)
    }

    #[cold]
    fn truncated(&self, offset: usize, needed: usize, field: &Field) -> DecodeError {
        let remaining = self.body.len().saturating_sub(offset);
        DecodeError::Truncated { field: field.clone(), offset, needed, remaining }
    }

    /// Reads a count of elements. Checks that this many elements of at least `least` bytes fit into
    /// the remaining bytes, and that the count does not exceed the bound.
    #[inline]
    fn count(&mut self, least: usize, bound: usize, field: &Field) -> Result<usize, DecodeError> {
        let bytes = self.take(COUNT, COUNT, field)?;
        let count = u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let count = if self.swap { count.swap_bytes() } else { count } as usize;
        let (offset, remaining) = (self.position, self.remaining());
        if count > remaining / least {
            let field = field.clone();
            let element_bytes = least;
            return Err(DecodeError::CountTooLarge {
                field,
                offset,
                count,
                element_bytes,
                remaining,
            });
        }
        within(count, bound, offset, field)?;
        Ok(count)
    }

    /// Reads the characters of a string, without the NUL.
    #[inline]
    fn text(&mut self, bound: usize, field: &Field) -> Result<&'a [u8], DecodeError> {
        let len = self.count(1, usize::MAX, field)?;
        let offset = self.position;
        let bytes = self.take(1, len, field)?;
        match bytes.split_last() {
            None => Ok(&[]),
            Some((&0, text)) => {
                within(text.len(), bound, offset, field)?;
                Ok(text)
            }
            Some(_) => Err(DecodeError::NotTerminated { field: field.clone(), offset, len }),
        }
    }

    /// Copies `bytes`, which are one or more whole blocks, to `to`.
    ///
    /// # Safety
    /// `to` points to `bytes.len()` bytes of fields with the block's types.
    #[inline]
    unsafe fn fill(&self, block: &Block, bytes: &[u8], to: *mut u8) {
        // SAFETY: by this function's contract.
        unsafe { copy(bytes.as_ptr(), to, bytes.len()) };
        if self.swap || block.bools {
            // SAFETY: by this function's contract; the bytes were written above.
            self.mend(block, unsafe { std::slice::from_raw_parts_mut(to, bytes.len()) });
        }
    }

    /// Converts copied blocks: numbers to the byte order of this machine, `bool`s to 0 or 1.
    #[cold]
    fn mend(&self, block: &Block, copied: &mut [u8]) {
        if block.bools {
            only_bools(block, copied);
        }
        if !self.swap {
            return;
        }
        for one in copied.chunks_exact_mut(block.len) {
            for part in block.parts.iter().filter(|part| part.width > 1) {
                let end = part.start + part.width * part.count;
                for number in one[part.start..end].chunks_exact_mut(part.width) {
                    number.reverse();
                }
            }
        }
    }
}

#[inline]
fn within(len: usize, bound: usize, offset: usize, field: &Field) -> Result<(), DecodeError> {
    if len > bound {
        return Err(DecodeError::BoundExceeded { field: field.clone(), offset, len, bound });
    }
    Ok(())
}
