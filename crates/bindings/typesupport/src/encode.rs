//! Serializes a message, or computes its serialized size, by the steps of a program.

use crate::error::{EncodeError, Field};
use crate::memory::{BufferFault, Memory};
use crate::program::{Block, COUNT, Element, Op, Part, Program, Sequence, align_up};
use crate::shim;

/// The size of the serialized body, in bytes.
///
/// # Safety
/// `message` is an initialized message of the type and language for which the program was compiled,
/// and nobody changes it during the call.
pub(crate) unsafe fn size<M: Memory>(
    program: &Program,
    message: *const u8,
) -> Result<usize, EncodeError> {
    let mut sizer = Sizer { position: 0 };
    // SAFETY: by this function's contract.
    unsafe { fields::<M, _>(program, message, &mut sizer) }?;
    Ok(sizer.position)
}

/// Writes the body to the start of `out`, and returns the number of bytes.
///
/// # Safety
/// The contract of [`size`].
pub(crate) unsafe fn write<M: Memory>(
    program: &Program,
    message: *const u8,
    out: &mut [u8],
) -> Result<usize, EncodeError> {
    let mut writer = Writer { out, position: 0 };
    // SAFETY: by this function's contract.
    unsafe { fields::<M, _>(program, message, &mut writer) }?;
    Ok(writer.position)
}

/// Receives the values of a message one after the other: either counts their bytes or writes them.
///
/// # Safety of the functions
/// Each pointer points to as many initialized values as the arguments say.
trait Sink {
    unsafe fn blocks(
        &mut self,
        block: &Block,
        from: *const u8,
        count: usize,
    ) -> Result<(), EncodeError>;
    fn count(&mut self, count: u32) -> Result<(), EncodeError>;
    unsafe fn text(
        &mut self,
        from: *const u8,
        len: usize,
        field: &Field,
    ) -> Result<(), EncodeError>;
    unsafe fn units(&mut self, from: *const u16, len: usize) -> Result<(), EncodeError>;
    unsafe fn bits(&mut self, from: *const u8, count: usize) -> Result<(), EncodeError>;
}

/// # Safety
/// The contract of [`size`].
unsafe fn fields<M: Memory, S: Sink>(
    program: &Program,
    message: *const u8,
    sink: &mut S,
) -> Result<(), EncodeError> {
    for op in &program.ops {
        // SAFETY: by this function's contract; offsets of a program lie within its message.
        unsafe {
            match op {
                Op::Block(block) => sink.blocks(block, message.add(block.offset), 1)?,
                Op::Array(array) => {
                    let at = message.add(array.offset);
                    elements::<M, S>(&array.element, at, array.count, &array.field, sink)?;
                }
                Op::Sequence(sequence) => {
                    self::sequence::<M, S>(sequence, message.add(sequence.offset), sink)?;
                }
                Op::Buffer(buffer) => {
                    self::buffer::<M, S>(buffer, message.add(buffer.offset), sink)?;
                }
            }
        }
    }
    Ok(())
}

/// # Safety
/// The contract of [`size`]; `at` points to the sequence.
unsafe fn sequence<M: Memory, S: Sink>(
    sequence: &Sequence,
    at: *const u8,
    sink: &mut S,
) -> Result<(), EncodeError> {
    let Sequence { accessors, element, field, .. } = sequence;
    if let Element::Bits = element {
        // SAFETY: by this function's contract.
        let count = unsafe { (accessors.size)(at.cast()) };
        sink.count(length(count, sequence.bound, field)?)?;
        // SAFETY: the sequence has `count` bits.
        return unsafe { sink.bits(at, count) };
    }
    // SAFETY: by this function's contract.
    let (data, count) = unsafe { M::sequence(at, accessors) };
    // SAFETY: by this function's contract, `data` has `count` elements.
    unsafe { counted::<M, S>(sequence, data, count, sink) }
}

/// # Safety
/// The contract of [`size`]; `at` points to the buffer.
unsafe fn buffer<M: Memory, S: Sink>(
    buffer: &Sequence,
    at: *const u8,
    sink: &mut S,
) -> Result<(), EncodeError> {
    // SAFETY: by this function's contract.
    let bytes = unsafe { M::buffer(at, &buffer.accessors) };
    let (data, count) = bytes.map_err(|fault| not_on_cpu(fault, &buffer.field))?;
    // SAFETY: by this function's contract, `data` has `count` bytes.
    unsafe { counted::<M, S>(buffer, data, count, sink) }
}

/// Adds the count of a sequence and its elements.
///
/// # Safety
/// The contract of [`size`]; `data` points to the `count` elements of the sequence.
#[inline]
unsafe fn counted<M: Memory, S: Sink>(
    sequence: &Sequence,
    data: *const u8,
    count: usize,
    sink: &mut S,
) -> Result<(), EncodeError> {
    let Sequence { element, field, .. } = sequence;
    sink.count(length(count, sequence.bound, field)?)?;
    if count == 0 {
        return Ok(());
    }
    not_null(data, count, field)?;
    // SAFETY: by this function's contract, `data` has `count` elements.
    unsafe { elements::<M, S>(element, data, count, field, sink) }
}

/// # Safety
/// The contract of [`size`]; `at` points to the first of `count` elements.
unsafe fn elements<M: Memory, S: Sink>(
    element: &Element,
    at: *const u8,
    count: usize,
    field: &Field,
    sink: &mut S,
) -> Result<(), EncodeError> {
    match element {
        // SAFETY: by this function's contract.
        Element::Block(block) => unsafe { sink.blocks(block, at, count) },
        Element::Text { bound } => {
            let stride = M::text_size();
            for index in 0..count {
                // SAFETY: by this function's contract.
                let (text, len) = unsafe { M::text(at.add(index * stride)) };
                length(len, *bound, field)?;
                length(len.saturating_add(1), usize::MAX, field)?;
                if len > 0 {
                    not_null(text, len, field)?;
                }
                // SAFETY: by this function's contract, the string has `len` characters.
                unsafe { sink.text(text, len, field) }?;
            }
            Ok(())
        }
        Element::WideText { bound } => {
            let stride = M::wide_text_size();
            for index in 0..count {
                // SAFETY: by this function's contract.
                let (units, len) = unsafe { M::wide_text(at.add(index * stride)) };
                sink.count(length(len, *bound, field)?)?;
                if len > 0 {
                    not_null(units.cast(), len, field)?;
                    // SAFETY: by this function's contract, the `wstring` has `len` units.
                    unsafe { sink.units(units, len) }?;
                }
            }
            Ok(())
        }
        Element::Message { stride, program } => {
            for index in 0..count {
                // SAFETY: by this function's contract.
                unsafe { fields::<M, S>(program, at.add(index * stride), sink) }?;
            }
            Ok(())
        }
        Element::Bits => unreachable!("only sequences have bits"),
    }
}

/// Checks a length, and converts it to the form that is written into the body.
#[inline]
fn length(len: usize, bound: usize, field: &Field) -> Result<u32, EncodeError> {
    if len > bound {
        return Err(EncodeError::BoundExceeded { field: field.clone(), len, bound });
    }
    u32::try_from(len).map_err(|_| EncodeError::TooLong { field: field.clone(), len })
}

#[inline]
fn not_null(data: *const u8, len: usize, field: &Field) -> Result<(), EncodeError> {
    if data.is_null() {
        return Err(EncodeError::NullData { field: field.clone(), len });
    }
    Ok(())
}

#[cold]
fn not_on_cpu(fault: BufferFault, field: &Field) -> EncodeError {
    let said = match fault {
        BufferFault::NotOnCpu(said) => said,
        BufferFault::NoMemory => "there is not enough memory to ask".to_owned(),
    };
    EncodeError::NotOnCpu { field: field.clone(), said }
}

struct Sizer {
    position: usize,
}

impl Sizer {
    #[inline]
    fn add(&mut self, align: usize, len: usize) -> Result<(), EncodeError> {
        // Larger positions are limited to `isize::MAX`. No buffer has more bytes, so writing such a
        // message fails.
        self.position = align_up(self.position.min(isize::MAX as usize), align).saturating_add(len);
        Ok(())
    }
}

impl Sink for Sizer {
    #[inline]
    unsafe fn blocks(
        &mut self,
        block: &Block,
        _: *const u8,
        count: usize,
    ) -> Result<(), EncodeError> {
        self.add(block.align, block.len.saturating_mul(count))
    }

    #[inline]
    fn count(&mut self, _: u32) -> Result<(), EncodeError> {
        self.add(COUNT, COUNT)
    }

    #[inline]
    unsafe fn text(&mut self, _: *const u8, len: usize, _: &Field) -> Result<(), EncodeError> {
        self.add(COUNT, COUNT + len + 1)
    }

    #[inline]
    unsafe fn units(&mut self, _: *const u16, len: usize) -> Result<(), EncodeError> {
        self.add(size_of::<u32>(), len.saturating_mul(size_of::<u32>()))
    }

    #[inline]
    unsafe fn bits(&mut self, _: *const u8, count: usize) -> Result<(), EncodeError> {
        self.add(1, count)
    }
}

struct Writer<'a> {
    out: &'a mut [u8],
    position: usize,
}

impl Writer<'_> {
    /// Takes the next `len` bytes at this alignment, and sets the padding before them to zero.
    #[inline]
    fn take(&mut self, align: usize, len: usize) -> Result<&mut [u8], EncodeError> {
        let start = align_up(self.position, align);
        let end = start.saturating_add(len);
        let capacity = self.out.len();
        let Some(bytes) = self.out.get_mut(self.position..end) else {
            return Err(EncodeError::BufferTooSmall { needed: end, capacity });
        };
        let (padding, bytes) = bytes.split_at_mut(start - self.position);
        for byte in padding {
            *byte = 0;
        }
        self.position = end;
        Ok(bytes)
    }
}

impl Sink for Writer<'_> {
    #[inline]
    unsafe fn blocks(
        &mut self,
        block: &Block,
        from: *const u8,
        count: usize,
    ) -> Result<(), EncodeError> {
        let bytes = self.take(block.align, block.len.saturating_mul(count))?;
        // SAFETY: by this trait's contract; this function has the only reference to the bytes that
        // it writes.
        unsafe { copy(from, bytes.as_mut_ptr(), bytes.len()) };
        if block.bools {
            only_bools(block, bytes);
        }
        Ok(())
    }

    #[inline]
    fn count(&mut self, count: u32) -> Result<(), EncodeError> {
        self.take(COUNT, COUNT)?.copy_from_slice(&count.to_ne_bytes());
        Ok(())
    }

    #[inline]
    unsafe fn text(
        &mut self,
        from: *const u8,
        len: usize,
        field: &Field,
    ) -> Result<(), EncodeError> {
        let bytes = self.take(COUNT, COUNT + len + 1)?;
        let (count, text) = bytes.split_at_mut(COUNT);
        // The caller has checked that the length fits into 32 bits.
        count.copy_from_slice(&(len as u32 + 1).to_ne_bytes());
        let (text, nul) = text.split_at_mut(len);
        // SAFETY: by this trait's contract; this function has the only reference to the bytes that
        // it writes.
        unsafe { copy(from, text.as_mut_ptr(), len) };
        nul.fill(0);
        if text.contains(&0) {
            let position = text.iter().take_while(|&&byte| byte != 0).count();
            return Err(EncodeError::InteriorNul { field: field.clone(), position });
        }
        Ok(())
    }

    #[inline]
    unsafe fn units(&mut self, from: *const u16, len: usize) -> Result<(), EncodeError> {
        let bytes = self.take(size_of::<u32>(), len.saturating_mul(size_of::<u32>()))?;
        for (index, unit) in bytes.chunks_exact_mut(size_of::<u32>()).enumerate() {
            // SAFETY: by this trait's contract, there are `len` units.
            let value = u32::from(unsafe { from.add(index).read() });
            unit.copy_from_slice(&value.to_ne_bytes());
        }
        Ok(())
    }

    #[inline]
    unsafe fn bits(&mut self, from: *const u8, count: usize) -> Result<(), EncodeError> {
        let bytes = self.take(1, count)?;
        // SAFETY: by this trait's contract; there is room for `count` bytes.
        unsafe { shim::feros_bits_read(from.cast(), bytes.as_mut_ptr(), count) };
        Ok(())
    }
}

/// Copies bytes, without a function call for the most common lengths, because most blocks are so
/// short that the call would cost more than the copy.
///
/// # Safety
/// Both pointers are valid for `len` bytes that do not overlap; `from` may be null if `len` is 0.
#[inline]
pub(crate) unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: by this function's contract.
    unsafe {
        match len {
            0 => {}
            4 => to.cast::<u32>().write_unaligned(from.cast::<u32>().read_unaligned()),
            8 => to.cast::<u64>().write_unaligned(from.cast::<u64>().read_unaligned()),
            _ => std::ptr::copy_nonoverlapping(from, to, len),
        }
    }
}

/// Sets each nonzero `bool` of the blocks to 1. C and C++ code may have stored any value in a
/// `bool`, and a value other than 0 and 1 would be undefined behaviour in a C++ receiver.
pub(crate) fn only_bools(block: &Block, bytes: &mut [u8]) {
    for one in bytes.chunks_exact_mut(block.len) {
        for Part { start, count, .. } in block.parts.iter().filter(|part| part.bools) {
            for byte in &mut one[*start..start + count] {
                *byte = u8::from(*byte != 0);
            }
        }
    }
}
