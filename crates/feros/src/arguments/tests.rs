//! Command lines as data: what they mean, and what is refused.
#![allow(clippy::unwrap_used)]

use super::*;
use feros_rmw::NodeName;

fn parse(line: &str) -> Result<Arguments, ArgumentError> {
    Arguments::parse(line.split_whitespace().map(str::to_owned)).map(|(arguments, _)| arguments)
}

#[test]
fn what_is_not_ros_is_handed_back() {
    let line = ["a", "--ros-args", "-r", "x:=y", "--", "b", "--ros-args", "--log-level", "debug"];
    let (arguments, rest) = Arguments::parse(line.map(str::to_owned)).unwrap();
    assert_eq!(rest, ["a", "b"]);
    assert_eq!(arguments.log_levels, [LogLevelArgument { logger: None, level: LogLevel::Debug }]);
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
    check("--ros-args -r a:=b -r a:=c", "a", false, "/ns/b"); // the first wins
    check("--ros-args -r other:a:=b", "a", false, "/ns/a");
    check("--ros-args -r talker:a:=b", "a", false, "/ns/b");
    check("--ros-args -r rosservice://a:=b", "a", false, "/ns/a");
    check("--ros-args -r rosservice://a:=b", "a", true, "/ns/b");
    check("--ros-args -r talker:rostopic://a:=b", "a", false, "/ns/b");
}

#[test]
fn parameters_are_found_by_node() {
    let arguments = parse("--ros-args -p use_sim_time:=true -p talker:rate:=5 -p rate:=7").unwrap();
    assert_eq!(arguments.parameter("talker", "use_sim_time"), Some("true"));
    assert_eq!(arguments.parameter("talker", "rate"), Some("7"));
    assert_eq!(arguments.parameter("listener", "other"), None);
}

#[test]
fn malformed_lines_say_what_is_expected() {
    for (line, part) in [
        ("--ros-args -r", "needs [node:]from:=to"),
        ("--ros-args -r chatter", "there is no ':='"),
        ("--ros-args -r a*:=b", "wildcards are not implemented"),
        ("--ros-args -r __node:=2fast", "starts with a digit"),
        ("--ros-args -r __ns:=relative", "does not start with '/'"),
        ("--ros-args -r a:=b//c", "contains '//'"),
        ("--ros-args -p :=5", "a name is empty"),
        ("--ros-args --log-level loud", "debug|info|warn|error|fatal"),
        ("--ros-args --nonsense", "unknown ROS argument"),
        ("--ros-args --params-file", "needs a YAML file"),
    ] {
        let error = parse(line).unwrap_err().to_string();
        assert!(error.contains(part), "{line}: {error}");
    }
}
