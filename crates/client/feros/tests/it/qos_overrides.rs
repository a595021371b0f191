//! Parameters that override the QoS policies of endpoints.

use std::time::Duration;

use feros::msgs::std_msgs::msg::String as Text;
use feros::parameter::SetParameterError;
use feros::{
    CreateError, Durability, PublisherOptions, QosOverrides, QosPolicy, QosProfile, Reliability,
    SubscriptionOptions,
};

use crate::support::context_with;

#[test]
fn parameters_override_policies_where_the_endpoint_opted_in() {
    let context = context_with(
        "--ros-args -p qos_overrides./chatter.publisher.reliability:=best_effort \
         -p qos_overrides./chatter.publisher.depth:=7 -p qos_overrides./chatter.publisher_left.deadline:=5000000 \
         -p qos_overrides./chatter.subscription.durability:=transient_local \
         -p qos_overrides./bad.publisher.reliability:=fast -p qos_overrides./bad.subscription.depth:=-1",
    );
    let node = context.create_node("node").unwrap();
    let default = || PublisherOptions::from(QosProfile::keep_last(3));
    let qos = |options: PublisherOptions| {
        node.create_publisher::<Text>("/chatter", options).map(|p| p.qos())
    };
    assert_eq!(
        (
            qos(default()).unwrap().depth,
            node.has_parameter("qos_overrides./chatter.publisher.depth")
        ),
        (3, false)
    );
    let overridden = qos(default().qos_overrides(QosOverrides::default())).unwrap();
    assert_eq!((overridden.reliability, overridden.depth), (Reliability::BestEffort, 7));
    let again = qos(default().qos_overrides(QosOverrides::default())).unwrap();
    assert_eq!(again, overridden, "a second publisher finds the parameters declared");
    let left = QosOverrides::of([QosPolicy::Deadline, QosPolicy::Lifespan]).id("left");
    let left = qos(default().qos_overrides(left)).unwrap();
    assert_eq!((left.deadline, left.depth), (Duration::from_millis(5).into(), 3));
    let names = node.list_parameters(&["qos_overrides".into()], 0).names;
    assert_eq!(names.len(), 5, "{names:?}");
    assert_eq!(
        node.get_parameter("qos_overrides./chatter.publisher_left.lifespan"),
        Ok(i64::MAX.into()),
        "no limit, as stock ROS 2 writes it"
    );
    let read_only = node.set_parameter("qos_overrides./chatter.publisher.depth", 1);
    assert!(matches!(read_only, Err(SetParameterError::ReadOnly { .. })));

    let options = SubscriptionOptions::from(3)
        .qos_overrides(QosOverrides::of([QosPolicy::Durability, QosPolicy::Lifespan]));
    let subscription = node.create_subscription("/chatter", options, |_: Text| {}).unwrap();
    assert_eq!(subscription.qos().durability, Durability::TransientLocal);
    assert!(!node.has_parameter("qos_overrides./chatter.subscription.lifespan"));

    let error = |result: Result<(), CreateError>| result.unwrap_err().to_string();
    let text = error(
        node.create_publisher::<Text>("/bad", default().qos_overrides(QosOverrides::default()))
            .map(drop),
    );
    assert!(text.contains("/bad.publisher.reliability") && text.contains("best_effort"), "{text}");
    let bad = SubscriptionOptions::from(3).qos_overrides(QosOverrides::default());
    let text = error(node.create_subscription("/bad", bad, |_: Text| {}).map(drop));
    assert!(
        text.contains("/bad.subscription.depth") && text.contains("cannot be negative"),
        "{text}"
    );
    let validated = QosOverrides::default().validate(|qos| match qos.reliability {
        Reliability::Reliable => Ok(()),
        other => Err(format!("{other} is too little")),
    });
    let text = error(qos(default().qos_overrides(validated)).map(drop));
    assert!(text.contains("BEST_EFFORT is too little"), "{text}");
}
