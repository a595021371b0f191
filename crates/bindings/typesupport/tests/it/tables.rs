//! Compares messages that have hand-written introspection with Feros's dynamic messages of the same
//! types.

use feros_interface::{Interface, InterfaceSet, TypeName, parse_message};
use feros_message::cdr::ByteOrder;
use feros_message::dynamic::DynamicType;
use feros_typesupport::{Layout, MessageProgram, PlainLayout};
use feros_typesupport_tables::{FORMS, Form, LANGUAGES, Language, TYPES, Type, type_support_in};

use crate::owned::Owned;
use crate::values::{self, Numbers};

/// The ROS 2 definitions of the messages in `tables.cpp`.
const DEFINITIONS: [(&str, &str); 7] = [
    ("Point", "float64 x\nfloat64 y"),
    ("Empty", ""),
    ("Padded", "uint8 tag\nuint32 number\nbool flag\nfloat64 real\nuint16 end"),
    ("Inner", "bool flag\nstring name\nfloat64 value\nint8[] bytes"),
    (
        "Sample",
        "bool flag\nuint8 tag\nint16 small\nint32 number\nfloat64 real\nuint64 big\nstring text
uint16 between\nstring<=8 bounded_text\nwstring wide_text\nfloat64[3] numbers\nbool[2] flags
string[2] texts\nPadded[2] padded\nPoint[2] points\nInner[2] inners\nint32[] integers\nbool[] bits
uint8[<=4] bounded_bytes\nstring[] text_sequence\nwstring[] wide_text_sequence\nPoint[] path
Padded[] padded_sequence\nInner[] inner_sequence\nEmpty empty\nPoint point",
    ),
    ("Chunk", "uint32 number\nuint8[] data"),
    (
        "Blob",
        "uint8 tag\nuint8[] data\nfloat64 real\nuint8[<=4] bounded_bytes\nfloat64[] reals
bool[] bits\nstring text\nChunk chunk\nChunk[2] pair\nChunk[] chunks\nuint64 end",
    ),
];

pub(crate) fn compiled(language: Language, ty: Type) -> MessageProgram {
    compiled_in(Form::Kilted, language, ty)
}

pub(crate) fn layout(form: Form) -> Layout {
    match form {
        Form::Kilted => Layout::JAZZY_AND_KILTED,
        Form::Lyrical => Layout::LYRICAL,
    }
}

pub(crate) fn compiled_in(form: Form, language: Language, ty: Type) -> MessageProgram {
    let support = type_support_in(form, language, ty).cast();
    // SAFETY: a type support of the tables lives as long as the process.
    unsafe { MessageProgram::compile(support, layout(form)) }.unwrap()
}

pub(crate) fn dynamic(ty: Type) -> DynamicType {
    let mut set = InterfaceSet::new();
    for (name, text) in DEFINITIONS {
        let message = parse_message("tables", name, text).unwrap();
        set.insert(Interface::Message(message)).unwrap();
    }
    DynamicType::resolve(&set, &TypeName::message("tables", format!("{ty:?}"))).unwrap()
}

/// Compares a message of the form with the bytes of Feros's dynamic messages.
fn check(form: Form, language: Language, ty: Type) {
    let (program, dynamic) = (compiled_in(form, language, ty), dynamic(ty));
    // The same message is filled with one value after another, so that its sequences grow and
    // shrink.
    let mut message = Owned::new(&program);
    for seed in 0..200 {
        let what = format!("{form:?} {language:?} {ty:?} {seed}");
        let value = values::message(&dynamic, &mut Numbers::new(seed));
        let bytes = value.to_cdr().unwrap();
        message.decode(&bytes).unwrap();
        assert_eq!(message.encode().unwrap(), bytes, "{what}");
        let mut other = Owned::new(&program);
        other.decode(&value.to_cdr_in(ByteOrder::Big).unwrap()).unwrap();
        assert_eq!(other.encode().unwrap(), bytes, "{what}");
    }
}

#[test]
fn messages_are_the_bytes_of_dynamic_messages_both_ways() {
    for form in FORMS {
        for language in LANGUAGES {
            for ty in TYPES {
                check(form, language, ty);
            }
        }
    }
}

#[test]
fn bytes_are_read_wherever_they_lie_in_memory() {
    for (form, ty) in [(Form::Kilted, Type::Sample), (Form::Lyrical, Type::Blob)] {
        let bytes = values::message(&dynamic(ty), &mut Numbers::new(3)).to_cdr().unwrap();
        for language in LANGUAGES {
            let program = compiled_in(form, language, ty);
            for shift in 0..8 {
                let mut memory = vec![0; shift];
                memory.extend_from_slice(&bytes);
                let mut message = Owned::new(&program);
                message.decode(&memory[shift..]).unwrap();
                assert_eq!(message.encode().unwrap(), bytes);
            }
        }
    }
}

#[test]
fn a_program_knows_the_names_the_hash_and_the_language_of_its_type() {
    for language in LANGUAGES {
        let program = compiled(language, Type::Sample);
        assert_eq!(program.ros_type_name(), "tables/msg/Sample");
        assert_eq!(program.dds_type_name(), "tables::msg::dds_::Sample_");
        assert_eq!(program.type_hash().map(|hash| hash[..4].to_vec()), Some(vec![7, 8, 9, 0]));
        assert_eq!(program.is_cpp(), language == Language::Cpp);
    }
}

#[test]
fn a_message_without_fields_is_one_byte() {
    for language in LANGUAGES {
        let program = compiled(language, Type::Empty);
        assert_eq!(Owned::new(&program).encode().unwrap(), [0, 1, 0, 0, 0]);
    }
}

#[test]
fn only_types_whose_struct_is_their_body_are_plain() {
    for language in LANGUAGES {
        let plain = |ty| compiled(language, ty).plain();
        let point = PlainLayout { size: 16, align: 8, body_len: 16, has_bools: false };
        assert_eq!(plain(Type::Point), Some(point));
        // The struct has padding at its end, but the body does not.
        let padded = PlainLayout { size: 32, align: 8, body_len: 26, has_bools: true };
        assert_eq!(plain(Type::Padded), Some(padded));
        let empty = PlainLayout { size: 1, align: 1, body_len: 1, has_bools: false };
        assert_eq!(plain(Type::Empty), Some(empty));
        assert_eq!(plain(Type::Sample), None);
        assert_eq!(compiled_in(Form::Lyrical, language, Type::Blob).plain(), None);
    }
}

#[test]
fn the_struct_of_a_plain_type_is_its_body() {
    for language in LANGUAGES {
        for ty in TYPES {
            let (program, dynamic) = (compiled(language, ty), dynamic(ty));
            let Some(plain) = program.plain() else { continue };
            let bytes = values::message(&dynamic, &mut Numbers::new(5)).to_cdr().unwrap();
            assert_eq!(bytes.len(), 4 + plain.body_len);
            // Use the body as a struct, in memory that is aligned for the struct.
            let mut body = vec![0u128; plain.size.div_ceil(size_of::<u128>())];
            // SAFETY: `body` has at least `body_len` bytes, and nobody else uses them.
            unsafe {
                std::ptr::copy_nonoverlapping(
                    bytes[4..].as_ptr(),
                    body.as_mut_ptr().cast(),
                    plain.body_len,
                );
            }
            let mut out = vec![0xff; bytes.len()];
            // SAFETY: the body was serialized from a valid message of a plain type, so it is a
            // valid struct.
            let written = unsafe { program.encode(body.as_ptr().cast(), &mut out) }.unwrap();
            assert_eq!((written, out), (bytes.len(), bytes), "{language:?} {ty:?}");
        }
    }
}
