//! Unusual lifetimes in host programs: many contexts and wait sets, destruction in any order,
//! forks, exits while threads run, and errors.

use feros_interop::Domain;

use crate::support::run_python;

/// Makes 400 contexts with one node each. rclpy never destroys the node's service for type
/// descriptions, but neither participants nor doorbell slots may leak; each leak would take a few
/// megabytes.
#[test]
fn contexts_begin_and_end_again_and_again() {
    let Some(domain) = Domain::reserve() else { return };
    let script = r#"
import gc, os
import rclpy
from rclpy.executors import SingleThreadedExecutor
from std_msgs.msg import String
from std_srvs.srv import SetBool
def memory():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
def cycle():
    context = rclpy.Context()
    context.init()
    node = rclpy.create_node(
        "n", context=context, start_parameter_services=False, enable_rosout=False)
    publisher = node.create_publisher(String, "x", 1)
    node.create_subscription(String, "x", lambda _: None, 1)
    node.create_service(SetBool, "s", lambda _, response: response)
    node.create_client(SetBool, "s")
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    publisher.publish(String(data="x"))
    executor.spin_once(timeout_sec=0.0)
    executor.shutdown()
    node.destroy_node()
    context.shutdown()
for _ in range(100):
    cycle()
gc.collect()
before, files = memory(), len(os.listdir("/proc/self/fd"))
for _ in range(300):
    cycle()
gc.collect()
assert memory() - before < 7_000, (before, memory())
assert len(os.listdir("/proc/self/fd")) <= files
first, second = rclpy.Context(), rclpy.Context()
first.init(); second.init()
nodes = [rclpy.create_node("n", context=context) for context in (first, second)]
first.shutdown(); second.shutdown()
print("ok")
"#;
    run_python(&domain, script, true);
}

#[test]
fn a_thousand_wait_sets_live_at_once() {
    let Some(domain) = Domain::reserve() else { return };
    let script = r#"
import rclpy
from rclpy.guard_condition import GuardCondition
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
rclpy.init()
context = rclpy.get_default_context()
with context.handle:
    condition = GuardCondition(None, None, context=context)
    sets = [_rclpy.WaitSet(0, 1, 0, 0, 0, 0, context.handle) for _ in range(1000)]
    for wait_set in sets:
        wait_set.clear_entities()
        with condition.handle:
            index = wait_set.add_guard_condition(condition.handle)
            condition.trigger()
            wait_set.wait(1000000000)
        assert wait_set.is_ready("guard_condition", index)
rclpy.shutdown()
print("ok")
"#;
    run_python(&domain, script, true);
}

/// Calls `os._exit` in a forked child, and C's exit while a thread spins. Python's own exit aborts
/// on stock ROS 2 as well.
#[test]
fn forks_and_exits_end_the_process() {
    let Some(domain) = Domain::reserve() else { return };
    let script = r#"
import ctypes, os, sys, threading
import rclpy
from std_msgs.msg import String
rclpy.init()
node = rclpy.create_node("parent")
got = threading.Event()
node.create_subscription(String, "x", lambda _: got.set(), 1)
publisher = node.create_publisher(String, "x", 1)
threading.Thread(target=rclpy.spin, args=(node,), daemon=True).start()
child = os.fork()
if child == 0:
    node.destroy_publisher(publisher)
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
publisher.publish(String(data="still here"))
assert got.wait(30.0)
print("ok")
sys.stdout.flush()
ctypes.CDLL(None).exit(0)
"#;
    run_python(&domain, script, true);
}

#[test]
fn errors_are_reported_in_words() {
    let Some(domain) = Domain::reserve() else { return };
    let script = r#"
import rclpy
from rclpy.qos import QoSProfile, LivelinessPolicy
from test_msgs.msg import BoundedSequences
rclpy.init()
node = rclpy.create_node("wrong")
publisher = node.create_publisher(BoundedSequences, "bounded", 1)
message = BoundedSequences()
message._check_fields = False
try:
    message._string_values = ["x"] * 5
    publisher.publish(message)
    raise SystemExit("nothing was refused")
except Exception as error:
    assert "string_values" in str(error), error
rclpy.shutdown()
print("ok")
"#;
    run_python(&domain, script, true);
}
