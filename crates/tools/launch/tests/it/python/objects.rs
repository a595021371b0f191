//! Functions, substitutions and conditions that only Python knows, and its questions.

use super::Scripts;

/// The lines of a plan that say something.
fn said(plan: &str) -> Vec<&str> {
    plan.lines().filter_map(|line| line.strip_prefix("say: ")).collect()
}

#[test]
fn a_function_asks_while_it_makes_actions() {
    let Some(scripts) = Scripts::new() else { return };
    let text = r#"
at = [request["path"], 2, 3]
def setup(request):
    assert request["configurations"]["who"] == "me", request
    assert request["locals"]["current_launch_file_path"].endswith("/setup.launch.py")
    rate = ask({"ask": "text", "template": [{"s": "var", "a": ["rate"]}]})
    share = ask({"ask": "share", "package": "demo"})
    prefix = ask({"ask": "prefix", "package": "demo"})
    assert share == prefix + "/share/demo", (share, prefix)
    talker = ask({"ask": "executable", "package": "demo", "executable": "talker"})
    assert talker == prefix + "/lib/demo/talker"
    assert ["demo", prefix] in ask({"ask": "packages"})
    holds = ask({"ask": "condition", "condition": {"truth": "no", "negated": True}})
    value = ask({"ask": "value", "value": {"text": "[1, 2.5]"}})
    ask({"ask": "configurations", "set": {"seen": rate}, "unset": ["who"], "environment": {"E": "1"}})
    own = ask({"ask": "text", "template": {"s": "var", "a": ["rate", "gone"]}, "configurations": {}})
    assert own == "gone", own
    now = ask({"ask": "text", "template": [{"s": "var", "a": ["seen"]}, {"s": "env", "a": ["E"]}]})
    ask({"ask": "warn", "text": "old\nname", "at": at})
    output = ask({"ask": "text", "template": {"s": "command", "a": ["echo from a command"]}})
    text = f"{rate} {holds} {value} {now} {output.strip()}"
    return {"entities": [{"do": "log", "id": 8, "at": at, "level": "INFO", "message": text}],
            "set": {"later": "yes"}}
objects[7] = setup
entities = [
    {"do": "declare", "id": 1, "at": at, "name": "rate", "default": "5"},
    {"do": "set", "id": 2, "at": at, "name": "who", "value": "me"},
    {"do": "python", "id": 7, "at": at, "name": "setup"},
    {"do": "log", "id": 3, "at": at, "level": "INFO",
     "message": [{"s": "var", "a": ["later"]}, {"s": "var", "a": ["who", " unset"]}]},
]
"#;
    let plan = scripts.outcome("setup.launch.py", text, &[("rate", "9")]);
    assert_eq!(said(&plan), ["9 True {'is': [1.0, 2.5]} 91 from a command", "yes unset"], "{plan}");
    assert!(plan.contains("warning: W/setup.launch.py:2:3: old\n  name"), "{plan}");
    let file = scripts.workspace.path().join("setup.launch.py");
    let preview = scripts.planner().preview(&file, &[]).unwrap().to_string();
    assert!(preview.contains("from a command"), "functions get true output: {preview}");
    let unknown = scripts.outcome("setup.launch.py", text, &[("rat", "9")]);
    assert!(unknown.contains("takes no argument `rat`"), "{unknown}");
}

#[test]
fn objects_are_evaluated_within_one_another() {
    let Some(scripts) = Scripts::new() else { return };
    let text = r#"
at = [request["path"], 1, 1]
def outer(request):
    inner = ask({"ask": "text", "template": ["<", {"py": 2}, {"s": "var", "a": ["a"]}, ">"]})
    return {"text": inner}
objects[1] = outer
objects[2] = lambda request: {"text": "in", "set": {"a": "now"}}
objects[3] = lambda request: {"holds": request["configurations"]["a"] == "now"}
objects[4] = lambda request: {"text": str(3 ** 2)}
objects[5] = lambda request: {"entities": [
    {"do": "log", "id": 50 + request["index"], "at": at, "level": "INFO",
     "message": ["round ", {"s": "index", "a": ["i"]}]}]}
objects[6] = lambda request: {"entities": [
    {"do": "log", "id": 60, "at": at, "level": "INFO", "message": repr(request["values"])}]}
entities = [
    {"do": "set", "id": 10, "at": at, "name": "a", "value": "before"},
    {"do": "log", "id": 11, "at": at, "level": "INFO", "message": {"py": 1, "describe": "Outer"}},
    {"do": "log", "id": 12, "at": at, "level": "INFO", "message": "held", "if": {"py": 3}},
    {"do": "log", "id": 13, "at": at, "level": "INFO",
     "message": [{"s": "eval", "a": ["3 ** 2"], "py": 4}, {"s": "eval", "a": ["1 + 1"], "py": 99}]},
    {"do": "for", "id": 14, "at": at, "length": 2, "name": "i", "py": 5},
    {"do": "for_each", "id": 15, "at": at, "values": "{n: a, k: 1};{n: b, k: 2.5}", "py": 6},
]
"#;
    let plan = scripts.outcome("objects.launch.py", text, &[]);
    let expected = [
        "<innow>",
        "held",
        "92",
        "round 0",
        "round 1",
        "[['n', 'a'], ['k', 1]]",
        "[['n', 'b'], ['k', 2.5]]",
    ];
    assert_eq!(said(&plan), expected, "{plan}");
}

#[test]
fn settings_of_python_alone() {
    let Some(scripts) = Scripts::new() else { return };
    let text = r#"
at = [request["path"], 1, 1]
def say(number):
    return {"do": "log", "id": number, "at": at, "level": "INFO",
            "message": [{"s": "var", "a": ["a"]}, {"s": "param", "a": ["p"]}]}
entities = [
    {"do": "set", "id": 1, "at": at, "name": "a", "value": "1"},
    {"do": "set_parameter", "id": 2, "at": at, "name": "p", "value": {"is": True}},
    {"do": "push_configurations", "id": 3, "at": at},
    {"do": "set", "id": 4, "at": at, "name": "a", "value": "2"},
    {"do": "set_parameter", "id": 5, "at": at, "name": "p", "value": {"is": 2.0}},
    say(6),
    {"do": "pop_configurations", "id": 7, "at": at},
    say(8),
    {"do": "include", "id": 9, "at": at, "arguments": [["a", "3"]], "entities": [say(10)]},
]
"#;
    assert_eq!(said(&scripts.outcome("a.launch.py", text, &[])), ["22.0", "1True", "3True"]);
    let pop = r#"entities = [{"do": "pop_configurations", "id": 1, "at": ["f", 3, 1]}]"#;
    let pop = scripts.outcome("b.launch.py", pop, &[]);
    assert!(pop.starts_with("f:3:1: `PopLaunchConfigurations` without"), "{pop}");
}

#[test]
fn refusals_reach_python_and_the_user() {
    let Some(scripts) = Scripts::new() else { return };
    let refused = |question: &str| {
        let text = format!(
            "objects[1] = lambda request: {{'text': ask({question})}}\n\
             entities = [{{'do': 'log', 'id': 2, 'at': ['f.py', 4, 2], 'level': 'INFO', \
             'message': {{'py': 1}}}}]\n"
        );
        scripts.outcome("q.launch.py", &text, &[])
    };
    for (question, expected) in [
        ("{'ask': 'share', 'package': 'dmo'}", "package: there is no package `dmo`; did you mean"),
        (
            "{'ask': 'executable', 'package': 'demo', 'executable': 'x'}",
            "package: there is no executable `x`",
        ),
        (
            "{'ask': 'text', 'template': {'s': 'var', 'a': ['none']}}",
            "substitution: there is no argument or variable `none`",
        ),
        ("{'ask': 'text', 'template': 5}", "its text"),
        ("{'ask': 'text'}", "protocol: unfit question `text`"),
        ("{'ask': 'text', 'template': {'s': 'vra'}}", "protocol: unknown substitution `vra`"),
        ("{'ask': 'value', 'value': {'map': []}}", "protocol: a dictionary is not a single value"),
        ("{'ask': 'fly'}", "protocol: unfit question `fly`"),
        (
            "{'ask': 'configurations', 'set': 5}",
            "protocol: Python's answer: `set` is not an object",
        ),
    ] {
        let outcome = refused(question);
        if expected == "its text" {
            assert_eq!(said(&outcome), ["5"], "{outcome}");
        } else {
            assert!(outcome.starts_with("W/q.launch.py:1:1: Refused: "), "{outcome}");
            assert!(outcome.contains(expected), "{question}: {outcome}");
        }
    }
}

#[test]
fn an_object_starts_one_process() {
    let Some(scripts) = Scripts::new() else { return };
    let text = r#"
one = {"do": "execute", "id": 1, "at": [request["path"], 7, 1], "cmd": ["true"]}
entities = [one, one, {"do": "load_components", "id": 3, "at": [request["path"], 9, 1],
                       "target": {"container": 5}, "components": []},
            {"do": "emit", "id": 6, "at": [request["path"], 10, 1], "event": {
                "event": "change_state", "node": {"action": 8}, "transition": 1}}]
"#;
    let outcome = scripts.outcome("twice.launch.py", text, &[]);
    let lines: Vec<&str> = outcome.lines().collect();
    assert_eq!(lines.len(), 3, "{outcome}");
    assert!(lines[0].starts_with("W/twice.launch.py:7:1: this action is performed twice"));
    assert!(lines[1].starts_with("W/twice.launch.py:9:1: the target container has not been"));
    assert!(lines[2].starts_with("W/twice.launch.py:10:1: the managed node has not been started"));
}
