//! Compares every message of test_msgs, in C and C++, with Fast CDR and with dynamic messages.

use feros_interface::{TypeName, shipped};
use feros_interop::{Distribution, distribution};
use feros_message::cdr::ByteOrder;
use feros_message::dynamic::DynamicType;
use feros_typesupport::{DecodeError, Layout, MessageProgram, ServiceProgram};

use crate::owned::Owned;
use crate::values::{self, Numbers};
use crate::wheels::{LANGUAGES, Language, Wheels};

const LAYOUT: Layout = Layout::JAZZY_AND_KILTED;

/// All messages of a package, including the messages of its services and actions, that stock ROS 2
/// has too: Jazzy has no messages with keys.
fn messages_of(package: &str) -> Vec<TypeName> {
    let is_jazzy = distribution() == Distribution::Jazzy;
    let names = shipped().messages().map(|message| message.name.clone());
    let names: Vec<_> = names
        .filter(|name| name.package == package && !(is_jazzy && name.name.contains("Key")))
        .collect();
    assert!(names.len() > 10, "{package} has few messages: {names:?}");
    names
}

fn check(wheels: &Wheels, language: Language, name: &TypeName, seeds: u64) {
    let fast_cdr = wheels.fast_cdr();
    let dynamic = DynamicType::resolve(shipped(), name).unwrap();
    let support = wheels.message(language, name);
    // SAFETY: the type support belongs to a library that stays loaded.
    let program = unsafe { MessageProgram::compile(support, LAYOUT) }.unwrap();
    assert_eq!(program.ros_type_name(), name.to_string());
    assert_eq!(program.dds_type_name(), name.dds_type_name());
    assert_eq!(program.type_hash(), Some(dynamic.type_hash().0), "{name}");
    assert_eq!(program.is_cpp(), language == Language::Cpp);
    let mut buffer = fast_cdr.buffer();
    for seed in 0..seeds {
        let what = format!("{name} of {language:?}, seed {seed}");
        let value = values::message(&dynamic, &mut Numbers::new(seed));
        let bytes = value.to_cdr().unwrap();
        // Feros reads and writes the message ...
        let mut message = Owned::new(&program);
        message.decode(&bytes).unwrap();
        assert_eq!(message.encode().unwrap(), bytes, "{what}");
        // ... Fast CDR serializes the struct that Feros filled ...
        // SAFETY: the message has the type of `support`.
        unsafe { fast_cdr.serialize(support, message.as_ptr(), &mut buffer) };
        let of_fast_cdr = dynamic.decode(buffer.bytes()).unwrap();
        assert_eq!(of_fast_cdr.to_cdr().unwrap(), bytes, "{what}: written by Fast CDR");
        // ... and Feros serializes the struct that Fast CDR filled.
        let mut other = Owned::new(&program);
        // SAFETY: as above.
        unsafe { fast_cdr.deserialize(support, &bytes, other.as_mut_ptr()) };
        assert_eq!(other.encode().unwrap(), bytes, "{what}: read by Fast CDR");
        other.decode(&value.to_cdr_in(ByteOrder::Big).unwrap()).unwrap();
        assert_eq!(other.encode().unwrap(), bytes, "{what}: big endian");
    }
    fast_cdr.free(buffer);
}

#[test]
fn every_message_of_test_msgs_is_the_same_to_fast_cdr() {
    let Some(wheels) = Wheels::find() else { return };
    for language in LANGUAGES {
        for name in messages_of("test_msgs") {
            check(&wheels, language, &name, 20);
        }
    }
}

#[test]
fn messages_of_robots_are_the_same_to_fast_cdr() {
    let Some(wheels) = Wheels::find() else { return };
    for language in LANGUAGES {
        for package in ["geometry_msgs", "sensor_msgs", "nav_msgs", "rcl_interfaces"] {
            for name in messages_of(package) {
                check(&wheels, language, &name, 3);
            }
        }
    }
}

#[test]
fn a_new_message_has_its_defaults() {
    let Some(wheels) = Wheels::find() else { return };
    for language in LANGUAGES {
        for name in messages_of("test_msgs") {
            // SAFETY: the type support belongs to a library that stays loaded.
            let program =
                unsafe { MessageProgram::compile(wheels.message(language, &name), LAYOUT) }
                    .unwrap();
            let dynamic = DynamicType::resolve(shipped(), &name).unwrap();
            let defaults = dynamic.default_message().to_cdr().unwrap();
            assert_eq!(Owned::new(&program).encode().unwrap(), defaults, "{name} {language:?}");
        }
    }
}

#[test]
fn services_have_their_messages_names_and_hashes() {
    let Some(wheels) = Wheels::find() else { return };
    for language in LANGUAGES {
        for service in shipped().services().filter(|service| service.name.package == "test_msgs") {
            let name = &service.name;
            // SAFETY: the type support belongs to a library that stays loaded.
            let program =
                unsafe { ServiceProgram::compile(wheels.service(language, name), LAYOUT) }.unwrap();
            assert_eq!(program.ros_type_name(), name.to_string());
            assert_eq!(program.type_hash(), Some(shipped().type_hash(name).unwrap().0), "{name}");
            let event = program.event.as_ref().unwrap();
            for (message, suffix) in [
                (&program.request, "_Request"),
                (&program.response, "_Response"),
                (event, "_Event"),
            ] {
                let name = name.with_suffix(suffix);
                assert_eq!(message.ros_type_name(), name.to_string());
                assert_eq!(message.type_hash(), Some(shipped().type_hash(&name).unwrap().0));
            }
        }
    }
}

#[test]
fn bounds_are_checked_on_messages_of_stock() {
    let Some(wheels) = Wheels::find() else { return };
    let name = TypeName::message("test_msgs", "BoundedPlainSequences");
    for language in LANGUAGES {
        // SAFETY: the type support belongs to a library that stays loaded.
        let program =
            unsafe { MessageProgram::compile(wheels.message(language, &name), LAYOUT) }.unwrap();
        let mut bytes = vec![0, 1, 0, 0, 4, 0, 0, 0];
        bytes.resize(400, 0);
        let error = Owned::new(&program).decode(&bytes).unwrap_err();
        assert!(
            matches!(&error, DecodeError::BoundExceeded { field, len: 4, bound: 3, .. }
                if field.name() == "bool_values"),
            "{error}"
        );
    }
}
