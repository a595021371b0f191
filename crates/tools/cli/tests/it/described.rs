//! Types that the command has no definition of: nodes describe them, answer wrongly, or do not
//! answer.

use std::sync::{Arc, Mutex};

use feros::engine::EndpointKind;
use feros::msgs::type_description_interfaces::msg::{
    Field, FieldType, IndividualTypeDescription, TypeDescription,
};
use feros::msgs::type_description_interfaces::srv::{
    GetTypeDescription, GetTypeDescription_Request, GetTypeDescription_Response,
};
use feros::{Executor, NodeOptions, Responder, SerializedMessage, TypeIdentity};
use feros_interface::{Interface, TypeName, parse_message};
use feros_message::dynamic::{DynamicMessage, DynamicType};

use crate::process::{context, feros, spawn};

const ARM: &str = "robot_msgs/msg/Arm";

/// A type that only this test uses, and its description.
fn arm() -> (DynamicType, TypeDescription) {
    let definition = "geometry_msgs/Point[] joints\nstring<=16 name\nfloat32[3] torque\n";
    let mut set = feros_interface::shipped().clone();
    let message = parse_message("robot_msgs", "Arm", definition).unwrap();
    set.insert(Interface::Message(message)).unwrap();
    let name: TypeName = ARM.parse().unwrap();
    let described = set.type_description(&name).unwrap();
    let individual = |one: &feros_interface::IndividualTypeDescription| {
        let field = |field: &feros_interface::FieldDescription| Field {
            name: field.name.clone(),
            r#type: FieldType {
                type_id: field.ty.type_id,
                capacity: field.ty.capacity,
                string_capacity: field.ty.string_capacity,
                nested_type_name: field.ty.nested_type_name.clone(),
            },
            default_value: field.default_value.clone(),
        };
        IndividualTypeDescription {
            type_name: one.type_name.clone(),
            fields: one.fields.iter().map(field).collect(),
        }
    };
    let description = TypeDescription {
        type_description: individual(&described.type_description),
        referenced_type_descriptions: described
            .referenced_type_descriptions
            .iter()
            .map(individual)
            .collect(),
    };
    (DynamicType::resolve(&set, &name).unwrap(), description)
}

/// Runs `check` beside a node that publishes and receives arms, and that answers with
/// `description`.
fn beside_arm(topic: &str, description: TypeDescription, check: impl FnOnce()) {
    let context = context();
    let options = NodeOptions::new("d_arm")
        .namespace(topic)
        .parameter_overrides([("start_type_description_service", false)]);
    let node = context.create_node_with(options).unwrap();
    let answer = move |_: GetTypeDescription_Request| GetTypeDescription_Response {
        successful: true,
        type_description: description.clone(),
        ..Default::default()
    };
    let service =
        node.create_service::<GetTypeDescription, _>("~/get_type_description", answer).unwrap();
    let (ty, _) = arm();
    let hash = Some(feros::engine::TypeHash(ty.type_hash().0));
    let identity = TypeIdentity { name: ARM.to_owned(), hash };
    let publisher = node.create_generic_publisher(topic, &identity, 10).unwrap();
    let value = DynamicMessage::from_yaml(&ty, "{joints: [{x: 1.5}], name: left}").unwrap();
    let bytes = value.to_cdr().unwrap();
    let timer = node
        .create_wall_timer(std::time::Duration::from_millis(20), move || {
            publisher.publish_serialized(&bytes).unwrap();
        })
        .unwrap();
    let heard = node
        .create_generic_subscription(
            &format!("{topic}_heard"),
            &identity,
            10,
            move |message: SerializedMessage, _| {
                let message = ty.decode(&message).unwrap();
                assert!(message.to_json(&Default::default()).contains("\"name\":\"right\""));
            },
        )
        .unwrap();
    let executor = Executor::new();
    executor.add_node(&node).unwrap();
    let stopper = executor.stopper();
    let spinning = spawn("test-arm", move || {
        executor.spin().unwrap();
        drop((service, timer, heard));
    });
    check();
    stopper.stop();
    spinning.join().unwrap();
}

#[test]
fn a_type_without_a_definition_is_asked_for() {
    beside_arm("/d_arm", arm().1, || {
        let line = ["topic", "echo", "/d_arm", "--once", "--json", "--timeout", "50"];
        let expected = serde_json::json!({
            "joints": [{"x": 1.5, "y": 0.0, "z": 0.0}], "name": "left", "torque": [0.0, 0.0, 0.0]
        });
        assert_eq!(feros(&line).json(), expected);
        let named =
            ["topic", "echo", "/d_arm", ARM, "--once", "--field", "name", "--timeout", "50"];
        assert_eq!(feros(&named).success(), "left\n---\n");
        let line = ["topic", "pub", "/d_arm_heard", ARM, "{name: right}", "--once"];
        let out = feros(&line).success();
        assert!(out.contains("name: right"), "{out}");
        let wrong = ["topic", "pub", "/d_arm_heard", ARM, "{nam: right}", "--once"];
        assert!(feros(&wrong).failure(2).contains("has no field `nam`"));
    });
}

#[test]
fn a_description_that_is_not_of_the_hash_is_not_used() {
    let (_, mut lie) = arm();
    lie.type_description.fields.swap(0, 1);
    beside_arm("/d_lie", lie, || {
        let error = feros(&["topic", "echo", "/d_lie", "--once", "--timeout", "50"]).failure(1);
        assert!(error.contains("unknown type `robot_msgs/msg/Arm`"), "{error}");
        assert!(error.contains("describes `robot_msgs/msg/Arm` as another type"), "{error}");
    });
}

#[test]
fn nobody_to_ask_is_said() {
    let error = feros(&["topic", "pub", "/d_nobody", ARM, "{}", "--once"]).failure(1);
    assert!(error.contains("nor does any node use it on /d_nobody"), "{error}");
}

/// The requests that wait for their answers, and the nodes that they are for.
type Asked = Arc<Mutex<Vec<(usize, Responder<GetTypeDescription>)>>>;

#[test]
fn a_node_that_describes_is_heard_beside_those_that_do_not_answer() {
    const NODES: usize = 5;
    const TOPIC: &str = "/d_asked";
    let (ty, description) = arm();
    let context = context();
    let executor = Executor::new();
    let identity = TypeIdentity {
        name: ARM.to_owned(),
        hash: Some(feros::engine::TypeHash(ty.type_hash().0)),
    };
    let asked: Asked = Arc::default();
    let service_of = |number: usize| format!("/d_asked_{number}/get_type_description");
    let mut nodes = Vec::new();
    for number in 0..NODES {
        let options = NodeOptions::new(&format!("d_asked_{number}"))
            .parameter_overrides([("start_type_description_service", false)]);
        let node = context.create_node_with(options).unwrap();
        let (context, asked, description) = (context.clone(), asked.clone(), description.clone());
        let answer = move |_: GetTypeDescription_Request, responder| {
            let mut asked = asked.lock().unwrap();
            asked.push((number, responder));
            let graph = context.graph();
            let is_waited_for =
                |number: usize| graph.count(EndpointKind::Client, &service_of(number)) > 0;
            // One node answers, as soon as requests wait at all of them.
            if asked.len() >= NODES && (0..NODES).all(is_waited_for) {
                let last = asked.iter().position(|(number, _)| *number == NODES - 1);
                let (_, responder) = asked.remove(last.unwrap());
                let answer = GetTypeDescription_Response {
                    successful: true,
                    type_description: description.clone(),
                    ..Default::default()
                };
                responder.send(&answer).unwrap();
            }
        };
        let service =
            node.create_service::<GetTypeDescription, _>("~/get_type_description", answer).unwrap();
        let publisher = node.create_generic_publisher(TOPIC, &identity, 10).unwrap();
        executor.add_node(&node).unwrap();
        nodes.push((node, service, publisher));
    }
    let bytes = DynamicMessage::from_yaml(&ty, "{name: left}").unwrap().to_cdr().unwrap();
    let publisher = nodes[0].2.clone();
    let publish = move || publisher.publish_serialized(&bytes).unwrap();
    let _timer =
        nodes[0].0.create_wall_timer(std::time::Duration::from_millis(20), publish).unwrap();
    let stopper = executor.stopper();
    let spinning = spawn("test-asked", move || executor.spin().unwrap());
    // Long enough for all nodes to be discovered before one is asked.
    let line = ["topic", "echo", TOPIC, "--once", "--field", "name", "--spin-time", "3"];
    assert_eq!(feros(&line).success(), "left\n---\n");
    assert_eq!(asked.lock().unwrap().len(), NODES - 1, "each was asked once");
    stopper.stop();
    spinning.join().unwrap();
}
