"""Receives what the node `NODE_NAME` publishes."""

import os

import rclpy
from PACKAGE_NAME.NODE_NAME import NODE_TYPE
from std_msgs.msg import String


def test_the_node_says_hello():
    # A domain of its own, so that tests that run at the same time do not hear each other.
    rclpy.init(domain_id=1 + os.getpid() % 100)
    heard = []
    node, test = NODE_TYPE(), rclpy.create_node("test")
    test.create_subscription(String, "chatter", heard.append, 10)
    executor = rclpy.executors.SingleThreadedExecutor()
    executor.add_node(node)
    executor.add_node(test)
    for _ in range(600):
        executor.spin_once(timeout_sec=0.1)
        if heard:
            break
    rclpy.shutdown()
    assert [text.data for text in heard] == ["hello"]
