//! Finds the introspection of a type from any type support of the type, and reads the type's name
//! and hash.

use std::ffi::{CStr, c_char, c_void};

use crate::error::CompileError;
use crate::ffi::text;
use crate::{ffi, shim};

/// A language for which rosidl generates messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    C,
    Cpp,
}

/// [`ffi::MessageFind`] or [`ffi::ServiceFind`], with untyped pointers.
type Find = unsafe extern "C" fn(*const c_void, *const c_char) -> *const c_void;

/// The parts of a given type support that a lookup needs: the identifier and the lookup function.
struct Asked {
    type_support: *const c_void,
    identifier: *const c_char,
    find: Option<Find>,
}

/// The introspection of a message.
///
/// # Safety
/// `type_support` is null or valid.
pub(crate) unsafe fn find_message(
    type_support: *const ffi::rosidl_message_type_support_t,
) -> Result<(&'static ffi::rosidl_message_type_support_t, Language), CompileError> {
    // SAFETY: by this function's contract.
    let given = unsafe { type_support.as_ref() }.ok_or(CompileError::Null)?;
    let asked = Asked {
        type_support: type_support.cast(),
        identifier: given.typesupport_identifier,
        // SAFETY: the two function types differ only in the types of their pointers, which makes no
        // difference to C.
        find: unsafe { std::mem::transmute::<Option<ffi::MessageFind>, Option<Find>>(given.func) },
    };
    // SAFETY: by this function's contract, the type support is valid.
    let (found, language) = unsafe { asked.find() }?;
    // SAFETY: a message type support finds a message type support, which is a static of its
    // library.
    Ok((unsafe { &*found.cast() }, language))
}

/// The introspection of a service.
///
/// # Safety
/// `type_support` is null or valid.
pub(crate) unsafe fn find_service(
    type_support: *const ffi::rosidl_service_type_support_t,
) -> Result<(&'static ffi::rosidl_service_type_support_t, Language), CompileError> {
    // SAFETY: by this function's contract.
    let given = unsafe { type_support.as_ref() }.ok_or(CompileError::Null)?;
    let asked = Asked {
        type_support: type_support.cast(),
        identifier: given.typesupport_identifier,
        // SAFETY: the two function types differ only in the types of their pointers, which makes no
        // difference to C.
        find: unsafe { std::mem::transmute::<Option<ffi::ServiceFind>, Option<Find>>(given.func) },
    };
    // SAFETY: by this function's contract, the type support is valid.
    let (found, language) = unsafe { asked.find() }?;
    // SAFETY: a service type support finds a service type support, which is a static of its
    // library.
    Ok((unsafe { &*found.cast() }, language))
}

impl Asked {
    /// # Safety
    /// The three fields belong to one valid type support.
    unsafe fn find(&self) -> Result<(*const c_void, Language), CompileError> {
        // SAFETY: by this function's contract.
        let identifier = unsafe { text(self.identifier) };
        let c = (ffi::INTROSPECTION_C, Language::C);
        let cpp = (ffi::INTROSPECTION_CPP, Language::Cpp);
        // The language of the type support is tried first, because a lookup of the other language
        // fails and sets the error state of rcutils.
        let order = if identifier.ends_with("_cpp") { [cpp, c] } else { [c, cpp] };
        let mut said = Vec::new();
        for (wanted, language) in order {
            let Some(find) = self.find else {
                return Err(CompileError::Incomplete {
                    message: format!("type support `{identifier}`"),
                    what: "function to find another one",
                });
            };
            let mut words = [0; 256];
            // SAFETY: by this function's contract; the last byte of `words` stays NUL.
            let found = unsafe {
                let (words, len) = (words.as_mut_ptr(), words.len());
                shim::feros_type_support_find(find, self.type_support, wanted.as_ptr(), words, len)
            };
            if !found.is_null() {
                return Ok((found, language));
            }
            // SAFETY: as above.
            let words = unsafe { CStr::from_ptr(words.as_ptr()) };
            if !words.is_empty() {
                said.push(words.to_string_lossy().into_owned());
            }
        }
        if said.is_empty() {
            said.push("it returned null".to_owned());
        }
        Err(CompileError::NoIntrospection { identifier, said: said.join("; ") })
    }
}

/// The name of a type, such as `std_msgs/msg/String`.
///
/// # Safety
/// Each pointer is null or points to a string that ends with NUL.
pub(crate) unsafe fn type_name(namespace: *const c_char, name: *const c_char) -> String {
    // SAFETY: by this function's contract.
    let (namespace, name) = unsafe { (text(namespace), text(name)) };
    // C joins the parts with two underscores, which no name contains in a row; C++ joins them with
    // colons.
    let mut parts: Vec<&str> = match namespace.contains("::") {
        true => namespace.split("::").collect(),
        false => namespace.split("__").collect(),
    };
    parts.retain(|part| !part.is_empty());
    parts.push(&name);
    parts.join("/")
}

/// The name on the wire, such as `std_msgs::msg::dds_::String_`.
pub(crate) fn dds_type_name(ros_type_name: &str) -> String {
    match ros_type_name.rsplit_once('/') {
        Some((namespace, name)) => format!("{}::dds_::{name}_", namespace.replace('/', "::")),
        None => format!("dds_::{ros_type_name}_"),
    }
}

/// The value of an RIHS01 hash.
///
/// # Safety
/// `hash` is null or valid.
pub(crate) unsafe fn hash_value(hash: *const ffi::rosidl_type_hash_t) -> Option<[u8; 32]> {
    const RIHS01: u8 = 1;
    // SAFETY: by this function's contract.
    let hash = unsafe { hash.as_ref() }?;
    (hash.version == RIHS01).then_some(hash.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_c_and_of_cpp_are_names_of_ros() {
        // SAFETY: the strings end with NUL.
        let name =
            |namespace: &CStr, name: &CStr| unsafe { type_name(namespace.as_ptr(), name.as_ptr()) };
        assert_eq!(name(c"std_msgs__msg", c"String"), "std_msgs/msg/String");
        assert_eq!(name(c"std_msgs::msg", c"String"), "std_msgs/msg/String");
        assert_eq!(name(c"", c"String"), "String");
        assert_eq!(dds_type_name("a_b/action/C_Goal"), "a_b::action::dds_::C_Goal_");
        assert_eq!(dds_type_name("String"), "dds_::String_");
    }
}
