//! Classes whose instances consist of slots, and direct access to the slots of an instance.
//!
//! With `__slots__`, a slot has the same offset in every instance of a class and of its subclasses,
//! but the stable ABI of CPython does not reveal the offset. To find it, the slot's descriptor sets
//! a value in a trial instance, and the instance is searched for the value. If the value is not
//! found, each access uses the descriptor.

use std::ffi::c_int;
use std::ptr;

use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// A class, with some of its slots, which are identified by number.
pub(crate) struct Class {
    class: Py<PyType>,
    slots: Vec<Slot>,
}

struct Slot {
    descriptor: Py<PyAny>,
    get: ffi::descrgetfunc,
    set: ffi::descrsetfunc,
    /// The offset of the slot in an instance, if it was found.
    offset: Option<usize>,
}

/// An object that is known to be an instance of a class.
#[derive(Clone, Copy)]
pub(crate) struct Instance<'a, 'py> {
    class: &'a Class,
    object: &'a Bound<'py, PyAny>,
}

impl Class {
    /// Prepares the access to these slots of a class. The class must list them in its own
    /// `__slots__`, and instances must have nothing but slots.
    pub(crate) fn new(class: &Bound<'_, PyType>, slots: &[String]) -> PyResult<Self> {
        let made = slots.iter().map(|name| Slot::of(class, name)).collect::<PyResult<_>>()?;
        let mut made = Self { class: class.clone().unbind(), slots: made };
        for index in 0..slots.len() {
            made.slots[index].offset = made.look_for(class, index)?;
        }
        Ok(made)
    }

    /// Makes a new instance whose slots are all empty; `__init__` is not called.
    #[inline]
    pub(crate) fn allocate<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        // SAFETY: `type` made the class with slots only, so zeroed memory is a valid instance. The
        // result is an owned reference, or null with an exception.
        unsafe {
            let object = ffi::PyType_GenericAlloc(self.class.as_ptr().cast(), 0);
            Bound::from_owned_ptr_or_err(py, object)
        }
    }

    /// The object as an instance; `None` if it is not an instance of the class.
    #[inline]
    pub(crate) fn instance<'a, 'py>(
        &'a self,
        object: &'a Bound<'py, PyAny>,
    ) -> Option<Instance<'a, 'py>> {
        // Only the real type counts, since it determines the memory layout; `__class__` and
        // `__instancecheck__` can be redefined.
        let is_instance = object.get_type_ptr().cast() == self.class.as_ptr()
            || object.get_type().mro().iter().any(|base| base.as_ptr() == self.class.as_ptr());
        is_instance.then_some(Instance { class: self, object })
    }

    /// The class itself.
    pub(super) fn class(&self) -> &Py<PyType> {
        &self.class
    }

    /// The offset of a slot in instances of the class, if it was found.
    pub(super) fn offset(&self, index: usize) -> Option<usize> {
        self.slots[index].offset
    }

    /// Searches for the offset of a slot.
    fn look_for(&self, class: &Bound<'_, PyType>, index: usize) -> PyResult<Option<usize>> {
        let py = class.py();
        let size: usize = class.getattr("__basicsize__")?.extract()?;
        let trial = self.allocate(py)?;
        let mark = pyo3::types::PyList::empty(py).into_any(); // no other references to it exist
        let trial_instance = Instance { class: self, object: &trial };
        trial_instance.set(index, &mark)?;
        let step = size_of::<*mut ffi::PyObject>();
        let head = size_of::<ffi::PyObject>();
        let places = (head..size.saturating_sub(step - 1)).step_by(step);
        let found: Vec<usize> = places
            .filter(|place| {
                // SAFETY: an instance has `__basicsize__` bytes, aligned for pointers, which were
                // zeroed or written when it was made.
                let word = unsafe {
                    *trial.as_ptr().cast::<u8>().add(*place).cast::<*mut ffi::PyObject>()
                };
                word == mark.as_ptr()
            })
            .collect();
        Ok(match found[..] {
            [place] => Some(place),
            _ => None,
        })
    }
}

impl Slot {
    fn of(class: &Bound<'_, PyType>, slot: &str) -> PyResult<Self> {
        let descriptor = class.getattr("__dict__")?.get_item(slot)?;
        let kind = descriptor.get_type();
        if kind.name()? != "member_descriptor" {
            let class = class.name()?;
            return Err(PyTypeError::new_err(format!("{slot} of {class} is not a slot")));
        }
        let kind = kind.as_type_ptr();
        // SAFETY: `kind` is a type object that stays alive throughout the call.
        let (get, set) = unsafe {
            (
                ffi::PyType_GetSlot(kind, ffi::Py_tp_descr_get),
                ffi::PyType_GetSlot(kind, ffi::Py_tp_descr_set),
            )
        };
        if get.is_null() || set.is_null() {
            return Err(PyTypeError::new_err(format!("{slot} cannot be read and written")));
        }
        // SAFETY: these slots of a type hold functions with these signatures, and they are not
        // null.
        let (get, set) = unsafe {
            (
                std::mem::transmute::<*mut std::ffi::c_void, ffi::descrgetfunc>(get),
                std::mem::transmute::<*mut std::ffi::c_void, ffi::descrsetfunc>(set),
            )
        };
        Ok(Self { descriptor: descriptor.unbind(), get, set, offset: None })
    }
}

impl<'py> Instance<'_, 'py> {
    /// The address of a slot, if its offset is known.
    #[inline]
    fn place(&self, index: usize) -> Option<*mut *mut ffi::PyObject> {
        let offset = self.class.slots[index].offset?;
        // SAFETY: the object is an instance of the class, and all instances have the slot at this
        // offset.
        Some(unsafe { self.object.as_ptr().cast::<u8>().add(offset).cast() })
    }

    /// The value of a slot; `AttributeError` if the slot is empty.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> PyResult<Bound<'py, PyAny>> {
        let py = self.object.py();
        let Some(place) = self.place(index) else { return self.get_by_descriptor(index) };
        // SAFETY: a slot is null or points to an object to which it holds a reference. The
        // interpreter lock, which `py` represents, keeps the object alive until the new reference
        // exists.
        unsafe {
            let value = *place;
            match value.is_null() {
                true => self.get_by_descriptor(index),
                false => Ok(Bound::from_borrowed_ptr(py, value)),
            }
        }
    }

    /// Sets a slot.
    #[inline]
    pub(crate) fn set(&self, index: usize, value: &Bound<'py, PyAny>) -> PyResult<()> {
        let py = self.object.py();
        let Some(place) = self.place(index) else { return self.set_by_descriptor(index, value) };
        // SAFETY: as in `get`. The slot gets its own reference. The old reference is dropped only
        // after the write, since a drop may run any code.
        let before = unsafe { ptr::replace(place, value.clone().into_ptr()) };
        if !before.is_null() {
            // SAFETY: the slot held this reference.
            drop(unsafe { Bound::from_owned_ptr(py, before) });
        }
        Ok(())
    }

    #[cold]
    fn get_by_descriptor(&self, index: usize) -> PyResult<Bound<'py, PyAny>> {
        let slot = &self.class.slots[index];
        // SAFETY: the function belongs to the descriptor, and both objects are alive. The result is
        // an owned reference, or null with an exception.
        unsafe {
            let value = (slot.get)(slot.descriptor.as_ptr(), self.object.as_ptr(), ptr::null_mut());
            Bound::from_owned_ptr_or_err(self.object.py(), value)
        }
    }

    #[cold]
    fn set_by_descriptor(&self, index: usize, value: &Bound<'py, PyAny>) -> PyResult<()> {
        let slot = &self.class.slots[index];
        // SAFETY: as above; the function takes its own reference to the value.
        let result: c_int =
            unsafe { (slot.set)(slot.descriptor.as_ptr(), self.object.as_ptr(), value.as_ptr()) };
        if result == 0 { Ok(()) } else { Err(PyErr::fetch(self.object.py())) }
    }
}

/// The error for an object that is not an instance of a class.
pub(crate) fn no_instance(class: &Class, object: &Bound<'_, PyAny>) -> PyErr {
    let class = class.class.bind(object.py()).name().map(|name| name.to_string());
    let got = object.get_type().name().map(|name| name.to_string());
    PyAttributeError::new_err(format!(
        "fields of {} are not fields of {}",
        class.unwrap_or_default(),
        got.unwrap_or_default()
    ))
}
