//! Parameters of a Feros node, from the command line.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use feros::msgs::rcl_interfaces::msg::{
    ListParametersResult, ParameterValue as Value, SetParametersResult,
};
use feros::msgs::rcl_interfaces::srv::*;
use feros::{Context, Executor, Node, NodeOptions, ParameterValue};

use crate::process::{context, feros, spawn};

/// A node with parameters that is spun until it is dropped.
struct Robot {
    context: Context,
    node: Node,
    spinning: Option<std::thread::JoinHandle<()>>,
}

impl Robot {
    fn start(name: &str) -> Self {
        let context = context();
        let node = context.create_node(name).unwrap();
        let rate = node
            .build_parameter("rate", 30)
            .description("Images per second")
            .stepped_range(10..=60, 10);
        drop((rate.declare().unwrap(), node.declare_parameter("lens.names", ["a", "5"]).unwrap()));
        drop((
            node.declare_parameter("gain", 0.5).unwrap(),
            node.build_dynamic_parameter("any", true).declare().unwrap(),
        ));
        let executor = Arc::new(Executor::new());
        executor.add_node(&node).unwrap();
        let spinning = Some(spawn("test-robot", move || executor.spin().unwrap()));
        Self { context, node, spinning }
    }
}

impl Drop for Robot {
    fn drop(&mut self) {
        self.context.shutdown();
        self.spinning.take().unwrap().join().unwrap();
    }
}

/// The time limit of a question, which is long enough on any machine.
const LONG: [&str; 2] = ["--timeout", "50"];

fn param(line: &[&str]) -> crate::process::Finished {
    feros(&[&["param"], line, &LONG].concat())
}

#[test]
fn parameters_are_listed_read_and_described() {
    let _robot = Robot::start("p_read");
    let names =
        "  any\n  gain\n  lens.names\n  rate\n  start_type_description_service\n  use_sim_time\n";
    assert_eq!(param(&["list", "/p_read"]).success(), names);
    assert_eq!(param(&["list", "p_read", "--param-prefixes", "lens"]).success(), "  lens.names\n");
    let typed = param(&["list", "/p_read", "--param-type"]).success();
    assert!(
        typed.contains("  lens.names (type: string array)\n  rate (type: integer)\n"),
        "{typed}"
    );
    assert_eq!(
        param(&["list", "/p_read", "--filter", ".*n"]).success(),
        "  any\n  gain\n  lens.names\n  start_type_description_service\n"
    );
    assert_eq!(param(&["list", "/p_read", "--filter", "rat"]).success(), "  rate\n");
    assert_eq!(param(&["list", "/p_read", "--filter", "ate"]).success(), "", "from the beginning");
    // Some nodes of other tests are not spun.
    let all = feros(&["param", "list", "--spin-time", "5", "--timeout", "10"]).success();
    assert!(all.contains(&format!("/p_read:\n{names}")), "{all}");
    assert_eq!(param(&["list", "/p_read", "--json"]).json()["/p_read"]["gain"], "double");

    assert_eq!(param(&["get", "/p_read", "rate"]).success(), "Integer value is: 30\n");
    assert_eq!(param(&["get", "/p_read", "any"]).success(), "Boolean value is: True\n");
    assert_eq!(
        param(&["get", "/p_read", "lens.names"]).success(),
        "String values are: ['a', '5']\n"
    );
    assert_eq!(param(&["get", "/p_read", "gain", "--hide-type"]).success(), "0.5\n");
    assert_eq!(param(&["get", "/p_read", "gain", "--json"]).json()["value"], 0.5);
    assert_eq!(
        param(&["describe", "/p_read", "rate"]).success(),
        "Parameter name: rate\n  Type: integer\n  Description: Images per second\n  Constraints:\n    Min value: 10\n    \
         Max value: 60\n    Step: 10\n"
    );

    let error = param(&["get", "/p_read", "raet"]).failure(1);
    assert!(error.contains("node /p_read has no parameter raet; did you mean rate?"), "{error}");
    let error = feros(&["param", "get", "/p_raed", "rate", "--timeout", "10"]).failure(1);
    assert!(
        error.contains("no node /p_raed appeared within") && error.contains("/p_read"),
        "{error}"
    );
    param(&["get", "/p read", "rate"]).failure(2);
}

#[test]
fn parameters_are_set_and_refused() {
    let robot = Robot::start("p_set");
    assert_eq!(param(&["set", "/p_set", "rate", "20"]).success(), "Set parameter successful\n");
    assert_eq!(robot.node.get_parameter("rate"), Ok(20.into()));
    assert_eq!(param(&["set", "/p_set", "gain", "-1.5"]).success(), "Set parameter successful\n");
    assert_eq!(robot.node.get_parameter("gain"), Ok((-1.5).into()));
    param(&["set", "/p_set", "lens.names", "[]"]).success();
    assert_eq!(robot.node.get_parameter("lens.names"), Ok(Vec::<String>::new().into()));
    let both = param(&["set", "/p_set", "rate", "30", "gain", "1.0"]).success();
    assert_eq!(both, "rate: Set parameter successful\ngain: Set parameter successful\n");
    let error = param(&["set", "/p_set", "rate", "35"]).failure(1);
    assert!(
        error.contains(
            "Setting parameter failed: Parameter {rate} doesn't comply with integer range."
        ),
        "{error}"
    );
    let error = param(&["set", "/p_set", "gain", "1"]).failure(1);
    assert!(
        error.contains("is of type {double}, setting it to {integer} is not allowed"),
        "{error}"
    );
    assert!(error.contains("; 1 is of type integer, and gain of type double: a number with a"));
    let error = param(&["set", "/p_set", "gain", "{x:0}"]).failure(1);
    assert!(error.contains("; {x:0} is of type string, and gain of type double"), "{error}");
    drop(robot.node.declare_parameter("words", "plain").unwrap());
    param(&["set", "/p_set", "words", "on purpose"]).success();
    let error = param(&["set", "/p_set", "words", "Off"]).failure(1);
    assert!(error.contains("Off is of type boolean, and words of type string"), "{error}");
    assert!(error.contains("\"'Off'\" is the string"), "{error}");
    param(&["set", "/p_set", "words", "'Off'"]).success();
    let error = param(&["set", "/p_set", "nowhere", "1"]).failure(1);
    assert!(error.contains("was not declared"), "{error}");
    let error = param(&["set", "/p_set", "rate", "40", "gain", "x", "--atomic"]).failure(1);
    assert!(
        error.contains("Setting parameters atomically failed: Wrong parameter type"),
        "{error}"
    );
    assert_eq!(robot.node.get_parameter("rate"), Ok(30.into()));
    let done = param(&["set", "/p_set", "rate", "40", "gain", "2.0", "--atomic"]).success();
    assert_eq!(done, "Set parameters atomically successful\n");
    param(&["set", "/p_set", "rate", "40", "gain"]).failure(2);

    let error = param(&["delete", "/p_set", "rate"]).failure(1);
    assert!(
        error.contains("Deleting parameter failed: cannot undeclare a statically typed parameter"),
        "{error}"
    );
    assert_eq!(param(&["delete", "/p_set", "any"]).success(), "Deleted parameter successfully\n");
    assert!(!robot.node.has_parameter("any"));
}

#[test]
fn dumped_parameters_are_loaded() {
    let robot = Robot::start("p_dump");
    let dumped = param(&["dump", "/p_dump"]).success();
    assert_eq!(
        dumped,
        "/p_dump:\n  ros__parameters:\n    any: true\n    gain: 0.5\n    lens:\n      names:\n      - a\n      - '5'\n    \
         rate: 30\n    start_type_description_service: true\n    use_sim_time: false\n"
    );
    let file = std::env::temp_dir().join(format!("feros_param_dump_{}.yaml", std::process::id()));
    let path = file.to_str().unwrap();
    std::fs::write(&file, &dumped).unwrap();
    robot.node.set_parameters([("rate", 10.into()), ("gain", ParameterValue::from(9.0))]);
    let loaded = param(&["load", "/p_dump", path]).success();
    assert!(loaded.contains("Set parameter rate successful\n"), "{loaded}");
    let kept = "Parameter start_type_description_service has this value already\n";
    assert!(loaded.contains(kept), "{loaded}");
    assert_eq!(
        (robot.node.get_parameter("rate"), robot.node.get_parameter("gain")),
        (Ok(30.into()), Ok(0.5.into()))
    );

    std::fs::write(&file, "/**:\n  ros__parameters:\n    rate: 11\n    gain: 0.25\n").unwrap();
    let finished = param(&["load", "/p_dump", path]);
    assert_eq!(
        (finished.code, finished.out.as_str()),
        (Some(1), "Set parameter gain successful\n"),
        "{finished:?}"
    );
    assert!(finished.err.contains("Set parameter rate failed: Parameter {rate}"), "{finished:?}");
    let error = param(&["load", "/p_dump", path, "--no-use-wildcard"]).failure(1);
    assert!(error.contains("has no parameters for node /p_dump"), "{error}");
    std::fs::write(&file, "p_dump:\n  rate: 1\n").unwrap();
    let error = param(&["load", "/p_dump", path]).failure(1);
    std::fs::remove_file(&file).unwrap();
    assert!(
        error.contains("line 2, column 9") && error.contains("expected ros__parameters"),
        "{error}"
    );
    let error = param(&["load", "/p_dump", path]).failure(1);
    assert!(error.contains("No such file"), "{error}");
}

#[test]
fn values_of_every_type_survive_dump_and_load() {
    let robot = Robot::start("p_types");
    let node = &robot.node;
    drop((
        node.declare_parameter("bool", false).unwrap(),
        node.declare_parameter("integer", 1).unwrap(),
        node.declare_parameter("double", 1.5).unwrap(),
        node.declare_parameter("string", "x").unwrap(),
        node.declare_parameter("bytes", vec![1_u8]).unwrap(),
        node.declare_parameter("bools", [true]).unwrap(),
        node.declare_parameter("integers", [1]).unwrap(),
        node.declare_parameter("doubles", [1.5]).unwrap(),
        node.declare_parameter("strings", ["x"]).unwrap(),
    ));
    let full: [(&str, ParameterValue); 9] = [
        ("bool", true.into()),
        ("integer", i64::MIN.into()),
        ("double", 1e300.into()),
        ("string", "5".into()),
        ("bytes", vec![0_u8, 255].into()),
        ("bools", vec![true, false].into()),
        ("integers", vec![i64::MAX, -1].into()),
        ("doubles", vec![1.0, f64::NEG_INFINITY].into()),
        ("strings", vec!["on", "two\nlines"].into()),
    ];
    let empty: [(&str, ParameterValue); 9] = [
        ("bool", false.into()),
        ("integer", 0.into()),
        ("double", 0.0.into()),
        ("string", "".into()),
        ("bytes", Vec::<u8>::new().into()),
        ("bools", Vec::<bool>::new().into()),
        ("integers", Vec::<i64>::new().into()),
        ("doubles", Vec::<f64>::new().into()),
        ("strings", Vec::<String>::new().into()),
    ];
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    for (dumped, others) in [(&full, &empty), (&empty, &full)] {
        node.set_parameters_atomically(dumped.clone()).unwrap();
        let text = param(&["dump", "/p_types"]).success();
        std::fs::write(path, &text).unwrap();
        node.set_parameters_atomically(others.clone()).unwrap();
        param(&["load", "/p_types", path]).success();
        for (name, value) in dumped {
            assert_eq!(node.get_parameter(name), Ok(value.clone()), "{name}: {text}");
        }
    }
}

/// A node that counts questions about types, and refuses to set parameters. Its parameters are
/// lists of strings; like stock nodes, it answers with nothing if one of them is `unknown`.
fn counting_robot(name: &str) -> (Robot, [Arc<AtomicUsize>; 2]) {
    let context = context();
    let options = NodeOptions::new(name).start_parameter_services(false);
    let node = context.create_node_with(options).unwrap();
    let counts = [(); 2].map(|()| Arc::new(AtomicUsize::new(0)));
    let [types, values] = counts.clone();
    let is_known = |names: &[String]| names.iter().all(|name| name != "unknown");
    let asked_for_types = move |request: GetParameterTypes_Request| {
        types.fetch_add(1, Ordering::Relaxed);
        let known = request.names.iter().filter(|_| is_known(&request.names));
        GetParameterTypes_Response { types: known.map(|_| 9).collect() }
    };
    let asked_for_values = move |request: GetParameters_Request| {
        values.fetch_add(1, Ordering::Relaxed);
        let known = request.names.iter().filter(|_| is_known(&request.names));
        GetParameters_Response { values: known.map(|_| Value::default()).collect() }
    };
    let set = |request: SetParameters_Request| {
        let refused = |_| SetParametersResult { successful: false, reason: "locked".into() };
        SetParameters_Response { results: request.parameters.iter().map(refused).collect() }
    };
    let list = |_: ListParameters_Request| {
        let names = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
        ListParameters_Response { result: ListParametersResult { names, prefixes: Vec::new() } }
    };
    let services = (
        node.create_service::<ListParameters, _>("~/list_parameters", list).unwrap(),
        node.create_service::<GetParameterTypes, _>("~/get_parameter_types", asked_for_types)
            .unwrap(),
        node.create_service::<GetParameters, _>("~/get_parameters", asked_for_values).unwrap(),
        node.create_service::<SetParameters, _>("~/set_parameters", set).unwrap(),
    );
    let executor = Executor::new();
    executor.add_node(&node).unwrap();
    let spin = move || {
        executor.spin().unwrap();
        drop(services);
    };
    (Robot { context, node, spinning: Some(spawn("test-robot", spin)) }, counts)
}

#[test]
fn a_node_is_asked_once_about_all_parameters() {
    let (_robot, [types, values]) = counting_robot("p_count");
    let asked = |count: &AtomicUsize| count.swap(0, Ordering::Relaxed);
    let lists = ["a", "[]", "b", "[1]", "c", "[x]"];
    let error = param(&[&["set", "/p_count"][..], &lists].concat()).failure(1);
    assert!(error.contains("a: Setting parameter failed: locked"), "{error}");
    assert!(error.contains("[1] is of type integer array, and b of type string array"), "{error}");
    assert_eq!(asked(&types), 2, "once for the values, and once for the hints");
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&file, "p_count: {ros__parameters: {a: [], b: [1], c: [x], d: 1}}").unwrap();
    let path = file.path().to_str().unwrap();
    let loaded = param(&["load", "/p_count", path]);
    assert!(loaded.err.contains("Set parameter d failed: locked"), "{loaded:?}");
    assert_eq!(
        (asked(&types), asked(&values)),
        (1, 1),
        "once for the types, and once for the values"
    );
    // One question for all parameters, and one for each: a stock node that lacks one of them does
    // not answer the common question.
    let error = param(&["set", "/p_count", "a", "[x]", "unknown", "[]"]).failure(1);
    assert!(error.contains("node /p_count has no parameter unknown"), "{error}");
    assert_eq!(asked(&types), 3);
}
