//! Access to strings and sequences in C and C++ messages. A "text" is a `string`, a "wide text" a
//! `wstring`, a "buffer" a `rosidl::Buffer` or a C sequence that may point to one.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

use crate::distribution::Layout;
use crate::program::{Accessors, Block};
use crate::{ffi, shim};

/// The strings and sequences of one language. Encoding and decoding are compiled once for each
/// language.
///
/// # Safety of all functions
/// Each pointer points to an initialized value of the kind that the function's name says, and the
/// caller has checked lengths. A function that fails (returns false or `None`) leaves a value that
/// can be finalized.
pub(crate) trait Memory {
    /// Whether a sequence of `bool`s is stored as bits.
    const BITS: bool;

    /// The size of a `string` in the struct, in bytes.
    fn text_size() -> usize;
    /// The size of a `wstring` in the struct, in bytes.
    fn wide_text_size() -> usize;
    /// The characters without the NUL.
    unsafe fn text(at: *const u8) -> (*const u8, usize);
    unsafe fn set_text(at: *mut u8, text: &[u8]) -> bool;
    /// The code units without the NUL.
    unsafe fn wide_text(at: *const u8) -> (*const u16, usize);
    /// Makes room for `len` code units, which the caller writes.
    unsafe fn resize_wide_text(at: *mut u8, len: usize) -> Option<*mut u16>;
    /// Returns a pointer to the elements, and the number of elements. The pointer is meaningless if
    /// there are no elements.
    unsafe fn sequence(at: *const u8, accessors: &Accessors) -> (*const u8, usize);
    /// Resizes the sequence to `count` initialized elements, and returns a pointer to them; `None`
    /// if there is not enough memory.
    unsafe fn resize(at: *mut u8, accessors: &Accessors, count: usize) -> Option<*mut u8>;
    /// Replaces the elements by `count` blocks from `bytes` in one step. Returns `None` if that is
    /// not possible; otherwise returns whether there was enough memory.
    unsafe fn replace(at: *mut u8, block: &Block, bytes: &[u8], count: usize) -> Option<bool>;

    /// The size of a sequence of primitives in the struct, in bytes.
    fn primitives_size(layout: Layout) -> usize;
    /// The size that a buffer has at least in the struct, in bytes.
    fn buffer_size(layout: Layout) -> usize;
    /// Returns a pointer to the bytes of a buffer, and the number of bytes. The pointer is
    /// meaningless if there are no bytes.
    unsafe fn buffer(
        at: *const u8,
        accessors: &Accessors,
    ) -> Result<(*const u8, usize), BufferFault>;
    /// Resizes a buffer to `count` bytes, and returns a pointer to them, which is not null unless
    /// `count` is 0.
    unsafe fn resize_buffer(
        at: *mut u8,
        accessors: &Accessors,
        count: usize,
    ) -> Result<*mut u8, BufferFault>;
}

/// The reason why the bytes of a buffer cannot be accessed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum BufferFault {
    /// There is not enough memory.
    NoMemory,
    /// The bytes are not in the memory of the CPU; the text says so.
    NotOnCpu(String),
}

impl BufferFault {
    /// Checks the result of a function of the shim. The function writes the text of an exception
    /// to the memory that it gets, except to the last byte.
    fn check(access: impl FnOnce(*mut c_char, usize) -> c_int) -> Result<(), Self> {
        let mut said = [0; 256];
        match access(said.as_mut_ptr(), said.len()) {
            shim::DONE => Ok(()),
            shim::NO_MEMORY => Err(Self::NoMemory),
            _ => {
                // SAFETY: the last byte is NUL.
                let said = unsafe { CStr::from_ptr(said.as_ptr()) };
                Err(Self::NotOnCpu(said.to_string_lossy().into_owned()))
            }
        }
    }

    /// The fault of a C sequence that points to a `rosidl::Buffer`.
    #[cold]
    fn flagged() -> Self {
        Self::NotOnCpu("the flag is_rosidl_buffer of the sequence is set".to_owned())
    }
}

/// C messages.
pub(crate) struct C;

/// Makes room in a C string for `len` characters and the NUL, and writes the NUL.
///
/// # Safety
/// The contract of [`Memory`]; `data`, `size` and `capacity` belong to one string with units of
/// type `T`.
unsafe fn reserve<T>(
    data: &mut *mut T,
    size: &mut usize,
    capacity: &mut usize,
    len: usize,
) -> bool {
    if *capacity <= len || data.is_null() {
        let Some(bytes) = len.checked_add(1).and_then(|units| units.checked_mul(size_of::<T>()))
        else {
            return false;
        };
        // SAFETY: the memory is null or from the C allocator, which rosidl_runtime_c uses.
        let grown = unsafe { libc::realloc(data.cast(), bytes) };
        if grown.is_null() {
            return false;
        }
        *data = grown.cast();
        *capacity = len + 1;
    }
    *size = len;
    // SAFETY: the capacity is greater than `len`.
    unsafe { data.add(len).write_bytes(0, 1) };
    true
}

impl Memory for C {
    const BITS: bool = false;

    fn text_size() -> usize {
        size_of::<ffi::rosidl_runtime_c__String>()
    }

    fn wide_text_size() -> usize {
        size_of::<ffi::rosidl_runtime_c__U16String>()
    }

    #[inline]
    unsafe fn text(at: *const u8) -> (*const u8, usize) {
        // SAFETY: by this trait's contract.
        let text = unsafe { &*at.cast::<ffi::rosidl_runtime_c__String>() };
        (text.data.cast(), text.size)
    }

    #[inline]
    unsafe fn set_text(at: *mut u8, text: &[u8]) -> bool {
        // SAFETY: by this trait's contract.
        let value = unsafe { &mut *at.cast::<ffi::rosidl_runtime_c__String>() };
        // SAFETY: the three fields belong to one string.
        if !unsafe { reserve(&mut value.data, &mut value.size, &mut value.capacity, text.len()) } {
            return false;
        }
        // SAFETY: there is room for all characters, in memory that the message owns.
        unsafe { ptr::copy_nonoverlapping(text.as_ptr(), value.data.cast(), text.len()) };
        true
    }

    #[inline]
    unsafe fn wide_text(at: *const u8) -> (*const u16, usize) {
        // SAFETY: by this trait's contract.
        let text = unsafe { &*at.cast::<ffi::rosidl_runtime_c__U16String>() };
        (text.data, text.size)
    }

    #[inline]
    unsafe fn resize_wide_text(at: *mut u8, len: usize) -> Option<*mut u16> {
        // SAFETY: by this trait's contract.
        let value = unsafe { &mut *at.cast::<ffi::rosidl_runtime_c__U16String>() };
        // SAFETY: the three fields belong to one string.
        unsafe { reserve(&mut value.data, &mut value.size, &mut value.capacity, len) }
            .then_some(value.data)
    }

    #[inline]
    unsafe fn sequence(at: *const u8, _: &Accessors) -> (*const u8, usize) {
        // SAFETY: by this trait's contract; all C sequences begin with these fields.
        let sequence = unsafe { &*at.cast::<ffi::Sequence>() };
        (sequence.data.cast(), sequence.size)
    }

    #[inline]
    unsafe fn resize(at: *mut u8, accessors: &Accessors, count: usize) -> Option<*mut u8> {
        let sequence = at.cast::<ffi::Sequence>();
        // SAFETY: by this trait's contract.
        if unsafe { (*sequence).size } != count {
            // SAFETY: the accessors belong to a C message, whose resize functions return a bool.
            let resize: ffi::ResizeC = unsafe { std::mem::transmute(accessors.resize) };
            // SAFETY: by this trait's contract.
            if !unsafe { resize(at.cast(), count) } {
                return None;
            }
        }
        // SAFETY: by this trait's contract.
        let data = unsafe { (*sequence).data };
        (count == 0 || !data.is_null()).then_some(data.cast())
    }

    unsafe fn replace(_: *mut u8, _: &Block, _: &[u8], _: usize) -> Option<bool> {
        None
    }

    fn primitives_size(layout: Layout) -> usize {
        layout.primitives()
    }

    fn buffer_size(layout: Layout) -> usize {
        layout.primitives()
    }

    #[inline]
    unsafe fn buffer(at: *const u8, _: &Accessors) -> Result<(*const u8, usize), BufferFault> {
        // SAFETY: by this trait's contract.
        let value = unsafe { &*at.cast::<ffi::lyrical::PrimitiveSequence>() };
        // `data` then points to a C++ object. The functions of introspection throw through C code,
        // or return a pointer into that object, and the size need not be that of the object.
        if value.is_rosidl_buffer != 0 {
            return Err(BufferFault::flagged());
        }
        Ok((value.sequence.data.cast(), value.sequence.size))
    }

    #[inline]
    unsafe fn resize_buffer(
        at: *mut u8,
        accessors: &Accessors,
        count: usize,
    ) -> Result<*mut u8, BufferFault> {
        // SAFETY: by this trait's contract.
        unsafe {
            Self::buffer(at, accessors)?;
            Self::resize(at, accessors, count).ok_or(BufferFault::NoMemory)
        }
    }
}

/// C++ messages.
pub(crate) struct Cpp;

impl Memory for Cpp {
    const BITS: bool = true;

    fn text_size() -> usize {
        // SAFETY: the function has no preconditions.
        unsafe { shim::feros_text_size() }
    }

    fn wide_text_size() -> usize {
        // SAFETY: the function has no preconditions.
        unsafe { shim::feros_wide_text_size() }
    }

    #[inline]
    unsafe fn text(at: *const u8) -> (*const u8, usize) {
        let mut len = 0;
        // SAFETY: by this trait's contract.
        (unsafe { shim::feros_text_read(at.cast(), &raw mut len) }, len)
    }

    #[inline]
    unsafe fn set_text(at: *mut u8, text: &[u8]) -> bool {
        // SAFETY: by this trait's contract.
        unsafe { shim::feros_text_assign(at.cast(), text.as_ptr(), text.len()) }
    }

    #[inline]
    unsafe fn wide_text(at: *const u8) -> (*const u16, usize) {
        let mut len = 0;
        // SAFETY: by this trait's contract.
        (unsafe { shim::feros_wide_text_read(at.cast(), &raw mut len) }, len)
    }

    #[inline]
    unsafe fn resize_wide_text(at: *mut u8, len: usize) -> Option<*mut u16> {
        // SAFETY: by this trait's contract.
        let units = unsafe { shim::feros_wide_text_resize(at.cast(), len) };
        (!units.is_null()).then_some(units)
    }

    #[inline]
    unsafe fn sequence(at: *const u8, accessors: &Accessors) -> (*const u8, usize) {
        // SAFETY: by this trait's contract.
        let count = unsafe { (accessors.size)(at.cast()) };
        if count == 0 {
            return (ptr::null(), 0);
        }
        // SAFETY: there is a first element, and the elements of a vector are adjacent.
        (unsafe { (accessors.get_const)(at.cast(), 0) }.cast(), count)
    }

    #[inline]
    unsafe fn resize(at: *mut u8, accessors: &Accessors, count: usize) -> Option<*mut u8> {
        // SAFETY: by this trait's contract.
        if unsafe { (accessors.size)(at.cast()) } != count
            // SAFETY: as above.
            && !unsafe { shim::feros_vector_resize(accessors.resize, at.cast(), count) }
        {
            return None;
        }
        if count == 0 {
            return Some(ptr::null_mut());
        }
        // SAFETY: as above, and there is a first element.
        Some(unsafe { (accessors.get)(at.cast::<c_void>(), 0) }.cast())
    }

    #[inline]
    unsafe fn replace(at: *mut u8, block: &Block, bytes: &[u8], count: usize) -> Option<bool> {
        // The type of the elements is known only for a vector of numbers. C++ allows access to
        // numbers only at their alignment.
        let width = block.only_width().filter(|&width| width == block.len)?;
        if !bytes.as_ptr().addr().is_multiple_of(width) {
            return None;
        }
        // SAFETY: by this trait's contract, and as above.
        Some(unsafe { shim::feros_vector_assign(at.cast(), width, bytes.as_ptr(), count) })
    }

    fn primitives_size(_: Layout) -> usize {
        // The size of a vector, in all common standard libraries. The elements are accessed only
        // through functions.
        size_of::<[usize; 3]>()
    }

    fn buffer_size(_: Layout) -> usize {
        // The layout of the object is not public, but it owns memory, so it has a pointer.
        size_of::<usize>()
    }

    #[inline]
    unsafe fn buffer(
        at: *const u8,
        accessors: &Accessors,
    ) -> Result<(*const u8, usize), BufferFault> {
        let (mut data, mut count) = (ptr::null(), 0);
        BufferFault::check(|said, capacity| {
            let (data, count) = (&raw mut data, &raw mut count);
            // SAFETY: by this trait's contract; `said` has `capacity` bytes.
            unsafe { shim::feros_buffer_read(accessors, at.cast(), data, count, said, capacity) }
        })?;
        Ok((data, count))
    }

    #[inline]
    unsafe fn resize_buffer(
        at: *mut u8,
        accessors: &Accessors,
        count: usize,
    ) -> Result<*mut u8, BufferFault> {
        let mut data = ptr::null_mut();
        BufferFault::check(|said, capacity| {
            let data = &raw mut data;
            // SAFETY: by this trait's contract; `said` has `capacity` bytes.
            unsafe { shim::feros_buffer_resize(accessors, at.cast(), count, data, said, capacity) }
        })?;
        if data.is_null() && count > 0 {
            return Err(BufferFault::NotOnCpu("the get function returned null".to_owned()));
        }
        Ok(data)
    }
}
