//! Descriptions of types that nodes get from other nodes, and the handling of wrong answers.

use feros::message::dynamic::DynamicType;
use feros::message::{Action, Message, Service, TypeHash};
use feros::msgs::action_msgs::msg::GoalStatusArray;
use feros::msgs::action_msgs::srv::CancelGoal;
use feros::msgs::example_interfaces::action::Fibonacci;
use feros::msgs::geometry_msgs::msg::PoseStamped;
use feros::msgs::rcl_interfaces::msg::Log;
use feros::msgs::std_srvs::srv::SetBool;
use feros::msgs::type_description_interfaces::srv::{
    GetTypeDescription, GetTypeDescription_Request, GetTypeDescription_Response,
};
use feros::{Node, NodeOptions, ParameterValue, TypeDescriptionError};

use crate::support::{WATCHDOG, context, spinning_node, two_nodes};

/// Makes `asker` request the description of `M` from `teller`, and reads it as a message type.
fn ask<M: Message>(asker: &Node, teller: &Node) -> Result<DynamicType, TypeDescriptionError> {
    let described =
        asker.get_type_description(teller.name(), M::TYPE_NAME, M::TYPE_HASH, WATCHDOG)?;
    Ok(DynamicType::from_description(&described).unwrap())
}

#[test]
fn a_node_describes_the_types_of_its_endpoints_and_no_others() {
    let (teller, asker) = two_nodes("teller", "asker");
    let _publisher = teller.create_publisher::<PoseStamped>("pose", 10).unwrap();
    let _client = teller.create_client::<SetBool>("switch").unwrap();
    let _spinning = spinning_node(&teller);
    let pose = ask::<PoseStamped>(&asker, &teller).unwrap();
    assert_eq!(
        (pose.name().to_string().as_str(), pose.fields().len()),
        (PoseStamped::TYPE_NAME, 2)
    );
    assert_eq!(pose.type_hash(), PoseStamped::TYPE_HASH);
    assert_eq!(ask::<Log>(&asker, &teller).unwrap().type_hash(), Log::TYPE_HASH);

    let client = asker
        .create_client::<GetTypeDescription>(&format!("{}/get_type_description", teller.name()))
        .unwrap();
    client.wait_for_service(WATCHDOG).unwrap();
    let call = |type_hash: String| {
        let request = GetTypeDescription_Request { type_hash, ..Default::default() };
        client.call_and_wait(&request, WATCHDOG).unwrap()
    };
    // As in stock ROS 2, the hash identifies the type, and the description of a service includes
    // its request and response.
    let described = call(<SetBool as Service>::TYPE_HASH.to_string());
    assert!(described.successful, "{}", described.failure_reason);
    assert_eq!(described.type_description.type_description.type_name, "std_srvs/srv/SetBool");
    assert_eq!(described.type_description.type_description.fields.len(), 3);
    assert!(described.type_sources.is_empty(), "comments are not in the program");
    for (hash, expected) in [
        (TypeHash([7; 32]).to_string(), "Type not currently in use by this node"),
        (String::new(), "is not a type hash"),
        ("RIHS01_nonsense".to_owned(), "is not a type hash"),
    ] {
        let answer = call(hash);
        assert!(!answer.successful && answer.failure_reason.contains(expected), "{answer:?}");
        assert_eq!(answer.type_description, Default::default());
    }
    // This is the hash of a type that only other nodes use.
    let refused = ask::<feros::msgs::nav_msgs::msg::Odometry>(&asker, &teller).unwrap_err();
    assert!(matches!(refused, TypeDescriptionError::Refused { .. }), "{refused}");
}

/// Whether `teller` describes the type with this hash.
fn describes(asker: &Node, teller: &Node, name: &str, hash: TypeHash) -> bool {
    asker.get_type_description(teller.name(), name, hash, WATCHDOG).is_ok()
}

#[test]
fn both_sides_of_an_action_describe_its_types() {
    let context = context();
    let node = |name: &str| context.create_node(name).unwrap();
    let (serving, calling, asker) = (node("serving"), node("calling"), node("asker"));
    let _server = serving
        .create_action_server::<Fibonacci, _>("fib", |_: feros::ServerGoalHandle<Fibonacci>| ())
        .unwrap();
    let _client = calling.create_action_client::<Fibonacci>("fib").unwrap();
    let _spinning = [spinning_node(&serving), spinning_node(&calling)];
    type Goals = <Fibonacci as Action>::SendGoal;
    type Results = <Fibonacci as Action>::GetResult;
    type Feedback = <Fibonacci as Action>::FeedbackMessage;
    for teller in [&serving, &calling] {
        for (name, hash) in [
            (<Fibonacci as Action>::TYPE_NAME, <Fibonacci as Action>::TYPE_HASH),
            (<Goals as Service>::TYPE_NAME, <Goals as Service>::TYPE_HASH),
            (<Results as Service>::TYPE_NAME, <Results as Service>::TYPE_HASH),
            (<CancelGoal as Service>::TYPE_NAME, <CancelGoal as Service>::TYPE_HASH),
            (Feedback::TYPE_NAME, Feedback::TYPE_HASH),
            (GoalStatusArray::TYPE_NAME, GoalStatusArray::TYPE_HASH),
        ] {
            assert!(describes(&asker, teller, name, hash), "{name} by {}", teller.name());
        }
    }
}

#[test]
fn the_type_of_a_generic_endpoint_is_described_if_another_node_knows_it() {
    let context = context();
    let (teller, asker) =
        (context.create_node("teller").unwrap(), context.create_node("asker").unwrap());
    let identity = feros::TypeIdentity::of::<PoseStamped>();
    let _publisher = teller.create_generic_publisher("pose", &identity, 10).unwrap();
    let _spinning = spinning_node(&teller);
    let asked = || describes(&asker, &teller, PoseStamped::TYPE_NAME, PoseStamped::TYPE_HASH);
    assert!(!asked(), "a name and a hash tell nothing");
    for _ in 0..2 {
        teller.describe_type(PoseStamped::TYPE_DESCRIPTION.to_interface());
        assert!(asked());
    }
}

#[test]
fn a_parameter_turns_it_off() {
    let (here, there) = (context(), context());
    let options =
        NodeOptions::new("teller").parameter_overrides([("start_type_description_service", false)]);
    let teller = here.create_node_with(options).unwrap();
    let asker = there.create_node("asker").unwrap();
    let name = "start_type_description_service";
    assert_eq!(teller.get_parameter(name), Ok(ParameterValue::Bool(false)));
    assert!(teller.set_parameter(name, true).is_err(), "it is read-only");
    let soon = std::time::Duration::from_millis(300);
    let refused = asker
        .get_type_description(teller.name(), Log::TYPE_NAME, Log::TYPE_HASH, soon)
        .unwrap_err();
    assert!(matches!(refused, TypeDescriptionError::NoService { .. }), "{refused}");
    let wrong = NodeOptions::new("wrong").parameter_overrides([(name, "yes")]);
    assert!(here.create_node_with(wrong).is_err());
}

#[test]
fn a_description_that_is_not_of_the_hash_is_refused() {
    let (here, there) = (context(), context());
    let honest = here.create_node("honest").unwrap();
    let _publisher = honest.create_publisher::<PoseStamped>("pose", 10).unwrap();
    let asker = there.create_node("asker").unwrap();
    let spinning = spinning_node(&honest);
    let service = |node: &Node| format!("{}/get_type_description", node.name());
    let client = asker.create_client::<GetTypeDescription>(&service(&honest)).unwrap();
    client.wait_for_service(WATCHDOG).unwrap();
    let request = GetTypeDescription_Request {
        type_hash: PoseStamped::TYPE_HASH.to_string(),
        ..Default::default()
    };
    let truth = client.call_and_wait(&request, WATCHDOG).unwrap();
    drop(spinning);

    let lies: [fn(&mut GetTypeDescription_Response); 4] = [
        |lie| lie.type_description.type_description.fields.truncate(1),
        |lie| lie.type_description.referenced_type_descriptions[0].fields[0].r#type.type_id += 1,
        |lie| lie.type_description = Default::default(),
        |lie| lie.type_description.referenced_type_descriptions.reverse(),
    ];
    for (number, tell_lie) in lies.into_iter().enumerate() {
        let options = NodeOptions::new(&format!("liar_{number}"))
            .parameter_overrides([("start_type_description_service", false)]);
        let liar = here.create_node_with(options).unwrap();
        let mut lie = truth.clone();
        tell_lie(&mut lie);
        let answer = move |_: GetTypeDescription_Request| lie.clone();
        let _service =
            liar.create_service::<GetTypeDescription, _>("~/get_type_description", answer).unwrap();
        let _spinning = spinning_node(&liar);
        let refused = ask::<PoseStamped>(&asker, &liar).unwrap_err();
        assert!(matches!(refused, TypeDescriptionError::Wrong { .. }), "lie {number}: {refused}");
    }
}
