//! Parameter files: the values that they give a node, and the positions of errors.
#![allow(clippy::unwrap_used)]

use super::*;
use feros_engine::NodeName;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

fn values(text: &str, namespace: &str, name: &str) -> Vec<(String, ParameterValue)> {
    let node = NodeName::new(namespace, name).unwrap();
    parse(text).unwrap().for_node(&node).into_iter().collect()
}

#[test]
fn entries_that_fit_are_merged_and_the_later_wins() {
    let text = "
/**:
  ros__parameters: {a: 1, b: 1, c: 1}
/ns/*:
  ros__parameters:
    b: 2
    c: 2
ns:
  node:
    ros__parameters: {c: 3, nested: {x: true, deep.er: [1, 2]}}
/other/node:
  ros__parameters: {a: 9}
";
    let expected: Vec<(String, ParameterValue)> = vec![
        ("a".into(), 1.into()),
        ("b".into(), 2.into()),
        ("c".into(), 3.into()),
        ("nested.deep.er".into(), vec![1, 2].into()),
        ("nested.x".into(), true.into()),
    ];
    assert_eq!(values(text, "/ns", "node"), expected);
    assert_eq!(
        values(text, "/", "node"),
        [("a", 1), ("b", 1), ("c", 1)].map(|(n, v)| (n.into(), v.into()))
    );
}

#[test]
fn a_pattern_keeps_the_place_where_it_was_first_named() {
    let text = "/**: {ros__parameters: {x: 2}}\n/node: {ros__parameters: {x: 3}}";
    let mut overrides = parse(text).unwrap();
    let node = NodeName::new("/", "node").unwrap();
    overrides.set(NodePattern::every_node(), "x", 1.into());
    assert_eq!(overrides.for_node(&node)["x"], 3.into());
    overrides.set("node".parse().unwrap(), "x", 1.into());
    assert_eq!(overrides.for_node(&node)["x"], 1.into());

    let mut overrides = parse("/node: {ros__parameters: {x: 3}}").unwrap();
    overrides.set(NodePattern::every_node(), "x", 1.into());
    assert_eq!(overrides.for_node(&node)["x"], 1.into());
}

#[test]
fn an_empty_file_is_a_parameter_file() {
    assert!(parse("").unwrap().is_empty());
    assert!(parse("# only a comment\n").unwrap().is_empty());
    assert!(
        parse("/**:\n  ros__parameters: {}\n")
            .unwrap()
            .for_node(&NodeName::new("/", "a").unwrap())
            .is_empty()
    );
}

#[test]
fn errors_name_the_line_and_the_expected_content() {
    for (text, line, problem, expected) in [
        (
            "node:\n  rate: 1\n",
            2,
            "rate has a value outside of ros__parameters",
            "ros__parameters: below",
        ),
        (
            "ros__parameters:\n  a: 1\n",
            1,
            "there is no node name above ros__parameters",
            "the name of a node",
        ),
        (
            "node:\n  ros__parameters:\n    a: 5\n    b:\n",
            4,
            "parameter b: there is no value",
            "a boolean",
        ),
        (
            "node:\n  ros__parameters:\n    a:\n      b: [1, x]\n",
            4,
            "parameter a.b: an element of type string",
            "elements of one type",
        ),
        ("node:\n  ros__parameters:\n", 2, "ros__parameters has no parameters", "a mapping"),
        (
            "node:\n  ros__parameters:\n    \"\": 1\n",
            3,
            "a parameter name is empty",
            "a name and a colon",
        ),
        (
            "node:\n  ros__parameters:\n    [a]: 1\n",
            3,
            "a name is a list or mapping",
            "a name and a colon",
        ),
        (
            "a: {ros__parameters: {x: 1}}\n/**foo:\n  ros__parameters: {}\n",
            2,
            "mixes a wildcard with other characters",
            "/**",
        ),
        ("a b:\n  ros__parameters: {}\n", 1, "contains ' '", "the name of a node"),
        ("- a\n", 1, "the file is not a mapping", "the name of a node"),
        ("node:\n  ros__parameters: {a: &x 1, b: *x}\n", 2, "an alias", "without an alias"),
        ("node:\n\tros__parameters: {}\n", 2, "this is not YAML", "YAML"),
        (
            "a: {ros__parameters: {}}\n---\nb: 1\n",
            3,
            "b has a value outside",
            "ros__parameters: below",
        ),
    ] {
        let error = parse(text).unwrap_err();
        assert!(error.problem.contains(problem), "{text}: {error}");
        assert!(error.expected.contains(expected), "{text}: {error}");
        assert_eq!(error.line, line, "{text}: {error}");
    }
}

#[test]
fn unreadable_and_invalid_files_are_refused() {
    let path = Path::new("/nonexistent/parameters.yaml");
    let error = read(path).unwrap_err().to_string();
    assert!(
        error.contains("/nonexistent/parameters.yaml") && error.contains("No such file"),
        "{error}"
    );
    assert!(matches!(read(Path::new("/dev/zero")), Err(ParameterFileError::Unreadable { .. })));

    let path =
        std::env::temp_dir().join(format!("feros_parameter_file_{}.yaml", std::process::id()));
    std::fs::write(&path, "node:\n  rate: 1\n").unwrap();
    let error = read(&path).unwrap_err().to_string();
    std::fs::remove_file(&path).unwrap();
    assert!(error.contains(".yaml: line 2, column 9: rate has a value outside"), "{error}");
}

#[test]
fn deep_nesting_does_no_harm() {
    let deep =
        |level: &str| format!("a: {{ros__parameters: {}1{}}}", level.repeat(500), "}".repeat(500));
    assert!(parse(&deep("{a: ")).unwrap_err().problem.contains("nested"));
    assert!(parse(&"{a: ".repeat(500)).is_err());
    assert!(parse(&"{a: ".repeat(100_000)).is_err());
}

#[test]
fn a_dump_is_a_parameter_file_of_the_same_values() {
    let parameters = [
        ("use_sim_time", ParameterValue::from(false)),
        ("lens.focus", 1.0.into()),
        ("lens.names", vec!["a", "5", ""].into()),
        ("lens", "both a parameter and a prefix".into()),
        ("qos_overrides./chatter.publisher.depth", 7.into()),
        ("text", "two\nlines: 'quoted'".into()),
        ("deep.er.x", vec![1_i64, -2].into()),
        ("unset", ParameterValue::NotSet),
    ]
    .map(|(name, value)| (name.to_owned(), value));
    let text = to_text("/ns/node", parameters.clone());
    let overrides = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let read = overrides.for_node(&NodeName::new("/ns", "node").unwrap());
    let expected: BTreeMap<_, _> =
        parameters.into_iter().filter(|(_, value)| !value.is_not_set()).collect();
    assert_eq!(read, expected, "{text}");
    assert!(text.starts_with(
        "/ns/node:\n  ros__parameters:\n    deep:\n      er:\n        x:\n        - 1\n        - -2\n"
    ));
}

fn any_value() -> impl Strategy<Value = ParameterValue> {
    let text = || any::<String>().prop_map(|text| text.replace('\0', ""));
    prop_oneof![
        any::<bool>().prop_map(ParameterValue::Bool),
        any::<i64>().prop_map(ParameterValue::Integer),
        any::<f64>().prop_map(ParameterValue::Double),
        text().prop_map(ParameterValue::String),
        vec(any::<u8>(), 0..5).prop_map(ParameterValue::ByteArray),
        vec(any::<bool>(), 0..5).prop_map(ParameterValue::BoolArray),
        vec(any::<i64>(), 0..5).prop_map(ParameterValue::IntegerArray),
        vec(any::<f64>(), 0..5).prop_map(ParameterValue::DoubleArray),
        vec(text(), 0..5).prop_map(ParameterValue::StringArray),
    ]
}

proptest! {
    /// When a node loads a dump of its own parameters, none of the values changes.
    #[test]
    fn loading_a_dump_gives_the_same_values(
        parameters in btree_map("[a-zA-Z0-9_/ :#-]{1,6}(\\.[a-z0-9]{1,3}){0,2}", any_value(), 0..6)
    ) {
        let text = to_text("/ns/node", parameters.clone());
        let overrides = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let mut read = overrides.for_node(&NodeName::new("/ns", "node").unwrap());
        for (name, value) in parameters {
            let loaded = read.remove(&name).map(|read| read.as_declared(value.parameter_type()));
            // The values are compared as text, since NaN is not equal to itself.
            prop_assert_eq!(format!("{:?}", loaded), format!("{:?}", Some(value)), "{}", text);
        }
        prop_assert!(read.is_empty());
    }
}

#[test]
fn documents_are_merged_and_the_later_wins() {
    let text = "---\nnode: {ros__parameters: {a: 1, b: 1}}\n---\n---\n/**: {ros__parameters: {c: 3}}\n\
                ---\nnode: {ros__parameters: {b: 2}}\n...\n";
    let expected = [("a", 1), ("b", 2), ("c", 3)].map(|(name, value)| (name.into(), value.into()));
    assert_eq!(values(text, "/", "node"), expected);
}

#[test]
fn an_empty_list_of_another_node_does_no_harm() {
    let text = "other: {ros__parameters: {t: []}}\nnode: {ros__parameters: {a: 1}}\n";
    assert_eq!(values(text, "/", "node"), [("a".into(), 1.into())]);
}

#[test]
fn a_dump_without_parameters_is_a_parameter_file() {
    assert_eq!(to_text("/node", []), "/node:\n  ros__parameters: {}\n");
}

#[test]
fn a_pipe_is_refused_and_not_waited_for() {
    let path = std::env::temp_dir().join(format!("feros_parameter_pipe_{}", std::process::id()));
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let read = super::read(&path);
    std::fs::remove_file(&path).unwrap();
    assert!(read.unwrap_err().to_string().contains("not a regular file"));
}
