//! Log messages on `/rosout`.

use feros::msgs::rcl_interfaces::msg::Log;
use feros::{Executor, QosProfile};

use crate::support::{context, listening, spin_until, two_nodes};

#[test]
fn logs_of_nodes_with_one_name_arrive_once_while_a_node_lives() {
    feros::logging::init(&feros::Arguments::default());
    let (here, there) = (context(), context());
    let listener = there.create_node("log_listener").unwrap();
    let [first, second, third] = [(); 3].map(|()| here.create_node("log_twin").unwrap());
    let (_subscription, receiver) =
        listening(&listener, "/rosout", QosProfile::rosout_default(), |log: Log| log);
    let executor = Executor::new();
    executor.add_node(&listener).unwrap();
    let heard_until = |last: &str| {
        let mut heard = Vec::new();
        spin_until(&executor, || {
            let logs = receiver.try_iter().filter(|log| log.name.ends_with("log_twin"));
            heard.extend(logs.map(|log| log.msg));
            heard.last().is_some_and(|text| text == last)
        });
        heard
    };
    // The engine keeps messages for late subscriptions, so the subscription misses no message.
    feros::info!(first, "of the first");
    feros::info!(second, "of the second");
    assert_eq!(heard_until("of the second"), ["of the first", "of the second"]);
    drop(second);
    feros::info!(third, "the first has it still");
    assert_eq!(heard_until("the first has it still"), ["the first has it still"]);
    drop(first);
    feros::info!(third, "the third has it now");
    assert_eq!(heard_until("the third has it now"), ["the third has it now"]);
}

#[test]
fn logs_of_a_node_arrive_on_rosout() {
    feros::logging::init(&feros::Arguments::default());
    let (talker, listener) = two_nodes("log_talker", "log_listener");
    let (_subscription, receiver) =
        listening(&listener, "/rosout", QosProfile::rosout_default(), |log: Log| log);
    feros::warn!(talker, "battery at {} %", 7);
    let executor = Executor::new();
    executor.add_node(&listener).unwrap();
    let mut heard = None;
    spin_until(&executor, || {
        heard = receiver.try_iter().find(|log| log.name.ends_with("log_talker"));
        heard.is_some()
    });
    let log = heard.unwrap();
    assert_eq!((log.level, log.msg.as_str()), (Log::WARN, "battery at 7 %"));
    assert!(log.file.ends_with("log.rs") && log.line > 0 && log.stamp.sec > 0, "{log:?}");
}
