//! The form of ROS 2 Lyrical: buffers outside of the memory of the CPU are refused, and so are
//! descriptions that are not in this form. The messages themselves are compared with those of the
//! other form in `tables.rs`.

use std::ffi::{CStr, c_char, c_int, c_void};

use feros_message::dynamic::DynamicMessage;
use feros_typesupport::{CompileError, DecodeError, EncodeError, Layout, MessageProgram, ffi};
use feros_typesupport_tables::{Form, Language, Type, move_buffer, type_support_in};

use crate::owned::Owned;
use crate::tables::{compiled_in, dynamic};

fn blob(json: &str) -> Vec<u8> {
    DynamicMessage::from_json(&dynamic(Type::Blob), json).unwrap().to_cdr().unwrap()
}

/// A message with bytes in both buffers that are not elements of an array.
fn full() -> Vec<u8> {
    blob(r#"{"tag": 1, "data": [1, 2, 3], "text": "a", "chunk": {"number": 7, "data": [4, 5]}}"#)
}

/// The description of a message in the tables, in the form of Lyrical.
///
/// # Safety
/// The type support is one of the tables, in that form.
unsafe fn described(
    support: *const ffi::rosidl_message_type_support_t,
) -> &'static [ffi::lyrical::MessageMember] {
    // SAFETY: by this function's contract; the tables live as long as the process.
    unsafe {
        let members = &*(*support).data.cast::<ffi::MessageMembers>();
        std::slice::from_raw_parts(members.members_.cast(), members.member_count_ as usize)
    }
}

fn named<'a>(
    members: &'a [ffi::lyrical::MessageMember],
    name: &str,
) -> &'a ffi::lyrical::MessageMember {
    let is_named = |member: &&ffi::lyrical::MessageMember| {
        // SAFETY: the names of the tables end with NUL.
        unsafe { CStr::from_ptr(member.member.name_) }.to_str() == Ok(name)
    };
    members.iter().find(is_named).unwrap()
}

/// The offsets of the field `data` in a `Blob` and in its field `chunk`.
fn buffers(language: Language) -> [usize; 2] {
    let support = type_support_in(Form::Lyrical, language, Type::Blob);
    // SAFETY: both type supports are of the tables, in the form of Lyrical.
    let (blob, chunk) = unsafe {
        let blob = described(support.cast());
        (blob, described(named(blob, "chunk").member.members_))
    };
    let offset = |member: &ffi::lyrical::MessageMember| member.member.offset_ as usize;
    assert!(named(blob, "data").is_rosidl_buffer_ && named(chunk, "data").is_rosidl_buffer_);
    assert!(!named(blob, "bounded_bytes").is_rosidl_buffer_);
    [offset(named(blob, "data")), offset(named(blob, "chunk")) + offset(named(chunk, "data"))]
}

/// Moves the bytes of a buffer to a device, or back.
fn moved(message: &mut Owned<'_>, offset: usize, to_device: bool) {
    // SAFETY: the offset is that of a buffer in a message in the form of Lyrical.
    unsafe { move_buffer(message.as_mut_ptr().byte_add(offset), to_device) };
}

#[test]
fn a_buffer_of_cpp_on_a_device_is_refused_with_the_name_of_its_field() {
    let program = compiled_in(Form::Lyrical, Language::Cpp, Type::Blob);
    for (offset, of) in buffers(Language::Cpp).into_iter().zip(["Blob", "Chunk"]) {
        let mut message = Owned::new(&program);
        message.decode(&full()).unwrap();
        moved(&mut message, offset, true);
        let error = message.serialized_len().unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "field `data` of tables/msg/{of} is a rosidl::Buffer whose bytes are not in the \
                 memory of the CPU (the bytes are on a device): copy them there, such as with \
                 to_vector(), before the message is published"
            )
        );
        let mut out = [0; 4096];
        // SAFETY: the message has the program's type.
        assert_eq!(unsafe { program.encode(message.as_ptr(), &mut out) }, Err(error));
        let error = message.decode(&blob("{}")).unwrap_err();
        assert!(
            matches!(&error, DecodeError::NotOnCpu { field, said }
                if field.name() == "data" && said == "the bytes are on a device"),
            "{error}"
        );
        // The message is still a message.
        moved(&mut message, offset, false);
        message.decode(&full()).unwrap();
        assert_eq!(message.encode().unwrap(), full());
    }
}

#[test]
fn an_empty_buffer_of_cpp_on_a_device_is_empty() {
    let program = compiled_in(Form::Lyrical, Language::Cpp, Type::Blob);
    let mut message = Owned::new(&program);
    for offset in buffers(Language::Cpp) {
        moved(&mut message, offset, true);
    }
    assert_eq!(message.encode().unwrap(), blob("{}"));
    message.decode(&blob("{}")).unwrap();
    assert!(matches!(message.decode(&full()), Err(DecodeError::NotOnCpu { .. })));
}

#[test]
fn a_sequence_of_c_that_points_to_a_buffer_is_refused_and_not_touched() {
    let program = compiled_in(Form::Lyrical, Language::C, Type::Blob);
    for (offset, of) in buffers(Language::C).into_iter().zip(["Blob", "Chunk"]) {
        let mut message = Owned::new(&program);
        // SAFETY: the offset is that of a sequence of bytes.
        let at: *mut ffi::lyrical::PrimitiveSequence =
            unsafe { message.as_mut_ptr().byte_add(offset).cast() };
        // As rclpy leaves it for a publisher: the size says nothing about the buffer. The functions
        // of the tables would end the process.
        let mut object = [0_u8; 64];
        // SAFETY: the sequence belongs to the message.
        unsafe {
            (*at).sequence.data = object.as_mut_ptr().cast();
            (*at).is_rosidl_buffer = 1;
        }
        let error = message.encode().unwrap_err();
        assert!(
            matches!(&error, EncodeError::NotOnCpu { field, .. }
                if field.name() == "data" && field.message() == format!("tables/msg/{of}")),
            "{error}"
        );
        for bytes in [blob("{}"), full()] {
            let error = message.decode(&bytes).unwrap_err();
            assert!(
                matches!(&error, DecodeError::NotOnCpu { field, .. } if field.name() == "data"),
                "{error}"
            );
        }
        assert_eq!(object, [0; 64]);
        // SAFETY: as above. The message does not own the object.
        unsafe {
            (*at).sequence.data = std::ptr::null_mut();
            (*at).is_rosidl_buffer = 0;
        }
        message.decode(&full()).unwrap();
        assert_eq!(message.encode().unwrap(), full());
    }
}

unsafe extern "C" fn three(_: *const c_void) -> usize {
    3
}
unsafe extern "C" fn beyond_count(_: *const c_void) -> usize {
    1 << 33
}
unsafe extern "C" fn no_const_item(_: *const c_void, _: usize) -> *const c_void {
    std::ptr::null()
}
unsafe extern "C" fn no_item(_: *mut c_void, _: usize) -> *mut c_void {
    std::ptr::null_mut()
}
unsafe extern "C" fn no_resize(_: *mut c_void, _: usize) {}

/// A `uint8[]` at the start of a message, whose functions give no bytes.
fn bytes_field() -> ffi::MessageMember {
    ffi::MessageMember {
        name_: c"data".as_ptr(),
        type_id_: ffi::field_type::UINT8,
        string_upper_bound_: 0,
        members_: std::ptr::null(),
        is_key_: false,
        is_array_: true,
        array_size_: 0,
        is_upper_bound_: false,
        offset_: 0,
        default_value_: std::ptr::null(),
        size_function: Some(three),
        get_const_function: Some(no_const_item),
        get_function: Some(no_item),
        fetch_function: None,
        assign_function: None,
        resize_function: Some(no_resize),
    }
}

/// The descriptions of fields, in memory of zeros, as compilers lay out constants.
struct Fields {
    memory: Vec<u64>,
    count: u32,
}

impl Fields {
    /// Descriptions in a form; the flag of a field is written only if the form has it.
    fn new(form: Form, fields: Vec<(ffi::MessageMember, bool)>) -> Self {
        let size = match form {
            Form::Kilted => size_of::<ffi::MessageMember>(),
            Form::Lyrical => size_of::<ffi::lyrical::MessageMember>(),
        };
        let count = u32::try_from(fields.len()).unwrap();
        // One more, so that a reader with the layout of another form stays in this memory.
        let mut memory = vec![0; (fields.len() + 1) * size / size_of::<u64>()];
        for (index, (field, is_buffer)) in fields.into_iter().enumerate() {
            let at = memory[index * size / size_of::<u64>()..].as_mut_ptr();
            // Each field on its own, since a copy of the structure may also copy its padding.
            macro_rules! write_each {
                ($($name:ident)+) => {
                    // SAFETY: the memory has room for the structure.
                    unsafe {
                        let at = at.cast::<ffi::MessageMember>();
                        $((&raw mut (*at).$name).write(field.$name);)+
                    }
                };
            }
            write_each! {
                name_ type_id_ string_upper_bound_ members_ is_key_ is_array_ array_size_
                is_upper_bound_ offset_ default_value_ size_function get_const_function
                get_function fetch_function assign_function resize_function
            }
            if form == Form::Lyrical {
                let at = at.cast::<ffi::lyrical::MessageMember>();
                // SAFETY: as above.
                unsafe { (&raw mut (*at).is_rosidl_buffer_).write(is_buffer) };
            }
        }
        Self { memory, count }
    }

    /// Compiles a message of `size` bytes with these fields.
    fn compile(
        &self,
        language: &'static CStr,
        layout: Layout,
        size: usize,
    ) -> Result<MessageProgram, CompileError> {
        unsafe extern "C" fn init(_: *mut c_void, _: c_int) {}
        unsafe extern "C" fn fini(_: *mut c_void) {}
        unsafe extern "C" fn find(
            this: *const ffi::rosidl_message_type_support_t,
            identifier: *const c_char,
        ) -> *const ffi::rosidl_message_type_support_t {
            // SAFETY: `compile` passes two valid pointers.
            let (wanted, own) = unsafe {
                (CStr::from_ptr(identifier), CStr::from_ptr((*this).typesupport_identifier))
            };
            if wanted == own { this } else { std::ptr::null() }
        }
        let members = ffi::MessageMembers {
            message_namespace_: c"own__msg".as_ptr(),
            message_name_: c"Own".as_ptr(),
            member_count_: self.count,
            size_of_: size,
            has_any_key_member_: false,
            members_: self.memory.as_ptr().cast(),
            init_function: Some(init),
            fini_function: Some(fini),
        };
        let support = ffi::rosidl_message_type_support_t {
            typesupport_identifier: language.as_ptr(),
            data: (&raw const members).cast(),
            func: Some(find),
            get_type_hash_func: None,
            get_type_description_func: None,
            get_type_description_sources_func: None,
        };
        // SAFETY: the type support is valid, and a program keeps only pointers to functions.
        unsafe { MessageProgram::compile(&raw const support, layout) }
    }
}

const LANGUAGES: [&CStr; 2] = [ffi::INTROSPECTION_C, ffi::INTROSPECTION_CPP];

/// Compiles a message of 64 bytes in the form of Lyrical, whose only field is a buffer.
fn compile_buffer(
    language: &'static CStr,
    field: ffi::MessageMember,
) -> Result<MessageProgram, CompileError> {
    Fields::new(Form::Lyrical, vec![(field, true)]).compile(language, Layout::LYRICAL, 64)
}

#[test]
fn a_buffer_of_other_elements_is_refused_by_name() {
    use ffi::field_type as ty;
    let others = || {
        [
            ffi::MessageMember { type_id_: ty::FLOAT, ..bytes_field() },
            ffi::MessageMember { type_id_: ty::BOOLEAN, ..bytes_field() },
            ffi::MessageMember { type_id_: ty::STRING, ..bytes_field() },
            ffi::MessageMember { is_array_: false, ..bytes_field() },
            ffi::MessageMember { array_size_: 4, ..bytes_field() },
            ffi::MessageMember { array_size_: 4, is_upper_bound_: true, ..bytes_field() },
        ]
    };
    for language in LANGUAGES {
        for other in others() {
            let error = compile_buffer(language, other).unwrap_err();
            assert!(
                matches!(&error, CompileError::OtherBuffer { field } if field.name() == "data"),
                "{error}"
            );
        }
        compile_buffer(language, bytes_field()).unwrap();
    }
}

#[test]
fn a_buffer_without_functions_or_outside_of_its_message_is_refused() {
    let incomplete = || {
        [
            ffi::MessageMember { size_function: None, ..bytes_field() },
            ffi::MessageMember { get_const_function: None, ..bytes_field() },
            ffi::MessageMember { get_function: None, ..bytes_field() },
            ffi::MessageMember { resize_function: None, ..bytes_field() },
        ]
    };
    for language in LANGUAGES {
        for field in incomplete() {
            let error = compile_buffer(language, field).unwrap_err();
            assert!(
                matches!(&error, CompileError::Incomplete { message, .. }
                    if message == "own/msg/Own"),
                "{error}"
            );
        }
        for offset_ in [57, 64, u32::MAX] {
            let field = ffi::MessageMember { offset_, ..bytes_field() };
            let error = compile_buffer(language, field).unwrap_err();
            assert!(
                matches!(&error, CompileError::Outside { field, start, size: 64, .. }
                    if field.name() == "data" && *start == offset_ as usize),
                "{error}"
            );
        }
    }
}

#[test]
fn sequences_of_primitives_in_c_have_the_flags_of_lyrical() {
    let number = || ffi::MessageMember { type_id_: ffi::field_type::INT32, ..bytes_field() };
    let text = ffi::MessageMember { type_id_: ffi::field_type::STRING, ..bytes_field() };
    let c = ffi::INTROSPECTION_C;
    // A sequence of Kilted, which has no flags.
    let fields = Fields::new(Form::Lyrical, vec![(number(), false)]);
    let error = fields.compile(c, Layout::LYRICAL, 24).unwrap_err();
    assert!(matches!(error, CompileError::Outside { end: 32, size: 24, .. }), "{error}");
    fields.compile(c, Layout::LYRICAL, 32).unwrap();
    let fields = Fields::new(Form::Kilted, vec![(number(), false)]);
    fields.compile(c, Layout::JAZZY_AND_KILTED, 24).unwrap();
    // A sequence of strings never has the flags.
    let fields = Fields::new(Form::Lyrical, vec![(text, false)]);
    fields.compile(c, Layout::LYRICAL, 24).unwrap();
}

#[test]
fn a_description_in_the_form_of_another_distribution_is_refused() {
    let two = || vec![(bytes_field(), true), (bytes_field(), false)];
    let (kilted, lyrical) = (Layout::JAZZY_AND_KILTED, Layout::LYRICAL);
    for language in LANGUAGES {
        for (form, wrong) in [(Form::Kilted, lyrical), (Form::Lyrical, kilted)] {
            // With the layout of Kilted, the first field would be a vector.
            let error = Fields::new(form, two()).compile(language, wrong, 64).unwrap_err();
            assert_eq!(
                error.to_string(),
                "the introspection of own/msg/Own has no name of a field: rebuild the type's \
                 package with the ROS 2 that runs the program",
                "{form:?}"
            );
        }
        Fields::new(Form::Kilted, two()).compile(language, kilted, 64).unwrap();
        Fields::new(Form::Lyrical, two()).compile(language, lyrical, 64).unwrap();
    }
}

#[test]
fn functions_that_give_no_bytes_are_refused() {
    let message = [0_u64; 8];
    let program = compile_buffer(ffi::INTROSPECTION_CPP, bytes_field()).unwrap();
    // SAFETY: here and below, the functions of the field do not access the message.
    let error = unsafe { program.serialized_len(message.as_ptr().cast()) }.unwrap_err();
    assert!(matches!(&error, EncodeError::NullData { len: 3, .. }), "{error}");
    let mut other = [0_u64; 8];
    let bytes = [0, 1, 0, 0, 3, 0, 0, 0, 1, 2, 3];
    // SAFETY: as above.
    let error = unsafe { program.decode(&bytes, other.as_mut_ptr().cast()) }.unwrap_err();
    assert!(matches!(&error, DecodeError::NotOnCpu { .. }), "{error}");
    let field = ffi::MessageMember { size_function: Some(beyond_count), ..bytes_field() };
    let program = compile_buffer(ffi::INTROSPECTION_CPP, field).unwrap();
    // SAFETY: as above.
    let error = unsafe { program.serialized_len(message.as_ptr().cast()) }.unwrap_err();
    assert!(matches!(&error, EncodeError::TooLong { .. }), "{error}");
}
