//! Allocates memory that the host program frees, with the allocator that the host program passed.
//!
//! The words in brackets in SAFETY comments are clauses of `contract`.

use std::collections::BTreeSet;
use std::ffi::{CStr, c_char, c_void};
use std::ptr;

use crate::error::Failure;
use crate::ffi::{
    rcutils_allocator_t, rcutils_string_array_t, rcutils_uint8_array_t, rmw_names_and_types_t,
};

/// An allocator that has all of its functions.
#[derive(Clone, Copy)]
pub(crate) struct Allocator {
    raw: rcutils_allocator_t,
    allocate: unsafe extern "C" fn(usize, *mut c_void) -> *mut c_void,
    deallocate: unsafe extern "C" fn(*mut c_void, *mut c_void),
    reallocate: unsafe extern "C" fn(*mut c_void, usize, *mut c_void) -> *mut c_void,
}

impl Allocator {
    /// Checks that no function is missing.
    ///
    /// # Safety
    /// The functions belong to one allocator, and stay valid while this value is used.
    pub(crate) unsafe fn new(raw: rcutils_allocator_t) -> Result<Self, Failure> {
        let rcutils_allocator_t { allocate, deallocate, reallocate, zero_allocate, .. } = raw;
        match (allocate, deallocate, reallocate, zero_allocate) {
            (Some(allocate), Some(deallocate), Some(reallocate), Some(_)) => {
                Ok(Self { raw, allocate, deallocate, reallocate })
            }
            _ => Err(Failure::invalid("the allocator lacks functions: initialize it first")),
        }
    }

    /// The same as [`Allocator::new`], for an allocator behind a pointer.
    ///
    /// # Safety
    /// The pointer is null or points to an allocator.
    pub(crate) unsafe fn at(pointer: *const rcutils_allocator_t) -> Result<Self, Failure> {
        // SAFETY: [pointers, allocators] the pointer is null or points to an allocator, which stays
        // valid.
        unsafe { Self::new(*crate::arguments::given(pointer, "allocator")?) }
    }

    /// The C allocator, which `rcutils_get_default_allocator` returns as well.
    pub(crate) fn of_c() -> Self {
        Self {
            raw: rcutils_allocator_t {
                allocate: Some(c_allocate),
                deallocate: Some(c_deallocate),
                reallocate: Some(c_reallocate),
                zero_allocate: Some(c_zero_allocate),
                state: ptr::null_mut(),
            },
            allocate: c_allocate,
            deallocate: c_deallocate,
            reallocate: c_reallocate,
        }
    }

    /// The allocator in the form of the host program.
    pub(crate) fn raw(&self) -> rcutils_allocator_t {
        self.raw
    }

    fn allocate(&self, size_bytes: usize) -> Result<*mut c_void, Failure> {
        // SAFETY: [allocators] the function belongs to a complete allocator.
        let memory = unsafe { (self.allocate)(size_bytes, self.raw.state) };
        if memory.is_null() { Err(Failure::out_of_memory(size_bytes)) } else { Ok(memory) }
    }

    /// Uninitialized memory for `count` values; null if `count` is 0.
    pub(crate) fn array<T>(&self, count: usize) -> Result<*mut T, Failure> {
        match count.checked_mul(size_of::<T>()) {
            Some(0) => Ok(ptr::null_mut()),
            Some(size_bytes) => Ok(self.allocate(size_bytes)?.cast()),
            None => Err(Failure::out_of_memory(usize::MAX)),
        }
    }

    /// # Safety
    /// The memory came from this allocator, or is null, and is not used afterwards.
    pub(crate) unsafe fn free<T>(&self, memory: *mut T) {
        if !memory.is_null() {
            // SAFETY: [allocators] the memory came from this allocator, and is not used afterwards.
            unsafe { (self.deallocate)(memory.cast(), self.raw.state) };
        }
    }

    /// A copy of a string, with a NUL at its end.
    pub(crate) fn text(&self, text: &str) -> Result<*mut c_char, Failure> {
        let copy = self.array::<u8>(text.len() + 1)?;
        // SAFETY: the memory was just allocated for the string and its NUL.
        unsafe {
            ptr::copy_nonoverlapping(text.as_ptr(), copy, text.len());
            copy.add(text.len()).write(0);
        }
        Ok(copy.cast())
    }

    /// A copy of a C string.
    pub(crate) fn c_text(&self, text: &CStr) -> Result<*mut c_char, Failure> {
        let bytes = text.to_bytes_with_nul();
        let copy = self.array::<u8>(bytes.len())?;
        // SAFETY: the memory was just allocated for these bytes.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), copy, bytes.len()) };
        Ok(copy.cast())
    }

    /// An array with the result of `fill` for each of `sources`. If `fill` fails, `free` gets the
    /// results so far.
    pub(crate) fn filled<S, T>(
        &self,
        sources: impl ExactSizeIterator<Item = S>,
        fill: impl Fn(S) -> Result<T, Failure>,
        free: impl Fn(T),
    ) -> Result<*mut T, Failure> {
        let (len, made) = (sources.len(), self.array::<T>(sources.len())?);
        for (index, source) in sources.take(len).enumerate() {
            match fill(source) {
                // SAFETY: there is room for `len` results.
                Ok(result) => unsafe { made.add(index).write(result) },
                Err(failure) => {
                    // SAFETY: this function wrote the results before this one, and nobody else has
                    // a pointer to the array.
                    unsafe {
                        (0..index).for_each(|before| free(made.add(before).read()));
                        self.free(made);
                    }
                    return Err(failure);
                }
            }
        }
        Ok(made)
    }

    /// An array with copies of the strings.
    pub(crate) fn texts<'a>(
        &self,
        texts: impl ExactSizeIterator<Item = &'a str>,
    ) -> Result<rcutils_string_array_t, Failure> {
        let size = texts.len();
        // SAFETY: [allocators] this allocator made the copies; nobody else has pointers to them.
        let free = |copy| unsafe { self.free(copy) };
        let data = self.filled(texts, |text| self.text(text), free)?;
        Ok(rcutils_string_array_t { size, data, allocator: self.raw })
    }

    /// # Safety
    /// This allocator made the array, which is not used afterwards.
    unsafe fn free_texts(&self, array: &rcutils_string_array_t) {
        for index in 0..array.size {
            // SAFETY: the array has `size` strings, each from this allocator.
            unsafe { self.free(*array.data.add(index)) };
        }
        // SAFETY: [allocators] this allocator made the array.
        unsafe { self.free(array.data) };
    }

    /// Converts a map from names to types into the arrays of rmw.
    pub(crate) fn names_and_types(
        &self,
        found: &feros_engine::graph::NamesAndTypes,
    ) -> Result<rmw_names_and_types_t, Failure> {
        let names = self.texts(found.keys().map(String::as_str))?;
        let fill = |types: &BTreeSet<String>| {
            let types: Vec<&str> = types.iter().map(String::as_str).collect();
            self.texts(types.into_iter())
        };
        // SAFETY: this allocator made the arrays, and nobody else has pointers to them.
        let free = |texts| unsafe { self.free_texts(&texts) };
        match self.filled(found.values(), fill, free) {
            Ok(types) => Ok(rmw_names_and_types_t { names, types }),
            Err(failure) => {
                free(names);
                Err(failure)
            }
        }
    }
}

impl rcutils_uint8_array_t {
    /// Sets the length, and allocates memory with the array's allocator as needed. The old content
    /// is lost.
    ///
    /// # Safety
    /// The array was initialized, and nobody else uses it.
    pub(crate) unsafe fn resize(&mut self, len: usize) -> Result<&mut [u8], Failure> {
        if len > self.buffer_capacity {
            // SAFETY: the allocator is the one that the array was initialized with.
            let allocator = unsafe { Allocator::new(self.allocator) }?;
            // SAFETY: the buffer came from this allocator, or is null.
            let grown =
                unsafe { (allocator.reallocate)(self.buffer.cast(), len, allocator.raw.state) };
            if grown.is_null() {
                return Err(Failure::out_of_memory(len));
            }
            (self.buffer, self.buffer_capacity) = (grown.cast(), len);
        }
        self.buffer_length = len;
        if len == 0 {
            return Ok(&mut []);
        }
        // SAFETY: the buffer has room for `len` bytes, and the borrow of the array is unique. No
        // code reads bytes that have not been written, because the caller writes all of them.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.buffer, len) })
    }

    /// The bytes.
    ///
    /// # Safety
    /// The array is initialized, and no other thread writes it during the call.
    pub(crate) unsafe fn bytes(&self) -> &[u8] {
        if self.buffer.is_null() {
            return &[];
        }
        // SAFETY: [bytes] the buffer has `buffer_length` initialized bytes, which nobody writes
        // during the call.
        unsafe { std::slice::from_raw_parts(self.buffer, self.buffer_length) }
    }
}

impl rcutils_string_array_t {
    /// Whether the array is still empty, as functions that fill an array require.
    pub(crate) fn is_zero(&self) -> bool {
        self.size == 0 && self.data.is_null()
    }
}

unsafe extern "C" fn c_allocate(size: usize, _: *mut c_void) -> *mut c_void {
    // SAFETY: malloc accepts any size.
    unsafe { libc::malloc(size) }
}

unsafe extern "C" fn c_deallocate(memory: *mut c_void, _: *mut c_void) {
    // SAFETY: callers return only memory that this allocator allocated.
    unsafe { libc::free(memory) }
}

unsafe extern "C" fn c_reallocate(memory: *mut c_void, size: usize, _: *mut c_void) -> *mut c_void {
    // SAFETY: callers pass only memory that this allocator allocated.
    unsafe { libc::realloc(memory, size) }
}

unsafe extern "C" fn c_zero_allocate(count: usize, size: usize, _: *mut c_void) -> *mut c_void {
    // SAFETY: calloc accepts any size.
    unsafe { libc::calloc(count, size) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts the allocations that have not been freed yet, and fails after `budget` allocations.
    struct Limited {
        live: isize,
        budget: usize,
    }

    unsafe extern "C" fn allocate(size: usize, state: *mut c_void) -> *mut c_void {
        // SAFETY: `limited` set the state.
        let limited = unsafe { &mut *state.cast::<Limited>() };
        if limited.budget == 0 {
            return ptr::null_mut();
        }
        limited.budget -= 1;
        limited.live += 1;
        // SAFETY: malloc accepts any size.
        unsafe { libc::malloc(size) }
    }

    unsafe extern "C" fn deallocate(memory: *mut c_void, state: *mut c_void) {
        // SAFETY: `limited` set the state, and the memory came from `allocate`.
        unsafe {
            (*state.cast::<Limited>()).live -= 1;
            libc::free(memory);
        }
    }

    fn limited(state: &mut Limited) -> Allocator {
        let raw = rcutils_allocator_t {
            allocate: Some(allocate),
            deallocate: Some(deallocate),
            state: ptr::from_mut(state).cast(),
            ..Allocator::of_c().raw
        };
        // SAFETY: `allocate` and `deallocate` belong together.
        unsafe { Allocator::new(raw) }.expect("complete")
    }

    #[test]
    fn a_failed_allocation_leaves_no_memory_behind() {
        let mut found = feros_engine::graph::NamesAndTypes::new();
        for name in ["/a", "/b"] {
            found.entry(name.to_owned()).or_default().insert("x/msg/Y".to_owned());
        }
        // One array of names, two names, one array of arrays, and two arrays with one type each.
        let needed = 1 + 2 + 1 + 2 * 2;
        for budget in 0..needed {
            let mut state = Limited { live: 0, budget };
            assert!(limited(&mut state).names_and_types(&found).is_err(), "{budget}");
            assert_eq!(state.live, 0, "{budget}");
        }
        let mut state = Limited { live: 0, budget: needed };
        let made = limited(&mut state).names_and_types(&found).expect("enough memory");
        assert_eq!((made.names.size, state.live), (2, 8));
        // SAFETY: the arrays were just made, with one type for each name.
        unsafe {
            assert_eq!(CStr::from_ptr(*made.names.data.add(1)), c"/b");
            assert_eq!(CStr::from_ptr(*(*made.types).data), c"x/msg/Y");
            let allocator = limited(&mut state);
            (0..2).for_each(|index| allocator.free_texts(&*made.types.add(index)));
            allocator.free(made.types);
            allocator.free_texts(&made.names);
        }
        assert_eq!(state.live, 0);
    }

    #[test]
    fn an_incomplete_allocator_is_refused() {
        let raw = rcutils_allocator_t { reallocate: None, ..Allocator::of_c().raw };
        // SAFETY: the allocator is not called.
        assert!(unsafe { Allocator::new(raw) }.is_err());
    }
}
