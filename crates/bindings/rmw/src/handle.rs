//! The objects of rmw (nodes, endpoints, guard conditions, wait sets and events). The `data` field
//! of each points to its end object, in which this library keeps what belongs to the object.
//!
//! The words in brackets in SAFETY comments are clauses of `contract`.

use std::ffi::c_void;

use crate::arguments::{Identified, given, ours};
use crate::error::Failure;
use crate::ffi::rmw_node_t;

/// An object of rmw with an end object.
pub(crate) trait Handle: Identified {
    /// The end object, which `data` points to.
    type End;

    /// The memory in which the library makes the object.
    type Memory;

    /// The pointer to the end object.
    fn data(&self) -> *mut c_void;
}

/// Makes an object of rmw a [`Handle`] with this end object. An object of which the structure has
/// only the beginning also needs the type of its memory.
macro_rules! handle {
    ($object:ty => $end:ty) => {
        $crate::handle::handle!($object, $object => $end);
    };
    ($object:ty, $memory:ty => $end:ty) => {
        impl $crate::handle::Handle for $object {
            type End = $end;
            type Memory = $memory;

            fn data(&self) -> *mut std::ffi::c_void {
                self.data
            }
        }
    };
}
pub(crate) use handle;

/// The end object of an object of rmw.
///
/// # Safety
/// The pointer is null or points to a live object.
pub(crate) unsafe fn end<'a, T: Handle>(object: *const T) -> Result<&'a T::End, Failure> {
    // SAFETY: [handles] the object is null or alive, and `data` of an object of this library points
    // to its end object until it is destroyed.
    unsafe { given(ours(object)?.data().cast::<T::End>(), T::WHAT) }
}

/// Frees an object of rmw, and returns its end object.
///
/// # Safety
/// The pointer is null or points to a live object in a box, which nobody uses any longer; the end
/// object is in a box of its own.
pub(crate) unsafe fn free<T: Handle>(object: *mut T) -> Result<Box<T::End>, Failure> {
    // SAFETY: [handles] the object is alive, and the library made both boxes. [destruction] This is
    // its last use.
    unsafe {
        end(object)?;
        let end = (*object).data().cast::<T::End>();
        drop(Box::from_raw(object.cast::<T::Memory>()));
        Ok(Box::from_raw(end))
    }
}

/// Frees an endpoint, and returns its end object.
///
/// # Safety
/// The contract of [`free`]; the node is null or valid.
pub(crate) unsafe fn free_of_node<T: Handle>(
    node: *const rmw_node_t,
    endpoint: *mut T,
) -> Result<Box<T::End>, Failure> {
    // SAFETY: [handles] the node and the endpoint are alive, and the library made both boxes of the
    // endpoint. [destruction] This is the last use of the endpoint.
    unsafe {
        end(node)?;
        free(endpoint)
    }
}
