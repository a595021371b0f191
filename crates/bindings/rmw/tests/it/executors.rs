//! The executors of rclpy on this library: the executors that wait, and the events executor, which
//! gets callbacks.

use feros_interop::Domain;

use crate::support::run_python;

/// Publishes from one node to another until ten messages arrive, and uses a service and events.
const SCRIPT: &str = r#"
import threading
import rclpy
from rclpy.event_handler import SubscriptionEventCallbacks
from std_msgs.msg import String
from std_srvs.srv import SetBool
rclpy.init()
node = rclpy.create_node("both")
got, matched, done = [], threading.Event(), threading.Event()
def receive(message):
    got.append(message.data)
    if len(got) >= 10:
        done.set()
events = SubscriptionEventCallbacks(matched=lambda status: matched.set())
node.create_subscription(String, "x", receive, 10, event_callbacks=events)
publisher = node.create_publisher(String, "x", 10)
def answer(request, response):
    response.success = request.data
    return response
node.create_service(SetBool, "set", answer)
client = node.create_client(SetBool, "set")
executor = EXECUTOR
executor.add_node(node)
outcome = []
def check():
    try:
        for number in range(10):
            publisher.publish(String(data=str(number)))
        assert done.wait(60.0), got
        assert got == [str(number) for number in range(10)], got
        # Stock rclpy's events executor does not report matches either.
        assert "Events" in type(executor).__name__ or matched.wait(60.0), "no event"
        assert client.wait_for_service(60.0)
        answers = [client.call(SetBool.Request(data=data)).success for data in (True, False)]
        assert answers == [True, False], answers
        outcome.append("good")
    except BaseException as error:
        outcome.append(error)
thread = threading.Thread(target=check)
thread.start()
# With a timeout: otherwise rclpy's events executor spins on its lock and starves the callbacks.
while thread.is_alive():
    executor.spin_once(timeout_sec=0.05)
assert outcome == ["good"], outcome
executor.shutdown()
rclpy.shutdown()
print("ok")
"#;

fn works_with(executor: &str) {
    let Some(domain) = Domain::reserve() else { return };
    run_python(&domain, &SCRIPT.replace("EXECUTOR", executor), true);
}

#[test]
fn a_single_threaded_executor_works() {
    works_with("rclpy.executors.SingleThreadedExecutor()");
}

#[test]
fn a_multi_threaded_executor_works() {
    works_with("rclpy.executors.MultiThreadedExecutor(4)");
}

#[test]
fn an_events_executor_works() {
    works_with("__import__('rclpy.experimental', fromlist=['x']).EventsExecutor()");
}
