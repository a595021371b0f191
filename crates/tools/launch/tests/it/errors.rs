//! Mistakes in a launch file are reported with the file, the line, the column, the given text and
//! the expected text.

use crate::workspace::Workspace;

#[test]
fn mistakes_in_xml() {
    let workspace = Workspace::new();
    let mut wrong = Vec::new();
    for (text, expected) in [
        (
            "<launch>\n  <nod pkg='demo' exec='talker'/>\n</launch>",
            "2:3: unknown action `nod`; did you mean `node`?",
        ),
        (
            "<launch>\n  <node pkg='demo' exec='talker' nmae='x'/></launch>",
            "2:34: unknown attribute `nmae` of `node`; did you mean `name`?",
        ),
        (
            "<launch><node pkg='demo' exce='talker'/></launch>",
            "1:9: `node` without its `exec` (`exce` is given instead)",
        ),
        (
            "<launch><node pkg='demo' type='talker'/></launch>",
            "1:9: `node` without its `exec` (`type` is given instead: ROS 2 calls it `exec`)",
        ),
        (
            "<launch><node pkg='demo' exec='talker' machine='arm'/></launch>",
            "1:40: unknown attribute `machine` of `node`: processes on other machines cannot be started from this \
             machine; run feros launch there",
        ),
        (
            "<launch><node pkg='demo' exec='talkr'/></launch>",
            "1:32: there is no executable `talkr` in the package `demo`; did you mean `talker`? (it has listener, talker)",
        ),
        (
            "<launch><node pkg='dmo' exec='talker'/></launch>",
            "1:20: there is no package `dmo`; did you mean `demo`? (looked in W)",
        ),
        (
            "<launch><node pkg='demo' exec='talker' name='a b'/></launch>",
            "1:46: `a b` is not a valid node name: expected letters, digits and _, with no digit \
             first",
        ),
        (
            "<launch><node pkg='demo' exec='talker'><remap frm='a' to='b'/></node></launch>",
            "1:40: `remap` without its `from` (`frm` is given instead)",
        ),
        (
            "<launch><node pkg='demo' exec='talker'><parm name='a' value='b'/></node></launch>",
            "1:40: unknown entity `parm` within `node`; did you mean `param`?",
        ),
        ("<launch><node>", "1:1: the file is not well-formed XML: the root node was opened"),
        (
            "<launch>\n text</launch>",
            "2:2: the text `text` within <launch>: expected elements and attributes only",
        ),
        ("<lunch/>", "1:1: `lunch` at the top: expected `launch`; did you mean `launch`?"),
        ("<launch><param name='a' value='b'/></launch>", "1:9: `param` outside of a node: "),
        (
            "<launch><test test-name='a'/></launch>",
            "1:9: `test`: a test is run by launch_testing; write `executable`, or run it with launch_test",
        ),
        ("<launch><ros_timer/></launch>", "1:9: `ros_timer` without its `period`"),
        ("<launch><for_each/></launch>", "1:9: `for_each` without its `values`"),
        (
            "<launch><for_each values='{a: 1};b'/></launch>",
            "1:27: `b` for `values` of `for_each`: this is not a mapping; expected mappings such \
             as {name: a, id: 1};{name: b, id: 2}",
        ),
        (
            "<launch><for_each values='{a: [1]}'/></launch>",
            "1:27: `{a: [1]}` for `values` of `for_each`: a list or mapping as a value; expected",
        ),
        (
            "<launch><for_each values='{xyz: 1}'><log message='$(for-var a)'/></for_each></launch>",
            "1:51: no `for_each` gives `a` here; known are xyz",
        ),
        ("<launch><reset><keep name='a'/></reset></launch>", "1:16: `keep` without its `value`"),
        (
            "<launch><arg name='a' default='b'/><reset/><log message='$(var a)'/></launch>",
            "1:58: there is no argument or variable `a`",
        ),
        (
            "<launch><log message='$(param a)'/></launch>",
            "1:23: no earlier `set_parameter` sets `a`",
        ),
        (
            "<launch><log message='$(find-pkg-file demo a.yaml)'/></launch>",
            "1:23: the package `demo` has no W/share/demo/a.yaml",
        ),
        (
            "<launch><log message='$(file-content a.txt)'/></launch>",
            "1:23: a.txt cannot be read: No such file",
        ),
        (
            "<launch><log message='$(command nowhere_xacro)'/></launch>",
            "1:23: the command `nowhere_xacro` cannot be run: No such file",
        ),
        (
            "<launch><log message='$(command ls laud)'/></launch>",
            "1:23: `laud` is not a way in which `command` handles standard error; known are fail, \
             warn, ignore, capture",
        ),
        ("<launch><timer><log message='a'/></timer></launch>", "1:9: `timer` without its `period`"),
        (
            "<launch><timer period='soon'/></launch>",
            "1:24: `soon`: expected seconds, such as 5 or 0.5",
        ),
        ("<launch><timer period='-1'/></launch>", "1:24: `-1`: expected seconds, such as 5 or 0.5"),
        (
            "<launch><timer period='1' cancel_on_shutdown='false'/></launch>",
            "1:47: `cancel_on_shutdown`: a timer that outlives the launch is not supported",
        ),
        (
            "<launch><timer period='1'><nod pkg='demo' exec='talker'/></timer></launch>",
            "1:27: unknown action `nod`; did you mean `node`?",
        ),
        (
            "<launch><lifecycle_node pkg='demo' exec='talker'/></launch>",
            "1:9: `lifecycle_node` without its `name`",
        ),
        (
            "<launch><node pkg='demo' exec='talker' autostart='true'/></launch>",
            "1:40: unknown attribute `autostart` of `node`",
        ),
        ("<launch><for name='i'/></launch>", "1:9: `for` without its `len`"),
        (
            "<launch><for len='two' name='i'/></launch>",
            "1:19: `two` for `len` of `for`: expected a whole number",
        ),
        (
            "<launch><for len='1' name='i'><log message='$(index j)'/></for></launch>",
            "there is no `for` named `j`; known are i",
        ),
        ("<launch><pop_env/></launch>", "1:9: `pop_env` without a `push_env` before it"),
        (
            "<launch><lifecycle_transition lifecycle_node_names='a' transition_ids='1'/></launch>",
            "1:9: `lifecycle_transition`: only launch files in Python have it; write `autostart` of `lifecycle_node`",
        ),
        (
            "<launch><on_process_exit/></launch>",
            "1:9: `on_process_exit`: only launch files in Python have event handlers; `on_exit=\"shutdown\"` of a \
             process ends the launch with it",
        ),
        (
            "<launch><log level='loud' message='a'/></launch>",
            "1:21: `loud` for `level` of `log`; known are DEBUG, INFO, WARNING, ERROR, CRITICAL",
        ),
        (
            "<launch><executable cmd='ls $(var plce)' /><arg name='place' default=''/></launch>",
            "1:29: there is no argument or variable `plce`",
        ),
        (
            "<launch><arg name='place' default=''/><executable cmd='ls $(var plce)' /></launch>",
            "1:59: there is no argument or variable `plce`; did you mean `place`?",
        ),
        ("<launch><executable cmd='ls \"a'/></launch>", "1:26: unclosed \", in `ls \"a`"),
        (
            "<launch><executable cmd='ls' if='maybe'/></launch>",
            "1:34: `maybe` is not a boolean: expected true, false, 1 or 0",
        ),
        (
            "<launch><executable cmd='ls' if=\"$(eval 'a == 1')\"/></launch>",
            "1:34: the name `a`: expected a value, such as 5, 'text' or True (a string needs quotes: 'a'; names and \
             functions of Python are not supported), in the expression `a == 1`",
        ),
        (
            "<launch><executable cmd='ls' if='1' unless='0'/></launch>",
            "1:9: both `if` and `unless` of `executable`: expected one of them",
        ),
        (
            "<launch><executable cmd='ls' output='scren'/></launch>",
            "1:38: `scren` for `output`; did you mean `screen`?",
        ),
        (
            "<launch><executable cmd='ls' respawn='1' respawn_delay='-1'/></launch>",
            "1:57: `-1`: expected seconds",
        ),
        (
            "<launch><executable cmd='ls' on_exit='restart'/></launch>",
            "1:39: `restart` for `on_exit`: expected `shutdown`",
        ),
        (
            "<launch><node pkg='demo' exec='talker'><param name='a' value='[1, x]'/></node></launch>",
            "1:63: a list of int, str: expected items of one type",
        ),
        (
            "<launch><node pkg='demo' exec='talker'><param name='a' value='fast' type='int'/></node></launch>",
            "1:40: the parameter `a`: the str `\"fast\"` does not fit type=\"int\"",
        ),
        (
            "<launch><node pkg='demo' exec='talker'><param name='a'/></node></launch>",
            "1:40: `param` without its `value`",
        ),
        (
            "<launch><node pkg='demo' exec='talker'><param from='nowhere.yaml'/></node></launch>",
            "1:53: the parameter file nowhere.yaml does not exist",
        ),
        (
            "<launch><include file='nowhere.launch.xml'/></launch>",
            "1:24: nowhere.launch.xml cannot be read: No such file",
        ),
        (
            "<launch><arg name='m' default='z'><choice value='x'/><choice value='y'/></arg></launch>",
            "1:9: `z` for the argument `m`: expected one of x, y",
        ),
        (
            "<launch><arg name='m' description='what for'/></launch>",
            "1:9: the argument `m` (what for) is not given and has no default: add m:=VALUE",
        ),
        (
            "<launch><group ns='a'/></launch>",
            "1:16: `ns` of `group`: write `push_ros_namespace` as the group's first action",
        ),
        ("<!DOCTYPE a [<!ENTITY b 'c'>]><launch/>", "the file is not well-formed XML"),
    ] {
        let outcome = workspace.outcome_of("e.launch.xml", text, &[]);
        if !(outcome.starts_with("W/e.launch.xml:") && outcome.contains(expected)) {
            wrong.push(format!("{text}\n{outcome}\n{expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn mistakes_in_yaml() {
    let workspace = Workspace::new();
    let mut wrong = Vec::new();
    for (text, expected) in [
        ("launch:\n- nod: {exec: a}\n", "2:3: unknown action `nod`; did you mean `node`?"),
        (
            "launch:\n- node:\n  exec: a\n",
            "2:3: a mapping of the keys node, exec: expected one key, the name of the action, with the others under it (indented further)",
        ),
        (
            "lanch:\n- node: {exec: a}\n",
            "1:1: the key `lanch` at the top: expected only `launch`; did you mean `launch`?",
        ),
        ("- node", "1:1: a list of 1 at the top: expected the key `launch`"),
        (
            "launch:\n- node:\n    exec: a\n    exec: b\n",
            "4:5: the key `exec` occurs a second time in one mapping",
        ),
        (
            "launch:\n- node:\n    exec: a\n    param: {name: x, value: 1}\n",
            "4:12: a mapping under `param`: expected a list of mappings, `param: [{...}]`",
        ),
        ("launch:\n- node:\n    exec: a\n    namespace: a-b\n", "4:16: `/a-b` is not a namespace"),
        ("launch:\n- node: {exec: *a}\n", "well-formed YAML"),
        (
            "launch:\n- node: {exec: &a b, name: *a}\n",
            "2:28: aliases (`*name`) are not supported: write the value here instead",
        ),
        ("launch:\n\t- node", "well-formed YAML"),
        (
            "launch:\n- node: exec\n",
            "2:9: `exec` under `node`: expected its attributes as a mapping, or a list of actions",
        ),
        ("", "1:1: `` at the top: expected the key `launch`"),
    ] {
        let outcome = workspace.outcome_of("e.launch.yaml", text, &[]);
        if !(outcome.starts_with("W/e.launch.yaml:") && outcome.contains(expected)) {
            wrong.push(format!("{text}\n{outcome}\n{expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn all_mistakes_that_do_not_follow_from_one_another_are_told() {
    let workspace = Workspace::new();
    let told = |text: &str| {
        let outcome = workspace.outcome_of("m.launch.xml", text, &[]);
        outcome.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    // Mistakes in the file itself.
    let lines = told("<launch><nod pkg='a'/><log/><group><exe/></group></launch>");
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines[0].contains("unknown action `nod`"), "{lines:?}");
    assert!(lines.iter().all(|line| line.starts_with("W/m.launch.xml:1:")), "{lines:?}");
    // Mistakes that evaluation finds, even in groups.
    let lines = told(
        "<launch><node pkg='none' exec='a'/><group><node pkg='none2' exec='b'/></group>\
         <log message='$(var nothing)'/><executable cmd='true'/></launch>",
    );
    assert_eq!(lines.len(), 3, "{lines:?}");
    for (line, expected) in lines.iter().zip(["`none`", "`none2`", "`nothing`"]) {
        assert!(line.contains(expected), "{lines:?}");
    }
    // Each missing argument is reported, but no errors of actions that would read a missing
    // argument.
    let lines = told(
        "<launch><arg name='a'/><arg name='b' default='$(var a)'/><arg name='c'/>\
         <log message='$(var a) $(var c)'/></launch>",
    );
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].contains("add a:=VALUE") && lines[1].contains("add c:=VALUE"), "{lines:?}");
    // A mistake that occurs in each iteration of a loop is reported once, and the number of
    // mistakes is limited.
    let lines = told("<launch><for name='i' len='50'><node pkg='none' exec='a'/></for></launch>");
    assert_eq!(lines.len(), 1, "{lines:?}");
    // A mistake in an action whose result others read ends the evaluation.
    let lines = told("<launch><let name='x' value='$(var y)'/><log message='$(var x)'/></launch>");
    assert_eq!(lines.len(), 1, "{lines:?}");
}

#[test]
fn an_include_without_a_file_is_one_mistake_of_several() {
    let workspace = Workspace::new();
    workspace.file("bad.launch.xml", "<launch><node>");
    workspace.file("kind.txt", "");
    let text = "<launch>
<include file='none.launch.xml'/>
<include file='$(find-pkg-share absent)/a.launch.xml'/>
<include file='bad.launch.xml'/>
<include file='kind.txt'/>
<log message='$(var that_an_include_sets)'/>
<node pkg='demo' exec='talkr'/>
</launch>";
    let outcome = workspace.outcome_of("m.launch.xml", text, &[]);
    let lines: Vec<&str> = outcome.lines().collect();
    assert_eq!(lines.len(), 5, "{outcome}");
    for (line, expected) in lines.iter().zip([
        "none.launch.xml cannot be read",
        "there is no package `absent`",
        "bad.launch.xml:1:1: the file is not well-formed XML",
        "kind.txt is not a launch file",
        "there is no executable `talkr`",
    ]) {
        assert!(line.contains(expected), "{expected:?} is not in {line}");
    }
}

#[test]
fn arguments_that_are_only_read_are_taken() {
    let workspace = Workspace::new();
    workspace.file("inner.launch.xml", "<launch><log message='$(var inner none)'/></launch>");
    let text = "<launch><log message='$(var rate 5)' if='false'/>\
                <executable cmd='echo $(var $(var which x) 1)'/>\
                <include file='inner.launch.xml'/></launch>";
    let outcome = |name| workspace.outcome_of("v.launch.xml", text, &[(name, "1")]);
    for name in ["rate", "which", "inner"] {
        assert!(!outcome(name).contains("takes no argument"), "{}", outcome(name));
    }
    assert!(outcome("rte").contains("takes no argument `rte`"), "{}", outcome("rte"));
}

#[test]
fn arguments_that_nothing_takes() {
    let workspace = Workspace::new();
    let text = "<launch><arg name='rate' default='1'/><arg name='mode' default=''/></launch>";
    let outcome = |name| workspace.outcome_of("a.launch.xml", text, &[(name, "1")]);
    assert_eq!(
        outcome("rte"),
        "the launch file takes no argument `rte`; did you mean `rate`? (it takes mode, rate)"
    );
    assert_eq!(outcome("zzz"), "the launch file takes no argument `zzz`: it takes mode, rate");
    let none = workspace.outcome_of("n.launch.xml", "<launch/>", &[("x", "1")]);
    assert_eq!(none, "the launch file takes no argument `x`: it takes none");
    let parse = |words: &[&str]| feros_launch::parse_assignments(words).unwrap_err().to_string();
    assert_eq!(
        parse(&["a=1"]),
        "`a=1` is not an argument of the form name:=value; did you mean a:=1?"
    );
    assert_eq!(parse(&["a:=1", "a:=2"]), "the argument `a` is given twice");
    assert_eq!(parse(&[":=1"]), "`:=1` is not an argument of the form name:=value");
}

#[test]
fn files_of_another_kind() {
    let workspace = Workspace::new();
    let python = workspace.outcome_of("a.launch.py", "", &[]);
    assert_eq!(
        python,
        "W/a.launch.py is not a launch file that feros launch can read: it is a Python program, and \
         this launcher starts no Python; `feros launch` of Feros's wheel does"
    );
    assert!(workspace.outcome_of("a.txt", "", &[]).contains("neither in .xml nor in .yaml"));
    let including = workspace.outcome_of(
        "b.launch.xml",
        "<launch>\n<include file='a.launch.py'/></launch>",
        &[],
    );
    assert!(
        including.starts_with("W/b.launch.xml:2:16: W/a.launch.py is not a launch file"),
        "{including}"
    );
    assert!(
        workspace
            .outcome(&workspace.path().join("none.launch.xml"), &[])
            .contains("none.launch.xml cannot be read: No such")
    );
    let large = workspace.outcome_of("l.launch.xml", &" ".repeat(5 << 20), &[]);
    let limit = "W/l.launch.xml is larger than 4194304 bytes, the limit for a launch file: ";
    assert!(large.starts_with(limit), "{large}");
}

#[test]
fn files_that_include_themselves_or_too_much() {
    let workspace = Workspace::new();
    workspace.file("b.launch.xml", "<launch><include file='a.launch.xml'/></launch>");
    let cycle = workspace.outcome_of(
        "a.launch.xml",
        "<launch><include file='b.launch.xml'/></launch>",
        &[],
    );
    assert!(
        cycle.starts_with("W/b.launch.xml:1:24: a launch file includes itself: W/a.launch.xml -> W/b.launch.xml -> W/a.launch.xml"),
        "{cycle}"
    );
    // Each file includes the next file ten times, which would give a hundred million processes.
    for level in 0..8 {
        let next = format!("<include file='m{}.launch.xml'/>", level + 1).repeat(10);
        workspace.file(&format!("m{level}.launch.xml"), &format!("<launch>{next}</launch>"));
    }
    workspace.file("m8.launch.xml", "<launch><executable cmd='ls'/></launch>");
    let many = workspace.outcome(&workspace.path().join("m0.launch.xml"), &[]);
    assert!(many.contains("more than 1000 files are included"), "{many}");
    // Each line doubles the string.
    let doubling = "<let name='a' value='$(var a)$(var a)'/>".repeat(64);
    let text = format!("<launch><let name='a' value='x'/>{doubling}</launch>");
    assert!(
        workspace.outcome_of("d.launch.xml", &text, &[]).contains("gives more than 1048576 bytes")
    );
    let deep = format!("<launch>{}</launch>", "<group>".repeat(100_000));
    assert!(workspace.outcome_of("g.launch.xml", &deep, &[]).contains("nested deeper than 64"));
    let deep = format!("launch: {}", "[{group: ".repeat(100_000));
    let deep = workspace.outcome_of("g.launch.yaml", &deep, &[]);
    assert!(deep.contains("recursion limit exceeded"), "{deep}");
}
