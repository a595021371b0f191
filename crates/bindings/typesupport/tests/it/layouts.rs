//! Compares the structures of [`feros_typesupport::ffi`] with those of the real headers.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::mem::offset_of;
use std::path::Path;
use std::process::Command;

use feros_interop::prefix_of_ros2;
use feros_typesupport::ffi;

/// A structure of this crate: its name, its size, and its fields with their offsets.
type Believed = (&'static str, usize, Vec<(&'static str, usize)>);

macro_rules! believed {
    ($($header:literal => $rust:ty { $($field:ident),+ $(,)? })+) => {
        vec![$((
            $header,
            size_of::<$rust>(),
            vec![$((stringify!($field), offset_of!($rust, $field))),+],
        )),+]
    };
}

fn messages() -> Vec<Believed> {
    let member = |name| -> Believed {
        let mut all = believed! {
            "" => ffi::MessageMember {
                name_, type_id_, string_upper_bound_, members_, is_key_, is_array_, array_size_,
                is_upper_bound_, offset_, default_value_, size_function, get_const_function,
                get_function, fetch_function, assign_function, resize_function,
            }
        };
        all[0].0 = name;
        all.remove(0)
    };
    let members = |name| -> Believed {
        let mut all = believed! {
            "" => ffi::MessageMembers {
                message_namespace_, message_name_, member_count_, size_of_, has_any_key_member_,
                members_, init_function, fini_function,
            }
        };
        all[0].0 = name;
        all.remove(0)
    };
    let service = |name| -> Believed {
        let mut all = believed! {
            "" => ffi::ServiceMembers {
                service_namespace_, service_name_, request_members_, response_members_,
                event_members_,
            }
        };
        all[0].0 = name;
        all.remove(0)
    };
    let mut all = believed! {
        "rosidl_type_hash_t" => ffi::rosidl_type_hash_t { version, value }
        "rosidl_message_type_support_t" => ffi::rosidl_message_type_support_t {
            typesupport_identifier, data, func, get_type_hash_func, get_type_description_func,
            get_type_description_sources_func,
        }
        "rosidl_service_type_support_t" => ffi::rosidl_service_type_support_t {
            typesupport_identifier, data, func, request_typesupport, response_typesupport,
            event_typesupport, event_message_create_handle_function,
            event_message_destroy_handle_function, get_type_hash_func, get_type_description_func,
            get_type_description_sources_func,
        }
        "rosidl_runtime_c__String" => ffi::rosidl_runtime_c__String { data, size, capacity }
        "rosidl_runtime_c__U16String" => ffi::rosidl_runtime_c__U16String { data, size, capacity }
        "rosidl_runtime_c__double__Sequence" => ffi::Sequence { data, size, capacity }
    };
    all.extend([
        member("rosidl_typesupport_introspection_c__MessageMember"),
        member("rosidl_typesupport_introspection_cpp::MessageMember"),
        members("rosidl_typesupport_introspection_c__MessageMembers"),
        members("rosidl_typesupport_introspection_cpp::MessageMembers"),
        service("rosidl_typesupport_introspection_c__ServiceMembers"),
        service("rosidl_typesupport_introspection_cpp::ServiceMembers"),
    ]);
    all
}

/// Constants that both the headers and this crate define: the expression in C++, and the value
/// here.
fn numbers() -> Vec<(&'static str, usize)> {
    use ffi::field_type as ty;
    macro_rules! types {
        ($($name:ident)+) => {
            vec![$((
                concat!("rosidl_typesupport_introspection_c__ROS_TYPE_", stringify!($name)),
                usize::from(ty::$name),
            )),+]
        };
    }
    let mut all = types! {
        FLOAT DOUBLE LONG_DOUBLE CHAR WCHAR BOOLEAN OCTET UINT8 INT8 UINT16 INT16 UINT32 INT32
        UINT64 INT64 STRING WSTRING MESSAGE
    };
    all.push(("ROSIDL_RUNTIME_C_MSG_INIT_ALL", ffi::MESSAGE_INIT_ALL as usize));
    all
}

const HEADERS: [&str; 8] = [
    "rosidl_runtime_c/message_type_support_struct.h",
    "rosidl_runtime_c/service_type_support_struct.h",
    "rosidl_runtime_c/string.h",
    "rosidl_runtime_c/u16string.h",
    "rosidl_typesupport_introspection_c/service_introspection.h",
    "rosidl_typesupport_introspection_c/field_types.h",
    "rosidl_typesupport_introspection_cpp/message_introspection.hpp",
    "rosidl_typesupport_introspection_cpp/service_introspection.hpp",
];

fn source() -> String {
    let mut text = String::from("#include <cstddef>\n#include <cstdio>\n");
    for header in HEADERS {
        writeln!(text, "#include \"{header}\"").unwrap();
    }
    text.push_str("int main() {\n");
    let mut say = |what: &str, value: &str| {
        writeln!(text, "std::printf(\"%s %zu\\n\", \"{what}\", static_cast<size_t>({value}));")
            .unwrap();
    };
    for (name, _, fields) in messages() {
        say(name, &format!("sizeof({name})"));
        for (field, _) in fields {
            say(&format!("{name}.{field}"), &format!("offsetof({name}, {field})"));
        }
    }
    for (name, _) in numbers() {
        say(name, name);
    }
    text.push_str("}\n");
    text
}

/// The sizes, offsets and numbers of the headers in `prefix`.
fn real(prefix: &Path) -> BTreeMap<String, usize> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let unique = std::process::id();
    let (source_file, program) =
        (folder.join(format!("layouts_{unique}.cpp")), folder.join(format!("layouts_{unique}")));
    std::fs::write(&source_file, source()).unwrap();
    let mut compile = Command::new("c++");
    compile.arg("-std=c++17").arg(&source_file).arg("-o").arg(&program);
    for entry in std::fs::read_dir(prefix.join("include")).unwrap() {
        compile.arg("-I").arg(entry.unwrap().path());
    }
    let output = compile.output().expect("a C++ compiler builds this crate too");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let output = Command::new(&program).output().unwrap();
    for file in [source_file, program] {
        std::fs::remove_file(file).unwrap();
    }
    let said = String::from_utf8(output.stdout).unwrap();
    let line = |line: &str| {
        let (name, value) = line.rsplit_once(' ').unwrap();
        (name.to_owned(), value.parse().unwrap())
    };
    said.lines().map(line).collect()
}

#[test]
fn structures_are_those_of_the_headers() {
    let Some(prefix) = prefix_of_ros2() else { return };
    let real = real(&prefix);
    for (name, size, fields) in messages() {
        assert_eq!(real[name], size, "{name}");
        for (field, offset) in fields {
            assert_eq!(real[&format!("{name}.{field}")], offset, "{name}.{field}");
        }
    }
    for (name, value) in numbers() {
        assert_eq!(real[name], value, "{name}");
    }
}
