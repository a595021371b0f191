//! The description of a type that `get_type_description_func` of a type support returns:
//! `rosidl_runtime_c__type_description__TypeDescription`.
//!
//! The words in brackets in SAFETY comments are clauses of `contract`.

use std::ffi::c_char;

/// `rosidl_runtime_c__String`.
#[repr(C)]
pub(crate) struct Text {
    pub(crate) data: *const c_char,
    pub(crate) size: usize,
    pub(crate) capacity: usize,
}

/// A rosidl sequence.
#[repr(C)]
pub(crate) struct Sequence<T> {
    pub(crate) data: *const T,
    pub(crate) size: usize,
    pub(crate) capacity: usize,
}

/// `rosidl_runtime_c__type_description__FieldType`.
#[repr(C)]
pub(crate) struct FieldType {
    pub(crate) type_id: u8,
    pub(crate) capacity: u64,
    pub(crate) string_capacity: u64,
    pub(crate) nested_type_name: Text,
}

/// `rosidl_runtime_c__type_description__Field`.
#[repr(C)]
pub(crate) struct Field {
    pub(crate) name: Text,
    pub(crate) type_: FieldType,
    pub(crate) default_value: Text,
}

/// `rosidl_runtime_c__type_description__IndividualTypeDescription`.
#[repr(C)]
pub(crate) struct IndividualTypeDescription {
    pub(crate) type_name: Text,
    pub(crate) fields: Sequence<Field>,
}

/// `rosidl_runtime_c__type_description__TypeDescription`.
#[repr(C)]
pub(crate) struct TypeDescription {
    pub(crate) type_description: IndividualTypeDescription,
    pub(crate) referenced_type_descriptions: Sequence<IndividualTypeDescription>,
}

impl Text {
    /// # Safety
    /// The string is initialized.
    unsafe fn read(&self) -> String {
        if self.data.is_null() {
            return String::new();
        }
        // SAFETY: [type supports] rosidl generated the string, which has `size` bytes.
        let bytes = unsafe { std::slice::from_raw_parts(self.data.cast::<u8>(), self.size) };
        String::from_utf8_lossy(bytes).into_owned()
    }
}

impl<T> Sequence<T> {
    /// # Safety
    /// The sequence is initialized.
    unsafe fn read(&self) -> &[T] {
        if self.data.is_null() {
            return &[];
        }
        // SAFETY: [type supports] rosidl generated the sequence, which has `size` entries.
        unsafe { std::slice::from_raw_parts(self.data, self.size) }
    }
}

impl Field {
    /// # Safety
    /// The contract of [`TypeDescription::read`].
    unsafe fn read(&self) -> feros_interface::FieldDescription {
        // SAFETY: [type supports] rosidl generated the description with all of its parts.
        unsafe {
            feros_interface::FieldDescription {
                name: self.name.read(),
                ty: feros_interface::FieldTypeDescription {
                    type_id: self.type_.type_id,
                    capacity: self.type_.capacity,
                    string_capacity: self.type_.string_capacity,
                    nested_type_name: self.type_.nested_type_name.read(),
                },
                default_value: self.default_value.read(),
            }
        }
    }
}

impl IndividualTypeDescription {
    /// # Safety
    /// The contract of [`TypeDescription::read`].
    unsafe fn read(&self) -> feros_interface::IndividualTypeDescription {
        // SAFETY: [type supports] rosidl generated the description with all of its parts.
        unsafe {
            feros_interface::IndividualTypeDescription {
                type_name: self.type_name.read(),
                fields: self.fields.read().iter().map(|field| field.read()).collect(),
            }
        }
    }
}

impl TypeDescription {
    /// Returns the description in Feros's own form.
    ///
    /// # Safety
    /// The description and all of its parts are initialized.
    pub(crate) unsafe fn read(&self) -> feros_interface::TypeDescription {
        // SAFETY: [type supports] rosidl generated the description with all of its parts.
        unsafe {
            feros_interface::TypeDescription {
                type_description: self.type_description.read(),
                referenced_type_descriptions: self
                    .referenced_type_descriptions
                    .read()
                    .iter()
                    .map(|referenced| referenced.read())
                    .collect(),
            }
        }
    }
}
