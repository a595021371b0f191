//! A struct whose methods are callbacks of all kinds.

use feros::msgs::std_msgs::msg::{Bool, Int32};
use feros::msgs::std_srvs::srv::{SetBool, SetBool_Request, SetBool_Response};
use feros::{CallbackState, MessageInfo, Publisher, View};
use std::time::Duration;

use crate::support::{WATCHDOG, context, spin_until, spinning_node};

struct Counter {
    sum: i32,
    is_enabled: bool,
    ticks: u32,
    sums: Publisher<Int32>,
}

impl Counter {
    fn add(&mut self, number: Int32) {
        if self.is_enabled {
            self.sum += number.data;
        }
    }

    fn enable(&mut self, enable: View<Bool>, _: MessageInfo) {
        self.is_enabled = enable.get().data;
    }

    fn reset(&mut self, request: SetBool_Request) -> SetBool_Response {
        if request.data {
            self.sum = 0;
        }
        SetBool_Response { success: true, message: self.sum.to_string() }
    }

    fn tick(&mut self) {
        self.ticks += 1;
        self.sums.publish(Int32 { data: self.sum }).unwrap();
    }
}

#[test]
fn methods_are_callbacks_of_every_kind() {
    let context = context();
    let node = context.create_node("counter").unwrap();
    let sums = node.create_publisher("sums", 10).unwrap();
    let state = CallbackState::new(Counter { sum: 0, is_enabled: false, ticks: 0, sums });
    let _numbers = node.create_subscription("numbers", 10, state.callback(Counter::add)).unwrap();
    let _enable =
        node.create_subscription("enable", 10, state.callback_with(Counter::enable)).unwrap();
    let _reset =
        node.create_service::<SetBool, _>("reset", state.callback(Counter::reset)).unwrap();
    let tick = state.timer_callback(Counter::tick);
    let _timer = node.create_wall_timer(Duration::from_millis(1), tick).unwrap();

    let numbers = node.create_publisher::<Int32>("numbers", 10).unwrap();
    let enable = node.create_publisher::<Bool>("enable", 10).unwrap();
    numbers.wait_for_subscriptions(1, WATCHDOG).unwrap();
    enable.wait_for_subscriptions(1, WATCHDOG).unwrap();
    let executor = feros::Executor::new();
    executor.add_node(&node).unwrap();
    enable.publish(Bool { data: true }).unwrap();
    spin_until(&executor, || state.with(|counter| counter.is_enabled));
    for data in [1, 2, 3] {
        numbers.publish(Int32 { data }).unwrap();
    }
    spin_until(&executor, || state.with(|counter| counter.sum == 6 && counter.ticks > 0));
    executor.remove_node(&node);

    let _spinning = spinning_node(&node);
    let client = node.create_client::<SetBool>("reset").unwrap();
    client.wait_for_service(WATCHDOG).unwrap();
    let answer = client.call_and_wait(&SetBool_Request { data: true }, WATCHDOG).unwrap();
    assert_eq!(answer.message, "0");
}
