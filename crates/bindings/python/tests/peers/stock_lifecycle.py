"""A managed node of stock ROS 2, which also manages the tests' node."""

import sys
import threading

import rclpy
from lifecycle_msgs.srv import ChangeState, GetState
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.lifecycle import LifecycleNode


def main():
    rclpy.init()
    managed = LifecycleNode("stock_managed")
    node = rclpy.create_node("stock_manager")
    change = node.create_client(ChangeState, "/ours_managed/change_state")
    get = node.create_client(GetState, "/ours_managed/get_state")
    executor = MultiThreadedExecutor(2)
    executor.add_node(managed)
    executor.add_node(node)

    def spin():
        try:
            executor.spin()
        except ExternalShutdownException:
            pass

    thread = threading.Thread(target=spin, daemon=True)
    thread.start()

    def call(client, request):
        client.wait_for_service(60)
        future, done = client.call_async(request), threading.Event()
        future.add_done_callback(lambda _: done.set())
        done.wait(60)
        return future.result()

    def request(label):
        request = ChangeState.Request()
        request.transition.label = label
        return request

    print("ready", flush=True)
    for _ in sys.stdin:
        done = [call(change, request(label)).success for label in ("configure", "activate")]
        print(*done, call(get, GetState.Request()).current_state.label, flush=True)
    rclpy.try_shutdown()
    thread.join(10)


main()
