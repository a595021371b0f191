"""Receives what the node `NODE_NAME` publishes."""

import rclpy
from feros.msgs.std_msgs.msg import String
from PACKAGE_NAME.NODE_NAME import NODE_TYPE
from rclpy.executors import SingleThreadedExecutor


def test_the_node_says_hello(ros):
    # `ros` is of Feros's wheel: the test has a domain of its own, and stays on this host.
    heard = ros.listen("chatter", String)
    rclpy.init()
    try:
        executor = SingleThreadedExecutor()
        executor.add_node(NODE_TYPE())

        def has_come():
            executor.spin_once(timeout_sec=0.1)
            return heard.count

        ros.wait_until(has_come, "a message on chatter")
    finally:
        rclpy.shutdown()
    assert heard.expect().data == "hello"
