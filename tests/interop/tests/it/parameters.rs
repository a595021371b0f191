//! Parameters: a stock node gets, sets and watches the parameters of a Feros node, and a Feros node
//! does the same with the parameters of a stock node.

use feros::msgs::rcl_interfaces::srv::{SetParameters, SetParameters_Request};
use feros::parameter::ParameterChanges;
use feros::{
    Arguments, Context, Node, NodeOptions, ParameterClient, ParameterType, ParameterValue,
    ServiceIdentity,
};
use feros_interop::{Domain, Peer};
use serde_json::{Value, json};

use crate::support::{Inbox, Spinning, WATCHDOG, context, items, node, stock};

const OURS: &str = "/ours/feros_node";
const THEIRS: &str = "/theirs/stock_node";

/// Makes the stock node create clients for services of the Feros node.
fn clients(peer: &mut Peer, services: &[(&str, &str)]) {
    for (service, ty) in services {
        let name = format!("{OURS}/{service}");
        peer.ask("client", json!({"name": name, "type": format!("rcl_interfaces/srv/{ty}")}));
        peer.ask("wait", json!({"service": name}));
    }
}

/// Makes the stock node call a service of the Feros node.
fn call(peer: &mut Peer, service: &str, request: Value) -> Value {
    peer.ask("call", json!({"service": format!("{OURS}/{service}"), "requests": [request]}))[0]
        .clone()
}

/// The value of a parameter, as the stock node writes it.
fn value(ty: ParameterType, field: &str, value: impl Into<Value>) -> Value {
    json!({"type": ty.number(), field: value.into()})
}

fn declare_ours(node: &Node) {
    let rate = node
        .build_parameter("rate", 30)
        .description("Images per second")
        .stepped_range(10..=60, 10);
    let parameters = (
        rate.declare().unwrap(),
        node.build_parameter("lens.focus", 0.5).range(0.0..=1.0).declare().unwrap(),
        node.build_parameter("lens.name", "wide")
            .read_only()
            .additional_constraints("a name")
            .declare()
            .unwrap(),
        node.declare_parameter("lens.filters.names", ["uv", "polar"]).unwrap(),
        node.build_dynamic_parameter("any", vec![1_u8, 255]).declare().unwrap(),
        node.declare_parameter("on", true).unwrap(),
    );
    drop(parameters);
}

#[test]
fn stock_reads_lists_and_describes_our_parameters() {
    let Some(domain) = Domain::reserve() else { return };
    let (node, mut peer) = (node(&domain), stock(&domain));
    declare_ours(&node);
    let _spinning = Spinning::new(&node);
    clients(
        &mut peer,
        &[
            ("get_parameters", "GetParameters"),
            ("get_parameter_types", "GetParameterTypes"),
            ("describe_parameters", "DescribeParameters"),
            ("list_parameters", "ListParameters"),
        ],
    );
    let names =
        ["rate", "lens.focus", "lens.name", "lens.filters.names", "any", "on", "use_sim_time"];
    let answer = call(&mut peer, "get_parameters", json!({"names": names}));
    let values = items(&answer["values"]);
    assert_eq!(values.len(), names.len());
    assert_eq!([&values[0]["type"], &values[0]["integer_value"]], [2, 30]);
    assert_eq!((&values[1]["type"], &values[1]["double_value"]), (&json!(3), &json!(0.5)));
    assert_eq!((&values[2]["type"], &values[2]["string_value"]), (&json!(4), &json!("wide")));
    assert_eq!(
        (&values[3]["type"], &values[3]["string_array_value"]),
        (&json!(9), &json!(["uv", "polar"]))
    );
    assert_eq!((&values[4]["type"], &values[4]["byte_array_value"]), (&json!(5), &json!([1, 255])));
    assert_eq!((&values[5]["type"], &values[5]["bool_value"]), (&json!(1), &json!(true)));
    assert_eq!((&values[6]["type"], &values[6]["bool_value"]), (&json!(1), &json!(false)));
    let answer = call(&mut peer, "get_parameter_types", json!({"names": names}));
    assert_eq!(answer["types"], json!([2, 3, 4, 9, 5, 1, 1]));
    for service in ["get_parameters", "get_parameter_types", "describe_parameters"] {
        let answer = call(&mut peer, service, json!({"names": ["rate", "nowhere"]}));
        let (_, list) = answer.as_object().unwrap().iter().next().unwrap();
        assert_eq!(items(list).len(), 0, "{service}: {answer}");
    }

    let answer = call(
        &mut peer,
        "describe_parameters",
        json!({"names": ["rate", "lens.focus", "lens.name", "any"]}),
    );
    let found = items(&answer["descriptors"]);
    assert_eq!([&found[0]["name"], &found[0]["description"]], ["rate", "Images per second"]);
    assert_eq!(found[0]["integer_range"], json!([{"from_value": 10, "to_value": 60, "step": 10}]));
    assert_eq!(
        found[1]["floating_point_range"],
        json!([{"from_value": 0.0, "to_value": 1.0, "step": 0.0}])
    );
    assert_eq!(
        (&found[2]["read_only"], &found[2]["additional_constraints"]),
        (&json!(true), &json!("a name"))
    );
    assert_eq!((&found[3]["dynamic_typing"], &found[3]["type"]), (&json!(true), &json!(5)));

    let mut list = |prefixes: Value, depth: u64, names: Value, found: Value| {
        let answer =
            call(&mut peer, "list_parameters", json!({"prefixes": prefixes, "depth": depth}));
        assert_eq!(answer["result"], json!({"names": names, "prefixes": found}));
    };
    list(
        json!(["lens"]),
        0,
        json!(["lens.filters.names", "lens.focus", "lens.name"]),
        json!(["lens.filters", "lens"]),
    );
    list(json!(["lens"]), 1, json!(["lens.focus", "lens.name"]), json!(["lens"]));
    list(
        json!([]),
        1,
        json!(["any", "on", "rate", "start_type_description_service", "use_sim_time"]),
        json!([]),
    );
    list(json!(["nowhere"]), 0, json!([]), json!([]));
}

#[test]
fn stock_sets_our_parameters_is_refused_with_reasons_and_hears_of_changes() {
    let Some(domain) = Domain::reserve() else { return };
    let (node, mut peer) = (node(&domain), stock(&domain));
    declare_ours(&node);
    let _guard = node.add_on_set_parameters_callback(|parameters| {
        match parameters.iter().any(|(_, value)| *value == 50.into()) {
            true => Err("50 Hz flickers".into()),
            false => Ok(()),
        }
    });
    let _spinning = Spinning::new(&node);
    peer.ask(
        "subscription",
        json!({"topic": "/parameter_events", "type": "rcl_interfaces/msg/ParameterEvent", "qos": {"depth": 1000}}),
    );
    clients(
        &mut peer,
        &[
            ("set_parameters", "SetParameters"),
            ("set_parameters_atomically", "SetParametersAtomically"),
        ],
    );
    let matched = || {
        node.context().graph().count(feros::engine::EndpointKind::Subscription, "/parameter_events")
            > 0
    };
    node.context().wait_for_graph(WATCHDOG, || "the subscription", matched).unwrap();
    peer.ask("matched", json!({"topic": "/parameter_events", "publishers": 2}));

    let integer = |number: i64| value(ParameterType::Integer, "integer_value", number);
    let double = |number: f64| value(ParameterType::Double, "double_value", number);
    let text = |text: &str| value(ParameterType::String, "string_value", text);
    let nothing = json!({"type": 0});
    let answer = call(
        &mut peer,
        "set_parameters",
        json!({"parameters": [
            {"name": "rate", "value": integer(20)},
            {"name": "rate", "value": double(1.0)},
            {"name": "rate", "value": integer(25)},
            {"name": "rate", "value": integer(50)},
            {"name": "lens.focus", "value": double(2.0)},
            {"name": "lens.name", "value": text("tele")},
            {"name": "nowhere", "value": integer(1)},
            {"name": "", "value": integer(1)},
            {"name": "rate", "value": nothing},
            {"name": "rate", "value": {"type": 200, "integer_value": 20}},
            {"name": "any", "value": text("any type")},
        ]}),
    );
    let reasons: Vec<&str> =
        items(&answer["results"]).iter().map(|r| r["reason"].as_str().unwrap()).collect();
    assert_eq!(
        reasons,
        [
            "",
            "Wrong parameter type, parameter {rate} is of type {integer}, setting it to {double} is not allowed.",
            "Parameter {rate} doesn't comply with integer range.",
            "50 Hz flickers",
            "Parameter {lens.focus} doesn't comply with floating point range.",
            "parameter 'lens.name' cannot be set because it is read-only",
            "parameter 'nowhere' cannot be set because it was not declared",
            "parameter name must not be empty",
            "cannot undeclare a statically typed parameter",
            "cannot undeclare a statically typed parameter",
            "",
        ]
    );
    let successes: Vec<bool> =
        items(&answer["results"]).iter().map(|r| r["successful"].as_bool().unwrap()).collect();
    assert!(
        successes.iter().zip(&reasons).all(|(successful, reason)| *successful == reason.is_empty())
    );
    assert_eq!(
        (node.get_parameter("rate"), node.get_parameter("any")),
        (Ok(20.into()), Ok("any type".into()))
    );

    let both = json!([{"name": "rate", "value": integer(30)}, {"name": "lens.focus", "value": double(0.25)}]);
    let answer = call(&mut peer, "set_parameters_atomically", json!({"parameters": both}));
    assert_eq!(answer["result"], json!({"successful": true, "reason": ""}));
    let one_bad =
        json!([{"name": "rate", "value": integer(40)}, {"name": "nowhere", "value": integer(1)}]);
    let answer = call(&mut peer, "set_parameters_atomically", json!({"parameters": one_bad}));
    let reason = "One or more parameters were not declared before setting";
    assert_eq!(answer["result"], json!({"successful": false, "reason": reason}));
    assert_eq!(node.get_parameter("rate"), Ok(30.into()));
    let deleted = json!({"parameters": [{"name": "any", "value": nothing}]});
    assert_eq!(call(&mut peer, "set_parameters", deleted)["results"][0]["successful"], true);

    // Four changes, in the order in which they were made: two sets of one parameter, one atomic
    // set, and the removal of a parameter.
    let events = peer.ask("take", json!({"topic": "/parameter_events", "count": 4}));
    let names = |event: &Value, kind: &str| -> Vec<String> {
        items(&event[kind])
            .iter()
            .map(|parameter| parameter["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let events = items(&events);
    assert!(events.iter().all(|event| event["node"] == OURS), "{events:?}");
    assert_eq!(names(&events[0], "changed_parameters"), ["rate"]);
    assert_eq!(events[0]["changed_parameters"][0]["value"]["integer_value"], 20);
    assert_eq!(names(&events[1], "changed_parameters"), ["any"]);
    assert_eq!(names(&events[2], "changed_parameters"), ["rate", "lens.focus"]);
    assert_eq!(names(&events[3], "deleted_parameters"), ["any"]);
}

#[test]
fn our_client_reads_sets_and_hears_parameters_of_stock() {
    let Some(domain) = Domain::reserve() else { return };
    let (node, mut peer) = (node(&domain), stock(&domain));
    let range = json!({"integer_range": [{"from_value": 10, "to_value": 60, "step": 10}], "description": "Hz"});
    peer.ask("declare", json!({"name": "rate", "value": 30, "descriptor": range}));
    peer.ask(
        "declare",
        json!({"name": "lens.name", "value": "wide", "descriptor": {"read_only": true}}),
    );
    peer.ask("declare", json!({"name": "gains", "value": [0.5, 1.5]}));
    peer.ask(
        "declare",
        json!({"name": "any", "value": true, "descriptor": {"dynamic_typing": true}}),
    );
    peer.ask("refuse", json!({"value": 50, "reason": "50 Hz flickers"}));
    let _spinning = Spinning::new(&node);
    let client = ParameterClient::new(&node, THEIRS).unwrap();
    let heard: Inbox<ParameterChanges> = Inbox::new();
    let events = client.on_event(heard.putter()).unwrap();
    let one_publisher = || events.publisher_count() >= 2;
    node.context().wait_for_graph(WATCHDOG, || "the events of stock", one_publisher).unwrap();

    let values = client.get(["rate", "lens.name", "gains", "any"], WATCHDOG).unwrap();
    assert_eq!(values, [30.into(), "wide".into(), vec![0.5, 1.5].into(), true.into()]);
    assert_eq!(client.get(["nowhere"], WATCHDOG).unwrap(), []);
    let types = client.types(["gains", "any"], WATCHDOG).unwrap();
    assert_eq!(types, [ParameterType::DoubleArray, ParameterType::Bool]);
    let list = client.list(["lens"], 0, WATCHDOG).unwrap();
    assert_eq!(
        (list.names, list.prefixes),
        (vec!["lens.name".to_owned()], vec!["lens".to_owned()])
    );
    let described = client.describe(["rate", "lens.name"], WATCHDOG).unwrap();
    assert_eq!((described[0].description.as_str(), described[1].read_only), ("Hz", true));
    assert_eq!(described[0].integer_range.as_ref().unwrap().step, 10);

    let set = client.set(
        [("rate", 20), ("rate", 25), ("rate", 50), ("lens.name", 1), ("nowhere", 1)],
        WATCHDOG,
    );
    let set = set.unwrap();
    assert_eq!((set.len(), &set[0]), (5, &Ok(())));
    assert_eq!(set[2], Err("50 Hz flickers".to_owned()));
    assert!(
        set[1..].iter().all(|outcome| outcome.as_ref().is_err_and(|reason| !reason.is_empty())),
        "{set:?}"
    );
    assert_eq!(peer.ask("parameter", json!({"name": "rate"}))["integer_value"], 20);
    assert_eq!(heard.take().changed, [("rate".to_owned(), 20.into())]);

    let both = [("rate", ParameterValue::from(40)), ("any", "text".into())];
    assert_eq!(client.set_atomically(both, WATCHDOG).unwrap(), Ok(()));
    assert_eq!(
        heard.take().changed,
        [("rate".to_owned(), 40.into()), ("any".to_owned(), "text".into())]
    );
    assert!(client.set_atomically([("rate", 30), ("lens.name", 1)], WATCHDOG).unwrap().is_err());
    assert_eq!(peer.ask("parameter", json!({"name": "rate"}))["integer_value"], 40);
    assert_eq!(client.set([("any", ParameterValue::NotSet)], WATCHDOG).unwrap(), [Ok(())]);
    assert_eq!(heard.take().deleted.len(), 1);
}

#[test]
fn malformed_requests_harm_nobody() {
    let Some(domain) = Domain::reserve() else { return };
    let (node, mut peer) = (node(&domain), stock(&domain));
    declare_ours(&node);
    let _spinning = Spinning::new(&node);
    let enemy =
        context(&domain).create_node_with(NodeOptions::new("enemy").enable_rosout(false)).unwrap();
    let identity = ServiceIdentity::of::<SetParameters>();
    for service in
        ["set_parameters", "set_parameters_atomically", "get_parameters", "list_parameters"]
    {
        let own = ServiceIdentity {
            name: match service {
                "set_parameters" => identity.name.clone(),
                "set_parameters_atomically" => "rcl_interfaces/srv/SetParametersAtomically".into(),
                "get_parameters" => "rcl_interfaces/srv/GetParameters".into(),
                _ => "rcl_interfaces/srv/ListParameters".into(),
            },
            type_hash: None,
            request_hash: None,
            response_hash: None,
        };
        let client = enemy.create_generic_client(
            &format!("{OURS}/{service}"),
            &own,
            feros::ClientOptions::default(),
        );
        let client = client.unwrap();
        client.wait_for_service(WATCHDOG).unwrap();
        let header = [0, 1, 0, 0];
        let huge = u32::MAX.to_le_bytes();
        let bodies: [Vec<u8>; 4] = [
            huge.to_vec(),
            [&1_u32.to_le_bytes()[..], &huge].concat(),
            [&1_u32.to_le_bytes()[..], &3_u32.to_le_bytes(), b"\xff\xfe\0"].concat(),
            vec![0xff; 100],
        ];
        for body in bodies {
            drop(client.call_serialized(&[&header[..], &body].concat()).unwrap());
        }
    }
    // Valid requests are answered, and the node's parameters have not changed.
    clients(&mut peer, &[("set_parameters", "SetParameters"), ("get_parameters", "GetParameters")]);
    let twenty =
        json!({"parameters": [{"name": "rate", "value": {"type": 2, "integer_value": 20}}]});
    assert_eq!(call(&mut peer, "set_parameters", twenty)["results"][0]["successful"], true);
    assert_eq!(node.get_parameter("rate"), Ok(20.into()));
    // A request larger than one sample of the engine: each parameter is refused, with a separate
    // result.
    let client = enemy.create_client::<SetParameters>(&format!("{OURS}/set_parameters")).unwrap();
    client.wait_for_service(WATCHDOG).unwrap();
    let one = feros::msgs::rcl_interfaces::msg::Parameter {
        name: "x".repeat(1000),
        ..Default::default()
    };
    let request = SetParameters_Request { parameters: vec![one; 2000] };
    let response = client.call_and_wait(&request, WATCHDOG).unwrap();
    assert!(
        response.results.len() == 2000 && response.results.iter().all(|result| !result.successful)
    );
}

/// The value that the stock node has written.
fn from_stock(value: &Value) -> ParameterValue {
    let double =
        |value: &Value| value.as_f64().unwrap_or_else(|| value.as_str().unwrap().parse().unwrap());
    let list = |field: &str| items(&value[field]).to_vec();
    match ParameterType::from_number(u8::try_from(value["type"].as_u64().unwrap()).unwrap())
        .unwrap()
    {
        ParameterType::NotSet => ParameterValue::NotSet,
        ParameterType::Bool => value["bool_value"].as_bool().unwrap().into(),
        ParameterType::Integer => value["integer_value"].as_i64().unwrap().into(),
        ParameterType::Double => double(&value["double_value"]).into(),
        ParameterType::String => value["string_value"].as_str().unwrap().into(),
        ParameterType::ByteArray => unreachable!("YAML has no words for bytes"),
        ParameterType::BoolArray => {
            list("bool_array_value").iter().map(|v| v.as_bool().unwrap()).collect::<Vec<_>>().into()
        }
        ParameterType::IntegerArray => list("integer_array_value")
            .iter()
            .map(|v| v.as_i64().unwrap())
            .collect::<Vec<_>>()
            .into(),
        ParameterType::DoubleArray => {
            list("double_array_value").iter().map(double).collect::<Vec<_>>().into()
        }
        ParameterType::StringArray => list("string_array_value")
            .iter()
            .map(|v| v.as_str().unwrap())
            .collect::<Vec<_>>()
            .into(),
    }
}

/// The parameters that a Feros node has after starting with this command line, without the
/// parameters that every node has.
fn our_overrides(
    context: &Context,
    line: &[String],
    namespace: &str,
    name: &str,
) -> Result<String, String> {
    let (arguments, _) =
        Arguments::parse(line.iter().cloned()).map_err(|error| error.to_string())?;
    let options = NodeOptions::new(name)
        .namespace(namespace)
        .arguments(arguments)
        .use_global_arguments(false)
        .automatically_declare_parameters_from_overrides(true);
    let node = context.create_node_with(options).map_err(|error| error.to_string())?;
    Ok(shown(node.get_parameters_by_prefix("")))
}

/// The type and value of each parameter, ordered by name, without the parameters that every node
/// has.
fn shown(parameters: impl IntoIterator<Item = (String, ParameterValue)>) -> String {
    let own = |name: &str| name == "use_sim_time" || name == "start_type_description_service";
    let parameters = parameters.into_iter().filter(|(name, _)| !own(name));
    parameters
        .map(|(name, value)| format!("{name} {}: {value}\n", value.parameter_type()))
        .collect()
}

const SCALARS: &str = r#"
/**:
  ros__parameters:
    bools: [true, False, on, NO, y]
    word: tRUE
    integers: [1, -2, 0x1F, 010, +7, 9223372036854775807]
    octal: 08
    big: 99999999999999999999
    doubles: [1.0, 1e3, .5, -.inf, .INF, 1., 0x1.8p3, inf]
    nan: .NaN
    huge: 1e400
    tiny: 1e-400
    text: hello world
    quoted: "5"
    single: 'true'
    tagged: !!str 5
    null_word: null
    tilde: ~
    literal: |
      5
    date: 2024-01-31
    version: 1.2.3
    dashes: --5
    a: {b: {c: 1}, b.d: 2}
"#;

/// Names and merge order: all matching entries apply, each at the position at which it is first
/// named.
const MERGED: &str = "
/**:
  ros__parameters: {x: 1, y: 1, z: 1}
/ns/node:
  ros__parameters: {y: 2}
ns:
  node:
    ros__parameters: {z: 3}
/**/node:
  ros__parameters: {w: 4, y: 4}
/ns/*:
  ros__parameters: {v: 5}
/*/node:
  ros__parameters: {u: 6}
/other/node:
  ros__parameters: {x: 9}
/node:
  ros__parameters: {x: 9}
";

#[test]
fn command_lines_and_parameter_files_mean_what_they_mean_to_stock() {
    let Some(domain) = Domain::reserve() else { return };
    let (context, mut peer) = (context(&domain), stock(&domain));
    let folder =
        std::env::temp_dir().join(format!("feros_interop_parameters_{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (scalars, merged) = (file("scalars.yaml", SCALARS), file("merged.yaml", MERGED));
    let single = file("single.yaml", "/ns/node: {ros__parameters: {x: 3, y: 3}}");
    let malformed = [
        "node:\n  a: 1\n",
        "ros__parameters: {a: 1}\n",
        "node:\n  ros__parameters:\n    a:\n",
        "node:\n  ros__parameters: {a: [1, 2.0]}\n",
        "/**foo:\n  ros__parameters: {a: 1}\n",
        "node:\n  ros__parameters: {a: &x 1, b: *x}\n",
        "node: {ros__parameters: {a: 1}",
    ];
    let malformed: Vec<String> = malformed
        .iter()
        .enumerate()
        .map(|(n, text)| file(&format!("malformed{n}.yaml"), text))
        .collect();

    let mut lines: Vec<Vec<&str>> = vec![
        vec!["--params-file", &scalars],
        vec!["--params-file", &merged],
        vec!["--params-file", &merged, "-p", "x:=7", "-p", "y:=7"],
        vec!["-p", "x:=7", "-p", "y:=7", "--params-file", &merged],
        vec!["--params-file", &single, "-p", "x:=7"],
        vec!["-p", "x:=7", "--params-file", &single],
        vec!["--params-file", &merged, "--params-file", &single],
        vec!["-p", "node:x:=1", "-p", "a/b:=[a, '1']", "-p", "c.d:='{}'"],
        // All values have the same type: if a later value has another type, rcl keeps the first
        // one, which cannot be intended.
        vec!["-p", "x:=5", "-p", "x:=6"],
        vec!["-p", "x:="],
        vec!["-p", "x"],
        vec!["-p", "x:=[1, a]"],
        vec!["-p", "x:={a: 1}"],
        vec!["--params-file", "/nonexistent.yaml"],
    ];
    lines.extend(malformed.iter().map(|file| vec!["--params-file", file.as_str()]));
    for line in lines {
        let line: Vec<String> =
            ["--ros-args"].iter().chain(&line).map(|&word| word.to_owned()).collect();
        for (namespace, name) in [("/ns", "node"), ("/", "node")] {
            let ours = our_overrides(&context, &line, namespace, name);
            let theirs = peer.try_ask(
                "overrides",
                json!({"arguments": line, "namespace": namespace, "name": name}),
            );
            match (&ours, &theirs) {
                (Ok(ours), Ok(theirs)) => {
                    let theirs = theirs.as_object().unwrap();
                    let sorted: std::collections::BTreeMap<_, _> = theirs.iter().collect();
                    let theirs =
                        sorted.into_iter().map(|(name, value)| (name.clone(), from_stock(value)));
                    assert_eq!(*ours, shown(theirs), "{line:?} for {namespace} {name}");
                }
                (Err(_), Err(_)) => {}
                _ => panic!("{line:?} for {namespace} {name}: ours {ours:?}, theirs {theirs:?}"),
            }
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
