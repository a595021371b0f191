//! Parameters of a node: declaring and setting them, refused values, and events.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use feros::msgs::rcl_interfaces::msg::ParameterEvent;
use feros::msgs::rosgraph_msgs::msg::Clock as ClockMessage;
use feros::parameter::{NamedValue, ParameterList, SetParameterError, UndeclareParameterError};
use feros::{
    Context, CreateError, DeclareParameterError, Executor, GetParameterError, Node, NodeOptions,
    ParameterType, ParameterValue, QosProfile,
};

use crate::support::{WATCHDOG, context, context_with, spin_until};

/// The parameter that every node has in addition to `use_sim_time`.
const TYPES: &str = "start_type_description_service";

fn node() -> Node {
    context().create_node("node").unwrap()
}

fn node_with(options: impl FnOnce(NodeOptions) -> NodeOptions) -> Node {
    context().create_node_with(options(NodeOptions::new("node"))).unwrap()
}

fn reason(result: Result<(), SetParameterError>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn handles_show_what_was_set_last() {
    let node = node();
    let speed = node.declare_parameter("speed", 1.0).unwrap();
    let count = node.declare_parameter("count", 3).unwrap();
    let on = node.declare_parameter("on", true).unwrap();
    let frame = node.declare_parameter("frame", "base_link").unwrap();
    let gains = node.declare_parameter("gains", [1, 2]).unwrap();
    assert_eq!((speed.get(), count.get(), on.get()), (1.0, 3, true));
    assert_eq!((frame.get(), gains.get()), ("base_link".to_owned(), vec![1, 2]));
    node.set_parameter("speed", -0.5).unwrap();
    node.set_parameter("count", i64::MIN).unwrap();
    on.clone().set(false).unwrap();
    frame.set("map").unwrap();
    node.set_parameter("gains", vec![7_i64]).unwrap();
    assert_eq!((speed.get(), count.get(), on.get()), (-0.5, i64::MIN, false));
    assert_eq!((frame.with(String::len), gains.get()), (3, vec![7]));
    assert_eq!(node.get_parameter("frame").unwrap(), "map".into());
    let (name, end) = (speed.name().to_owned(), speed.clone());
    drop(node);
    assert_eq!((name.as_str(), end.get()), ("speed", -0.5));
    assert_eq!(end.set(1.0), Err(SetParameterError::NodeGone { name }));
}

#[test]
fn excluded_values_are_refused_in_the_words_of_rclcpp() {
    let node = node();
    let rate = node.build_parameter("rate", 30).stepped_range(10..=60, 10).declare().unwrap();
    let gain = node.build_parameter("gain", 0.5).range(0.0..=1.0).declare().unwrap();
    node.build_parameter("id", "a").read_only().declare().unwrap();
    assert_eq!(
        reason(node.set_parameter("rate", "fast")),
        "Wrong parameter type, parameter {rate} is of type {integer}, setting it to {string} is not allowed."
    );
    assert_eq!(reason(rate.set(35)), "Parameter {rate} doesn't comply with integer range.");
    assert_eq!(reason(gain.set(1.5)), "Parameter {gain} doesn't comply with floating point range.");
    assert_eq!(
        reason(gain.set(f64::NAN)),
        "Parameter {gain} doesn't comply with floating point range."
    );
    assert_eq!(
        reason(node.set_parameter("id", "b")),
        "parameter 'id' cannot be set because it is read-only"
    );
    assert_eq!(
        reason(node.set_parameter("other", 1)),
        "parameter 'other' cannot be set because it was not declared"
    );
    assert_eq!(reason(node.set_parameter("", 1)), "parameter name must not be empty");
    assert_eq!(
        reason(node.set_parameter("rate", ParameterValue::NotSet)),
        "cannot undeclare a statically typed parameter"
    );
    assert!(matches!(node.set_parameter("id", "a\0b"), Err(SetParameterError::ReadOnly { .. })));
    node.declare_parameter("text", "").unwrap();
    assert!(matches!(node.set_parameter("text", "a\0b"), Err(SetParameterError::Nul { .. })));
    let nothing: [(&str, i64); 0] = [];
    assert!(
        reason(node.set_parameters_atomically(nothing))
            .starts_with("parameter list cannot be empty")
    );
    assert_eq!((rate.get(), gain.get()), (30, 0.5));
    rate.set(60).unwrap();
}

#[test]
fn declarations_that_cannot_be_are_refused() {
    let node = node_with(|o| {
        o.parameter_overrides([("speed", ParameterValue::from(1)), ("name", 5.into())])
    });
    node.declare_parameter("twice", 1).unwrap();
    let refused = |result: Result<(), DeclareParameterError>| result.unwrap_err().to_string();
    assert_eq!(
        refused(node.declare_parameter("twice", 1).map(drop)),
        "parameter 'twice' has already been declared"
    );
    assert_eq!(
        refused(node.declare_parameter("", 1).map(drop)),
        "parameter name must not be empty"
    );
    let error = refused(node.declare_parameter("speed", 1.0).map(drop));
    assert!(
        error.contains("of type {double}, setting it to {integer}") && error.contains("1.0"),
        "{error}"
    );
    assert!(refused(node.declare_parameter("name", "x").map(drop)).contains("Put it in quotes"));
    let error = refused(node.build_parameter("default", 7).range(0..=5).declare().map(drop));
    assert!(error.contains("doesn't comply with integer range"), "{error}");
    let (nine, five) = (9, 5);
    let error = refused(node.build_parameter("range", 7).range(nine..=five).declare().map(drop));
    assert!(error.contains("is 9 to 5"), "{error}");
    assert!(
        node.build_parameter("range", 0.0).stepped_range(0.0..=1.0, f64::NAN).declare().is_err()
    );
    assert!(node.declare_parameter("nul\0", 1).is_err());
    assert_eq!(node.list_parameters(&[], 0).names, [TYPES, "twice", "use_sim_time"]);
    assert_eq!(node.build_parameter("speed", 2.0).ignore_override().declare().unwrap().get(), 2.0);
}

#[test]
fn a_parameter_may_have_no_value_or_any() {
    let node = node_with(|options| options.parameter_overrides([("given", 2)]));
    let given = node.build_optional_parameter::<i64>("given").declare().unwrap();
    let missing =
        node.build_optional_parameter::<f64>("missing").range(0.0..=1.0).declare().unwrap();
    assert_eq!((given.get(), missing.get()), (Some(2), None));
    assert!(matches!(node.get_parameter("missing"), Err(GetParameterError::NotInitialized { .. })));
    assert!(missing.set(Some(2.0)).is_err() && node.set_parameter("missing", 1).is_err());
    node.set_parameter("missing", 0.5).unwrap();
    assert_eq!(missing.get(), Some(0.5));

    let any = node.build_dynamic_parameter("any", 1).declare().unwrap();
    node.set_parameter("any", "text").unwrap();
    assert_eq!(any.get(), "text".into());
    let descriptor = &node.describe_parameters(&["any".into()]).unwrap()[0];
    assert!(descriptor.dynamic_typing && descriptor.parameter_type == ParameterType::String);
    node.undeclare_parameter("any").unwrap();
    assert!(!node.has_parameter("any"));
    assert!(matches!(
        node.undeclare_parameter("any"),
        Err(UndeclareParameterError::NotDeclared { .. })
    ));
    assert!(matches!(
        node.undeclare_parameter("given"),
        Err(UndeclareParameterError::StaticallyTyped { .. })
    ));
    assert!(matches!(node.get_parameter("any"), Err(GetParameterError::NotDeclared { .. })));
}

#[test]
fn several_are_set_all_or_none() {
    let node = node();
    let a = node.declare_parameter("a", 1).unwrap();
    let b = node.declare_parameter("b", 1).unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let _guard = node.add_on_set_parameters_callback(move |parameters| {
        count.fetch_add(parameters.len(), Ordering::Relaxed);
        Ok(())
    });
    node.set_parameters_atomically([("a", 2), ("nowhere", 2)]).unwrap_err();
    node.set_parameters_atomically([("a", ParameterValue::from(2)), ("b", "x".into())])
        .unwrap_err();
    assert_eq!((a.get(), b.get(), asked.load(Ordering::Relaxed)), (1, 1, 0));
    node.set_parameters_atomically([("a", 2), ("b", 3)]).unwrap();
    assert_eq!((a.get(), b.get(), asked.load(Ordering::Relaxed)), (2, 3, 2));
    let results = node.set_parameters([("a", 4), ("nowhere", 4), ("b", 4)]);
    assert_eq!(results.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, true]);
    assert_eq!((a.get(), b.get()), (4, 4));
}

#[test]
fn callbacks_change_refuse_and_hear_without_a_lock() {
    let node = node();
    let a = node.declare_parameter("a", 1).unwrap();
    let b = node.declare_parameter("b", 1).unwrap();
    let heard: Arc<Mutex<Vec<NamedValue>>> = Arc::default();
    let nested: Arc<OnceLock<SetParameterError>> = Arc::default();
    let pre = node.add_pre_set_parameters_callback(|parameters| {
        parameters.retain(|(name, _)| name != "ignored");
        if parameters.iter().any(|(name, _)| name == "a") {
            parameters.push(("b".into(), 100.into()));
        }
    });
    let (inner, seen) = (node.held(), nested.clone());
    let on = node.add_on_set_parameters_callback(move |parameters| {
        let node = inner();
        // Callbacks may read parameters, even from other threads, because no lock is held.
        std::thread::scope(|scope| {
            scope.spawn(|| node.get_parameter("a").unwrap()).join().unwrap()
        });
        seen.get_or_init(|| node.set_parameter("b", 5).unwrap_err());
        assert!(node.declare_parameter("c", 1).is_err());
        match parameters.iter().any(|(_, value)| *value == 13.into()) {
            true => Err("13 is unlucky".into()),
            false => Ok(()),
        }
    });
    let told = heard.clone();
    let post = node.add_post_set_parameters_callback(move |parameters| {
        told.lock().unwrap().extend_from_slice(parameters);
    });
    node.set_parameter("a", 2).unwrap();
    assert_eq!((a.get(), b.get()), (2, 100));
    assert_eq!(nested.get(), Some(&SetParameterError::WithinCallback));
    assert_eq!(*heard.lock().unwrap(), [("a".to_owned(), 2.into()), ("b".to_owned(), 100.into())]);
    assert_eq!(a.set(13), Err(SetParameterError::Refused { reason: "13 is unlucky".into() }));
    assert_eq!(reason(a.set(13)), "13 is unlucky");
    assert!(node.declare_parameter("unlucky", 13).is_err() && !node.has_parameter("unlucky"));
    assert_eq!(node.set_parameter("ignored", 1), Err(SetParameterError::EmptyList));
    assert_eq!((a.get(), heard.lock().unwrap().len()), (2, 2));
    drop((pre, on, post));
    a.set(13).unwrap();
    assert_eq!((a.get(), b.get(), heard.lock().unwrap().len()), (13, 100, 2));
}

/// Makes a closure that returns the node, for use in callbacks.
trait Held {
    fn held(&self) -> Box<dyn Fn() -> Node + Send + Sync>;
}

impl Held for Node {
    fn held(&self) -> Box<dyn Fn() -> Node + Send + Sync> {
        let node = self.clone();
        Box::new(move || node.clone())
    }
}

#[test]
fn changes_from_many_threads_are_heard_of_in_their_order() {
    let node = node();
    let sum = node.declare_parameter("sum", 0).unwrap();
    let last = Arc::new(Mutex::new(Vec::new()));
    let heard = last.clone();
    let _guard = node.add_post_set_parameters_callback(move |parameters| {
        heard.lock().unwrap().push(parameters[0].1.clone());
    });
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let sum = sum.clone();
            scope.spawn(move || (0..100).for_each(|n| sum.set(thread * 1000 + n).unwrap()));
        }
    });
    let heard = last.lock().unwrap();
    assert_eq!(heard.len(), 400);
    assert_eq!(heard.last(), Some(&sum.get().into()), "the last event has the current value");
}

#[test]
fn undeclared_parameters_may_be_allowed() {
    let node =
        node_with(|o| o.allow_undeclared_parameters(true).parameter_overrides([("known", 9)]));
    assert_eq!(node.get_parameter("nowhere"), Ok(ParameterValue::NotSet));
    node.set_parameter("new", 1).unwrap();
    node.set_parameter("new", "other type").unwrap();
    assert_eq!(node.get_parameter("new"), Ok("other type".into()));
    node.set_parameter("known", 5).unwrap();
    assert_eq!(node.get_parameter("known"), Ok(5.into()), "a set value wins over the override");
    node.set_parameter("new", ParameterValue::NotSet).unwrap();
    assert!(!node.has_parameter("new"));
    assert_eq!(node.get_parameter_types(&["new".into()]), Ok(vec![ParameterType::NotSet]));
}

#[test]
fn overrides_may_declare_parameters() {
    let declared = |automatically: bool| {
        let context = context_with("--ros-args -p line.a:=1 -p both:=1");
        let options = NodeOptions::new("node").parameter_overrides([("both", 2), ("option", 3)]);
        let options = options.automatically_declare_parameters_from_overrides(automatically);
        context.create_node_with(options).unwrap()
    };
    let node = declared(true);
    assert_eq!(
        node.list_parameters(&[], 0).names,
        ["both", "line.a", "option", TYPES, "use_sim_time"]
    );
    assert_eq!(node.get_parameter("both"), Ok(2.into()));
    node.set_parameter("both", "dynamic").unwrap();
    assert_eq!(declared(false).list_parameters(&[], 0).names, [TYPES, "use_sim_time"]);
}

#[test]
fn lists_in_a_file_take_the_declared_type() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let text = "node:\n  ros__parameters:\n    {gains: [], ids: [], flags: [], key: [], frames: [], maybe: [], any: [],\n     \
                bytes: [1, 2], rates: [1, 2], large: [1, 256]}\n";
    std::fs::write(file.path(), text).unwrap();
    let context = context_with(&format!("--ros-args --params-file {}", file.path().display()));
    let node = context.create_node("node").unwrap();
    // YAML does not show the type of an empty list, and has no bytes.
    let gains = node.declare_parameter("gains", [0.5]).unwrap();
    let ids = node.declare_parameter("ids", [7]).unwrap();
    let flags = node.declare_parameter("flags", [true]).unwrap();
    let key = node.declare_parameter("key", vec![7_u8]).unwrap();
    let frames = node.declare_parameter("frames", ["map"]).unwrap();
    let maybe = node.build_optional_parameter::<Vec<f64>>("maybe").declare().unwrap();
    let bytes = node.declare_parameter("bytes", vec![7_u8]).unwrap();
    assert_eq!((gains.get(), ids.get(), flags.get()), (vec![], vec![], vec![]));
    assert_eq!((key.get(), frames.get(), maybe.get()), (vec![], vec![], Some(vec![])));
    assert_eq!(bytes.get(), [1, 2]);
    let any = node.build_dynamic_parameter("any", true).declare().unwrap();
    assert_eq!(any.get(), Vec::<String>::new().into());

    let refused = |result: Result<(), DeclareParameterError>| result.unwrap_err().to_string();
    let error = refused(node.declare_parameter("rates", [0.5]).map(drop));
    assert!(
        error.contains("of type {double_array}, setting it to {integer_array}")
            && error.contains("such as 1.0"),
        "{error}"
    );
    let error = refused(node.declare_parameter("large", vec![7_u8]).map(drop));
    assert!(error.contains("of type {byte_array}, setting it to {integer_array}"), "{error}");
}

#[test]
fn lists_have_prefixes_and_depths() {
    let node = node();
    for name in ["top", "a.x", "a.b.y", "a.b.c.z", "ab.x"] {
        node.declare_parameter(name, 1).unwrap();
    }
    let check = |prefixes: &[&str], depth: u64, names: &[&str], found: &[&str]| {
        let prefixes: Vec<String> = prefixes.iter().map(|&prefix| prefix.to_owned()).collect();
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let expected = ParameterList { names: owned(names), prefixes: owned(found) };
        assert_eq!(node.list_parameters(&prefixes, depth), expected, "{prefixes:?} {depth}");
    };
    let all = ["a.b.c.z", "a.b.y", "a.x", "ab.x", TYPES, "top", "use_sim_time"];
    check(&[], 0, &all, &["a.b.c", "a.b", "a", "ab"]);
    check(&[], 1, &[TYPES, "top", "use_sim_time"], &[]);
    check(&[], 2, &["a.x", "ab.x", TYPES, "top", "use_sim_time"], &["a", "ab"]);
    check(&["a"], 0, &["a.b.c.z", "a.b.y", "a.x"], &["a.b.c", "a.b", "a"]);
    check(&["a"], 1, &["a.x"], &["a"]);
    check(&["a.b", "top"], 1, &["a.b.y", "top"], &["a.b"]);
    check(&["nowhere", ""], 0, &[], &[]);
    let below: Vec<_> = node.get_parameters_by_prefix("a").into_keys().collect();
    assert_eq!(below, ["b.c.z", "b.y", "x"]);
    assert_eq!(node.get_parameters_by_prefix("").len(), 7);
    assert_eq!(node.get_parameters(["top", "a.x"]), Ok(vec![1.into(), 1.into()]));
    assert!(node.get_parameters(["top", "nowhere"]).is_err());
}

#[test]
fn descriptors_say_what_was_declared() {
    let node = node();
    let builder = node.build_parameter("gain", vec![0.5]).description("What it is").read_only();
    builder.additional_constraints("none").stepped_range(0.0..=1.0, 0.25).declare().unwrap();
    let gain = &node.describe_parameters(&["gain".into()]).unwrap()[0];
    assert_eq!((gain.name.as_str(), gain.description.as_str()), ("gain", "What it is"));
    assert_eq!(
        (gain.additional_constraints.as_str(), gain.read_only, gain.dynamic_typing),
        ("none", true, false)
    );
    assert_eq!(gain.parameter_type, ParameterType::DoubleArray);
    let range = gain.floating_point_range.as_ref().unwrap();
    assert_eq!((range.from_value, range.to_value, range.step), (0.0, 1.0, 0.25));
    assert_eq!(gain.integer_range, None);
}

#[test]
fn events_tell_what_is_new_changed_and_deleted() {
    let listening = context();
    let ear = listening.create_node("ear").unwrap();
    let executor = Executor::new();
    executor.add_node(&ear).unwrap();
    let heard: Arc<Mutex<Vec<ParameterEvent>>> = Arc::default();
    let push = heard.clone();
    let node = node_with(|options| options.allow_undeclared_parameters(true));
    let name = node.name().fully_qualified();
    let mine = name.clone();
    let hear = move |event: ParameterEvent| {
        if event.node == mine {
            push.lock().unwrap().push(event);
        }
    };
    let _subscription =
        ear.create_subscription("/parameter_events", QosProfile::parameter_events(), hear).unwrap();
    let graph = || {
        node.context().graph().count(feros::engine::EndpointKind::Subscription, "/parameter_events")
            > 0
    };
    node.context().wait_for_graph(WATCHDOG, || "the subscription", graph).unwrap();
    node.declare_parameter("marker", 0).unwrap();
    // The subscription may match a little later than it appears in the graph.
    spin_until(&executor, || {
        node.set_parameter("marker", 1).unwrap();
        !heard.lock().unwrap().is_empty()
    });
    node.declare_parameter("a", 1).unwrap();
    node.set_parameters_atomically([("a", ParameterValue::from(2)), ("b", "new".into())]).unwrap();
    node.set_parameter("b", ParameterValue::NotSet).unwrap();
    node.set_parameter("a", "refused").unwrap_err();
    node.declare_parameter("end", 1).unwrap();
    let names = |parameters: &[feros::msgs::rcl_interfaces::msg::Parameter]| {
        parameters
            .iter()
            .map(|p| format!("{}={:?}", p.name, ParameterValue::from(p.value.clone())))
            .collect::<Vec<_>>()
    };
    spin_until(&executor, || {
        heard.lock().unwrap().iter().any(|e| names(&e.new_parameters) == ["end=Integer(1)"])
    });
    let heard = heard.lock().unwrap();
    let told: Vec<_> = heard
        .iter()
        .map(|e| {
            (names(&e.new_parameters), names(&e.changed_parameters), names(&e.deleted_parameters))
        })
        .filter(|(_, changed, _)| *changed != ["marker=Integer(1)"])
        .filter(|(new, ..)| {
            *new != ["marker=Integer(0)"] && !new.iter().any(|n| n.starts_with("use_sim_time"))
        })
        .collect();
    let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
    assert_eq!(
        told,
        [
            (texts(&["a=Integer(1)"]), vec![], vec![]),
            (texts(&["b=String(\"new\")"]), texts(&["a=Integer(2)"]), vec![]),
            (vec![], vec![], texts(&["b=NotSet"])),
            (texts(&["end=Integer(1)"]), vec![], vec![]),
        ]
    );
    assert!(heard.iter().all(|event| event.node == name && event.stamp.sec > 0));
}

#[test]
fn use_sim_time_is_a_parameter_that_switches_the_clock() {
    let context = context();
    let node = context.create_node("node").unwrap();
    assert_eq!(node.get_parameter("use_sim_time"), Ok(false.into()));
    assert!(!node.clock().is_simulated());
    node.set_parameter("use_sim_time", true).unwrap();
    assert!(node.clock().is_simulated());
    let clock = node.create_publisher::<ClockMessage>("/clock", QosProfile::clock()).unwrap();
    let mut message = ClockMessage::default();
    message.clock.sec = 42;
    feros_test_support::until("the time that is published", || {
        clock.publish(message.clone()).unwrap();
        node.clock().now() == feros::Time::from_nanos(42_000_000_000)
    });
    node.set_parameter("use_sim_time", true).unwrap();
    assert_eq!(node.clock().now().as_nanos(), 42_000_000_000, "nothing changed");
    node.set_parameter("use_sim_time", false).unwrap();
    assert!(!node.clock().is_simulated());
    assert!(node.set_parameter("use_sim_time", 1).is_err());

    let simulated =
        |options: NodeOptions| context.create_node_with(options).map(|n| n.clock().is_simulated());
    assert_eq!(simulated(NodeOptions::new("b").use_sim_time(true)), Ok(true));
    assert_eq!(
        simulated(NodeOptions::new("c").parameter_overrides([("use_sim_time", true)])),
        Ok(true)
    );
    let refused = simulated(NodeOptions::new("d").parameter_overrides([("use_sim_time", "yes")]));
    assert!(matches!(refused, Err(CreateError::Parameter { .. })), "{refused:?}");
}

/// Returns the number of services that a node has in the graph.
fn services(context: &Context, node: &Node) -> usize {
    let prefix = format!("{}/", node.name());
    context.graph().services().keys().filter(|name| name.starts_with(&prefix)).count()
}

#[test]
fn services_and_events_may_be_left_out() {
    let context = context();
    let quiet = NodeOptions::new("quiet")
        .start_parameter_services(false)
        .start_parameter_event_publisher(false)
        .parameter_overrides([(TYPES, false)]);
    let quiet = context.create_node_with(quiet).unwrap();
    let open = context.create_node("open").unwrap();
    assert_eq!((services(&context, &quiet), services(&context, &open)), (0, 6 + 1));
    let publishers =
        context.graph().count(feros::engine::EndpointKind::Publisher, "/parameter_events");
    assert!(publishers >= 1);
    let own = open.publishers_info_by_topic("/parameter_events").unwrap();
    assert!(own.iter().all(|endpoint| endpoint.node.name() != Some(quiet.name())));
    drop(open);
    assert_eq!(services(&context, &quiet), 0);
}
