//! Errors name the field of the message, or the part of the type support, that is wrong.

use std::ffi::{CStr, c_char, c_void};

use feros_typesupport::{CompileError, EncodeError, Layout, MessageProgram, ServiceProgram, ffi};
use feros_typesupport_tables::{LANGUAGES, Language, Type, type_support};

use crate::owned::Owned;
use crate::tables::compiled;

const LAYOUT: Layout = Layout::JAZZY_AND_KILTED;

/// The member of `Sample` with this name.
fn member(language: Language, name: &str) -> &'static ffi::MessageMember {
    let support = type_support(language, Type::Sample).cast::<ffi::rosidl_message_type_support_t>();
    // SAFETY: the tables live as long as the process.
    let members = unsafe { &*(*support).data.cast::<ffi::MessageMembers>() };
    // SAFETY: as above.
    let all =
        unsafe { std::slice::from_raw_parts(members.members_, members.member_count_ as usize) };
    all.iter()
        // SAFETY: as above.
        .find(|member| unsafe { CStr::from_ptr(member.name_) }.to_str() == Ok(name))
        .unwrap()
}

/// A pointer to a field.
fn field<T>(message: &mut Owned<'_>, language: Language, name: &str) -> *mut T {
    // SAFETY: the member lies in the message.
    unsafe { message.as_mut_ptr().byte_add(member(language, name).offset_ as usize).cast() }
}

#[test]
fn a_sequence_beyond_its_bound_is_refused() {
    for language in LANGUAGES {
        let program = compiled(language, Type::Sample);
        let mut message = Owned::new(&program);
        let at: *mut c_void = field(&mut message, language, "bounded_bytes");
        // SAFETY: the function belongs to the field. The C function also returns a value, which is
        // ignored here.
        unsafe { member(language, "bounded_bytes").resize_function.unwrap()(at, 5) };
        let error = message.serialized_len().unwrap_err();
        assert_eq!(
            error.to_string(),
            "field `bounded_bytes` of tables/msg/Sample has length 5, but its type allows at most \
             4: shorten it, or use a type without the bound"
        );
        let mut out = [0; 4096];
        // SAFETY: the message has the program's type.
        assert_eq!(unsafe { program.encode(message.as_ptr(), &mut out) }, Err(error));
    }
}

#[test]
fn a_buffer_that_is_too_small_is_refused_at_every_length() {
    for language in LANGUAGES {
        let program = compiled(language, Type::Sample);
        let message = Owned::new(&program);
        let needed = message.serialized_len().unwrap();
        for len in 0..needed {
            let mut out = vec![0; len];
            // SAFETY: the message has the program's type.
            let error = unsafe { program.encode(message.as_ptr(), &mut out) }.unwrap_err();
            let EncodeError::BufferTooSmall { needed: named, capacity } = error else {
                panic!("{error}")
            };
            assert!(capacity == len && named > len && named <= needed, "{error}");
        }
    }
}

#[test]
fn a_text_of_c_without_memory_is_empty_or_refused() {
    let program = compiled(Language::C, Type::Sample);
    let mut message = Owned::new(&program);
    let text: *mut ffi::rosidl_runtime_c__String = field(&mut message, Language::C, "text");
    // SAFETY: the string belongs to the message, and its memory is freed here.
    unsafe {
        let mut data = std::ptr::null_mut();
        std::mem::swap(&mut data, &mut (*text).data);
        libc_free(data.cast());
        (*text).capacity = 0;
    }
    let bytes = message.encode().unwrap();
    assert_eq!(bytes[28..33], [1, 0, 0, 0, 0]);
    // SAFETY: as above.
    unsafe { (*text).size = 3 };
    let error = message.encode().unwrap_err();
    assert!(
        matches!(&error, EncodeError::NullData { field, len: 3 } if field.name() == "text"),
        "{error}"
    );
    // SAFETY: as above.
    unsafe { (*text).size = 0 };
    message.decode(&bytes).unwrap();
}

#[test]
fn a_sequence_of_c_without_memory_is_refused() {
    let program = compiled(Language::C, Type::Sample);
    let mut message = Owned::new(&program);
    let sequence: *mut ffi::Sequence = field(&mut message, Language::C, "integers");
    // SAFETY: the sequence belongs to the message.
    unsafe { (*sequence).size = 2 };
    let error = message.encode().unwrap_err();
    assert!(
        matches!(&error, EncodeError::NullData { field, len: 2 } if field.name() == "integers"),
        "{error}"
    );
    // SAFETY: as above.
    unsafe { (*sequence).size = 0 };
}

#[test]
fn a_nul_inside_a_text_is_read_but_not_written() {
    for language in LANGUAGES {
        let program = compiled(language, Type::Sample);
        let mut message = Owned::new(&program);
        let mut bytes = message.encode().unwrap();
        bytes.splice(28..36, [4, 0, 0, 0, b'a', 0, b'b', 0]);
        message.decode(&bytes).unwrap();
        let error = message.encode().unwrap_err();
        assert!(
            matches!(&error, EncodeError::InteriorNul { field, position: 1 }
                if field.name() == "text"),
            "{error}"
        );
    }
}

unsafe extern "C" fn finds_nothing(
    _: *const ffi::rosidl_message_type_support_t,
    _: *const c_char,
) -> *const ffi::rosidl_message_type_support_t {
    std::ptr::null()
}

fn support(identifier: &'static CStr, data: *const c_void) -> ffi::rosidl_message_type_support_t {
    ffi::rosidl_message_type_support_t {
        typesupport_identifier: identifier.as_ptr(),
        data,
        func: Some(finds_nothing),
        get_type_hash_func: None,
        get_type_description_func: None,
        get_type_description_sources_func: None,
    }
}

#[test]
fn type_supports_without_introspection_are_refused_with_their_name() {
    // SAFETY: null is allowed.
    let error = unsafe { MessageProgram::compile(std::ptr::null(), LAYOUT) }.unwrap_err();
    assert_eq!(error, CompileError::Null);
    // SAFETY: null is allowed.
    let error = unsafe { ServiceProgram::compile(std::ptr::null(), LAYOUT) }.unwrap_err();
    assert_eq!(error, CompileError::Null);
    let unknown = support(c"rosidl_typesupport_strange", std::ptr::null());
    // SAFETY: the type support is valid.
    let error = unsafe { MessageProgram::compile(&raw const unknown, LAYOUT) }.unwrap_err();
    assert!(
        matches!(&error, CompileError::NoIntrospection { identifier, .. }
            if identifier == "rosidl_typesupport_strange"),
        "{error}"
    );
}

#[test]
fn fields_that_have_no_form_on_the_wire_are_refused_by_name() {
    for (type_id, kind) in [(3, "long double"), (5, "wchar"), (99, "number 99")] {
        let error = compile_field(ffi::MessageMember { type_id_: type_id, ..number(0) });
        assert!(
            matches!(&error, CompileError::Unsupported { field, kind: named }
                if field.name() == "number" && named == kind),
            "{error}"
        );
    }
    // A nested message without its description, and a sequence without its functions.
    let error = compile_field(ffi::MessageMember { type_id_: 18, ..number(0) });
    assert!(matches!(error, CompileError::Incomplete { .. }), "{error}");
    let error = compile_field(ffi::MessageMember { is_array_: true, ..number(0) });
    assert!(matches!(error, CompileError::Incomplete { .. } | CompileError::Outside { .. }));
    let error = compile_field(number(4));
    assert!(matches!(&error, CompileError::Outside { start: 4, end: 8, size: 4, .. }), "{error}");
}

fn number(offset: u32) -> ffi::MessageMember {
    ffi::MessageMember {
        name_: c"number".as_ptr(),
        type_id_: ffi::field_type::INT32,
        string_upper_bound_: 0,
        members_: std::ptr::null(),
        is_key_: false,
        is_array_: false,
        array_size_: 0,
        is_upper_bound_: false,
        offset_: offset,
        default_value_: std::ptr::null(),
        size_function: None,
        get_const_function: None,
        get_function: None,
        fetch_function: None,
        assign_function: None,
        resize_function: None,
    }
}

/// Compiles a message of 4 bytes with this field, and returns the error.
fn compile_field(member: ffi::MessageMember) -> CompileError {
    unsafe extern "C" fn init(_: *mut c_void, _: std::ffi::c_int) {}
    unsafe extern "C" fn fini(_: *mut c_void) {}
    unsafe extern "C" fn find(
        this: *const ffi::rosidl_message_type_support_t,
        identifier: *const c_char,
    ) -> *const ffi::rosidl_message_type_support_t {
        // SAFETY: `compile` passes two valid pointers.
        let (wanted, own) =
            unsafe { (CStr::from_ptr(identifier), CStr::from_ptr((*this).typesupport_identifier)) };
        if wanted == own { this } else { std::ptr::null() }
    }
    let members = ffi::MessageMembers {
        message_namespace_: c"own__msg".as_ptr(),
        message_name_: c"Own".as_ptr(),
        member_count_: 1,
        size_of_: 4,
        has_any_key_member_: false,
        members_: &raw const member,
        init_function: Some(init),
        fini_function: Some(fini),
    };
    let support = ffi::rosidl_message_type_support_t {
        func: Some(find),
        ..support(ffi::INTROSPECTION_C, (&raw const members).cast())
    };
    // SAFETY: the type support is valid, and the failed compilation keeps no pointer to it.
    unsafe { MessageProgram::compile(&raw const support, LAYOUT) }.unwrap_err()
}

unsafe extern "C" {
    #[link_name = "free"]
    fn libc_free(memory: *mut c_void);
}
