"""A node that limits the speed of the wheels until it ends."""

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from robot_msgs.msg import WheelSpeeds
from robot_msgs.srv import SetLimit


class Limiter(Node):
    """Sets the limit once the wheels turn, and says so."""

    def __init__(self):
        super().__init__("limiter")
        self.limit = self.declare_parameter("limit", 1.0).value
        self.client = self.create_client(SetLimit, "set_limit")
        self.subscription = self.create_subscription(WheelSpeeds, "wheel_speeds", self.hear, 10)

    def hear(self, speeds):
        """Compares the speed with the limit."""
        if speeds.left > self.limit and self.client.service_is_ready():
            self.get_logger().info(f"{speeds.left} rad/s is too fast: the limit is {self.limit}")
            self.client.call_async(SetLimit.Request(limit=self.limit))


def main():
    """Runs the node until Ctrl-C."""
    rclpy.init()
    try:
        rclpy.spin(Limiter())
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
