//! A message that is longer than its type allows is refused, regardless of subscriptions and
//! transports.

use feros::message::EncodeError;
use feros::msgs::test_msgs::msg::{BoundedSequences, MultiNested};
use feros::{PublishError, SubscriptionOptions, Transport};

use crate::support::{WATCHDOG, context};

fn too_long() -> BoundedSequences {
    BoundedSequences { bool_values: vec![true; 4], ..BoundedSequences::default() }
}

fn assert_refused(published: Result<(), PublishError>, listener: &str) {
    let Err(PublishError::Encode { source, .. }) = &published else {
        panic!("with {listener}: {published:?}")
    };
    let expected = EncodeError::BoundExceeded { field: "bool_values", len: 4, bound: 3 };
    assert_eq!(*source, expected, "with {listener}");
}

#[test]
fn bounds_hold_on_every_transport_and_with_no_listener() {
    let (here, there) = (context(), context());
    let talker = here.create_node("talker").unwrap();
    let listener = there.create_node("listener").unwrap();
    let publisher = talker.create_publisher::<BoundedSequences>("bounded", 10).unwrap();
    assert_refused(publisher.publish(too_long()), "nobody");
    for transport in [Transport::IntraProcess, Transport::SharedMemory, Transport::Network] {
        let topic = format!("{transport:?}").to_lowercase();
        let publisher = talker.create_publisher::<BoundedSequences>(&topic, 10).unwrap();
        let options = SubscriptionOptions::from(10).transports(transport);
        let _subscription =
            listener.create_subscription(&topic, options, |_: BoundedSequences| ()).unwrap();
        publisher.wait_for_subscriptions(1, WATCHDOG).unwrap();
        assert_refused(publisher.publish(too_long()), &topic);
        let lent = too_long();
        assert_refused(publisher.publish(&lent), &topic);
        publisher.publish(BoundedSequences::default()).unwrap();
    }
}

#[test]
fn bounds_of_nested_messages_hold_as_well() {
    let node = context().create_node("talker").unwrap();
    let publisher = node.create_publisher::<MultiNested>("nested", 10).unwrap();
    publisher.publish(MultiNested::default()).unwrap();
    let mut in_array = MultiNested::default();
    in_array.array_of_bounded_sequences[2] = too_long();
    assert_refused(publisher.publish(in_array), "nobody");
    let sequence = vec![BoundedSequences::default(), too_long()];
    let in_sequence =
        MultiNested { unbounded_sequence_of_bounded_sequences: sequence, ..MultiNested::default() };
    assert_refused(publisher.publish(in_sequence), "nobody");
}
