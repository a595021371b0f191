//! Log messages on `/rosout`.

use std::sync::mpsc::sync_channel;

use feros::msgs::rcl_interfaces::msg::Log;
use feros::{Executor, QosProfile};

use crate::support::{context, spin_until};

#[test]
fn what_a_node_logs_arrives_on_rosout() {
    feros::logging::init(&feros::Arguments::default());
    let (here, there) = (context(), context());
    let (talker, listener) =
        (here.create_node("log_talker").unwrap(), there.create_node("log_listener").unwrap());
    let (sender, receiver) = sync_channel(16);
    let _subscription = listener
        .create_subscription("/rosout", QosProfile::rosout_default(), move |log: Log| {
            sender.send(log).unwrap()
        })
        .unwrap();
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
