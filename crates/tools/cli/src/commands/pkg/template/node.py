"""The node `NODE_NAME`."""

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from std_msgs.msg import String


class NODE_TYPE(Node):
    """Says hello on `chatter` every second."""

    def __init__(self):
        super().__init__("NODE_NAME")
        self.publisher = self.create_publisher(String, "chatter", 10)
        self.timer = self.create_timer(1.0, self.say)

    def say(self):
        """Publishes a message."""
        self.publisher.publish(String(data="hello"))


def main():
    """Runs the node until Ctrl-C."""
    rclpy.init()
    try:
        rclpy.spin(NODE_TYPE())
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
