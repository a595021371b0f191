//! Tests references between definitions, and packages that are read from folders.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use feros_interface::{
    Interface, InterfaceSet, LoadError, MAX_NESTING_DEPTH, ResolveError, TypeName, parse_message,
    shipped,
};

fn set_of(messages: &[(&str, &str)]) -> InterfaceSet {
    let mut set = InterfaceSet::new();
    for (name, text) in messages {
        set.insert(Interface::Message(parse_message("pkg", name, text).unwrap())).unwrap();
    }
    set
}

fn name(name: &str) -> TypeName {
    TypeName::message("pkg", name)
}

fn write(root: &Path, file: &str, text: impl AsRef<[u8]>) {
    let path = root.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn references_are_transitive_sorted_and_unique() {
    let set = set_of(&[("A", "C c\nB b\nB[] more"), ("B", "C[2] c"), ("C", "int32 x")]);
    assert_eq!(set.references(&name("A")).unwrap(), [name("B"), name("C")]);
    assert!(set.check().is_empty());
}

#[test]
fn missing_references_name_the_field_and_the_nearest_type() {
    let set = set_of(&[("Pose", "Pint at\nfar_msgs/Away b"), ("Point", "int32 x")]);
    let text = set.references(&name("Pose")).unwrap_err().to_string();
    assert_eq!(
        text,
        "`pkg/msg/Pint`, the type of field `at` in `pkg/msg/Pose`, is not defined (did you mean `pkg/msg/Point`?)"
    );
    let text = set_of(&[("A", "far_msgs/Away b")]).check()[0].to_string();
    assert!(text.ends_with("is not defined: add its package"), "{text}");
}

#[test]
fn circles_are_shown() {
    let set = set_of(&[("A", "B b"), ("B", "C[] c"), ("C", "B back")]);
    let fault = set.type_hash(&name("A")).unwrap_err();
    assert_eq!(fault, ResolveError::Circular { chain: vec![name("B"), name("C"), name("B")] });
    assert_eq!(
        fault.to_string(),
        "`pkg/msg/B` contains itself: pkg/msg/B -> pkg/msg/C -> pkg/msg/B"
    );
    let itself = set_of(&[("A", "A[] a")]);
    assert!(matches!(itself.type_hash(&name("A")), Err(ResolveError::Circular { .. })));
}

#[test]
fn nesting_is_limited() {
    let chain = |length: usize| {
        let mut set = InterfaceSet::new();
        for level in 0..length {
            let text =
                if level + 1 < length { format!("M{} next", level + 1) } else { String::new() };
            set.insert(Interface::Message(
                parse_message("pkg", &format!("M{level}"), &text).unwrap(),
            ))
            .unwrap();
        }
        set.references(&name("M0"))
    };
    assert_eq!(chain(MAX_NESTING_DEPTH).unwrap().len(), MAX_NESTING_DEPTH - 1);
    assert!(matches!(chain(MAX_NESTING_DEPTH + 1), Err(ResolveError::TooDeep { .. })));
    assert!(matches!(chain(5000), Err(ResolveError::TooDeep { .. })));
}

#[test]
fn types_are_found_as_users_write_them() {
    let find = |text: &str| shipped().find(text);
    assert_eq!(find("std_msgs/msg/String").unwrap().to_string(), "std_msgs/msg/String");
    assert_eq!(find("std_msgs/String").unwrap().to_string(), "std_msgs/msg/String");
    assert_eq!(find("std_srvs/SetBool").unwrap().to_string(), "std_srvs/srv/SetBool");
    assert_eq!(
        find("std_srvs/srv/SetBool_Request").unwrap().to_string(),
        "std_srvs/srv/SetBool_Request"
    );
    // test_msgs has a message and a service with this name.
    assert!(find("test_msgs/Empty").is_err());
    for (wrong, nearest) in [
        ("std_msgs/msg/Sting", "std_msgs/msg/String"),
        ("sensor_msg/msg/Image", "sensor_msgs/msg/Image"),
        ("PointCloud2", "sensor_msgs/msg/PointCloud2"),
    ] {
        let fault = find(wrong).unwrap_err();
        assert!(
            matches!(&fault, ResolveError::Unknown { nearest: n, .. } if n[0] == nearest),
            "{fault}"
        );
    }
    assert!(find(&"x".repeat(100_000)).is_err());
}

#[test]
fn names_are_taken_once() {
    let mut set = set_of(&[("A", "")]);
    let again = Interface::Message(parse_message("pkg", "A", "int32 x").unwrap());
    assert_eq!(set.insert(again).unwrap_err().name, name("A"));
    assert!(set.message(&name("A")).unwrap().fields.is_empty());
}

#[test]
fn a_package_is_loaded_from_its_folder() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "my_msgs/msg/Pose.msg", "std_msgs/Header header\nPoint at\n");
    write(dir.path(), "my_msgs/msg/Point.msg", "float64 x\r\nfloat64 y\r\n");
    write(dir.path(), "my_msgs/srv/Ask.srv", "---\n");
    write(dir.path(), "my_msgs/action/Do.action", "---\n---\n");
    write(dir.path(), "my_msgs/msg/notes.txt", "not a definition");
    let mut set = shipped().clone();
    assert_eq!(set.load_package_dir(dir.path().join("my_msgs")).unwrap(), "my_msgs");
    assert_eq!(set.interfaces().filter(|i| i.name().package == "my_msgs").count(), 4);
    assert!(set.check().is_empty());
    // Loading the folder of packages has the same result. Other folders in it are ignored.
    write(dir.path(), "docs/readme.md", "");
    assert_eq!(shipped().clone().load_dir(dir.path()).unwrap(), ["my_msgs"]);
    assert_eq!(shipped().clone().load_dir(dir.path().join("my_msgs")).unwrap(), ["my_msgs"]);
    // The name in package.xml overrides the name of the folder.
    write(dir.path(), "my_msgs/package.xml", "<package><name>other_msgs</name></package>");
    assert_eq!(set.load_dir(dir.path()).unwrap(), ["other_msgs"]);
}

#[test]
fn a_loaded_package_replaces_the_former_as_a_whole() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "std_msgs/msg/Mine.msg", "int32 x\n");
    let mut set = shipped().clone();
    set.load_dir(dir.path()).unwrap();
    assert!(set.message(&"std_msgs/msg/Mine".parse().unwrap()).is_some());
    assert!(set.message(&"std_msgs/msg/String".parse().unwrap()).is_none());
    assert!(shipped().message(&"std_msgs/msg/String".parse().unwrap()).is_some());
}

#[test]
fn wrong_folders_say_what_is_wrong() {
    let dir = tempfile::tempdir().unwrap();
    let load = |path: &str| InterfaceSet::new().load_dir(dir.path().join(path)).unwrap_err();
    assert!(matches!(load("absent"), LoadError::Io { .. }));
    assert!(matches!(load(""), LoadError::NoPackage { .. }));
    write(dir.path(), "a/Bad-Name/msg/A.msg", "");
    assert!(matches!(load("a"), LoadError::PackageName { .. }));
    write(dir.path(), "b/pkg/msg/A.msg", "int32 x\nint33 y\n");
    let text = load("b").to_string();
    assert!(text.contains("A.msg:2:1: unknown type `int33`"), "{text}");
    write(dir.path(), "c/pkg/msg/A.msg", b"int32 x # \xff\n");
    assert!(matches!(load("c"), LoadError::Encoding { .. }));
    write(dir.path(), "d/pkg/msg/A.msg", vec![b' '; feros_interface::MAX_DEFINITION_BYTES + 1]);
    assert!(load("d").to_string().contains("more than the limit of 1048576"));
}

#[test]
fn earlier_prefixes_shadow_later_ones() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "one/share/pkg/msg/A.msg", "int32 first\n");
    write(dir.path(), "two/share/pkg/msg/A.msg", "int32 second\n");
    write(dir.path(), "two/share/pkg2/srv/B.srv", "---\n");
    write(dir.path(), "two/share/bad/msg/C.msg", "what\n");
    let mut set = InterfaceSet::new();
    let report = set.load_prefixes(["one", "absent", "two"].map(|prefix| dir.path().join(prefix)));
    assert_eq!(report.packages, ["pkg", "pkg2"]);
    assert_eq!(report.faults.len(), 1, "{:?}", report.faults);
    assert_eq!(set.message(&name("A")).unwrap().fields[0].name, "first");
    assert_eq!(set.packages(), ["pkg", "pkg2"]);
}

#[test]
fn a_pipe_as_definition_is_refused_and_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let messages = folder.path().join("my_msgs/msg");
    std::fs::create_dir_all(&messages).unwrap();
    let made = std::process::Command::new("mkfifo").arg(messages.join("Pipe.msg")).status();
    assert!(made.unwrap().success());
    let mut set = InterfaceSet::new();
    let error = set.load_package_dir(folder.path().join("my_msgs")).unwrap_err();
    assert!(error.to_string().contains("not a regular file"), "{error}");
}

#[test]
fn shipped_packages_come_one_by_one_as_they_come_together() {
    let mut one_by_one = feros_interface::InterfaceSet::new();
    for package in feros_interface::shipped_packages() {
        one_by_one.add_packages(feros_interface::shipped_package(package));
    }
    assert_eq!(one_by_one.type_names(), shipped().type_names());
    assert!(one_by_one.check().is_empty());
    assert!(feros_interface::shipped_package("std").packages().is_empty(), "no prefix of a name");

    let point = "geometry_msgs/msg/Point".parse().unwrap();
    let mut own = feros_interface::InterfaceSet::new();
    let definition = parse_message("geometry_msgs", "Point", "int8 x").unwrap();
    own.insert(Interface::Message(definition)).unwrap();
    own.add_packages(feros_interface::shipped_package("geometry_msgs"));
    assert_eq!(own.message(&point).unwrap().fields.len(), 1, "existing packages stay");
}

#[test]
fn packages_of_robots_are_added_to_the_standard_packages() {
    let (standard, robots) = (feros_interface::standard(), feros_interface::robot_packages());
    assert!(standard.check().is_empty(), "the standard packages need no others");
    assert!(robots.is_sorted() && robots.len() >= 30, "{robots:?}");
    assert!(!robots.iter().any(|package| standard.has_package(package)), "no name is used twice");
    let mut all = standard.packages();
    all.extend(&robots);
    all.sort_unstable();
    assert_eq!(shipped().packages(), all);
    assert_eq!(feros_interface::shipped_packages(), all);
    assert!(shipped().check().is_empty());

    // A package that is known already stays as it is.
    let mut own = feros_interface::InterfaceSet::new();
    let definition = parse_message("nav2_msgs", "Costmap", "int8 x").unwrap();
    own.insert(Interface::Message(definition)).unwrap();
    own.add_robot_packages();
    assert_eq!(own.interfaces().filter(|i| i.name().package == "nav2_msgs").count(), 1);
    assert!(own.has_package("control_msgs") && !own.has_package("std_msgs"));
}

#[test]
fn definitions_of_robots_keep_constants_and_defaults_and_no_comments() {
    let robots = feros_interface::robot_packages();
    for message in shipped().messages() {
        if robots.contains(&message.name.package.as_str()) {
            let fields = message.fields.iter().map(|field| &field.comment);
            let constants = message.constants.iter().map(|constant| &constant.comment);
            let outer = [&message.comment, &message.closing_comment];
            let mut comments = fields.chain(constants).chain(outer);
            assert!(comments.all(Vec::is_empty), "{} has comments", message.name);
        }
    }
    let message = |name: &str| shipped().message(&name.parse().unwrap()).unwrap();
    let spin = message("nav2_msgs/action/Spin_Result");
    assert!(spin.constants.iter().any(|constant| constant.to_string() == "uint16 NONE=0"));
    let field = |name: &str, field: &str| {
        let fields = &message(name).fields;
        fields.iter().find(|found| found.name == field).unwrap().to_string()
    };
    assert_eq!(field("nav2_msgs/msg/SpeedLimit", "percentage"), "bool percentage");
    let factory = "ros_gz_interfaces/msg/EntityFactory";
    assert_eq!(field(factory, "relative_to"), "string relative_to \"world\"");
    let limits = field("ur_msgs/srv/SetForceMode_Request", "deviation_limits");
    assert_eq!(limits, "float32[6] deviation_limits [0.01, 0.01, 0.01, 0.01, 0.01, 0.01]");
}
