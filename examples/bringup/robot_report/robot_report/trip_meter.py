"""A component that reports how far the robot has come, and how fast its wheels turned."""

import math

from nav_msgs.msg import Odometry
from rclpy.node import Node
from robot_msgs.msg import WheelSpeeds
from robot_report_msgs.msg import Trip


class TripMeter(Node):
    """Publishes the trip with each message of the odometer."""

    def __init__(self):
        super().__init__("trip_meter")
        self.trip = Trip(since=self.get_clock().now().to_msg())
        self.place = None
        self.publisher = self.create_publisher(Trip, "trip", 10)
        self.create_subscription(WheelSpeeds, "wheel_speeds", self.turn, 10)
        self.create_subscription(Odometry, "odometry", self.drive, 10)

    def turn(self, speeds):
        """Keeps the highest speeds."""
        if abs(speeds.left + speeds.right) > abs(self.trip.fastest.left + self.trip.fastest.right):
            self.trip.fastest = speeds

    def drive(self, odometry):
        """Adds the way since the last message."""
        position = odometry.pose.pose.position
        place = (position.x, position.y)
        self.trip.way += math.dist(place, self.place or place)
        self.place = place
        self.publisher.publish(self.trip)
