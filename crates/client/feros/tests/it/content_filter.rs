//! Content filters of subscriptions, on each transport and for each form of messages.

use std::sync::mpsc::sync_channel;

use feros::msgs::std_msgs::msg::Int32;
use feros::{
    ContentFilterOptions, CreateError, QosProfile, SetContentFilterError, SubscriptionOptions,
    Transport, TypeIdentity, View,
};

use crate::support::{WATCHDOG, context, spinning_node, two_nodes};

fn filtered(expression: &str, parameters: &[&str]) -> SubscriptionOptions {
    let filter = ContentFilterOptions::new(expression, parameters.iter().copied());
    SubscriptionOptions::from(QosProfile::keep_last(100)).content_filter(filter)
}

#[test]
fn only_wanted_messages_reach_the_callback_on_every_transport() {
    let (talker, listener) = two_nodes("talker", "listener");
    for transport in [Transport::IntraProcess, Transport::Network] {
        let (sender, heard) = sync_channel(100);
        let viewed = sender.clone();
        let topic = format!("numbers_{transport:?}").to_lowercase();
        let options = || filtered("data >= %0 AND data <> 7", &["5"]).transports(transport);
        let owned = listener
            .create_subscription(&topic, options(), move |number: Int32| {
                sender.send(number.data).unwrap();
            })
            .unwrap();
        let _viewed = listener
            .create_subscription(&topic, options(), move |number: View<Int32>| {
                viewed.send(-number.get().data).unwrap();
            })
            .unwrap();
        let publisher = talker.create_publisher::<Int32>(&topic, 100).unwrap();
        publisher.wait_for_subscriptions(2, WATCHDOG).unwrap();
        let spinning = spinning_node(&listener);
        for data in 0..=9 {
            publisher.publish(Int32 { data }).unwrap();
        }
        let mut numbers: Vec<i32> = (0..8).map(|_| heard.recv_timeout(WATCHDOG).unwrap()).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, [-9, -8, -6, -5, 5, 6, 8, 9], "{transport:?}");
        assert_eq!(owned.filtered_messages(), 6);
        owned.set_content_filter(ContentFilterOptions::default()).unwrap();
        publisher.publish(Int32 { data: 1 }).unwrap();
        assert_eq!(heard.recv_timeout(WATCHDOG).unwrap(), 1);
        assert_eq!(owned.content_filter(), Some(ContentFilterOptions::default()));
        drop(spinning);
    }
}

#[test]
fn invalid_filters_are_refused() {
    let context = context();
    let node = context.create_node("node").unwrap();
    let refused = node.create_subscription("numbers", filtered("dat = 1", &[]), |_: Int32| ());
    let error = refused.map(drop).unwrap_err().to_string();
    assert!(
        error.contains("cannot be filtered") && error.contains("has no field `dat`"),
        "{error}"
    );
    let unfiltered = node.create_subscription("numbers", 10, |_: Int32| ()).unwrap();
    let refused = unfiltered.set_content_filter(ContentFilterOptions::default());
    assert!(matches!(refused, Err(SetContentFilterError::NotFiltered { .. })), "{refused:?}");
    assert_eq!(unfiltered.content_filter(), None);
    let subscription =
        node.create_subscription("numbers", filtered("", &[]), |_: Int32| ()).unwrap();
    let wrong = ContentFilterOptions::new("data = 'x'", [""; 0]);
    assert!(subscription.set_content_filter(wrong).is_err());
    let identity = TypeIdentity { name: "std_msgs/msg/Int32".to_owned(), hash: None };
    let generic =
        node.create_generic_subscription("numbers", &identity, filtered("", &[]), |_, _| ());
    assert!(matches!(generic.map(drop), Err(CreateError::ContentFilter { .. })));
}
