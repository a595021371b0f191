//! Files in Python, files that include them, and the arguments of both.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::sync::Arc;

use feros_launch::PythonHost;

use super::Scripts;

const ROBOT: &str = r#"
def at(line):
    return [request["path"], line, 5]
def var(name, *default):
    return {"s": "var", "a": [name, *default]}
entities = [
    {"do": "declare", "id": 1, "at": at(1), "name": "rate", "default": "1", "description": "Hz"},
    {"do": "push_namespace", "id": 2, "at": at(2), "namespace": "cell"},
    {"do": "node", "id": 3, "at": at(3), "package": "demo", "executable": "talker", "name": "t",
     "arguments": ["two words", ["r=", var("rate")]], "remappings": [["a", "b"]],
     "parameters": [{"map": [["rate", {"text": var("rate")}], ["x", {"map": [["y", {"is": 1.0}]]}],
                             ["label", {"is": "5"}], ["list", {"is": [1, 2]}]]},
                    {"file": "missing.yaml"}],
     "output": {"stdout": ["screen"], "both": ["log"]}},
    {"do": "execute", "id": 4, "at": at(4), "cmd": ["echo", "a b"], "env": [["ONLY", "1"]],
     "if": {"configuration": "rate", "expected": "7"}},
    {"do": "container", "id": 5, "at": at(5), "package": "rclcpp_components", "name": "box",
     "executable": "component_container", "namespace": "/n"},
    {"do": "load_components", "id": 6, "at": at(6), "target": {"container": 5},
     "components": [{"at": at(7), "package": "demo", "plugin": "demo::C", "name": "c",
                     "extra_arguments": [{"map": [["use_intra_process_comms", {"is": True}]]}]}]},
]
"#;

#[test]
fn a_file_becomes_a_plan() {
    let Some(scripts) = Scripts::new() else { return };
    let plan = scripts.outcome("robot.launch.py", ROBOT, &[("rate", "7")]);
    for expected in [
        "W/robot.launch.py: 3 processes, 1 component\n",
        "start [talker-1]  (W/robot.launch.py:3:5)\n",
        "/talker 'two words' r=7 --ros-args -r __node:=t -r __ns:=/cell",
        "  node: /cell/t\n",
        "  parameter: rate = 7\n",
        "  parameter: x.y = 1.0\n",
        "  parameter: label = \"5\"\n",
        "  parameter: list = [1, 2]\n",
        "  remap: a -> b\n",
        "  output: screen and log, errors log\n",
        "  command: echo 'a b'\n  environment: only these variables\n  environment: ONLY=1\n",
        "load into /n/box  (W/robot.launch.py:6:5)\n  component: demo::C of demo  (W/robot.launch.py:7:5)\n",
        "    extra argument: use_intra_process_comms = true\n",
        "warning: W/robot.launch.py:3:5: the parameter file missing.yaml does not exist\n",
    ] {
        assert!(plan.contains(expected), "{expected:?} is not in\n{plan}");
    }
    let other = scripts.outcome("robot.launch.py", ROBOT, &[]);
    assert!(other.contains(": 2 processes") && other.contains(" r=1 "), "{other}");
    let unknown = scripts.outcome("robot.launch.py", ROBOT, &[("rat", "7")]);
    assert_eq!(
        unknown,
        "the launch file takes no argument `rat`; did you mean `rate`? (it takes rate)"
    );
}

#[test]
fn files_include_one_another_across_languages() {
    let Some(scripts) = Scripts::new() else { return };
    scripts.workspace.file(
        "inner.launch.py",
        r#"
at = [request["path"], 1, 1]
entities = [
    {"do": "declare", "id": 100 + len(objects), "at": at, "name": "who", "default": "nobody"},
    {"do": "include", "id": 200, "at": at, "file": [{"s": "dirname"}, "/last.launch.yaml"],
     "arguments": [["greeting", ["hello ", {"s": "var", "a": ["who"]}]]]},
]
objects[len(objects)] = None
"#,
    );
    scripts.workspace.file(
        "last.launch.yaml",
        "launch:\n- arg: {name: greeting}\n- log: {message: $(var greeting)}\n",
    );
    let outer = "<launch>
        <include file='inner.launch.py'><arg name='who' value='a'/></include>
        <include file='$(dirname)/inner.launch.py'><arg name='who' value='b'/></include>
        <include file='not_there.launch.py' if='false'/>
      </launch>";
    let plan = scripts.outcome("outer.launch.xml", outer, &[]);
    let said: Vec<&str> = plan.lines().filter(|line| line.starts_with("say")).collect();
    assert_eq!(said, ["say: hello a", "say: hello b"], "{plan}");
    let file = scripts.workspace.path().join("outer.launch.xml");
    let arguments = scripts.planner().arguments(&file, &[]).unwrap();
    assert_eq!(arguments, [], "the includes set all of them");
    let file = scripts.workspace.path().join("inner.launch.py");
    let arguments = scripts.planner().arguments(&file, &[]).unwrap();
    let names: Vec<_> = arguments
        .iter()
        .map(|argument| (argument.name.as_str(), argument.default.as_deref()))
        .collect();
    assert_eq!(names, [("who", Some("nobody"))]);
}

#[test]
fn a_cycle_across_languages_is_refused() {
    let Some(scripts) = Scripts::new() else { return };
    scripts.workspace.file("b.launch.xml", "<launch><include file='a.launch.py'/></launch>");
    let text = r#"entities = [{"do": "include", "id": 1, "at": [request["path"], 1, 1],
                               "file": [{"s": "dirname"}, "/b.launch.xml"]}]"#;
    let outcome = scripts.outcome("a.launch.py", text, &[]);
    assert!(outcome.contains("a launch file includes itself"), "{outcome}");
}

#[test]
fn an_exception_ends_its_file_alone() {
    let Some(scripts) = Scripts::new() else { return };
    scripts.workspace.file("broken.launch.py", "def f():\n    return foo\nf()\n");
    let outer = "<launch>
<include file='broken.launch.py'/>
<log message='$(var that_broken_sets)'/>
<node pkg='demo' exec='talkr'/>
<let name='also' value='$(var that_broken_sets)'/>
<node pkg='dmo' exec='talker'/>
</launch>";
    let outcome = scripts.outcome("outer.launch.xml", outer, &[]);
    let lines: Vec<&str> = outcome.lines().collect();
    assert_eq!(lines.len(), 4, "{outcome}");
    assert_eq!(lines[0], "W/broken.launch.py:2:1: NameError: name 'foo' is not defined");
    assert_eq!(lines[1], "  called at W/broken.launch.py:3, in <module>");
    assert!(lines[2].starts_with("W/outer.launch.xml:4:") && lines[2].contains("talkr"));
    assert!(lines[3].starts_with("W/outer.launch.xml:6:") && lines[3].contains("dmo"));
    let missing = scripts.plan_of(&scripts.workspace.path().join("none.launch.py"), &[]);
    assert!(missing.unwrap_err().to_string().contains("none.launch.py cannot be read"));
}

#[test]
fn the_cure_of_a_missing_variable_is_in_the_words_of_the_file() {
    let Some(scripts) = Scripts::new() else { return };
    let text = r#"entities = [{"do": "log", "id": 1, "at": [request["path"], 1, 1],
        "level": "INFO", "message": {"s": "env", "a": ["ABSENT_IN_TESTS"]}}]"#;
    let told = scripts.outcome("variable.launch.py", text, &[]);
    let cure = "set it, or write EnvironmentVariable(NAME, default_value=DEFAULT)";
    assert!(told.contains(cure), "{told}");
    let text = "<launch><log message='$(env ABSENT_IN_TESTS)'/></launch>";
    let told = scripts.outcome("variable.launch.xml", text, &[]);
    assert!(told.contains("set it, or write $(env NAME DEFAULT)"), "{told}");
}

#[test]
fn a_file_sees_and_changes_the_environment() {
    let Some(scripts) = Scripts::new() else { return };
    let text = r#"
assert request["environment"] == {}, request
at = [request["path"], 1, 1]
changes = {"environment": {"ADDED": "1", "HOME": None}}
entities = [{"do": "execute", "id": 1, "at": at, "cmd": ["true"]}]
"#;
    let plan = scripts.outcome("environment.launch.py", text, &[]);
    assert!(plan.contains("  environment: ADDED=1\n  environment: HOME is removed\n"), "{plan}");
    let unfit = "entities = []\nchanges = {'environment': {'A=B': '1'}}\n";
    let unfit = scripts.outcome("unfit.launch.py", unfit, &[]);
    assert!(unfit.contains("cannot be the name of an environment variable"), "{unfit}");
}

#[test]
fn a_plan_shows_reactions_without_performing_them() {
    let Some(scripts) = Scripts::new() else { return };
    let text = r#"
at = [request["path"], 3, 1]
def never(request):
    raise AssertionError("it is called")
objects[20] = objects[21] = objects[22] = never
talker = {"do": "node", "id": 1, "at": at, "package": "demo", "executable": "talker"}
reaction = [
    {"do": "node", "id": 2, "at": at, "package": "demo", "executable": "listener"},
    {"do": "log", "id": 3, "at": at, "level": "INFO", "message": {"s": "var", "a": ["later"]}},
    {"do": "log", "id": 4, "at": at, "level": "INFO", "message": {"py": 22}},
    {"do": "set", "id": 5, "at": at, "name": "rate", "value": "6"},
    {"do": "python", "id": 20, "at": at, "name": "setup"},
    {"do": "register", "id": 6, "at": at, "handler": {"id": 7, "at": at, "on": "shutdown",
        "reaction": {"py": 21, "name": "bye"}}},
]
entities = [
    talker,
    {"do": "register", "id": 10, "at": at, "handler": {"id": 11, "at": at, "on": "process_exit",
        "target": [1], "once": True, "reaction": {"entities": reaction}}},
]
"#;
    let plan = scripts.outcome("watch.launch.py", text, &[]);
    let shown = &plan[plan.find("\nwhen ").unwrap()..];
    let expected = "\nwhen talker-1 ends, the first time:  (W/watch.launch.py:3:1)\n  \
                    start [listener-2]  (W/watch.launch.py:3:1)\n";
    assert!(shown.starts_with(expected), "{plan}");
    let rest = "  an action that depends on the event  (W/watch.launch.py:3:1)\n  calls setup (W/watch.launch.py:3)\n  when the launch ends:  \
                (W/watch.launch.py:3:1)\n    calls bye (W/watch.launch.py:3)\n";
    assert!(shown.ends_with(rest), "{plan}");
    let missing = text.replace("\"listener\"", "\"lisener\"");
    let outcome = scripts.outcome("watch.launch.py", &missing, &[]);
    assert!(
        outcome.starts_with("W/watch.launch.py:3:1: there is no executable `lisener`"),
        "{outcome}"
    );
}

#[test]
fn a_python_that_runs_already_is_asked_and_ends_with_the_plan() {
    let Some(scripts) = Scripts::new() else { return };
    let (ours, theirs) = UnixStream::pair().unwrap();
    let (program, arguments) = scripts.command.split_first().unwrap();
    let mut host =
        Command::new(program).args(arguments).stdin(OwnedFd::from(theirs)).spawn().unwrap();
    let file = scripts.workspace.file("robot.launch.py", ROBOT);
    let planner = scripts.planner_with(PythonHost::Socket(Arc::new(ours)));
    let plan = planner.plan(&file, &[("rate".to_owned(), "7".to_owned())]).unwrap();
    assert_eq!(plan.processes().count(), 3);
    assert!(host.try_wait().unwrap().is_none(), "functions of the file may still be called");
    drop(plan);
    drop(planner);
    assert!(host.wait().unwrap().success());
}
