//! Each action, with all of its keys, and hostile JSON.

use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::Decoder;
use crate::action::{
    Action, Body, Condition, EventKind, HandlerTarget, IoStream, Item, NodeKind, OutputChoice,
    Parameter, ParameterContent, ParameterText, Reaction, Source, Target, Words,
};
use crate::position::Position;
use crate::substitution::{Kind, Part, Template};
use crate::tree::Language;
use crate::value::{Value, ValueType};

fn nowhere() -> Position {
    Position::new(&Path::new("a.launch.py").into(), 1, 1)
}

fn items(entities: Json) -> Result<Vec<Item>, String> {
    Decoder::default().items(&entities, &nowhere()).map_err(|error| error.to_string())
}

fn item(mut entity: Json) -> Item {
    entity["at"] = json!(["r.launch.py", 3, 7]);
    let [item]: [Item; 1] = items(json!([entity])).unwrap().try_into().unwrap();
    assert_eq!(item.at.to_string(), "r.launch.py:3:7");
    item
}

fn action(entity: Json) -> Action {
    item(entity).action
}

fn mistake(entity: Json) -> String {
    items(json!([entity])).unwrap_err()
}

fn template(json: Json) -> Result<Template, String> {
    Decoder::default().template(&json, &nowhere()).map_err(|error| error.to_string())
}

fn texts(templates: &[Template]) -> Vec<&str> {
    templates.iter().map(|template| template.source.as_str()).collect()
}

fn source(template: &Option<Template>) -> &str {
    template.as_ref().map_or("-", |template| template.source.as_str())
}

#[test]
fn templates_are_texts_numbers_and_calls() {
    let of = |json| template(json).unwrap();
    for (json, text) in [
        (json!(""), ""),
        (json!("$(var x) \\"), "$(var x) \\"),
        (json!(true), "True"),
        (json!(false), "False"),
        (json!(5), "5"),
        (json!(5.0), "5.0"),
        (json!(-0.25), "-0.25"),
        (json!([]), ""),
        (json!(["a", "", "b"]), "ab"),
    ] {
        assert_eq!(of(json.clone()).as_text(), Some(text), "{json}");
    }
    let nested = of(json!(["a", {"s": "var", "a": ["x", ["1 ", {"s": "dirname"}]],
        "at": ["r.launch.py", 5, 2]}]));
    assert_eq!(nested.source, "a$(var x '1 $(dirname)')");
    let [Part::Text(_), Part::Call(call)] = nested.parts.as_slice() else { panic!("{nested:?}") };
    assert_eq!((call.kind, call.at.to_string().as_str()), (Kind::Var, "r.launch.py:5:2"));
    assert_eq!(of(json!({"s": "filename"})).source, "$(filename)");
    let many = vec!["x"; 1000];
    let many = of(json!({"s": "path-join", "a": many}));
    let [Part::Call(call)] = many.parts.as_slice() else { panic!("{many:?}") };
    assert_eq!(call.arguments.len(), 1000, "data has no limit of 64");
    let object = of(json!([{"py": 12, "describe": "Rewritten(...)"}]));
    assert!(matches!(&object.parts[..], [Part::Object(object)] if object.id == 12));
    assert_eq!(object.source, "Rewritten(...)");
    let eval = of(json!([{"s": "eval", "a": ["1"], "py": 13}]));
    assert!(matches!(&eval.parts[..], [Part::Call(call)] if call.object == Some(13)));
}

#[test]
fn unfit_templates_are_refused() {
    for (json, expected) in [
        (json!(null), "null from Python"),
        (json!([5]), "`5` from Python: expected an object"),
        (json!([["a"]]), "expected an object"),
        (json!({}), "it has no `py`"),
        (json!({"s": "vra", "a": []}), "unknown substitution `vra`"),
        (json!({"s": "var"}), "`$(var ...)` has 0 arguments"),
        (json!({"s": "not", "a": ["1", "2"]}), "`$(not ...)` has 2 arguments"),
        (json!({"s": "var", "a": "x"}), "`a` is `\"x\"`, expected a list"),
        (json!({"s": 5}), "`s` is `5`, expected a text"),
        (json!({"py": 0}), "`py` is `0`, expected the number of an object"),
        (json!({"py": -1}), "expected the number of an object"),
        (json!({"py": 1u64 << 53}), "expected the number of an object"),
        (json!({"py": 1.5}), "expected the number of an object"),
        (json!({"s": "dirname", "at": ["f", 1]}), "`at` is"),
    ] {
        let problem = template(json.clone()).unwrap_err();
        assert!(problem.contains(expected), "{json}: {problem}");
    }
}

#[test]
fn declarations_and_their_variables() {
    let Action::Argument(declaration) = action(json!({"do": "declare", "id": 1, "name": "rate",
        "default": ["1"], "description": "Hz", "choices": ["1", "2"]}))
    else {
        panic!()
    };
    assert_eq!(declaration.name, "rate");
    assert_eq!(source(&declaration.default), "1");
    assert_eq!(declaration.description.as_deref(), Some("Hz"));
    assert_eq!(declaration.choices, ["1", "2"]);
    let mut decoder = Decoder::default();
    let log = json!([{"do": "log", "id": 1, "level": "INFO",
        "message": [{"s": "var", "a": ["a", {"s": "var", "a": ["b"]}]}]}]);
    decoder.items(&log, &nowhere()).unwrap();
    assert_eq!(decoder.into_variables().into_iter().collect::<Vec<_>>(), ["a", "b"]);
    let reads_more = |entity: Json| {
        let file = Decoder::default().launch_file(&json!([entity]), &nowhere());
        file.unwrap().reads_more
    };
    assert!(!reads_more(json!({"do": "unset", "name": "a"})));
    assert!(reads_more(json!({"do": "unset", "name": {"py": 2}})));
    assert!(reads_more(json!({"do": "python", "id": 1, "name": "f"})));
    assert!(reads_more(json!({"do": "pop_environment", "if": {"py": 3}})));
}

#[test]
fn conditions() {
    let condition = |json: Json| item(json!({"do": "pop_environment", "if": json})).condition;
    assert!(condition(json!(null)).is_none());
    let Some(Condition::Truth { value, negated: false }) = condition(json!({"truth": "1"})) else {
        panic!()
    };
    assert_eq!(value.source, "1");
    let unless = condition(json!({"truth": "1", "negated": true}));
    assert!(matches!(unless, Some(Condition::Truth { negated: true, .. })));
    let equals = condition(json!({"configuration": "mode", "expected": "sim"}));
    let Some(Condition::Equals { name, expected, negated: false }) = equals else { panic!() };
    assert_eq!((name.as_str(), source(&expected)), ("mode", "sim"));
    let unset = condition(json!({"configuration": "mode", "expected": null, "negated": true}));
    assert!(matches!(unset, Some(Condition::Equals { expected: None, negated: true, .. })));
    let own = condition(json!({"py": 9, "at": ["r.launch.py", 4, 1]}));
    assert!(matches!(own, Some(Condition::Python { id: 9, at }) if at.line == 4));
    let unfit = mistake(json!({"do": "pop_environment", "if": {}}));
    assert!(unfit.contains("is no condition"), "{unfit}");
}

#[test]
fn settings() {
    let decoded = |json: Json| format!("{:?}", action(json));
    for (json, name) in [
        (json!({"do": "set", "name": "a", "value": 5}), "Let"),
        (json!({"do": "unset", "name": "a"}), "Unset"),
        (json!({"do": "push_configurations"}), "PushConfigurations"),
        (json!({"do": "pop_configurations"}), "PopConfigurations"),
        (json!({"do": "reset_configurations", "keep": [["a", "b"]]}), "Reset"),
        (json!({"do": "set_environment", "name": "A", "value": "b"}), "SetEnvironment"),
        (json!({"do": "unset_environment", "name": "A"}), "UnsetEnvironment"),
        (
            json!({"do": "append_environment", "name": "A", "value": "b", "prepend": true,
                "separator": ";"}),
            "AppendEnvironment",
        ),
        (json!({"do": "push_environment"}), "PushEnvironment"),
        (json!({"do": "pop_environment"}), "PopEnvironment"),
        (json!({"do": "reset_environment"}), "ResetEnvironment"),
        (json!({"do": "push_namespace", "namespace": "a"}), "PushNamespace"),
        (json!({"do": "set_parameter", "name": "a", "value": {"is": 1}}), "SetParameter"),
        (json!({"do": "set_parameters_from_file", "file": "p"}), "SetParametersFromFile"),
        (json!({"do": "set_remap", "from": "a", "to": "b"}), "SetRemap"),
        (json!({"do": "set_use_sim_time", "value": true}), "SetUseSimTime"),
        (json!({"do": "set_ros_log_dir", "folder": "/tmp"}), "SetLogFolder"),
        (json!({"do": "log", "level": "ERROR", "message": "m"}), "Log"),
        (json!({"do": "shutdown", "reason": "done"}), "Shutdown"),
        (json!({"do": "shutdown"}), "Shutdown"),
        (json!({"do": "unregister", "handler": 5}), "Unregister"),
        (json!({"do": "emit", "event": {"event": "py", "id": 5, "name": "Mine"}}), "Emit { id: 5"),
        (
            json!({"do": "emit", "event": {"event": "shutdown_process", "process": {"action": 5}}}),
            "Signal { processes: Action(5), signal: None",
        ),
        (
            json!({"do": "emit", "event": {"event": "signal_process", "process": {"name": "a-1"},
                "signal": "SIGUSR1", "number": 10}}),
            "Signal { processes: Name(\"a-1\"), signal: Some(",
        ),
        (
            json!({"do": "emit", "event": {"event": "shutdown_process", "process": {"py": 5}}}),
            "Signal { processes: Function(5)",
        ),
        (
            json!({"do": "emit", "event": {"event": "change_state", "node": {"action": 5},
                "transition": 3}}),
            "Change { nodes: [Action(5)]",
        ),
        (
            json!({"do": "emit", "event": {"event": "change_state", "node": {"py": 5},
                "transition": 3}}),
            "Change { nodes: [Function(5)]",
        ),
        (
            json!({"do": "lifecycle_transition", "nodes": ["a"], "transitions": [1, 3]}),
            "Change { nodes: [Name(",
        ),
        (json!({"do": "cancel_timer", "timer": 5}), "CancelTimer(5)"),
    ] {
        let text = decoded(json.clone());
        assert!(text.starts_with(name), "{json}: {text}");
    }
}

#[test]
fn actions_within_actions() {
    let inner = json!([{"do": "pop_environment", "id": 2, "at": ["i.py", 9, 1]}]);
    let Action::Group(group) = action(json!({"do": "group", "scoped": false, "forwarding": true,
        "configurations": [["a", "b"]], "actions": inner}))
    else {
        panic!()
    };
    assert_eq!((source(&group.scoped), source(&group.forwarding)), ("False", "True"));
    assert_eq!((group.keep.len(), group.actions[0].id, group.actions[0].at.line), (1, Some(2), 9));
    let Action::Timer(timer) =
        action(json!({"do": "timer", "ros": true, "period": 2.5, "actions": inner}))
    else {
        panic!()
    };
    assert_eq!((timer.is_ros, timer.period.source.as_str()), (true, "2.5"));
    let Action::Include { source, arguments } = action(json!({"do": "include", "file": "f.py",
        "language": "python", "arguments": [["a", "b"]]}))
    else {
        panic!()
    };
    assert_eq!(arguments.len(), 1);
    let Source::File { path, language: Some(Language::Python) } = source else { panic!() };
    assert_eq!(path.source, "f.py");
    let any = action(json!({"do": "include", "file": "f"}));
    assert!(matches!(any, Action::Include { source: Source::File { language: None, .. }, .. }));
    let inline = action(json!({"do": "include", "entities": inner}));
    assert!(
        matches!(inline, Action::Include { source: Source::Actions(items), .. } if items.len() == 1)
    );
    let rounds = action(json!({"do": "for", "length": 3, "name": "i", "py": 4}));
    assert!(matches!(rounds, Action::For(rounds) if matches!(rounds.body, Body::Python(4))));
    let each = action(json!({"do": "for_each", "values": "{a: 1}", "py": 5}));
    assert!(matches!(each, Action::ForEach(each) if matches!(each.body, Body::Python(5))));
    let own = action(json!({"do": "python", "id": 6, "name": "setup\u{1b}"}));
    assert!(matches!(own, Action::Python { id: 6, name } if name == "setup\\u{1b}"));
}

#[test]
fn processes_with_all_their_options() {
    let Action::Executable(process) = action(json!({"do": "execute", "cmd": ["a b", ["c ", "d"]],
        "name": "n", "shell": true, "cwd": "/", "env": [["A", "1"]],
        "additional_env": [["B", "2"]], "prefix": "gdb --args", "output": "screen",
        "respawn": true, "respawn_delay": 2.0, "respawn_max_retries": 3, "sigterm_timeout": "1",
        "sigkill_timeout": "2", "emulate_tty": true,
        "on_exit": {"entities": [{"do": "shutdown", "id": 9}]}}))
    else {
        panic!()
    };
    let Words::List(words) = &process.command else { panic!() };
    assert_eq!(texts(words), ["a b", "c d"]);
    let options = &process.options;
    assert!(options.replaces_environment && options.ends_launch && options.on_exit.is_none());
    assert_eq!(options.environment.len(), 2);
    assert_eq!((source(&process.name), source(&process.shell)), ("n", "True"));
    let rest = [
        &options.directory,
        &options.prefix,
        &options.respawn,
        &options.respawn_delay,
        &options.respawn_max_retries,
        &options.sigterm_timeout,
        &options.sigkill_timeout,
        &options.emulate_tty,
    ];
    assert_eq!(rest.map(source), ["/", "gdb --args", "True", "2.0", "3", "1", "2", "True"]);
    assert!(matches!(&options.output, Some(OutputChoice::Mode(mode)) if mode.source == "screen"));
    let Action::Executable(plain) = action(json!({"do": "execute", "cmd": ["a"], "output":
        {"stdout": ["screen"], "stderr": ["own_log"], "both": ["log"]}}))
    else {
        panic!()
    };
    assert!(!plain.options.replaces_environment && !plain.options.ends_launch);
    let Some(OutputChoice::Streams(output)) = plain.options.output else { panic!() };
    assert_eq!((output.stdout.screen, output.stdout.log), (true, true));
    assert_eq!((output.stderr.screen, output.stderr.log), (false, true));
}

#[test]
fn reactions_to_the_end_of_a_process() {
    let reaction = |json: Json| {
        let Action::Executable(process) =
            action(json!({"do": "execute", "cmd": ["a"], "on_exit": json}))
        else {
            panic!()
        };
        (process.options.ends_launch, process.options.on_exit)
    };
    assert!(matches!(reaction(json!(null)), (false, None)));
    assert!(matches!(reaction(json!({"entities": []})), (false, None)));
    assert!(matches!(reaction(json!({"entities": [{"do": "shutdown"}]})), (true, None)));
    let conditional = reaction(json!({"entities": [{"do": "shutdown", "if": {"truth": "1"}}]}));
    assert!(matches!(conditional, (false, Some(Reaction::Actions(items))) if items.len() == 1));
    let function = reaction(json!({"py": 5, "name": "f"}));
    assert!(matches!(function, (false, Some(Reaction::Function { id: 5, name })) if name == "f"));
}

#[test]
fn handlers() {
    let register = |handler: Json| action(json!({"do": "register", "handler": handler}));
    let registered = |handler: Json| {
        let Action::Register(handler) = register(handler) else { panic!() };
        handler
    };
    let exit = registered(json!({"id": 5, "at": ["r.launch.py", 9, 1], "on": "process_exit",
        "target": [1, 2], "once": true, "reaction": {"entities": [{"do": "shutdown"}]}}));
    assert_eq!((exit.id, exit.kind, exit.at.line), (Some(5), Some(EventKind::ProcessExit), 9));
    assert!(exit.once && matches!(&exit.target, HandlerTarget::Actions(ids) if ids == &[1, 2]));
    let start = registered(json!({"id": 6, "on": "process_start", "reaction": {"py": 7}}));
    assert!(matches!(start.target, HandlerTarget::Any) && !start.once);
    assert!(matches!(start.reaction, Reaction::Function { id: 7, .. }));
    let own = registered(json!({"id": 6, "on": "process_exit", "target": {"py": 8}}));
    assert!(matches!(own.target, HandlerTarget::Function(8)));
    let shutdown = registered(json!({"id": 6, "on": "shutdown", "target": null}));
    assert_eq!(shutdown.kind, Some(EventKind::Shutdown));
    let state = registered(json!({"id": 6, "on": "state", "node": 9, "goal": "active"}));
    let goal = state.states.goal.as_deref();
    assert_eq!((state.kind, goal), (Some(EventKind::State), Some("active")));
    assert!(matches!(&state.target, HandlerTarget::Actions(ids) if ids == &[9]));
    let output = registered(json!({"id": 6, "on": "process_io", "target": [1],
        "streams": ["stdout", "stdin"], "reaction": {"py": 7}}));
    assert_eq!(output.kind, Some(EventKind::ProcessIo));
    assert_eq!(output.streams, [IoStream::Stdout, IoStream::Stdin]);
    let complete = registered(json!({"id": 6, "on": "execution_complete", "target": [1]}));
    assert!(complete.may_concern(EventKind::Complete, Some(1)));
    assert!(!complete.may_concern(EventKind::Complete, Some(2)));
    assert!(!complete.may_concern(EventKind::Timer, Some(1)));
    let any = registered(json!({"id": 6, "on": "event", "matcher": {"py": 8, "name": "\u{1b}"}}));
    assert!(any.kind.is_none() && any.may_concern(EventKind::Timer, None));
    assert!(matches!(&any.target, HandlerTarget::Events { id: 8, name } if name == "\\u{1b}"));
    for (handler, expected) in [
        (json!(5), "expected an object"),
        (json!({"on": "process_exit"}), "it has no `id`"),
        (json!({"id": 5, "on": "rain"}), "unknown event `rain`"),
        (json!({"id": 5, "on": "event"}), "it has no `matcher`"),
        (json!({"id": 5, "on": "process_io", "streams": ["out"]}), "unknown stream `out`"),
        (json!({"id": 5, "on": "process_exit", "target": ["a"]}), "the numbers of objects"),
        (json!({"id": 5, "on": "process_exit", "once": 1}), "expected true or false"),
        (json!({"id": 5, "on": "process_exit", "reaction": []}), "expected an object"),
    ] {
        let problem = mistake(json!({"do": "register", "handler": handler.clone()}));
        assert!(problem.contains(expected), "{handler}: {problem}");
    }
}

#[test]
fn nodes_and_components() {
    let Action::Node(node) = action(json!({"do": "container", "id": 3, "package": "p",
        "executable": "e", "name": "n", "namespace": "/", "exec_name": "x",
        "arguments": ["-a", "b c"], "ros_arguments": ["--log-level", "debug"],
        "parameters": [{"map": [["rate", {"is": 5}]]}, {"file": "p.yaml", "substitute": true}],
        "remappings": [["a", "b"]],
        "components": [{"at": ["r.launch.py", 5, 1], "if": {"truth": "1"}, "package": "c",
            "plugin": "c::C", "name": "m", "parameters": [{"map": []}],
            "extra_arguments": [{"map": [["use_intra_process_comms", {"is": true}]]}]}]}))
    else {
        panic!()
    };
    assert_eq!(node.kind, NodeKind::Container);
    let Some(Words::List(words)) = &node.arguments else { panic!() };
    assert_eq!(texts(words), ["-a", "b c"]);
    let [Parameter::Entry(rate), Parameter::File { may_be_missing: true, .. }] =
        node.facts.parameters.as_slice()
    else {
        panic!("{:?}", node.facts.parameters)
    };
    assert_eq!((rate.name.source.as_str(), node.facts.remaps.len()), ("rate", 1));
    let [component] = node.components.as_slice() else { panic!() };
    assert_eq!((component.at.line, component.extra_arguments.len()), (5, 1));
    assert!(component.condition.is_some());
    let Action::Node(managed) = action(json!({"do": "lifecycle_node", "package": "p",
        "executable": "e", "name": "n", "autostart": true}))
    else {
        panic!()
    };
    assert_eq!((managed.kind, source(&managed.autostart)), (NodeKind::Lifecycle, "True"));
    let load = |target: Json| {
        let loaded = json!({"do": "load_components", "target": target, "components": []});
        let Action::Load { target, .. } = action(loaded) else { panic!() };
        target
    };
    assert!(matches!(load(json!("/box")), Target::Name(name) if name.source == "/box"));
    assert!(matches!(load(json!({"container": 3})), Target::Action(3)));
    assert!(mistake(json!({"do": "container", "executable": "e"})).contains("no `name`"));
    assert!(mistake(json!({"do": "node"})).contains("it has no `executable`"));
}

/// The content of a parameter.
fn content(json: Json) -> Result<ParameterContent, String> {
    Decoder::default().content(&json, &nowhere()).map_err(|error| error.to_string())
}

#[test]
fn values_keep_their_types() {
    let known = |json: Json| match content(json).unwrap() {
        ParameterContent::One { value: ParameterText::Known { value, .. }, .. } => value,
        other => panic!("{other:?}"),
    };
    for (json, value) in [
        (json!(true), Value::Bool(true)),
        (json!(5), Value::Integer(5)),
        (json!(i64::MIN), Value::Integer(i64::MIN)),
        (json!(5.0), Value::Double(5.0)),
        (json!({"float": "-inf"}), Value::Double(f64::NEG_INFINITY)),
        (json!("5"), Value::String("5".to_owned())),
    ] {
        assert_eq!(known(json!({ "is": json })), value);
        let again = super::value_to_json(&value);
        assert_eq!(known(json!({ "is": again })), value);
    }
    let exact: Json = serde_json::from_str("{\"is\":0.30000000000000004}").unwrap();
    assert_eq!(known(exact), Value::Double(0.1 + 0.2));
    assert!(matches!(known(json!({"is": {"float": "nan"}})), Value::Double(nan) if nan.is_nan()));
    let typed = content(json!({"text": {"s": "var", "a": ["x"]}, "type": "list_of_float"}));
    let Ok(ParameterContent::One { value: ParameterText::Later(text), kind }) = typed else {
        panic!()
    };
    assert_eq!((text.source.as_str(), kind), ("$(var x)", Some(ValueType::Doubles)));
    let list = content(json!({"list": [{"is": 1}, {"text": "2"}]}));
    let Ok(ParameterContent::List { items, kind: None }) = list else { panic!() };
    assert!(matches!(&items[..], [ParameterText::Known { .. }, ParameterText::Later(_)]));
    let constants = content(json!({"is": [1, 2.0], "type": "list_of_float"}));
    assert!(matches!(constants, Ok(ParameterContent::List { items, .. }) if items.len() == 2));
    let nested = content(json!({"map": [["a", {"map": [["b", {"is": 1}]]}]]}));
    assert!(matches!(nested, Ok(ParameterContent::Nested(entries)) if entries.len() == 1));
}

#[test]
fn unfit_values_are_refused() {
    for (json, expected) in [
        (json!(5), "expected an object"),
        (json!({}), "it has no `text`"),
        (json!({"is": {"int": "99999999999999999999"}}), "does not fit the 64 bits"),
        (json!({"is": u64::MAX}), "is not a value of a parameter"),
        (json!({"is": {"float": "huge"}}), "is not a value of a parameter"),
        (json!({"is": [[1]]}), "is not a value of a parameter"),
        (json!({"is": 5, "type": "integer"}), "unknown type `integer`"),
        (json!({"list": 5}), "`list` is not a list"),
        (json!({"map": 5}), "`map` is `5`, expected a list"),
        (json!({"map": [["a"]]}), "expected pairs"),
        (json!({"map": {"a": 1}}), "expected a list"),
    ] {
        let problem = content(json.clone()).unwrap_err();
        assert!(problem.contains(expected), "{json}: {problem}");
    }
}

#[test]
fn hostile_actions_are_refused_all_at_once() {
    for entities in [json!(null), json!({}), json!("x"), json!(5)] {
        assert!(items(entities).unwrap_err().contains("no list of actions"));
    }
    let problems = items(json!([5, {}, {"do": 5}, {"do": "launch_missiles"}, {"do": "set"},
        {"do": "group", "actions": [{"do": "unset"}, {"do": "for", "length": 1}]},
        {"do": "execute", "cmd": "ls"}, {"do": "include", "file": "f", "language": "lua"},
        {"do": "python", "name": "f"}, {"do": "declare", "name": "a", "choices": [1]},
        {"do": "execute", "cmd": [], "output": {"stdout": ["nowhere"]}},
        {"do": "load_components", "target": {"container": "x"}}, {"do": "unset", "id": 0},
        {"do": "emit", "event": {"event": "rain"}}, {"do": "cancel_timer"},
        {"do": "emit", "event": {"event": "signal_process", "process": {"name": "a"},
            "signal": "SIGRTMIN", "number": 34}}]));
    let problems = problems.unwrap_err();
    for expected in [
        "`5` from Python: expected an object",
        "`object` from Python: it has no `do`",
        "`do` is `5`, expected a text",
        "unknown action `launch_missiles`",
        "`set` from Python: it has no `name`",
        "`unset` from Python: it has no `name`",
        "`for` from Python: it has no `name`",
        "`cmd` is `\"ls\"`, expected a list",
        "unknown language `lua`",
        "unknown event `rain`",
        "it has no `timer`",
        "`SIGRTMIN` is a signal that `feros launch` does not send",
        "`python` from Python: it has no `id`",
        "`choices` is `1`, expected texts",
        "`nowhere` for `output`",
        "`container` is `\"x\"`, expected the number of an object",
        "`id` is `0`, expected the number of an object",
    ] {
        assert!(problems.contains(expected), "{expected}: {problems}");
    }
}

/// Keys and texts of messages.
const WORDS: [&str; 40] = [
    "do",
    "id",
    "at",
    "if",
    "s",
    "a",
    "py",
    "truth",
    "configuration",
    "is",
    "text",
    "list",
    "map",
    "type",
    "file",
    "declare",
    "node",
    "container",
    "group",
    "include",
    "log",
    "for",
    "execute",
    "register",
    "emit",
    "handler",
    "on",
    "process_exit",
    "reaction",
    "entities",
    "actions",
    "cmd",
    "parameters",
    "components",
    "output",
    "env",
    "target",
    "name",
    "var",
    "int",
];

/// Any JSON whose keys and texts are mostly those of messages.
fn messages() -> impl Strategy<Value = Json> {
    let word =
        prop_oneof![9 => proptest::sample::select(&WORDS[..]).prop_map(str::to_owned), 1 => ".*"];
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        word.clone().prop_map(Json::from),
        word.clone().prop_map(|name| json!({"do": name, "id": 1, "at": ["f", 1, 1]})),
    ];
    leaf.prop_recursive(6, 64, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Json::from),
            prop::collection::vec((word.clone(), inner), 0..6)
                .prop_map(|pairs| Json::Object(pairs.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_message_is_decoded_or_refused(entities in prop::collection::vec(messages(), 0..4)) {
        let items = items(Json::Array(entities));
        prop_assert!(items.is_ok() || items.is_err_and(|problem| !problem.is_empty()));
    }
}
