//! Tests of command lines: their meaning, and command lines that are refused.
#![allow(clippy::unwrap_used)]

use super::*;
use feros_engine::NodeName;

fn parse(line: &str) -> Result<Arguments, ArgumentError> {
    Arguments::parse(line.split_whitespace().map(str::to_owned)).map(|(arguments, _)| arguments)
}

#[test]
fn arguments_of_the_program_are_handed_back() {
    let line = ["a", "--ros-args", "-r", "x:=y", "--", "b", "--ros-args", "--log-level", "debug"];
    let (arguments, rest) = Arguments::parse(line.map(str::to_owned)).unwrap();
    assert_eq!(rest, ["a", "b"]);
    assert_eq!(arguments.log_levels, [LogLevelArgument { logger: None, level: LogLevel::Debug }]);
}

#[test]
#[cfg(unix)]
fn an_argument_that_is_no_text_is_refused_in_the_ros_part_alone() {
    use std::os::unix::ffi::OsStringExt as _;
    let hostile = || OsString::from_vec(b"x:=\xff".to_vec());
    let line = |words: &[&str]| {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        words.into_iter().chain([hostile()])
    };
    assert_eq!(Arguments::parse_os(line(&["mine"])).unwrap().1.len(), 2);
    for ros in [&["--ros-args"][..], &["--ros-args", "-r"]] {
        let error = Arguments::parse_os(line(ros)).unwrap_err();
        assert_eq!(error, ArgumentError::NotUnicode { argument: hostile() });
        assert_eq!(error.to_string(), "the ROS argument \"x:=\\xFF\" is not UTF-8");
    }
}

#[test]
fn node_and_namespace_are_remapped() {
    let check = |line: &str, expected: &str| {
        let node = parse(line).unwrap().remap_node("/", "talker").unwrap();
        assert_eq!(node.fully_qualified(), expected, "{line}");
    };
    check("", "/talker");
    check("--ros-args -r __node:=other", "/other");
    check("--ros-args -r __name:=other -r __ns:=/robot", "/robot/other");
    check("--ros-args -r listener:__node:=other", "/talker");
    check("--ros-args -r talker:__ns:=/x -r __ns:=/y", "/x/talker");
    check("--ros-args -r __node:=a -r a:__ns:=/x", "/a");
    check("--ros-args __node:=bare", "/bare");
}

#[test]
fn topics_and_services_are_remapped() {
    let node = NodeName::new("/ns", "talker").unwrap();
    let check = |line: &str, name: &str, service: bool, expected: &str| {
        let arguments = parse(line).unwrap();
        assert_eq!(arguments.remap_name(name, &node, service).unwrap(), expected, "{line} {name}");
    };
    check("", "chatter", false, "/ns/chatter");
    check("--ros-args -r chatter:=/talk", "chatter", false, "/talk");
    check("--ros-args -r /ns/chatter:=talk", "chatter", false, "/ns/talk");
    check("--ros-args -r ~/x:=y", "~/x", true, "/ns/y");
    check("--ros-args -r a:=b -r b:=c", "a", false, "/ns/b"); // no chaining
    check("--ros-args -r a:=b -r a:=c", "a", false, "/ns/b"); // the first rule wins
    check("--ros-args -r other:a:=b", "a", false, "/ns/a");
    check("--ros-args -r talker:a:=b", "a", false, "/ns/b");
    check("--ros-args -r rosservice://a:=b", "a", false, "/ns/a");
    check("--ros-args -r rosservice://a:=b", "a", true, "/ns/b");
    check("--ros-args -r talker:rostopic://a:=b", "a", false, "/ns/b");
}

#[test]
fn parameters_are_for_all_nodes_or_one() {
    let line = "--ros-args -p use_sim_time:=true -p talker:rate:=5 -p rate:=7 -p qos_overrides./chatter.depth:=1";
    let overrides = parse(line).unwrap().parameter_overrides().unwrap();
    let of = |namespace, name| overrides.for_node(&NodeName::new(namespace, name).unwrap());
    assert_eq!(of("/", "talker")["use_sim_time"], true.into());
    // As in rcl, patterns apply in the order in which they first stand on the line. The pattern for
    // all nodes stands first (`use_sim_time`), so `talker:rate` overrides `rate`. `talker` without
    // a namespace means `/talker`.
    assert_eq!(of("/", "talker")["rate"], 5.into());
    assert_eq!(of("/ns", "talker")["rate"], 7.into());
    assert_eq!(of("/", "listener")["qos_overrides./chatter.depth"], 1.into());
    assert_eq!(of("/", "listener").len(), 3);
}

#[test]
fn malformed_parameters_are_refused() {
    for (parameter, reason) in [
        ("rate", "there is no ':='"),
        ("rate:=", "there is no value"),
        (":=5", "the name of the parameter is empty"),
        ("talker::=5", "the name of the parameter is empty"),
        (":rate:=5", "it is empty"),
        (
            "rate:=[1,2.5]",
            "an element of type double in a list whose first element is of type integer",
        ),
        ("rate:={a:1}", "a mapping"),
    ] {
        let error = parse(&format!("--ros-args -p {parameter}")).unwrap_err().to_string();
        assert!(error.contains(reason) && error.contains(parameter), "{parameter}: {error}");
    }
}

#[test]
fn parameter_files_are_read_in_the_order_of_the_line() {
    let file = |name: &str, text: &str| {
        let path = std::env::temp_dir()
            .join(format!("feros_arguments_{}_{name}.yaml", std::process::id()));
        std::fs::write(&path, text).unwrap();
        path
    };
    let (first, second) = (
        file("a", "/**: {ros__parameters: {x: 1, y: 1, z: 1}}"),
        file("b", "/**: {ros__parameters: {y: 2, z: 2}}"),
    );
    let line = format!(
        "--ros-args --params-file {} -p x:=0 --params-file {} -p z:=3",
        first.display(),
        second.display()
    );
    let values = parse(&line)
        .unwrap()
        .parameter_overrides()
        .unwrap()
        .for_node(&NodeName::new("/", "n").unwrap());
    std::fs::write(&second, "/**: {ros__parameters: 5}").unwrap();
    let error = parse(&line).unwrap().parameter_overrides().unwrap_err().to_string();
    for path in [first, second] {
        std::fs::remove_file(path).unwrap();
    }
    let expected =
        [("x", 0), ("y", 2), ("z", 3)].map(|(name, value)| (name.to_owned(), value.into()));
    assert_eq!(values.into_iter().collect::<Vec<_>>(), expected);
    assert!(
        error.contains("_b.yaml: line 1, column 24") && error.contains("expected a mapping"),
        "{error}"
    );
}

#[test]
fn malformed_lines_say_what_is_expected() {
    for (line, part) in [
        ("--ros-args -r", "must be followed by [node:]from:=to"),
        ("--ros-args -r chatter", "there is no ':='"),
        ("--ros-args -r a*:=b", "implements wildcards"),
        ("--ros-args -r __node:=2fast", "starts with a digit"),
        ("--ros-args -r __ns:=relative", "does not start with '/'"),
        ("--ros-args -r a:=b//c", "contains '//'"),
        ("--ros-args -p :=5", "the name of the parameter is empty"),
        ("--ros-args --log-level loud", "debug|info|warn|error|fatal"),
        ("--ros-args --nonsense", "unknown ROS argument"),
        ("--ros-args --params-file", "must be followed by a YAML file"),
    ] {
        let error = parse(line).unwrap_err().to_string();
        assert!(error.contains(part), "{line}: {error}");
    }
}
