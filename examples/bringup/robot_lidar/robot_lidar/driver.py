"""The driver of an imaginary lidar, which sees a wall at the same distance on all sides."""

import math

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import LaserScan

RAYS = 360


class Lidar(Node):
    """Publishes scans on `scan`."""

    def __init__(self):
        super().__init__("lidar")
        self.frame = self.declare_parameter("frame_id", "laser").value
        rate = self.declare_parameter("rate", 10.0).value  # Hz
        self.publisher = self.create_publisher(LaserScan, "scan", qos_profile_sensor_data)
        self.create_timer(1 / rate, self.scan)

    def scan(self):
        """Publishes a scan."""
        scan = LaserScan(
            angle_min=-math.pi, angle_max=math.pi, angle_increment=2 * math.pi / (RAYS - 1),
            range_min=0.1, range_max=12.0, ranges=[2.0] * RAYS)
        scan.header.frame_id = self.frame
        scan.header.stamp = self.get_clock().now().to_msg()
        self.publisher.publish(scan)


def main():
    """Runs the node until Ctrl-C."""
    rclpy.init()
    try:
        rclpy.spin(Lidar())
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
